"""sign and verify --trust: who signed what is told, and whatever is not as it was signed is named."""

from __future__ import annotations

import asyncio
import datetime
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID
from pyhanko.keys import load_certs_from_pemder_data
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import signers
from pyhanko.sign.fields import MDPPerm, SigFieldSpec, SigSeedSubFilter
from pyhanko.sign.timestamps import DummyTimeStamper

from dossier.command_line import cli
from dossier.core import limited
from dossier.core.errors import DossierError, OutputError, ReleaseError, SigningError
from dossier.outputs import output
from dossier.record import results
from dossier.signing import sign, signature_check, signed
from dossier.signing.signed import Found, Trust
from dossier.signing.signed_attributes import Addition
from tests.bench.conformance import unsound
from tests.certificates_of_tests import PASSWORD, Owner, owner, timestamp_authority
from tests.conftest import ROOT
from tests.smallest import HEAD, QUICK, SITE

GBSG = ROOT / "fixtures" / "breast" / "gbsg.csv"
PAGES = "dossier-quick.pdf"


def asked(*words: str | Path, environment: dict[str, str] | None = None) -> Result:
    """What the command line answers."""
    return CliRunner().invoke(cli.dossier, [str(word) for word in words], standalone_mode=False, env=environment)


@pytest.fixture(scope="module")
def authority() -> Owner:
    return owner("Hospital Authority", authority=True, days=(-40, 365))


@pytest.fixture(scope="module")
def people(authority: Owner) -> tuple[Owner, ...]:
    return tuple(owner(name, authority) for name in ("Ada Author", "Stan Statistician", "Quinn Quality"))


@pytest.fixture(scope="module")
def unsigned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dossier of a quick look."""
    out = tmp_path_factory.mktemp("unsigned") / "out"
    words = ("--outcome", "outcome", "--risk", "risk", "--threshold", "0.2", "--seed", "7")
    assert asked("quick", GBSG, *words, "-o", out, "--jobs", "1", "--quiet").exception is None
    return out


def signed_by(out: Path, who: Owner, meaning: str = "Statistician", **words: Any) -> Path:
    """The dossier with one more signature, made without a look at what is there."""
    key = sign.KeyFile(who.p12(out.parent / "key.p12"), PASSWORD)
    files = sign.signatures(out, sign.Request(meaning, key, **words))
    output.write_signatures(out, files)
    return out


@pytest.fixture(scope="module")
def once(unsigned: Path, people: tuple[Owner, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = Path(shutil.copytree(unsigned, tmp_path_factory.mktemp("once") / "out"))
    return signed_by(out, people[0])


@pytest.fixture(scope="module")
def twice(once: Path, people: tuple[Owner, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = Path(shutil.copytree(once, tmp_path_factory.mktemp("twice") / "out"))
    return signed_by(out, people[1], "Quality assurance")


@pytest.fixture
def trust(authority: Owner, tmp_path: Path) -> Trust:
    return Trust((authority.pem(tmp_path / "authority.pem"),))


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done in a process of its own is the same here, and quicker by its start."""
    apart = limited.call

    def call(function: str, *words: str, seconds: int) -> Any:
        if function != "dossier.signing.signature_check:looked_at":
            return apart(function, *words, seconds=seconds)
        return json.loads(json.dumps(signature_check.looked_at(*words)))

    monkeypatch.setattr(limited, "call", call)


def copied(out: Path, folder: Path) -> Path:
    return Path(shutil.copytree(out, folder / "copy", symlinks=True))


# ---- sound ones -----------------------------------------------------------------------------------------------------


def test_three_sign_and_verify_says_who_what_when_and_by_which_root(
    unsigned: Path, people: tuple[Owner, ...], authority: Owner, tmp_path: Path
) -> None:
    out = copied(unsigned, tmp_path)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    roles = ("Author of the evaluation", "Statistician", "the dossier was made by the process that is laid down.")
    for signer, role in zip(people, roles, strict=True):
        words = ("sign", out, "--as", role, "--pkcs12", signer.p12(tmp_path / "own.p12"), "--hashes-only")
        result = asked(*words, environment={"DOSSIER_PASSWORD": PASSWORD})
        assert result.exception is None, result.exception
    assert {path: path.read_bytes() for path in before} == before
    assert (out / "signed" / PAGES).read_bytes().startswith((out / PAGES).read_bytes())
    result = asked("verify", out, "--trust", authority.pem(tmp_path / "authority.pem"))
    assert (result.exception, result.return_value, result.stderr) == (None, 0, "")
    said = result.stdout.splitlines()
    lines = [line for line in said if line.startswith("signed: ")]
    fingerprint = hashlib.sha256(authority.certificate.public_bytes(serialization.Encoding.DER)).hexdigest()
    for line, name, meaning in zip(
        lines,
        ("Ada Author", "Stan Statistician", "Quinn Quality"),
        (
            "Author of the evaluation: This dossier says what was done.",
            "Statistician: I checked the analysis.",
            "Quality assurance: The dossier was made by the process that is laid down.",
        ),
        strict=True,
    ):
        assert line.startswith(f"signed: {PAGES}, manifest.json, results.json by “{name}”, “{meaning}”, on 20")
        assert line.endswith(f"by the signer's own clock, vouched for by “Hospital Authority” (SHA-256 {fingerprint})")
    who = "Ada Author, Stan Statistician, Quinn Quality"
    assert f"Verified: results.json is what {who} signed, and every other file is what it prints." in said
    assert said[-1] == "results.json itself was not checked against data."
    assert unsound(out / "signed" / PAGES, 3) == []


def test_the_file_for_the_screen_is_signed_beside_the_pages(
    people: tuple[Owner, ...], trust: Trust, tmp_path: Path
) -> None:
    """Of a build with every edition; one changed word of it is named, be it signed or not."""
    (tmp_path / "release.toml").write_text(HEAD + SITE + QUICK, encoding="utf-8")
    rows = "".join(f"{k % 3 % 2},0.{1 + 7 * k % 8}\n" for k in range(90))
    (tmp_path / "site.csv").write_text(f"outcome,risk\n{rows}", encoding="utf-8")
    out = tmp_path / "out"
    assert asked("build", tmp_path, "-o", out, "--jobs", "1", "--quiet").exception is None
    signed_by(out, people[0])
    assert (out / "signed" / "dossier.html.1.p7s").is_file()
    sound = asked("verify", out, "--trust", trust.roots[0])
    assert (sound.exception, sound.return_value, sound.stderr) == (None, 0, "")
    (line,) = (line for line in sound.stdout.splitlines() if line.startswith("signed: "))
    assert "dossier.html" in line
    page = (out / "dossier.html").read_bytes()
    (out / "dossier.html").write_bytes(page.replace(b"External validation", b"Internal validation", 1))
    changed = asked("verify", out, "--hashes-only", "--trust", trust.roots[0])
    assert changed.return_value == 4
    assert "dossier.html" in changed.stderr
    assert "the file is not what was signed" in changed.stderr


def test_without_a_root_nobody_is_trusted(once: Path) -> None:
    found = signed.found(once, Trust())
    assert (found.differences, found.by_trusted()) == ((), ())
    (line,) = found.lines()
    assert line.endswith("vouched for by nobody that you named: anybody can write this name")
    result = asked("verify", once, "--hashes-only")
    assert result.return_value == 0
    assert "verified" not in result.stdout.lower()
    assert "Self-consistent: every file has the hash that manifest.json lists. Nothing was checked" in result.stdout


def test_a_signature_holds_where_other_versions_print_other_bytes(
    once: Path, trust: Trust, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dossier.outputs import verify
    from dossier.record import versions

    ours = dict(versions.installed())
    monkeypatch.setattr(limited, "call", _with_versions({**ours, "pango": "1.0.1"}))
    result = asked("verify", once, "--trust", trust.roots[0])
    assert result.return_value == 4
    assert "made with other versions: pango" in result.stderr
    assert "or add --hashes-only" in result.stderr
    result = asked("verify", once, "--trust", trust.roots[0], "--hashes-only")
    assert result.return_value == 0
    assert "Verified by signature alone: every file has the hash in the manifest that Ada Author" in result.stdout
    assert verify.NO_DATA in result.stdout


def _with_versions(installed: dict[str, str]) -> Callable[..., Any]:
    """Everything here, with other versions installed."""
    from dossier.outputs import verify
    from dossier.record import versions

    def call(function: str, *words: str, seconds: int) -> Any:
        if function == "dossier.signing.signature_check:looked_at":
            return json.loads(json.dumps(signature_check.looked_at(*words)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(versions, "installed", lambda: installed)
            return verify.printed_again(*words)

    return call


def test_openssl_takes_the_signature_beside_the_unsigned_pages(once: Path, trust: Trust) -> None:
    """What FDA takes: the unsigned PDF, and its signature in a file of its own."""
    for name in (PAGES, "results.json", "manifest.json"):
        words = ("-inform", "DER", "-in", str(once / "signed" / f"{name}.1.p7s"), "-content", str(once / name))
        done = subprocess.run(
            ["openssl", "cms", "-verify", "-binary", *words, "-CAfile", trust.roots[0], "-purpose", "any"],
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith((once / name).read_bytes()[:100])


def test_a_signed_pdf_keeps_version_catalog_and_metadata(once: Path) -> None:
    from pyhanko.pdf_utils.reader import PdfFileReader

    reader = PdfFileReader(io.BytesIO((once / "signed" / PAGES).read_bytes()))
    assert reader.input_version == (1, 7)
    old = reader.get_historical_resolver(0).root
    assert set(reader.root) - set(old) == {"/AcroForm", "/Perms"}
    written = {ref.idnum for ref in reader.xrefs.explicit_refs_in_revision(1)}
    assert reader.root.raw_get("/Metadata").idnum not in written


# ---- what is asked of who signs -------------------------------------------------------------------------------------


def test_the_meaning_is_that_of_the_release(unsigned: Path) -> None:
    document = json.loads((unsigned / "results.json").read_bytes())
    plain = results.read(json.dumps(document).encode())
    assert str(sign.meaning(plain, "statistician")) == "Statistician: I checked the analysis."
    assert str(sign.meaning(plain, "I  read it")) == "I read it"
    with pytest.raises(ReleaseError, match="empty or too long"):
        sign.meaning(plain, "x" * 501)
    who = [
        {"name": "A", "role": "Head", "meaning": "I answer for it."},
        {"name": "B", "role": "QA", "meaning": "Done."},
    ]
    document["declared"]["signatory"] = who
    declared = results.read(json.dumps(document).encode())
    for words in ("head", "HEAD", "i answer for it.", "Head: I answer for it."):
        assert str(sign.meaning(declared, words)) == "Head: I answer for it."
    for words in ("Statistician", "A", ""):
        with pytest.raises(ReleaseError, match=r"(?s)Nobody signs as.*Head, QA"):
            sign.meaning(declared, words)


@pytest.mark.parametrize(
    ("who", "password", "says"),
    [
        (lambda root: owner("E", root, days=(-9, -1)), PASSWORD, "not valid today"),
        (lambda root: owner("F", root, days=(1, 9)), PASSWORD, "not valid today"),
        (lambda root: owner("S"), PASSWORD, "Nobody but itself vouches"),
        (lambda root: owner("G", root), "wrong", "cannot be opened: the password is wrong"),
        (lambda root: owner("G", root), "", "cannot be opened: the password is wrong"),
        (lambda root: owner("K", root, signs=False), PASSWORD, "The certificate is not for signatures"),
    ],
    ids=["expired", "not yet", "self-signed", "wrong password", "no password", "no signatures"],
)
def test_what_cannot_sign_is_refused_and_leaves_nothing(
    unsigned: Path, authority: Owner, tmp_path: Path, who: Callable[[Owner], Owner], password: str, says: str
) -> None:
    out = copied(unsigned, tmp_path)
    key = who(authority).p12(tmp_path / "own.p12")
    result = asked(
        "sign", out, "--as", "Me", "--pkcs12", key, "--hashes-only", environment={"DOSSIER_PASSWORD": password}
    )
    assert isinstance(result.exception, SigningError)
    assert says in str(result.exception)
    assert PASSWORD not in str(result.exception)
    assert result.exception.__cause__ is None
    assert not (out / "signed").exists()
    assert not list(tmp_path.glob(".copy.building*"))


def test_neither_password_nor_key_is_left_anywhere(
    unsigned: Path, people: tuple[Owner, ...], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = copied(unsigned, tmp_path)
    reading, writing = os.pipe()
    os.write(writing, f"{PASSWORD}\nmore".encode())
    os.close(writing)
    key = people[0].p12(tmp_path / "own.p12")
    caplog.set_level(0)
    words = ("sign", out, "--as", "Me", "--pkcs12", key, "--hashes-only", "--password-fd", str(reading))
    result = asked(*words, environment={"DOSSIER_PASSWORD": "another"})
    assert result.exception is None
    own = people[0].key
    assert isinstance(own, ec.EllipticCurvePrivateKey)
    number = own.private_numbers().private_value
    secrets = [PASSWORD.encode(), number.to_bytes(32, "big"), number.to_bytes(32, "big").hex().encode()]
    written = [path.read_bytes() for path in out.rglob("*") if path.is_file()]
    written += [result.output.encode(), caplog.text.encode()]
    assert not [secret for secret in secrets for content in written if secret in content]
    assert PASSWORD not in repr(sign.Request("Me", sign.KeyFile(key, PASSWORD)))
    assert "1234" not in repr(sign.Request("Me", sign.Token(Path("/m"), "t", "k", "1234")))


def test_a_password_is_no_argument_and_without_a_terminal_not_asked_for(unsigned: Path, tmp_path: Path) -> None:
    options = {option for parameter in cli.sign.params for option in parameter.opts}
    assert {option for option in options if "pass" in option or "pin" in option} == {"--password-fd"}
    result = asked("sign", unsigned, "--as", "Me", "--pkcs12", tmp_path / "none.p12", "--hashes-only")
    assert "There is no terminal to ask" in str(result.exception)
    result = asked("sign", unsigned, "--as", "Me", "--pkcs12", tmp_path, "--hashes-only", "--password-fd", "999")
    assert "Nothing can be read from it." in str(result.exception)


def test_an_altered_dossier_is_not_signed(unsigned: Path, people: tuple[Owner, ...], tmp_path: Path) -> None:
    out = copied(unsigned, tmp_path)
    (out / "results.csv").write_bytes(b"altered")
    key = people[0].p12(tmp_path / "own.p12")
    words = ("sign", out, "--as", "Me", "--pkcs12", key, "--hashes-only")
    result = asked(*words, environment={"DOSSIER_PASSWORD": PASSWORD})
    assert "Nothing is signed: results.csv differs from the manifest." in str(result.exception)
    assert not (out / "signed").exists()


def test_a_self_signed_certificate_needs_a_flag_on_both_sides(unsigned: Path, tmp_path: Path) -> None:
    alone = owner("Sue Alone")
    out = signed_by(copied(unsigned, tmp_path), alone, self_signed=True)
    file = alone.pem(tmp_path / "alone.pem")
    assert "is of no authority" in str(asked("verify", out, "--hashes-only", "--trust", file).exception)
    found = signed.found(out, Trust((file,), self_signed=True))
    assert (found.differences, found.by_trusted()) == ((), ("Sue Alone",))
    stranger = owner("Sue Alone").pem(tmp_path / "stranger.pem")
    assert signed.found(out, Trust((stranger,), self_signed=True)).by_trusted() == ()


def test_what_build_does_with_signatures(once: Path, people: tuple[Owner, ...], tmp_path: Path) -> None:
    out = copied(once, tmp_path)
    with pytest.raises(OutputError, match="holds signatures"), output.reserved(out):
        pass
    assert "signed/results.json.1.p7s" in output.leaving(out, {PAGES, "results.json", "manifest.json"})
    with output.reserved(out, replace=True):
        pass
    (out / "signed" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"does not list: signed/notes\.txt"), output.reserved(out, replace=True):
        pass


# ---- attacks --------------------------------------------------------------------------------------------------------


def flipped(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def _signer(who: Owner, folder: Path) -> Any:
    return sign._of_file(sign.KeyFile(who.p12(folder / "pen.p12"), PASSWORD))


def resigned(
    out: Path, who: Owner, change: Callable[[IncrementalPdfFileWriter], object], *, writer: Any = Addition, **words: Any
) -> None:
    """Put a signed PDF that its signer has changed into a dossier with one signature."""
    added = writer(io.BytesIO((out / PAGES).read_bytes()))
    change(added)
    box, name = words.pop("box", None), str(words.pop("name", "Signature1"))
    about = signers.PdfSignatureMetadata(
        field_name=name,
        reason="Statistician: I checked the analysis.",
        subfilter=SigSeedSubFilter.PADES,
        certify=True,
        docmdp_permissions=MDPPerm.FILL_FORMS,
        md_algorithm="sha256",
        **words,
    )
    field = SigFieldSpec(name, on_page=0, box=box)
    content = signers.PdfSigner(about, _signer(who, out.parent), new_field_spec=field).sign_pdf(added).getvalue()
    (out / "signed" / PAGES).write_bytes(content)


def no_change(added: IncrementalPdfFileWriter) -> None:
    """The control: what pyHanko makes so is what dossier makes."""


def script(added: IncrementalPdfFileWriter) -> None:
    action = {"/S": generic.pdf_name("/JavaScript"), "/JS": generic.pdf_string("app.alert(1)")}
    added.root["/OpenAction"] = generic.DictionaryObject({generic.pdf_name(k): v for k, v in action.items()})
    added.update_root()


def _page(added: IncrementalPdfFileWriter) -> Any:
    """The first page, to be written anew."""
    reference = added.find_page_for_modification(0)[0]
    added.mark_update(reference)
    return reference.get_object()


def blank(added: IncrementalPdfFileWriter) -> None:
    _page(added)["/Contents"] = added.add_object(generic.StreamObject(stream_data=b""))


def overlaid(added: IncrementalPdfFileWriter) -> None:
    """Another content in the place of the page's own, which keeps its number."""
    reference = _page(added).raw_get("/Contents").reference
    added.objects[(reference.generation, reference.idnum)] = generic.StreamObject(stream_data=b"q Q")


def note(added: IncrementalPdfFileWriter) -> None:
    page = _page(added)
    about = {"/Type": "/Annot", "/Subtype": "/FreeText"}
    box = generic.ArrayObject([generic.NumberObject(at) for at in (0, 0, 300, 300)])
    record = generic.DictionaryObject({generic.pdf_name(key): generic.pdf_name(value) for key, value in about.items()})
    record["/Rect"], record["/Contents"] = box, generic.pdf_string("APPROVED")
    page["/Annots"] = generic.ArrayObject([added.add_object(record)])


def hidden(added: IncrementalPdfFileWriter) -> None:
    added.add_object(generic.StreamObject(stream_data=b"a patient"))


def attached(added: IncrementalPdfFileWriter) -> None:
    names = added.root["/Names"]
    names["/EmbeddedFiles"] = generic.DictionaryObject()
    added.update_root()


def other_title(added: IncrementalPdfFileWriter) -> None:
    metadata = added.root.raw_get("/Metadata").reference
    added.objects[(metadata.generation, metadata.idnum)] = generic.StreamObject(stream_data=b"<x/>")


REVISED: dict[str, tuple[Callable[[IncrementalPdfFileWriter], object], dict[str, Any], str]] = {
    "a script": (script, {}, "changes OpenAction"),
    "a blank page": (blank, {}, "changes Contents"),
    "another content": (overlaid, {}, "which no signature needs"),
    "a note": (note, {}, "adds more than a signature"),
    "a hidden object": (hidden, {}, "which no signature needs"),
    "an attachment": (attached, {}, "changes Names"),
    "other metadata": (other_title, {}, "which no signature needs"),
    "a field to be seen": (no_change, {"box": (10, 10, 200, 60)}, "more than sign"),
    "another field": (no_change, {"name": "Approval"}, "called otherwise"),
    "version 2.0": (no_change, {"writer": IncrementalPdfFileWriter}, "revision 1 changes"),
}


def test_the_control_of_revised_pages_is_sound(
    once: Path, people: tuple[Owner, ...], trust: Trust, tmp_path: Path
) -> None:
    out = copied(once, tmp_path)
    resigned(out, people[0], no_change)
    assert signed.found(out, trust).differences == ()


@pytest.mark.parametrize("kind", REVISED)
def test_a_signer_cannot_change_what_is_signed(
    once: Path, people: tuple[Owner, ...], trust: Trust, tmp_path: Path, kind: str
) -> None:
    change, words, says = REVISED[kind]
    out = copied(once, tmp_path)
    resigned(out, people[0], change, **words)
    found = signed.found(out, trust)
    assert any(says in text for text in found.differences), found.differences
    assert found.by_trusted() == ()


def after_signing(out: Path) -> None:
    added = IncrementalPdfFileWriter(io.BytesIO((out / "signed" / PAGES).read_bytes()))
    note(added)
    stream = io.BytesIO()
    added.write(stream)
    (out / "signed" / PAGES).write_bytes(stream.getvalue())


def appended(out: Path) -> None:
    with (out / "signed" / PAGES).open("ab") as file:
        file.write(b"\n%%EOF\n")


def updated(text: bytes) -> Callable[[Path], object]:
    """An update after the last signature, in which HERE is its own place and LAST that of the table before."""

    def update(path: Path) -> None:
        content = path.read_bytes()
        last = re.findall(rb"startxref\s+(\d+)", content)[-1]
        here = str(len(content) + 1).encode()
        path.write_bytes(content + b"\n" + text.replace(b"HERE", here).replace(b"LAST", last) + END % here)

    return in_signed(PAGES, update)


END = b"\nstartxref\n%s\n%%%%EOF\n"
HOSTILE: dict[str, bytes] = {
    "a size of 99,999,999,999": b"xref\n0 0\ntrailer\n<</Size 99999999999 /Root 1 0 R /Prev LAST>>",
    "a table before itself": b"xref\n0 0\ntrailer\n<</Size 9 /Root 1 0 R /Prev HERE>>",
    "a root that is itself": b"7 0 obj\n7 0 R\nendobj\nxref\n0 0\ntrailer\n<</Size 9 /Root 7 0 R /Prev LAST>>",
    "200,000 lists in each other": b"xref\n0 0\ntrailer\n<</Size 9 /X " + b"[" * 200_000 + b" /Prev LAST>>",
    "a table of 999,999,999 rows": b"xref\n0 999999999\n0000000000 65535 f \ntrailer\n<</Size 9 /Root 1 0 R "
    b"/Prev LAST>>",
}
"""Updates that a reader of PDF may follow without end, or find no memory for."""


def first_only(out: Path) -> None:
    """Cut off the second signature of the pages."""
    from pyhanko.pdf_utils.reader import PdfFileReader

    content = (out / "signed" / PAGES).read_bytes()
    signature = PdfFileReader(io.BytesIO(content)).embedded_signatures[0]
    (out / "signed" / PAGES).write_bytes(content[: signature.byte_range[2] + signature.byte_range[3]])


def in_signed(name: str, do: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda out: do(out / "signed" / name)


def in_small_letters(path: Path) -> None:
    """The same signature in other letters, which no signature covers."""
    content = path.read_bytes()
    at = content.rindex(b"/Contents <") + len(b"/Contents <")
    end = content.index(b">", at)
    path.write_bytes(content[:at] + content[at:end].lower() + content[end:])


def with_a_message(path: Path) -> None:
    """Something else in the room that is kept for a signature."""
    content = path.read_bytes()
    at = content.rindex(b"/Contents <")
    end = content.index(b">", at)
    path.write_bytes(content[: end - 8] + b"deadbeef" + content[end:])


def swapped(text: str, other: str) -> Callable[[Path], object]:
    def swap(out: Path) -> None:
        first, second = (out / "signed" / name for name in (text, other))
        content = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(content)

    return swap


def linked(out: Path) -> None:
    (out / "signed").rename(out.parent / "elsewhere")
    (out / "signed").symlink_to(out.parent / "elsewhere")


def link_in(out: Path) -> None:
    path = out / "signed" / "results.json.1.p7s"
    path.rename(out.parent / "kept")
    path.symlink_to(out.parent / "kept")


def copied_number(out: Path) -> None:
    for path in list((out / "signed").glob("*.2.p7s")):
        path.rename(path.with_name(path.name.replace(".2.p7s", ".3.p7s")))


def same_twice(out: Path) -> None:
    for path in (out / "signed").glob("*.1.p7s"):
        shutil.copy(path, path.with_name(path.name.replace(".1.p7s", ".2.p7s")))


ALTERED: dict[str, tuple[Callable[[Path], object], str]] = {
    "results.json": (lambda out: flipped(out / "results.json", 2000), "the file is not what was signed"),
    "manifest.json": (lambda out: flipped(out / "manifest.json", 30), "no dossier"),
    "unsigned pages": (lambda out: flipped(out / PAGES, 5000), "does not begin with the bytes"),
    "signed pages, begin": (in_signed(PAGES, lambda path: flipped(path, 5000)), "does not begin with the bytes"),
    "signed pages, signature": (in_signed(PAGES, lambda path: flipped(path, path.stat().st_size - 9000)), PAGES),
    "an update after signing": (after_signing, "a revision that is no signature"),
    "bytes after signing": (appended, "no signature that can be read: startxref not found"),
    **{kind: (updated(text), PAGES) for kind, text in HOSTILE.items()},
    "a comment after signing": (in_signed(PAGES, lambda path: path.write_bytes(path.read_bytes() + b"\n% ")), PAGES),
    "bytes before": (in_signed(PAGES, lambda path: path.write_bytes(b"%!\n" + path.read_bytes())), "does not begin"),
    "a signature in small letters": (in_signed(PAGES, in_small_letters), "is not written as it is made"),
    "a message in a signature": (in_signed(PAGES, with_a_message), "is not written as it is made"),
    "unsigned as signed": (lambda out: shutil.copy(out / PAGES, out / "signed"), "it holds no signature"),
    "the second cut off": (first_only, f"signature 2 is missing in signed/{PAGES}"),
    "pages gone": (in_signed(PAGES, Path.unlink), f"signature 1 is missing in signed/{PAGES}"),
    "one gone": (in_signed("results.json.1.p7s", Path.unlink), "signature 1 is missing in signed/results.json.1.p7s"),
    "one emptied": (in_signed("results.json.1.p7s", lambda path: path.write_bytes(b"")), "no signature that can be"),
    "one of noise": (in_signed("results.json.1.p7s", lambda path: path.write_bytes(b"\x30\x80" * 99)), "can be read"),
    "one too large": (in_signed("results.json.1.p7s", lambda path: path.write_bytes(bytes(2 << 20))), "too large"),
    "one cut": (in_signed("results.json.1.p7s", lambda path: path.write_bytes(path.read_bytes()[:-9])), "can be read"),
    "swapped files": (swapped("results.json.1.p7s", "manifest.json.1.p7s"), "the file is not what was signed"),
    "swapped signers": (swapped("results.json.1.p7s", "results.json.2.p7s"), "not of one signer and one meaning"),
    "a gap": (copied_number, "signature 2 is missing"),
    "one twice": (same_twice, "not of one signer"),
    "a linked folder": (linked, "signed is not listed"),
    "a link": (link_in, "signed/results.json.1.p7s is not listed"),
    "something else": (lambda out: (out / "signed" / "approved.pdf").write_text("x"), "approved.pdf is not listed"),
    "a folder in it": (lambda out: (out / "signed" / "results.json.9.p7s").mkdir(), "9.p7s is not listed"),
}


@pytest.mark.parametrize("kind", ALTERED)
def test_what_is_not_as_it_was_signed_is_named(twice: Path, trust: Trust, tmp_path: Path, kind: str) -> None:
    change, says = ALTERED[kind]
    out = copied(twice, tmp_path)
    change(out)
    result = asked("verify", out, "--hashes-only", "--trust", trust.roots[0])
    if isinstance(result.exception, DossierError):
        assert says in str(result.exception)
    else:
        assert result.return_value == 4
        assert says in result.stderr, result.stderr
    assert "erified" not in result.stdout


def test_an_empty_folder_of_signatures_is_named(unsigned: Path, tmp_path: Path) -> None:
    out = copied(unsigned, tmp_path)
    assert asked("verify", out, "--hashes-only").return_value == 0
    (out / "signed").mkdir()
    result = asked("verify", out, "--hashes-only")
    assert result.return_value == 4
    assert "signed/ holds no signature" in result.stderr


def test_signatures_of_another_release_are_named(
    once: Path, people: tuple[Owner, ...], trust: Trust, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    words = ("--outcome", "outcome", "--risk", "risk", "--seed", "8")
    assert asked("quick", GBSG, *words, "-o", other, "--jobs", "1", "--quiet").exception is None
    shutil.copytree(once / "signed", other / "signed")
    found = signed.found(other, trust)
    assert len(found.differences) == 5, found.differences
    assert found.by_trusted() == ()


def leaf(root: Owner) -> Owner:
    return owner("A clerk", root)


STRANGERS: dict[str, tuple[Callable[[Owner], Owner], str]] = {
    "another authority of the name": (
        lambda root: owner("Ada Author", owner("Hospital Authority", authority=True)),
        "no certificate of --trust vouches",
    ),
    "expired": (lambda root: owner("Ada Author", root, days=(-9, -1)), "the certificate ended on"),
    "not yet": (lambda root: owner("Ada Author", root, days=(1, 9)), "the certificate begins on"),
    "by no authority": (lambda root: owner("Ada Author", leaf(root)), "no certificate of --trust vouches"),
    "itself": (lambda root: owner("Ada Author"), "no certificate of --trust vouches"),
    "the authority itself": (lambda root: root, "vouches for itself"),
    "a web server": (
        lambda root: owner("hospital.example", root, purposes=[ExtendedKeyUsageOID.SERVER_AUTH]),
        "its certificate is for server_auth",
    ),
    "for secrets only": (lambda root: owner("Ada Author", root, signs=False), "no certificate of --trust vouches"),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_a_signer_whom_no_root_vouches_for_is_named(
    unsigned: Path, authority: Owner, trust: Trust, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    who, says = STRANGERS[kind]
    stranger = who(authority)
    # Whoever means harm does not ask our command whether the certificate is good enough.
    monkeypatch.setattr(sign, "_signer", lambda request: sign._of_file(request.key))
    out = copied(unsigned, tmp_path)
    key = sign.KeyFile(stranger.p12(tmp_path / "key.p12"), PASSWORD)
    made = signers.PdfSignatureMetadata
    # pyHanko signs with a certificate that is for something else.
    monkeypatch.setattr(signers, "PdfSignatureMetadata", lambda **words: made(**words, signer_key_usage=set()))
    output.write_signatures(out, sign.signatures(out, sign.Request("Statistician", key)))
    found = signed.found(out, trust)
    assert len(found.differences) == 4, found.differences
    assert all(says in text for text in found.differences), found.differences
    assert found.by_trusted() == ()


def test_an_intermediate_authority_is_followed_to_the_root(
    unsigned: Path, authority: Owner, trust: Trust, tmp_path: Path
) -> None:
    between = owner("Ward Authority", authority, authority=True)
    out = copied(unsigned, tmp_path)
    key = sign.KeyFile(owner("Ada Author", between).p12(tmp_path / "key.p12", between), PASSWORD)
    output.write_signatures(out, sign.signatures(out, sign.Request("Statistician", key)))
    found = signed.found(out, trust)
    assert (found.differences, found.by_trusted()) == ((), ("Ada Author",))
    assert {signature.root for signature in found.signatures} == {"Hospital Authority"}


def detached(out: Path, who: Owner, name: str, **words: Any) -> bytes:
    made = asyncio.run(_signer(who, out.parent).async_sign_general_data((out / name).read_bytes(), **words))
    return bytes(made.dump())


def test_signatures_of_other_kinds_are_named(
    once: Path, people: tuple[Owner, ...], trust: Trust, tmp_path: Path
) -> None:
    """One that holds its content, one by SHA-1, one without time and meaning, and one that says something else."""
    plain = detached(once, people[0], "results.json", digest_algorithm="sha256")
    for content, says in (
        (detached(once, people[0], "results.json", digest_algorithm="sha256", detached=False), "encapsulated data"),
        (detached(once, people[0], "results.json", digest_algorithm="sha1"), "no certificate of --trust vouches"),
        (plain, "not of one signer and one meaning"),
        (plain, "it does not say when it was made"),
    ):
        out = copied(once, tmp_path)
        (out / "signed" / "results.json.1.p7s").write_bytes(content)
        found = signed.found(out, trust)
        assert any(says in text for text in found.differences), found.differences
        assert found.by_trusted() == ()
        shutil.rmtree(out)


def test_a_time_to_come_is_named(once: Path, people: tuple[Owner, ...], trust: Trust, tmp_path: Path) -> None:
    out = copied(once, tmp_path)
    (signature,) = [each for each in signed.found(out, trust).signatures if each.path.endswith("results.json.1.p7s")]
    assert signature.problem == ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signature_check, "TOLERATED", -datetime.timedelta(days=1))
        found = signed.found(out, trust)
    assert all("made in the future" in text for text in found.differences)
    assert len(found.differences) == 4


def declare(signatories: list[dict[str, str]], out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the results of a dossier be read as if its release named these signatories."""
    document = json.loads((out / "results.json").read_bytes())
    document["declared"]["signatory"] = signatories
    content = json.dumps(document).encode()
    read = results.read(content)
    monkeypatch.setattr(results, "opened", lambda path: read)


def test_a_meaning_that_the_release_does_not_declare_is_named(
    once: Path, trust: Trust, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare([{"name": "A", "role": "Head", "meaning": "I answer for it."}], once, monkeypatch)
    found = signed.found(once, trust)
    assert found.open == ("Head",)
    assert all("its meaning is none that the release declares" in text for text in found.differences)
    assert found.differences


@pytest.mark.parametrize(("name", "is_said"), [("Stan Statistician", True), ("ada  AUTHOR", False)])
def test_a_signer_of_another_name_than_the_release_gives_is_stated(
    once: Path, trust: Trust, monkeypatch: pytest.MonkeyPatch, name: str, is_said: bool
) -> None:
    declare([{"name": name, "role": "Statistician", "meaning": "I checked the analysis."}], once, monkeypatch)
    found = signed.found(once, trust)
    assert found.differences == ()
    says = (
        "another name: the certificate says “Ada Author”, and [[signatory]] “Stan Statistician” for "
        "“Statistician: I checked the analysis.”"
    )
    assert (says in found.lines()) is is_said


STATISTICIAN, QUALITY = (
    {"name": "Ada Author", "role": "Statistician", "meaning": "I checked the analysis."},
    {"name": "Quinn Quality", "role": "Quality assurance", "meaning": "It was made as laid down."},
)


@pytest.mark.parametrize(
    ("declared", "code", "says"),
    [
        ([], 0, ""),
        ([STATISTICIAN], 0, ""),
        ([STATISTICIAN, QUALITY], 5, "required: nobody signed as Quality assurance"),
        ([STATISTICIAN | {"name": "Stan Statistician"}], 5, "required: the certificate says “Ada Author”, and "),
    ],
)
def test_every_declared_signatory_can_be_asked_for(
    once: Path, trust: Trust, monkeypatch: pytest.MonkeyPatch, declared: list[dict[str, str]], code: int, says: str
) -> None:
    declare(declared, once, monkeypatch)
    words = ("verify", once, "--hashes-only", "--trust", trust.roots[0])
    assert asked(*words).return_value == 0
    result = asked(*words, "--require-signatories")
    assert (result.return_value, result.stderr.startswith(says)) == (code, True)
    assert bool(result.stderr) is bool(says)


def test_that_nothing_is_signed_has_the_code_of_what_was_asked_for(unsigned: Path, trust: Trust) -> None:
    nobody = asked("verify", unsigned, "--hashes-only", "--require-signatories", "--trust", trust.roots[0])
    assert (nobody.return_value, "required: nothing is signed" in nobody.stderr) == (5, True)


# ---- roots ----------------------------------------------------------------------------------------------------------


def test_roots_that_are_none_are_refused(once: Path, people: tuple[Owner, ...], tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_bytes(b"")
    (tmp_path / "noise.pem").write_bytes(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    key = people[0].p12(tmp_path / "key.p12")
    for path in (tmp_path / "empty.pem", tmp_path / "noise.pem", key, tmp_path / "nowhere.pem", tmp_path):
        result = asked("verify", once, "--hashes-only", "--trust", path)
        assert "holds no certificate that can be read" in str(result.exception), path
    leaf_file = people[0].pem(tmp_path / "leaf.pem")
    assert "is of no authority" in str(asked("verify", once, "--hashes-only", "--trust", leaf_file).exception)


def test_trust_without_a_signature_and_halves_are_no_success(unsigned: Path, trust: Trust) -> None:
    result = asked("verify", unsigned, "--hashes-only", "--trust", trust.roots[0])
    assert result.return_value == 4
    assert "signed/ holds no signature, and --trust asks for one" in result.stderr
    assert "give --trust too" in str(asked("verify", unsigned, "--self-signed").exception)
    assert "give --trust too" in str(asked("verify", unsigned, "--require-signatories").exception)
    assert "give one" in str(asked("verify", unsigned, "--hashes-only", "--release", unsigned).exception)


def test_no_root_of_the_system_is_trusted(once: Path, authority: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyHanko would take those of the system where it is given none."""
    from pyhanko_certvalidator import registry

    monkeypatch.setattr(registry, "_system_trust_roots", lambda: pytest.fail("the system's roots were asked for"))
    assert signed.found(once, Trust()).by_trusted() == ()


def test_signatures_that_cannot_be_looked_at_are_a_difference(once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", without)
    (said,) = signed.found(once, Trust()).differences
    assert said.startswith("no signature was looked at: What makes and reads signatures is not installed.")


def test_a_reader_that_ends_is_a_difference(once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "call", lambda function, *words, seconds: limited.Ended("it takes too long"))
    assert signed.found(once, Trust()) == Found(differences=("the signatures cannot be read: it takes too long",))


# ---- timestamps -----------------------------------------------------------------------------------------------------


@contextmanager
def clock(who: Owner, day: datetime.datetime | None = None) -> Iterator[str]:
    """A timestamp authority on loopback, whose clock may stand."""
    from asn1crypto import keys, tsp

    (certificate,) = load_certs_from_pemder_data(who.certificate.public_bytes(serialization.Encoding.DER))
    secret = who.key.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    stamper = DummyTimeStamper(certificate, keys.PrivateKeyInfo.load(secret), fixed_dt=day)

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked_for = tsp.TimeStampReq.load(self.rfile.read(int(self.headers["Content-Length"])))
            body = stamper.request_tsa_response(asked_for).dump()
            self.send_response(200)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *words: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


def test_a_timestamp_outlives_the_certificate(
    unsigned: Path, authority: Owner, tmp_path: Path, trust: Trust, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = copied(unsigned, tmp_path)
    # The certificate ended yesterday, and the signature was made nine days ago.
    monkeypatch.setattr(sign, "_signer", lambda request: sign._of_file(request.key))
    day = datetime.datetime.now(datetime.UTC).replace(microsecond=0) - datetime.timedelta(days=9)
    with clock(timestamp_authority(authority), day) as address:
        signed_by(out, owner("Ada Author", authority, days=(-20, -1)), timestamps=address)
    found = signed.found(out, trust)
    assert (found.differences, found.by_trusted()) == ((), ("Ada Author",))
    assert {(signature.clock, signature.time) for signature in found.signatures} == {
        ("Clock", f"{day:%Y-%m-%d %H:%M:%S} UTC")
    }
    assert all("by the clock of “Clock”" in line for line in found.lines() if line.startswith("signed: "))


def test_a_timestamp_of_a_stranger_says_nothing(
    unsigned: Path, authority: Owner, people: tuple[Owner, ...], tmp_path: Path, trust: Trust
) -> None:
    out = copied(unsigned, tmp_path)
    with clock(timestamp_authority(owner("Elsewhere", authority=True))) as address:
        signed_by(out, people[0], timestamps=address)
    found = signed.found(out, trust)
    assert {signature.clock for signature in found.signatures} == {""}
    assert found.differences == ()


def test_an_authority_that_does_not_answer_is_told(unsigned: Path, people: tuple[Owner, ...], tmp_path: Path) -> None:
    out = copied(unsigned, tmp_path)
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
    with pytest.raises(SigningError, match="No timestamp was given"):
        signed_by(out, people[0], timestamps=address)
    assert not (out / "signed").exists()
    key = people[0].p12(tmp_path / "own.p12")
    assert "no address" in str(asked("sign", out, "--as", "x", "--pkcs12", key, "--tsa", "file:///etc").exception)


# ---- tokens ---------------------------------------------------------------------------------------------------------

SOFTHSM = next((path for path in Path("/usr/lib").rglob("libsofthsm2.so")), None)


def run_program(*words: str | Path) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


@pytest.mark.skipif(SOFTHSM is None, reason="there is no softhsm2, a token in software")
def test_a_token_signs(
    unsigned: Path, authority: Owner, trust: Trust, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pkcs11

    assert SOFTHSM is not None
    (tmp_path / "tokens").mkdir()
    (tmp_path / "softhsm2.conf").write_text(f"directories.tokendir = {tmp_path / 'tokens'}\n")
    monkeypatch.setenv("SOFTHSM2_CONF", str(tmp_path / "softhsm2.conf"))
    who = owner("Card Holder", authority)
    run_program("softhsm2-util", "--init-token", "--free", "--label", "card", "--pin", "1234", "--so-pin", "5678")
    pem = who.key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "key.pem").write_bytes(pem)
    of_token = ("--token", "card", "--label", "own", "--id", "01", "--pin", "1234")
    run_program("softhsm2-util", "--import", tmp_path / "key.pem", *of_token)
    with pkcs11.lib(str(SOFTHSM)).get_token(token_label="card").open(rw=True, user_pin="1234") as session:
        session.create_object(
            {
                pkcs11.Attribute.CLASS: pkcs11.ObjectClass.CERTIFICATE,
                pkcs11.Attribute.CERTIFICATE_TYPE: pkcs11.CertificateType.X_509,
                pkcs11.Attribute.TOKEN: True,
                pkcs11.Attribute.LABEL: "own",
                pkcs11.Attribute.ID: b"\x01",
                pkcs11.Attribute.SUBJECT: who.certificate.subject.public_bytes(),
                pkcs11.Attribute.VALUE: who.certificate.public_bytes(serialization.Encoding.DER),
            }
        )
    out = copied(unsigned, tmp_path)
    words = ("sign", out, "--as", "Me", "--pkcs11", SOFTHSM, "--token", "card", "--key", "own", "--hashes-only")
    wrong = asked(*words, environment={"DOSSIER_PASSWORD": "0000"})
    assert "The token gives no key" in str(wrong.exception)
    assert asked(*words, environment={"DOSSIER_PASSWORD": "1234"}).exception is None
    found = signed.found(out, trust)
    assert (found.differences, found.by_trusted()) == ((), ("Card Holder",))


def test_half_a_key_is_refused(unsigned: Path, tmp_path: Path) -> None:
    for words, says in (
        ((), "Give --pkcs12"),
        (("--pkcs12", tmp_path, "--pkcs11", tmp_path), "Give --pkcs12"),
        (("--pkcs11", tmp_path), "needs --token and --key"),
    ):
        assert says in str(asked("sign", unsigned, "--as", "Me", *words).exception)
