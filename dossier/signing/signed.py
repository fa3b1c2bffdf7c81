"""OUT/signed -> who signed what, when, by which root; nobody is trusted who is not named, and no network is asked.

The look itself is in `signature_check`, in a process of its own: what it reads anybody may have made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dossier.core import errors, limited
from dossier.core.faults.locations import Option
from dossier.record import manifest as manifests
from dossier.record import results
from dossier.record.manifest import MANIFEST, SIGNED
from dossier.signing.quiet import quiet
from dossier.words.wording import listed

SECONDS, SECONDS_A_MEGABYTE, MOST_SECONDS = 120, 20, 3600
"""Of the processor, to look at every signature of a dossier, and for each megabyte of signed pages."""
LARGEST_ROOTS = 1 << 20


@dataclass(frozen=True)
class Trust:
    """Whom who verifies trusts: files of certificates of authorities; and whether one may vouch for itself."""

    roots: tuple[Path, ...] = ()
    self_signed: bool = False


@dataclass(frozen=True)
class Signature:
    """One signature over one file."""

    path: str
    """Where it is, in OUT."""
    file: str
    """What it is over."""
    number: int
    """The how manieth signature of the dossier it belongs to."""
    signer: str
    """The name in the certificate."""
    certificate: str
    """Its SHA-256."""
    meaning: str
    time: str
    """When it was made, in UTC."""
    clock: str
    """The timestamp authority that says so; empty where it is the word of the signer's machine."""
    root: str
    """The authority, of those that were named, that vouches for the signer; empty where none does."""
    root_sha256: str
    problem: str
    """Why it is worth nothing, as a part of a sentence; empty where it is sound."""


@dataclass(frozen=True)
class Found:
    """What was found in OUT/signed."""

    signatures: tuple[Signature, ...] = ()
    differences: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    """The roles that the release declares and nobody has signed for."""
    others: tuple[str, ...] = ()
    """Whose name is not the one that the release declares for what they signed, as parts of a sentence."""

    def by_trusted(self) -> tuple[str, ...]:
        """Those who soundly signed results.json and the manifest, and whom a named root vouches for."""
        if self.differences:
            return ()
        numbers = sorted({signature.number for signature in self.signatures})
        said = []
        for number in numbers:
            own = [
                signature
                for signature in self.signatures
                if signature.number == number and signature.root and not signature.problem
            ]
            if {results.RESULTS, MANIFEST} <= {signature.file for signature in own}:
                said.append(own[0].signer)
        return tuple(said)

    def lacking(self) -> tuple[str, ...]:
        """What keeps the signatures from being those of everybody whom the release declares.

        One that no named root vouches for is a difference already.
        """
        nothing = () if self.signatures else ("nothing is signed",)
        return (*nothing, *(f"nobody signed as {role}" for role in self.open), *self.others)

    def lines(self) -> Iterator[str]:
        """Who signed what, when, and by which root: a line each signature."""
        for number in sorted({signature.number for signature in self.signatures}):
            own = [signature for signature in self.signatures if signature.number == number]
            first = own[0]
            files = listed(list(dict.fromkeys(signature.file for signature in own)))
            clock = f"by the clock of “{first.clock}”" if first.clock else "by the signer's own clock"
            root = (
                f"vouched for by “{first.root}” (SHA-256 {first.root_sha256})"
                if first.root
                else "vouched for by nobody that you named: anybody can write this name"
            )
            yield f"signed: {files} by “{first.signer}”, “{first.meaning}”, on {first.time} {clock}, {root}"
        if self.signatures and self.open:
            yield f"not signed, and declared in [[signatory]]: {listed(list(self.open))}"
        yield from (f"another name: {text}" for text in self.others)
        if any(signature.root for signature in self.signatures):
            yield "revocation: not asked, for it takes a network; ask the authority whether a certificate was revoked"


def found(out: Path, trust: Trust) -> Found:
    """Every signature of a dossier, looked at in a process of its own, which ends when it takes too long."""
    refuse_no_roots(trust)
    manifest = manifests.read(out)
    present = frozenset() if manifest is None else manifest.signatures(out) - {SIGNED}
    if manifest is None or not present:
        nothing = f"{SIGNED}/ holds no signature" + (", and --trust asks for one" if trust.roots else "")
        return Found(differences=(nothing,) if trust.roots or (out / SIGNED).is_dir() else ())
    try:
        with quiet():
            pass
    except errors.SigningError as error:
        return Found(differences=(f"no signature was looked at: {error.faults[0].what} {error.faults[0].fix}",))
    size = sum((out / name).stat().st_size for name in present)
    seconds = min(SECONDS + SECONDS_A_MEGABYTE * (size >> 20), MOST_SECONDS)
    words = [str(out.absolute()), str(int(trust.self_signed)), *(str(path.absolute()) for path in trust.roots)]
    answer = limited.call("dossier.signing.signature_check:looked_at", *words, seconds=seconds)
    if isinstance(answer, limited.Ended):
        return Found(differences=(f"the signatures cannot be read: {answer.reason}",))
    signatures, differences, still_open, others = answer
    return Found(
        tuple(Signature(**signature) for signature in signatures), tuple(differences), tuple(still_open), tuple(others)
    )


def refuse_no_roots(trust: Trust) -> None:
    """Refuse files that hold no certificate, before anything is looked at; and those of no authority without leave."""
    if not trust.roots:
        return
    faults = []
    with quiet():
        for path in trust.roots:
            try:
                known = roots([path])
            except (OSError, ValueError):
                faults.append(errors.Fault("no_certificate_in_file", Option("--trust"), file=str(path)))
                continue
            if not trust.self_signed and not all(each.ca for each in known):
                faults.append(errors.Fault("certificate_of_no_authority", Option("--trust"), file=str(path)))
    errors.SigningError.raise_for(faults)


def roots(paths: Sequence[Path]) -> list[Any]:
    """The certificates that files in PEM hold; a ValueError where one holds none."""
    from asn1crypto import pem, x509

    found = []
    for path in paths:
        if not path.is_file() or path.stat().st_size > LARGEST_ROOTS:
            raise ValueError
        parts = [der for kind, _, der in pem.unarmor(path.read_bytes(), multiple=True) if kind == "CERTIFICATE"]
        if not parts:
            raise ValueError
        found += [x509.Certificate.load(der, strict=True) for der in parts]
    return found
