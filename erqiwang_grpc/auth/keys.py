"""The keys of platforms, kept as hashes only, and the keys that sign seat tokens.

A platform has keys of two scopes. A *platform key* opens `RoomService`, for the platform's own servers. A *gateway key*
opens `GatewayService` and nothing else: an edge process, which speaks to players, needs no more. Each is 256 random bits made here, never chosen by a person. So it cannot be guessed, and one SHA-256 is
enough. There may be several keys of each kind, so that a key can be replaced while the old one still works.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from enum import Enum, unique
from typing import Final, NewType, final

PlatformId = NewType("PlatformId", str)
"""A platform, which owns rooms. At most 63 lower-case letters, digits and hyphens."""
KeyId = NewType("KeyId", str)
"""The name of a signing key, which is in its tokens. At most 32 letters, digits, hyphens and underscores."""

SECRET_BYTES: Final = 32
"""The bytes of a signing key: as many as HMAC-SHA-256 gives out."""

_KEY: Final = re.compile(r"(erq[kg]_)[A-Za-z0-9_-]{43}")
_PLATFORM_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_KEY_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")


@unique
class Scope(Enum):
    """What a platform's key opens. The value is what the key's text begins with, so that a mix-up is seen at a glance."""

    PLATFORM = "erqk_"
    GATEWAY = "erqg_"

    @property
    def label(self) -> str:
        """Its name in commands and key files."""
        return self.name.lower()


@final
@dataclass(frozen=True, slots=True)
class PlatformKey:
    """The hash of one key of a platform."""

    platform: PlatformId
    digest: bytes
    scope: Scope = Scope.PLATFORM

    @property
    def fingerprint(self) -> str:
        """What the key is called where it is listed: the first 12 hexadecimal digits of its hash."""
        return self.digest.hex()[:12]


@final
@dataclass(frozen=True, slots=True)
class PlatformKeys:
    """All valid keys of platforms, of both scopes."""

    keys: tuple[PlatformKey, ...]

    def platform(self, presented: str, scope: Scope = Scope.PLATFORM) -> PlatformId | None:
        """The platform whose key of this scope was presented; None if it is not valid.

        The time taken does not depend on the key.
        """
        asked = digest(presented)
        found: PlatformId | None = None
        for key in self.keys:
            if hmac.compare_digest(asked, key.digest) and key.scope is scope:
                found = key.platform
        return found

    def adding(self, platform: PlatformId, presented: str, scope: Scope = Scope.PLATFORM) -> PlatformKeys:
        """These keys and one more. The platform's other keys stay valid."""
        return PlatformKeys((*self.keys, PlatformKey(platform, digest(presented), scope)))

    def removing(self, key: PlatformKey) -> PlatformKeys:
        """These keys without that one."""
        return PlatformKeys(tuple(kept for kept in self.keys if kept != key))


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


def new_platform_key(scope: Scope = Scope.PLATFORM) -> str:
    """A fresh key of this scope, as text to give to the platform."""
    return f"{scope.value}{secrets.token_urlsafe(SECRET_BYTES)}"


def new_signing_key() -> SigningKey:
    """A fresh signing key."""
    return SigningKey(KeyId(secrets.token_hex(8)), secrets.token_bytes(SECRET_BYTES))


def digest(presented: str) -> bytes:
    """The hash of a platform's key, which is all that is stored of it."""
    return hashlib.sha256(presented.encode(errors="surrogatepass")).digest()


def scope(text: str) -> Scope | None:
    """The scope of a key of that form; None if the text has the form of no platform's key."""
    found = _KEY.fullmatch(text)
    return None if found is None else Scope(found[1])


def platform_id(text: str) -> PlatformId | None:
    """The text as a platform's name; None if it cannot be one."""
    return PlatformId(text) if _PLATFORM_ID.fullmatch(text) else None


def key_id(text: str) -> KeyId | None:
    """The text as a signing key's name; None if it cannot be one."""
    return KeyId(text) if _KEY_ID.fullmatch(text) else None
