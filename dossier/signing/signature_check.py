"""Every signature of a dossier against the file that it is over, the certificates that were named, and the others.

Runs in a process of its own. A signed PDF has to be the unsigned one and signatures behind it: each revision is
compared with the one before, object by object, and may add an invisible signature and nothing else.
"""

from __future__ import annotations

import asyncio
import datetime
import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from asn1crypto import cms
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import async_validate_detached_cms, async_validate_pdf_signature
from pyhanko.sign.validation.settings import KeyUsageConstraints
from pyhanko_certvalidator import ValidationContext

from dossier.core.errors import ReleaseError
from dossier.record import manifest as manifests
from dossier.record import results
from dossier.record.manifest import SIGNED, Manifest
from dossier.signing import quiet, sign, signed, signed_attributes

LARGEST_SIGNATURE = 1 << 20
LONGEST_MEANING = 2 * sign.LONGEST_MEANING
USAGES = KeyUsageConstraints(key_usage=sign.USAGES, match_all_key_usages=False)
OF_MACHINES = frozenset({"server_auth", "time_stamping", "ocsp_signing", "code_signing"})
"""What a certificate may be for that makes no signature of a person."""
TOLERATED = datetime.timedelta(minutes=10)
"""By so much the clock of a signer may be ahead of ours."""
QUOTES = str.maketrans({"“": "'", "”": "'"})
UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OSError, PdfError)
"""What comes of bytes that anybody may have made; what else comes ends this process, and its parent reports it."""


def looked_at(
    folder: str, self_signed: str, *roots: str
) -> tuple[list[dict[str, Any]], list[str], list[str], list[str]]:
    """Every signature of a dossier as a table, what is wrong with them, which declared roles have none, and who signed
    in the place of somebody else.
    """
    out = Path(folder)
    manifest = manifests.read(out)
    if manifest is None:
        raise ValueError("there is no manifest")
    with quiet.quiet():
        judge = Judge(tuple(signed.roots([Path(root) for root in roots])), self_signed == "1")
        signatures, wrong = _every(out, manifest, judge)
    wrong += [f"{each.path}, signature {each.number}: {each.problem}" for each in signatures if each.problem]
    wrong += _incomplete(signatures, manifest)
    unknown, still_open, others = _of_the_release(out, signatures)
    return [asdict(signature) for signature in signatures], list(dict.fromkeys([*wrong, *unknown])), still_open, others


def _every(out: Path, manifest: Manifest, judge: Judge) -> tuple[list[signed.Signature], list[str]]:
    signatures: list[signed.Signature] = []
    wrong: list[str] = []
    for path in sorted(manifest.signatures(out) - {SIGNED}):
        name = path.removeprefix(f"{SIGNED}/")
        try:
            if name in manifest.signable:
                if (out / path).stat().st_size > (out / name).stat().st_size + sign.MOST * LARGEST_SIGNATURE:
                    raise ValueError("it is too large")
                signatures += _of_pages(name, (out / name).read_bytes(), (out / path).read_bytes(), judge)
            else:
                if (out / path).stat().st_size > LARGEST_SIGNATURE:
                    raise ValueError("it is too large")
                file, number, _ = name.rsplit(".", 2)
                content = (out / file).read_bytes()
                signatures.append(_beside(path, file, int(number), content, (out / path).read_bytes(), judge))
        except UNREADABLE as error:
            wrong.append(f"{path} holds no signature that can be read: {' '.join(str(error).split())[:200]}")
    return signatures, wrong


def _incomplete(signatures: Sequence[signed.Signature], manifest: Manifest) -> list[str]:
    """Signatures that are gone, or of another signer than their like: who signs, signs every file."""
    wrong = []
    most = max((signature.number for signature in signatures), default=0)
    pages = [f"{SIGNED}/{name}" for name in manifest.signable if name.endswith(".pdf")]
    for number in range(1, most + 1):
        own = [signature for signature in signatures if signature.number == number]
        asked = [*(f"{SIGNED}/{name}.{number}.p7s" for name in manifest.signable), *pages]
        there = {signature.path for signature in own}
        wrong += [f"signature {number} is missing in {path}" for path in asked if path not in there]
        if len({(signature.certificate, signature.meaning) for signature in own}) > 1:
            wrong.append(f"signature {number} is not of one signer and one meaning in all files")
    return wrong


def _of_the_release(out: Path, signatures: Sequence[signed.Signature]) -> tuple[list[str], list[str], list[str]]:
    """Meanings that the release does not declare, where it declares any; roles that nobody has signed as; and signers
    of another name than it gives them.
    """
    try:
        document = results.opened(out)
    except ReleaseError:
        # Reported by who prints it again.
        return [], [], []
    if not document.evidence.release.signatory:
        return [], [], []
    meanings = {str(meaning): meaning.role for meaning in sign.declared(document)}
    strange = [signature for signature in signatures if signature.meaning not in meanings]
    wrong = [f"{each.path}, signature {each.number}: its meaning is none that the release declares" for each in strange]
    done = {signature.meaning for signature in signatures}
    # Signers whose certificate gives another name than the release: it may be written otherwise, or another person.
    names = sign.names(document)
    found = [
        f"the certificate says “{each.signer}”, and [[signatory]] “{' or '.join(map(_plain, names[each.meaning]))}” "
        f"for “{each.meaning}”"
        for each in signatures
        if each.meaning in names and _folded(each.signer) not in map(_folded, names[each.meaning])
    ]
    return wrong, [role for said, role in meanings.items() if said not in done], list(dict.fromkeys(found))


def _folded(name: str) -> str:
    return " ".join(_plain(name).casefold().split())


# ---- one signature --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judge:
    """The certificates that are trusted, and whether a signer may vouch for himself."""

    roots: tuple[Any, ...]
    self_signed: bool

    def context(self, moment: datetime.datetime | None = None) -> ValidationContext:
        """By what certificates are judged: no network, and no root but those that were named."""
        return ValidationContext(trust_roots=list(self.roots), allow_fetching=False, moment=moment)

    def problem(self, status: Any) -> str:
        """Why a signature is worth nothing, as a part of a sentence; empty where it is sound."""
        if not status.intact:
            return "the file is not what was signed"
        if not status.valid:
            return "it was not made with the key of its certificate"
        usage = status.signing_cert.extended_key_usage_value
        named = [] if usage is None else [str(command) for command in usage.native]
        machine = ", ".join(named) if named and set(named) <= OF_MACHINES else ""
        if machine:
            return f"its certificate is for {machine}, and for no person's signature"
        if not self.roots:
            return ""
        if self._is_a_root(status.signing_cert):
            return "" if self.self_signed else "its certificate vouches for itself, which takes --self-signed"
        if not status.trusted:
            return f"no certificate of --trust vouches for its signer{_why(status)}"
        return ""

    def root(self, status: Any) -> tuple[str, str]:
        """The name and the SHA-256 of the certificate that vouches for the signer; empty where none does."""
        if not self.roots or self.problem(status):
            return "", ""
        found = status.signing_cert if self._is_a_root(status.signing_cert) else status.validation_path.first
        return _named(found), found.sha256.hex()

    def _is_a_root(self, certificate: Any) -> bool:
        return any(root.dump() == certificate.dump() for root in self.roots)


def _why(status: Any) -> str:
    """What else keeps a certificate from being trusted: its time, most of all."""
    certificate = status.signing_cert
    stamp = _stamp(status)
    when = datetime.datetime.now(datetime.UTC) if stamp is None else stamp.timestamp
    if when > certificate.not_valid_after:
        unsaid = "" if stamp else ", and no authority of --trust says that it was signed before"
        return f": the certificate ended on {certificate.not_valid_after.date()}{unsaid}"
    if when < certificate.not_valid_before:
        return f": the certificate begins on {certificate.not_valid_before.date()}"
    return ""


def _stamp(status: Any) -> Any:
    """The timestamp of an authority that is trusted; None without one."""
    stamp = status.timestamp_validity
    return stamp if stamp is not None and stamp.intact and stamp.valid and stamp.trusted else None


def _named(certificate: Any) -> str:
    """The name in a certificate, in one line."""
    names = certificate.subject.native
    found = names.get("common_name") or certificate.subject.human_friendly
    # What stands between quotation marks must not end them.
    return " ".join(str(found).translate(QUOTES).split())[:200]


def _plain(said: object) -> str:
    """A meaning in one line."""
    return " ".join(str(said).translate(QUOTES).split())[:LONGEST_MEANING]


def _judged(path: str, file: str, number: int, status: Any, said: str, judge: Judge) -> signed.Signature:
    """A signature as a value; `status` is what pyHanko found."""
    stamp = _stamp(status)
    when = stamp.timestamp if stamp is not None else status.signer_reported_dt
    root, root_sha256 = judge.root(status)
    problem = judge.problem(status)
    now = datetime.datetime.now(datetime.UTC)
    if not problem and when is None:
        problem = "it does not say when it was made"
    if not problem and when is not None and when.tzinfo is not None and when > now + TOLERATED:
        problem = "it says that it was made in the future"
    if not problem and status.timestamp_validity is not None and not status.timestamp_validity.intact:
        problem = "its timestamp is of something else"
    return signed.Signature(
        path=path,
        file=file,
        number=number,
        signer=_named(status.signing_cert),
        certificate=hashlib.sha256(status.signing_cert.dump()).hexdigest(),
        meaning=said,
        time="" if when is None else when.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        clock="" if stamp is None else _named(stamp.signing_cert),
        root="" if problem else root,
        root_sha256="" if problem else root_sha256,
        problem=problem,
    )


def _beside(path: str, file: str, number: int, content: bytes, signature: bytes, judge: Judge) -> signed.Signature:
    """A detached signature over the bytes of a file."""
    info = cms.ContentInfo.load(signature, strict=True)
    if info["content_type"].native != "signed_data":
        raise ValueError("it is no CMS signature")
    data = info["content"]
    if len(data["signer_infos"]) != 1:
        raise ValueError("it has not one signer")
    found = _in_time(judge, partial(async_validate_detached_cms, content, data))
    said = _plain(signed_attributes.meaning(data["signer_infos"][0]["signed_attrs"]))
    return _judged(path, file, number, found, said, judge)


def _in_time(judge: Judge, look: Callable[..., Any]) -> Any:
    """What pyHanko finds now; where a trusted authority says when it was signed, what it finds for then."""

    def at(moment: datetime.datetime | None) -> Any:
        by = {"signer_validation_context": judge.context(moment), "ts_validation_context": judge.context()}
        return asyncio.run(look(**by, key_usage_settings=USAGES))

    found = at(None)
    stamp = _stamp(found)
    return found if stamp is None else at(stamp.timestamp)


# ---- signatures in a PDF --------------------------------------------------------------------------------------------


def _of_pages(name: str, unsigned: bytes, content: bytes, judge: Judge) -> list[signed.Signature]:
    """Every signature in a signed copy of a PDF; a ValueError where it is not the unsigned one and signatures."""
    if not content.startswith(unsigned):
        raise ValueError(f"it does not begin with the bytes of {name}")
    reader = PdfFileReader(io.BytesIO(content), strict=True)
    embedded = reader.embedded_signatures
    if not embedded:
        raise ValueError("it holds no signature")
    # Each revision is that of a signature, which reaches the end of it.
    if reader.xrefs.total_revisions - len(embedded) != 1:
        raise ValueError("it holds a revision that is no signature, or a signature without a revision")
    at = len(unsigned)
    for number, each in enumerate(embedded, start=1):
        ranges = [int(value) for value in each.byte_range]
        first, until, after, rest = ranges if len(ranges) == 4 else (1, 0, 0, 0)
        if first != 0 or until < at or not until < after or each.signed_revision != number:
            raise ValueError(f"signature {number} is not over all that stands before it")
        if content[until:after] != _written(each.pkcs7_content):
            raise ValueError(f"signature {number} is not written as it is made")
        at = after + rest
        _refuse_additions(reader, number, each)
    if at != len(content):
        raise ValueError("something stands behind its last signature")
    return [_in_pages(name, number, each, judge) for number, each in enumerate(embedded, start=1)]


def _in_pages(name: str, number: int, embedded: Any, judge: Judge) -> signed.Signature:
    # Our own comparison of the revisions is stricter, and done.
    found = _in_time(judge, partial(async_validate_pdf_signature, embedded, skip_diff=True))
    return _judged(f"{SIGNED}/{name}", name, number, found, _plain(embedded.sig_object.get("/Reason", "")), judge)


def _written(signature: bytes) -> bytes:
    """A signature as it stands in a PDF, which it does not cover itself: no other bytes stand for it."""
    whole: bytes = cms.ContentInfo.load(signature).dump()
    return b"<%s%s>" % (whole.hex().upper().encode(), b"00" * (len(signature) - len(whole)))


DEEPEST = 50
"""Of a tree of pages; ours has a level."""
WIDGET = {"/FT", "/T", "/Type", "/Subtype", "/F", "/Rect", "/P", "/V"}
VALUE = {"/Contents", "/ByteRange", "/Type", "/Filter", "/SubFilter", "/M", "/Reason", "/Reference"}
"""The keys of an invisible field, and of what is signed in it."""


def _refuse_additions(reader: Any, number: int, embedded: Any) -> None:
    """Refuse a revision that changes or adds an object that no signature needs."""
    old, new = reader.get_historical_resolver(number - 1), reader.get_historical_resolver(number)
    trailers = [reader.trailer.flatten(each) for each in (number - 1, number)]
    root, info = ([_text(trailer.raw_get(key)) for trailer in trailers] for key in ("/Root", "/Info"))
    if root[0] != root[1] or info[0] != info[1]:
        raise ValueError(f"revision {number} has another catalog")
    (was, _), (page, page_reference) = _first_page(old), _first_page(new)
    _refuse_unlike(old.root, new.root, {"/AcroForm", "/Perms"} if number == 1 else set(), number)
    if set(_value(new.root, "/Perms") or ()) - {"/DocMDP"}:
        raise ValueError(f"revision {number} gives rights that no signature needs")
    form, field = new.root["/AcroForm"], embedded.sig_field
    before = _value(old.root, "/AcroForm")
    if set(form) != {"/Fields", "/SigFlags"} or int(form["/SigFlags"]) != 3:
        raise ValueError(f"revision {number} has a form that is no signature")
    _refuse_more(None if before is None else before["/Fields"], form["/Fields"], number)
    _refuse_unlike(was, page, {"/Annots"}, number)
    _refuse_more(_value(was, "/Annots"), page["/Annots"], number)
    # A field that is not to be seen, and does nothing but sign.
    signs = embedded.sig_object
    if not set(field) <= WIDGET or not set(signs) <= VALUE or [float(each) for each in field["/Rect"]] != [0.0] * 4:
        raise ValueError(f"signature {number} has a field that does more than sign")
    if field["/T"] != sign.FIELD.format(number) or signs["/Type"] != "/Sig":
        raise ValueError(f"signature {number} is called otherwise")
    value, added = field.raw_get("/V"), form["/Fields"].raw_get(-1)
    if _text(page["/Annots"].raw_get(-1)) != _text(added):
        raise ValueError(f"revision {number} puts something else on the page than its signature")
    asked = {root[1], *map(_text, (new.root.raw_get("/AcroForm"), page_reference, value, added))}
    # Refuse what a revision writes beside the objects of a signature and the table of all objects.
    if reader.xrefs.refs_freed_in_revision(number) or reader.xrefs.object_streams_used_in(number):
        raise ValueError(f"revision {number} takes objects away, or packs them")
    known = {ref for earlier in range(number) for ref in reader.xrefs.explicit_refs_in_revision(earlier)}
    for ref in reader.xrefs.explicit_refs_in_revision(number):
        is_table = ref not in known and ref in reader.xrefs.xref_stream_refs
        if f"{ref.idnum} {ref.generation} R" not in asked and not is_table:
            raise ValueError(f"revision {number} writes object {ref.idnum}, which no signature needs")


def _value(table: Any, key: str) -> Any:
    """What a dictionary holds under a key, looked up, which its own `get` does not; None without it."""
    if key not in table:
        return None
    return table[key]


def _text(value: Any) -> str:
    """A value as a PDF writes it."""
    stream = io.BytesIO()
    value.write_to_stream(stream, None)
    return stream.getvalue().decode("latin-1")


def _first_page(resolver: Any) -> tuple[Any, Any]:
    """The first page of a revision, and what refers to it."""
    reference = resolver.root.raw_get("/Pages")
    for _ in range(DEEPEST):
        node = resolver(reference.reference)
        if node["/Type"] == "/Page":
            return node, reference
        reference = node["/Kids"].raw_get(0)
    raise ValueError("its tree of pages has no end")


def _refuse_unlike(before: Any, after: Any, may: set[str], number: int) -> None:
    for key in {*before.keys(), *after.keys()} - may:
        if key not in before or key not in after or _text(before.raw_get(key)) != _text(after.raw_get(key)):
            raise ValueError(f"revision {number} changes {key[1:]}")


def _refuse_more(before: Any, after: Any, number: int) -> None:
    """Refuse a list that is not the one before and one more."""
    then = [] if before is None else [_text(before.raw_get(at)) for at in range(len(before))]
    if [_text(after.raw_get(at)) for at in range(len(after))][:-1] != then or len(after) != len(then) + 1:
        raise ValueError(f"revision {number} adds more than a signature")
