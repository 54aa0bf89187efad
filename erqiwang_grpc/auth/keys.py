"""The keys of platforms, kept as hashes only, and the keys that sign seat tokens.

A platform key is 256 random bits made here, never chosen by a person. So it cannot be guessed, and one SHA-256 is
enough. There may be several keys of each kind, so that a key can be replaced while the old one still works.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from typing import Final, NewType, final

PlatformId = NewType("PlatformId", str)
"""A platform, which owns rooms. At most 63 lower-case letters, digits and hyphens."""
KeyId = NewType("KeyId", str)
"""The name of a signing key, which is in its tokens. At most 32 letters, digits, hyphens and underscores."""

SECRET_BYTES: Final = 32
"""The bytes of a signing key: as many as HMAC-SHA-256 gives out."""

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
    """All valid platform keys."""

    keys: tuple[PlatformKey, ...]

    def platform(self, presented: str) -> PlatformId | None:
        """The platform whose key was presented; None if it is not valid. The time taken does not depend on the key."""
        asked = digest(presented)
        found: PlatformId | None = None
        for key in self.keys:
            if hmac.compare_digest(asked, key.digest):
                found = key.platform
        return found

    def adding(self, platform: PlatformId, presented: str) -> PlatformKeys:
        """These keys and one more. The platform's other keys stay valid."""
        return PlatformKeys((*self.keys, PlatformKey(platform, digest(presented))))


@final
@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key that signs and verifies seat tokens."""

    id: KeyId
    secret: bytes = field(repr=False)


@final
@dataclass(frozen=True, slots=True)
class SigningKeys:
    """The newest key, which signs and verifies, and the older ones, which only verify."""

    older: tuple[SigningKey, ...]
    newest: SigningKey
    next: SigningKey | None = None
    """The key that signs after the next rotation and verifies already; None if none was prepared."""

    @property
    def all(self) -> tuple[SigningKey, ...]:
        """All keys that have signed, oldest first."""
        return (*self.older, self.newest)

    @property
    def verifying(self) -> tuple[SigningKey, ...]:
        """All keys whose tokens are valid."""
        return self.all if self.next is None else (*self.all, self.next)

    def prepared(self, fresh: SigningKey) -> SigningKeys:
        """The keys with `fresh` as the one that signs next. It verifies already."""
        return SigningKeys(self.older, self.newest, fresh)

    def promoted(self, keep: int) -> SigningKeys | None:
        """The keys with the prepared one as the signing key; None if none was prepared."""
        return None if self.next is None else self.rotated(self.next, keep)

    def rotated(self, fresh: SigningKey, keep: int) -> SigningKeys:
        """The keys with `fresh` as the signing key. The last `keep` keys before it still verify."""
        return SigningKeys(self.all[max(0, len(self.all) - keep) :], fresh)


def new_platform_key() -> str:
    """A fresh platform key, as text to give to the platform."""
    return f"erqk_{secrets.token_urlsafe(SECRET_BYTES)}"


def new_signing_key() -> SigningKey:
    """A fresh signing key."""
    return SigningKey(KeyId(secrets.token_hex(8)), secrets.token_bytes(SECRET_BYTES))


def digest(presented: str) -> bytes:
    """The hash of a platform key, which is all that is stored of it."""
    return hashlib.sha256(presented.encode(errors="surrogatepass")).digest()


def is_platform_key(text: str) -> bool:
    """Whether the text has the form of a platform key."""
    return _PLATFORM_KEY.fullmatch(text) is not None


def platform_id(text: str) -> PlatformId | None:
    """The text as a platform's name; None if it cannot be one."""
    return PlatformId(text) if _PLATFORM_ID.fullmatch(text) else None


def key_id(text: str) -> KeyId | None:
    """The text as a signing key's name; None if it cannot be one."""
    return KeyId(text) if _KEY_ID.fullmatch(text) else None
