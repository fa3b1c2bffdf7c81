"""Evidence -> a JUnit report: a case for each criterion, flag and row of the checklist, as pipelines show tests."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dossier.core import claims, flags, types
from dossier.record import acceptance
from dossier.report.chapters.acceptance import WORDS, why_uncounted
from dossier.typeset.flags import flag_text
from dossier.typeset.reasons import reason_text
from dossier.words import entries

ROW: Mapping[types.RowStatus, str] = entries("pages")["reported"]
"""What is said of a row of the checklist that is not open."""


@dataclass(frozen=True)
class Demands:
    """What ends a build with 3 beside criteria that are not shown to be met."""

    strict: bool = False
    """Whether a flag without an answer and a missing row of the checklist do."""
    named: frozenset[str] = frozenset()
    """The flags that do, answered or not, and the claims, as against:groups."""


@dataclass(frozen=True)
class Case:
    """One thing that was looked at: it holds, it fails the build, or it is open without failing it."""

    suite: Literal["acceptance", "claims", "flags", "checklist"]
    name: str
    status: Literal["holds", "fails", "open"]
    says: str = ""


def cases(evidence: types.Evidence, demands: Demands) -> tuple[Case, ...]:
    """Every criterion at every dataset, claim, row of the checklist, and flag that was raised or could have been.

    A build ends with 3 where any of them fails, and only then.
    """
    every = claims.of(evidence)
    single = [replace(claim, scope="overall") for claim in every if claim.scope != "overall"]
    # Without those over all that are the worst of their question, word by word.
    once = [claim for claim in every if claim.scope != "overall" or claim not in single]
    return (
        *(_of_criterion(criterion, why_uncounted(evidence, criterion)) for criterion in evidence.criteria),
        *(_of_claim(claim, demands) for claim in once),
        *(_of_row(row, demands) for row in evidence.checklist),
        *_of_flags(evidence.flags, demands),
    )


def _of_row(row: types.ChecklistRow, demands: Demands) -> Case:
    if row.status != "missing":
        why = "" if row.reason is None else f", {reason_text(row.reason)}"
        return Case("checklist", row.item, "holds", f"{ROW[row.status]}{why}")
    return Case("checklist", row.item, "fails" if demands.strict else "open", f"checklist row {row.item}: missing")


def _of_criterion(criterion: types.Criterion, uncounted: str) -> Case:
    where = ", ".join([criterion.dataset, *acceptance.listed(criterion)])
    name = f"{criterion.number}. {criterion.measure} at {where}"
    # A page keeps the day and the month together.
    why = uncounted.replace("\N{NO-BREAK SPACE}", " ")
    left_out = f"; it {why}, and the verdict on page 1 leaves it out" if why else ""
    status: Literal["holds", "open", "fails"] = "fails" if not criterion.met else "open" if why else "holds"
    return Case("acceptance", name, status, f"{name}: {_judged(criterion)}{left_out}")


def _of_claim(claim: claims.Claim, demands: Demands) -> Case:
    what = claim.measure or ("" if claim.reason is None else claim.reason.code)
    source = "" if claim.limit_source == "default" else claim.limit_source
    about = [what, source, *acceptance.listed(claim), claim.dataset]
    name = f"{claim.question}, {claim.scope}: {', '.join(text for text in about if text)}"
    status: Literal["holds", "open", "fails"] = "holds" if claim.state == "shown" else "open"
    numbers = [] if claim.value is None else [f"{claim.value:.6g}"]
    numbers += [] if claim.low is None or claim.high is None else [f"{claim.low:.6g} to {claim.high:.6g}"]
    shown = f": {', '.join(numbers)}" if numbers else ""
    limits = "" if claim.limit == (None, None) else f"; asked for is {_asked(*claim.limit)}"
    why = "" if claim.reason is None else f"; {reason_text(claim.reason)}"
    says = f"{name}: {WORDS[claim.state]}{shown}{limits}{why}"
    return Case("claims", name, "fails" if claim.named in demands.named else status, says)


def _judged(criterion: types.Criterion) -> str:
    """What was observed, of which bound, and what was asked of it."""
    bound = {"value": "the value", "low": "the lower limit", "high": "the upper limit"}[criterion.bound]
    asked = _asked(criterion.at_least, criterion.at_most)
    if criterion.observed is None:
        reason = "None" if criterion.reason is None else reason_text(criterion.reason)
        return f"{WORDS[criterion.state]}: {reason}; {bound} was to be {asked}"
    why = "the interval neither meets nor excludes that" if criterion.reason is None else reason_text(criterion.reason)
    unsure = f"; {why}" if criterion.state == "open" else ""
    return f"{WORDS[criterion.state]}: {bound} is {criterion.observed:.6g}, asked for is {asked}{unsure}"


def _asked(at_least: float | None, at_most: float | None) -> str:
    limits = {"at least": at_least, "at most": at_most}
    return " and ".join(f"{word} {limit:g}" for word, limit in limits.items() if limit is not None)


def _of_flags(raised: Sequence[types.Flag], demands: Demands) -> Iterator[Case]:
    for flag in raised:
        unanswered = demands.strict and flag.reply is None
        status: Literal["fails", "open"] = "fails" if unanswered or flag.flag in demands.named else "open"
        name = f"{flag.flag}, {flag.dataset}"
        why = "not answered" if flag.reply is None else "answered"
        yield Case("flags", name, status, f"flag {name}: {why}: {flag_text(flag.fact)}")
    yield from (Case("flags", name, "holds") for name in flags.FLAGS if not any(flag.flag == name for flag in raised))


def text(found: Sequence[Case]) -> bytes:
    """The report: one suite a kind, a failure for what fails the build, skipped what is open without failing it."""
    root = ElementTree.Element("testsuites", name="dossier", tests=str(len(found)), failures=_count(found, "fails"))
    for suite in dict.fromkeys(case.suite for case in found):
        here = [case for case in found if case.suite == suite]
        element = ElementTree.SubElement(
            root,
            "testsuite",
            name=suite,
            tests=str(len(here)),
            failures=_count(here, "fails"),
            errors="0",
            skipped=_count(here, "open"),
        )
        for case in here:
            row = ElementTree.SubElement(element, "testcase", classname=f"dossier.{suite}", name=case.name)
            kind = {"fails": "failure", "open": "skipped"}.get(case.status)
            if kind is not None:
                ElementTree.SubElement(row, kind, message=case.says)
            elif case.says:
                ElementTree.SubElement(row, "system-out").text = case.says
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _count(found: Sequence[Case], status: str) -> str:
    return str(sum(case.status == status for case in found))
