"""What pyHanko is taught: a signature that says what it means, and a revision that adds nothing but a signature.

Looks inside pyHanko, hence the pinned version; imported only where signatures are made or read.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any

from asn1crypto import cms, core
from pyhanko.pdf_utils.extensions import DeveloperExtension
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.ades.asn1_util import register_cms_attribute
from pyhanko.sign.attributes import (
    CMSAttributeProvider,
    SignedAttributeProviderSpec,
    SigningCertificateV2Provider,
    SigningTimeProvider,
)
from pyhanko.sign.signers import Signer

MEANING = "content_hints"


class ContentHints(core.Sequence):  # type: ignore[misc]  # asn1crypto has no types
    """The attribute that describes in words what is signed (RFC 2634, 2.9)."""

    _fields = [  # noqa: RUF012  # so asks asn1crypto
        ("content_description", core.UTF8String, {"optional": True}),
        ("content_type", cms.ContentType),
    ]


register_cms_attribute("1.2.840.113549.1.9.16.2.4", MEANING, ContentHints)


class _Meaning(CMSAttributeProvider):
    attribute_type = MEANING

    def __init__(self, said: str) -> None:
        self._said = said

    async def build_attr_value(self, dry_run: bool = False) -> ContentHints:
        """The meaning."""
        return ContentHints({"content_description": self._said, "content_type": "data"})


class With(SignedAttributeProviderSpec):
    """The certificate, the time and the meaning among what is signed."""

    def __init__(self, signer: Signer, said: str) -> None:
        self._certificate = signer.signing_cert
        self._said = said

    def signed_attr_providers(self, data_digest: bytes, digest_algorithm: str) -> Iterable[CMSAttributeProvider]:
        """Each of them."""
        assert self._certificate is not None
        yield SigningCertificateV2Provider(self._certificate)
        yield SigningTimeProvider(timestamp=datetime.datetime.now(datetime.UTC).replace(microsecond=0))
        yield _Meaning(self._said)


class Addition(IncrementalPdfFileWriter):
    """A revision of a PDF that adds a signature alone: metadata and version stay those of the pages.

    FDA takes no PDF 2.0, which pyHanko would make of a file for an elliptic curve.
    """

    def _update_meta(self) -> None:
        pass

    def ensure_output_version(self, version: tuple[int, int]) -> None:
        """Leave the version as it is."""

    def register_extension(self, ext: DeveloperExtension) -> None:
        """Name no extension in the catalog."""


def meaning(attributes: Any) -> str:
    """The meaning among the signed attributes; empty where there is none, or more than one."""
    found = [value for attribute in attributes if attribute["type"].native == MEANING for value in attribute["values"]]
    said = found[0]["content_description"].native if len(found) == 1 else None
    return said if isinstance(said, str) else ""
