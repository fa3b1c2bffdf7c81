"""Certificates and keys that the tests make for themselves; none is kept."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PASSWORD = "a password of the tests"
DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Owner:
    """Somebody with a key and a certificate."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

    def pem(self, path: Path) -> Path:
        """The certificate as a file."""
        path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))
        return path

    def p12(self, path: Path, *chain: Owner, password: str = PASSWORD) -> Path:
        """Key and certificate as a file."""
        kept = serialization.BestAvailableEncryption(password.encode()) if password else serialization.NoEncryption()
        others = [owner.certificate for owner in chain]
        path.write_bytes(pkcs12.serialize_key_and_certificates(b"own", self.key, self.certificate, others, kept))
        return path


def owner(
    name: str,
    issuer: Owner | None = None,
    *,
    authority: bool = False,
    days: tuple[int, int] = (-1, 365),
    purposes: Sequence[x509.ObjectIdentifier] = (),
    critical: bool = False,
    signs: bool = True,
    with_rsa: bool = False,
) -> Owner:
    """Somebody whom `issuer`, or nobody else, vouches for, from and until so many days from now."""
    key = rsa.generate_private_key(65537, 2048) if with_rsa else ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + days[0] * DAY)
        .not_valid_after(now + days[1] * DAY)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(_usage(authority, signs), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if purposes:
        made = made.add_extension(x509.ExtendedKeyUsage(purposes), critical=critical)
    return Owner(made.sign(key if issuer is None else issuer.key, hashes.SHA256()), key)


def timestamp_authority(issuer: Owner, name: str = "Clock") -> Owner:
    """Somebody who says what time it is."""
    # pyHanko's own authority for tests knows RSA alone.
    purposes = [ExtendedKeyUsageOID.TIME_STAMPING]
    return owner(name, issuer, days=(-40, 365), purposes=purposes, critical=True, with_rsa=True)


def _usage(authority: bool, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=signs and not authority,
        content_commitment=signs and not authority,
        key_encipherment=not signs,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )
