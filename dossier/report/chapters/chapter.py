"""What a chapter is. Each stands at the end of its file, its words in `words/chapters.toml`, their order in
`contents.py`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from dossier.core import contents, types
from dossier.report.chapters.sentence import Sentence
from dossier.typeset.measures import chapter_is_empty
from dossier.words import entries

Question = Callable[[types.Evidence], bool]
Finding = Callable[[types.Evidence], Sentence]


def always(evidence: types.Evidence) -> bool:
    """Whether a chapter has something to print that needs nothing."""
    return True


def never(evidence: types.Evidence) -> bool:
    """Whether a release gives all that a chapter asks for, where what is missing is asked for each time."""
    return False


@dataclass(frozen=True)
class Chapter:
    """A chapter: its word in file, template and leave_out, its title, what it says and when it stays away."""

    name: str
    title: str
    finding: Finding
    editions: tuple[contents.Edition, ...]
    has: Question = always
    """Whether it has anything to print."""
    fill: str = ""
    """What to add to a release to fill it."""
    fill_of_classes: str = ""
    """The same with several classes, where that is something else."""
    fill_by_horizon: str = ""
    """The same of an outcome by a horizon, which is not yet known of all that others are."""
    is_given: Question = never
    """Whether a release gives what `fill` asks for: then the reasons of its measures are printed instead."""
    continues: Question = always
    """Whether the supplement has more of it than the core."""


def chapter(
    name: str, finding: Finding, has: Question = always, is_given: Question = never, continues: Question = always
) -> Chapter:
    """A chapter by its name, with its words."""
    about: dict[str, Any] = {"editions": ("regulatory",), **entries("chapters")[name]}
    about["editions"] = tuple(about["editions"])
    return Chapter(name, finding=finding, has=has, is_given=is_given, continues=continues, **about)


@cache
def chapters() -> tuple[Chapter, ...]:
    """The chapters of the book in their order."""
    return tuple(importlib.import_module(f"dossier.report.chapters.{name}").CHAPTER for name in contents.ORDER)


# ---- questions of several chapters ----------------------------------------------------------------------------------


def measured(chapter: str) -> Question:
    """Whether any measure of a chapter could be estimated: the chapter stands on them."""
    return lambda evidence: not chapter_is_empty(evidence, chapter)


def is_checked(evidence: types.Evidence) -> bool:
    """Whether the rows of the checklist are asked."""
    return bool(evidence.checklist)


def any_with_both(evidence: types.Evidence) -> bool:
    """Whether an external site has patients of every class."""
    return any(
        all(site.class_counts.values()) if site.class_counts else site.events and site.others
        for site in types.externals(evidence)
    )


def predictors_on_both_sides(evidence: types.Evidence) -> bool:
    """Whether the development data and an external site give predictors."""
    developed = any(dataset.features for dataset in evidence.datasets if dataset.role == "development")
    return developed and any(site.features for site in types.externals(evidence))
