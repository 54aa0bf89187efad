"""Certificates for the tests of TLS, fresh ones each time."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@final
@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate and its key; PEM."""

    certificate: bytes
    key: bytes


@final
class Authority:
    """Signs certificates."""

    def __init__(self, name: str) -> None:
        self._name = _named(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        signed = _begun(self._name, self._name, self._key.public_key())
        signed = signed.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.certificate = _pem(signed.sign(self._key, hashes.SHA256()))

    def issue(self, name: str) -> Issued:
        """A certificate for a host or a client of that name."""
        key = ec.generate_private_key(ec.SECP256R1())
        begun = _begun(_named(name), self._name, key.public_key())
        begun = begun.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return Issued(_pem(begun.sign(self._key, hashes.SHA256())), private)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _begun(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - timedelta(minutes=5),
        not_valid_after=now + timedelta(hours=1),
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
