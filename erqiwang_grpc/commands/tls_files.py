"""Reads and checks the TLS files before the server starts: with an empty one, gRPC would only refuse every client."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from erqiwang_grpc.rpc.server import Tls

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class TlsRefused:
    """Why these TLS files cannot be used, and what to do. It reveals nothing of their content."""

    why: str


def read(certificate: Path, key: Path, authority: Path | None) -> Tls | TlsRefused:
    """The files of `--tls-cert`, `--tls-key` and `--client-ca`, if that is given. Raises `OSError` if unreadable."""
    tls = Tls(certificate.read_bytes(), key.read_bytes(), None if authority is None else authority.read_bytes())
    return _wrong(tls, certificate, key, authority) or tls


def _wrong(tls: Tls, certificate: Path, key: Path, authority: Path | None) -> TlsRefused | None:
    chain = _parsed(tls.certificate, x509.load_pem_x509_certificates)
    if not chain:
        return TlsRefused(f"--tls-cert: {certificate} holds no certificate: give the server's chain as PEM")
    private = _parsed(tls.key, lambda pem: load_pem_private_key(pem, None))
    if private is None:
        return TlsRefused(
            f"--tls-key: {key} holds no private key that can be read: give one as PEM, without a password"
        )
    if private.public_key().public_bytes(*_AS_BYTES) != chain[0].public_key().public_bytes(*_AS_BYTES):
        return TlsRefused(
            f"--tls-key: {key} is not the key of the first certificate in {certificate}: give the one that is"
        )
    if authority is not None and not _parsed(tls.client_authority or b"", x509.load_pem_x509_certificates):
        return TlsRefused(
            f"--client-ca: {authority} holds no certificate, and no client could come in: give the authority's as PEM"
        )
    return None


_AS_BYTES = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _parsed(pem: bytes, parse: Callable[[bytes], T]) -> T | None:
    try:
        return parse(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
