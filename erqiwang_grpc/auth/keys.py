"""The keys of platforms, kept as hashes only, and the keys that sign seat tokens.

A platform key is 256 random bits, made here and never chosen, so one SHA-256 is hash enough: there is
nothing to guess. Both kinds come several at a time, so that they can be changed while the old ones still work.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from typing import Final, NewType, final

PlatformId = NewType("PlatformId", str)
"""A tenant, which owns rooms. Lower-case letters, digits and hyphens, at most 63."""
KeyId = NewType("KeyId", str)
"""Names a signing key in the tokens it signs. Letters, digits, hyphens and underscores, at most 32."""

SECRET_BYTES: Final = 32
"""As many as HMAC-SHA-256 can use."""

_PLATFORM_KEY: Final = re.compile(r"erqk_[A-Za-z0-9_-]{43}")
_PLATFORM_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_KEY_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")


@final
@dataclass(frozen=True, slots=True)
class PlatformKey:
    """The hash of one key of a platform."""

    platform: PlatformId
    digest: bytes


@final
@dataclass(frozen=True, slots=True)
class PlatformKeys:
    """Every key that is good now."""

    keys: tuple[PlatformKey, ...]

    def platform(self, presented: str) -> PlatformId | None:
        """Whose key was presented; None if nobody's. Takes as long whichever it is, and if it is none."""
        asked = digest(presented)
        found: PlatformId | None = None
        for key in self.keys:
            if hmac.compare_digest(asked, key.digest):
                found = key.platform
        return found

    def adding(self, platform: PlatformId, presented: str) -> PlatformKeys:
        """These and one more; the platform's others stay good."""
        return PlatformKeys((*self.keys, PlatformKey(platform, digest(presented))))


@final
@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key that signs and verifies."""

    id: KeyId
    secret: bytes = field(repr=False)


@final
@dataclass(frozen=True, slots=True)
class SigningKeys:
    """The older keys, which verify, and the newest, which also signs."""

    older: tuple[SigningKey, ...]
    newest: SigningKey

    @property
    def all(self) -> tuple[SigningKey, ...]:
        """Oldest first."""
        return (*self.older, self.newest)

    def rotated(self, fresh: SigningKey, keep: int) -> SigningKeys:
        """`fresh` signs from now on; the last `keep` keys before it still verify."""
        return SigningKeys(self.all[max(0, len(self.all) - keep) :], fresh)


def new_platform_key() -> str:
    """A fresh key to be given to a platform."""
    return f"erqk_{secrets.token_urlsafe(SECRET_BYTES)}"


def new_signing_key() -> SigningKey:
    """A fresh key to sign with."""
    return SigningKey(KeyId(secrets.token_hex(8)), secrets.token_bytes(SECRET_BYTES))


def digest(presented: str) -> bytes:
    """What is kept of a platform key."""
    return hashlib.sha256(presented.encode(errors="surrogatepass")).digest()


def is_platform_key(text: str) -> bool:
    """Whether the text has the form of a key made here."""
    return _PLATFORM_KEY.fullmatch(text) is not None


def platform_id(text: str) -> PlatformId | None:
    """The text as a platform's name, if it can be one."""
    return PlatformId(text) if _PLATFORM_ID.fullmatch(text) else None


def key_id(text: str) -> KeyId | None:
    """The text as a signing key's name, if it can be one."""
    return KeyId(text) if _KEY_ID.fullmatch(text) else None
