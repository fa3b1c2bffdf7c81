"""Signatures over a dossier: PAdES in copies of its PDFs, CMS beside its results, its manifest and its unsigned PDFs.

Everything goes into one folder of OUT, `signed/`; what is signed keeps its bytes. A signed PDF begins with the bytes of
the unsigned one, and each signature adds a revision with an invisible field and nothing else: metadata, pages and
structure stay as they are, and with them the conformance to PDF/A and PDF/UA.
"""

from __future__ import annotations

import asyncio
import datetime
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dossier.core.errors import Fault, OutputError, ReleaseError, SigningError
from dossier.core.facts import gathered
from dossier.core.faults.locations import Option, Out
from dossier.record import manifest as manifests
from dossier.record import results
from dossier.record.manifest import SIGNED
from dossier.report.chapters import sign_off
from dossier.signing.quiet import quiet

if TYPE_CHECKING:
    from pyhanko.sign.signers import Signer

MOST = 99
"""Signatures of one dossier."""
LONGEST_MEANING = 500
LARGEST_KEY_FILE = 1 << 20
SECONDS_FOR_A_TIMESTAMP = 30
FIELD = "Signature{}"
USAGES = frozenset({"digital_signature", "non_repudiation"})
"""Of a certificate, what a signature needs one of."""


@dataclass(frozen=True)
class Meaning:
    """What a signature says: as whom somebody signs, and that which is stated with it."""

    role: str
    says: str

    def __str__(self) -> str:
        """One line, as it stands in the signature."""
        return f"{self.role}: {self.says}" if self.says else self.role


@dataclass(frozen=True)
class KeyFile:
    """A PKCS#12 file with a key and its certificate; its password is in no text that anything prints."""

    path: Path
    password: str = field(repr=False)


@dataclass(frozen=True)
class Token:
    """A key on a token or a card: the module that speaks to it, its label, the label of the key, and the PIN."""

    module: Path
    label: str
    key: str
    pin: str = field(repr=False)


@dataclass(frozen=True)
class Request:
    """How to sign: as whom, with which key, by whose clock; whether a certificate may vouch for itself."""

    meaning: str
    key: KeyFile | Token
    timestamps: str | None = None
    """The address of a timestamp authority; None for the clock of this machine."""
    self_signed: bool = False


def declared(document: results.Results) -> tuple[Meaning, ...]:
    """The meanings that a release declares for its signatures; those that are printed where it declares none."""
    return tuple(Meaning(role, says) for _, role, says, _ in sign_off.lines(document.evidence))


def names(document: results.Results) -> dict[str, tuple[str, ...]]:
    """Whom a release names for each meaning; empty where it declares none."""
    said = ((str(Meaning(each.role, each.meaning)), each.name) for each in document.evidence.release.signatory)
    return {each: tuple(called) for each, called in gathered(said).items()}


def meaning(document: results.Results, asked: str) -> Meaning:
    """What is signed under these words: a role or a meaning of `[[signatory]]`, or what they say themselves.

    A ReleaseError says that the release declares who signs, and nobody so.
    """
    asked = " ".join(asked.split())
    every = declared(document)
    folded = asked.casefold()
    for meaning in every:
        if folded in (meaning.role.casefold(), meaning.says.casefold(), str(meaning).casefold()):
            return meaning
    if document.evidence.release.signatory:
        roles = tuple(meaning.role for meaning in every)
        raise ReleaseError.one("nobody_signs_as", Option("--as"), asked=asked[:100], roles=roles)
    if not asked or len(asked) > LONGEST_MEANING:
        raise ReleaseError.one("meaning_of_signature", Option("--as"), most=LONGEST_MEANING)
    return Meaning(asked, "")


def refuse_unsound(out: Path, asked: str, hashes_only: bool) -> None:
    """Refuse to sign a dossier in which something differs, and a meaning that nobody signs with: before all else."""
    from dossier.outputs import verify
    from dossier.signing import signed

    meaning(results.opened(out), asked)
    # Nobody is trusted here, and no root named: signatures that are there must be sound, whoever made them.
    with quiet():
        wrong = (*verify.report(out, hashes_only).differences, *signed.found(out, signed.Trust()).differences)
    if wrong:
        raise OutputError([Fault("nothing_is_signed", Out(str(out)), why=text) for text in wrong])


@quiet()
def signatures(out: Path, request: Request) -> dict[str, bytes]:
    """Every file of OUT/signed with one more signature, by name.

    `out` is a dossier in which `dossier verify` finds no difference. A SigningError says why the key cannot sign.
    """
    manifest = manifests.opened(out)
    said = str(meaning(results.opened(out), request.meaning))
    signer = _signer(request)
    present = manifest.signatures(out) - {SIGNED}
    files = {name.removeprefix(f"{SIGNED}/"): (out / name).read_bytes() for name in present}
    number = 1 + sum(name.startswith(f"{results.RESULTS}.") for name in files)
    if number > MOST:
        raise OutputError.one("most_signatures", Out(str(out)), most=MOST)
    for name in manifest.signable:
        content = (out / name).read_bytes()
        files[f"{name}.{number}.p7s"] = _asked(_detached(content, said, signer, request.timestamps))
        if name.endswith(".pdf"):
            files[name] = _asked(_embedded(files.get(name, content), number, said, signer, request.timestamps))
    return files


def _asked(work: Any) -> bytes:
    """The bytes that a signer makes; what a token or a timestamp authority refuses is a fault."""
    import aiohttp
    from pkcs11.exceptions import PKCS11Error
    from pyhanko.sign.general import SigningError as Refused
    from pyhanko.sign.timestamps.common_utils import TimestampRequestError

    try:
        return cast(bytes, asyncio.run(work))
    except (TimestampRequestError, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise SigningError.one("no_timestamp", Option("--tsa"), error=type(error).__name__) from None
    except (Refused, PKCS11Error, ValueError) as error:
        raise SigningError.one("key_does_not_sign", Option("--as"), error=type(error).__name__) from None


# ---- the key --------------------------------------------------------------------------------------------------------


def _signer(request: Request) -> Signer:
    """What signs, with a certificate that is valid now, and vouched for by another unless that is waived."""
    signer = _of_file(request.key) if isinstance(request.key, KeyFile) else _of_token(request.key)
    certificate: Any = signer.signing_cert
    where = Option("--pkcs12" if isinstance(request.key, KeyFile) else "--pkcs11")
    if certificate is None:
        raise SigningError.one("no_certificate_beside_key", where)
    if not certificate.not_valid_before <= datetime.datetime.now(datetime.UTC) <= certificate.not_valid_after:
        day = certificate.not_valid_after.date().isoformat()
        raise SigningError.one("certificate_not_valid_today", where, day=day)
    if certificate.subject == certificate.issuer and not request.self_signed:
        raise SigningError.one("certificate_vouches_for_itself", where)
    usage = certificate.key_usage_value
    if usage is not None and not usage.native & USAGES:
        raise SigningError.one("certificate_not_for_signatures", where)
    return signer


def _of_file(key: KeyFile) -> Signer:
    from pyhanko.sign.signers import SimpleSigner

    if not key.path.is_file() or key.path.stat().st_size > LARGEST_KEY_FILE:
        raise SigningError.one("no_key_file", Option("--pkcs12"), file=str(key.path))
    content = key.path.read_bytes()
    try:
        return cast("Signer", SimpleSigner.load_pkcs12_data(content, [], key.password.encode() or None))
    except (ValueError, TypeError, AttributeError):
        # Its message may say more of the file than anybody should read.
        raise SigningError.one("key_file_not_opened", Option("--pkcs12"), file=key.path.name) from None


def _of_token(token: Token) -> Signer:
    from pkcs11.exceptions import PKCS11Error
    from pyhanko.config.pkcs11 import TokenCriteria
    from pyhanko.sign.general import SigningError as Refused
    from pyhanko.sign.pkcs11 import PKCS11Signer, open_pkcs11_session

    if token.module.exists() and not token.module.is_file():
        raise SigningError.one("token_gives_no_key", Option("--pkcs11"), error=f"{token.module} is no library")
    try:
        session = open_pkcs11_session(
            str(token.module), token_criteria=TokenCriteria(label=token.label), user_pin=token.pin
        )
        # Hashed here: not every token knows how.
        signer = PKCS11Signer(session, cert_label=token.key, key_label=token.key, use_raw_mechanism=True)
        # Only the first look at the certificate asks the token for it.
        _ = signer.signing_cert
        return cast("Signer", signer)
    except (PKCS11Error, Refused, RuntimeError, OSError) as error:
        raise SigningError.one("token_gives_no_key", Option("--pkcs11"), error=type(error).__name__) from None


# ---- the signatures -------------------------------------------------------------------------------------------------


def _timestamps(address: str | None) -> Any:
    if address is None:
        return None
    from pyhanko.sign.timestamps.aiohttp_client import HTTPTimeStamper

    return HTTPTimeStamper(address, timeout=SECONDS_FOR_A_TIMESTAMP)


async def _detached(content: bytes, said: str, signer: Signer, timestamps: str | None) -> bytes:
    """A CMS signature over the bytes of a file, with the time and the meaning among what is signed."""
    from dossier.signing.signed_attributes import With

    signer.signed_attr_prov_spec = With(signer, said)
    try:
        found = await signer.async_sign_general_data(content, "sha256", timestamper=_timestamps(timestamps))
    finally:
        signer.signed_attr_prov_spec = None
    return bytes(found.dump())


async def _embedded(content: bytes, number: int, said: str, signer: Signer, timestamps: str | None) -> bytes:
    """A PDF with one more signature; the first one certifies it, and allows nothing but further ones."""
    from pyhanko.sign.fields import MDPPerm, SigFieldSpec, SigSeedSubFilter
    from pyhanko.sign.signers import PdfSignatureMetadata, PdfSigner

    from dossier.signing.signed_attributes import Addition

    about = PdfSignatureMetadata(
        field_name=FIELD.format(number),
        md_algorithm="sha256",
        reason=said,
        subfilter=SigSeedSubFilter.PADES,
        certify=number == 1,
        docmdp_permissions=MDPPerm.FILL_FORMS,
    )
    field = SigFieldSpec(FIELD.format(number), on_page=0)
    pen = PdfSigner(about, signer, timestamper=_timestamps(timestamps), new_field_spec=field)
    signed = await pen.async_sign_pdf(Addition(io.BytesIO(content)))
    return cast(bytes, signed.getvalue())
