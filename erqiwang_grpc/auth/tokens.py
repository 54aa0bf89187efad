"""Tokens: a seat token lets its bearer play one seat of one room, a watch token lets its bearer watch one.

A seat token is valid until it expires or the seat is taken again. A watch token is valid until it expires.

They are JWTs with HS256. Only the nodes of one service make and check them, and all of them read the same key file. So
no public key is needed, and an HMAC costs a tenth of a signature.

A token's header is compared, not interpreted: it must be exactly the header that one of our keys writes. An algorithm,
key location or extension named by a sender is never used. What remains of JWT is one HMAC, which the standard library
has. A JWT library would be a sixth of what a server loads at its start.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, NewType, TypeAlias, final

from erqiwang_core.match import Player
from erqiwang_core.units import Seat

from erqiwang_grpc.auth.keys import PlatformId, SigningKey, SigningKeys
from erqiwang_grpc.store.port import RoomId

Epoch = NewType("Epoch", int)
"""How often a seat has been taken or left. The room refuses a token of an earlier epoch."""
UnixSeconds = NewType("UnixSeconds", int)
"""Seconds since 1970-01-01 UTC."""
Seconds = NewType("Seconds", int)
Milliseconds = NewType("Milliseconds", int)

LIFETIME: Final = Seconds(24 * 60 * 60)
"""How long a seat token is valid, and a watch token if its platform names no time."""
LONGEST_WATCH: Final = Seconds(7 * 24 * 60 * 60)
"""The longest time that a watch token may be valid."""
LONGEST_DELAY: Final = Seconds(24 * 60 * 60)
"""The longest delay of a watch token."""
LONGEST: Final = 4_096
"""Most characters of a token that is made or checked."""

_SEAT: Final = "erqiwang/seat"
_WATCH: Final = "erqiwang/watch"
"""The issuers of the two kinds. They are signed with the same keys, so each kind is taken only where its issuer is named."""
_SETTLED: Final = "settled"
_FORM: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}")


@final
@dataclass(frozen=True, slots=True)
class SeatClaims:
    """The claims of a token. Only the room knows whether `epoch` is still that of the seat."""

    platform: PlatformId
    room: RoomId
    seat: Seat
    player: Player
    epoch: Epoch
    expires: UnixSeconds


@final
@dataclass(frozen=True, slots=True)
class Delayed:
    """The public view of so long ago."""

    milliseconds: Milliseconds


@final
@dataclass(frozen=True, slots=True)
class SettledDeals:
    """The public view up to the last settled deal."""


Lateness: TypeAlias = Delayed | SettledDeals
"""How late a spectator is told what happens."""


@final
@dataclass(frozen=True, slots=True)
class WatchClaims:
    """The claims of a watch token."""

    platform: PlatformId
    room: RoomId
    lateness: Lateness
    expires: UnixSeconds


class Fault(Enum):
    """Why a token is refused."""

    MALFORMED = "it is no token of the kind that this call takes"
    UNKNOWN_KEY = "it was not signed with a key that is in use"
    FORGED = "its signature is not ours"
    EXPIRED = "it has expired: ask the platform for a fresh one"


@final
@dataclass(frozen=True, slots=True)
class TokenRefused:
    """The token is not valid."""

    fault: Fault


@final
class Tokens:
    """Makes and checks tokens with one set of keys."""

    def __init__(self, keys: SigningKeys) -> None:
        self._newest = keys.newest
        self._by_header = {_header(key): key for key in keys.verifying}

    def issue(self, claims: SeatClaims | WatchClaims) -> str:
        """A token with these claims. Raises `ValueError` if it would be longer than a token may be."""
        said = f"{_header(self._newest)}.{_base64(_payload(claims))}"
        token = f"{said}.{_signature(self._newest, said)}"
        if len(token) > LONGEST:
            raise ValueError("the names of room and player are too long for a token")
        return token

    def verify(self, token: str, now: UnixSeconds) -> SeatClaims | TokenRefused:
        """The claims of a seat token, if one of the keys signed it and it has not expired at `now`."""
        claims = self.verify_either(token, now)
        return TokenRefused(Fault.MALFORMED) if isinstance(claims, WatchClaims) else claims

    def verify_either(self, token: str, now: UnixSeconds) -> SeatClaims | WatchClaims | TokenRefused:
        """The claims of a token of either kind, if one of the keys signed it and it has not expired at `now`."""
        if len(token) > LONGEST or not _FORM.fullmatch(token):
            return TokenRefused(Fault.MALFORMED)
        said, _, signature = token.rpartition(".")
        header, _, payload = said.partition(".")
        key = self._by_header.get(header)
        if key is None:
            return TokenRefused(Fault.UNKNOWN_KEY)
        # Compare the text. Base64 has two bits that decoders ignore, so several texts decode to the same signature.
        if not hmac.compare_digest(signature, _signature(key, said)):
            return TokenRefused(Fault.FORGED)
        claims = _claims(_decoded(payload))
        if claims is None:
            return TokenRefused(Fault.MALFORMED)
        return claims if now < claims.expires else TokenRefused(Fault.EXPIRED)


def claims_for(
    platform: PlatformId, room: RoomId, seat: Seat, player: Player, epoch: Epoch, now: UnixSeconds
) -> SeatClaims:
    """The claims of a token that is made at `now`, with the usual lifetime."""
    return SeatClaims(platform, room, seat, player, epoch, UnixSeconds(now + LIFETIME))


def _header(key: SigningKey) -> str:
    return _base64(json.dumps({"alg": "HS256", "kid": key.id, "typ": "JWT"}, separators=(",", ":")).encode())


def _signature(key: SigningKey, said: str) -> str:
    return _base64(hmac.digest(key.secret, said.encode(), "sha256"))


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    """The decoded text. Only for text that this module has encoded."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _payload(claims: SeatClaims | WatchClaims) -> bytes:
    said = _seat_payload(claims) if isinstance(claims, SeatClaims) else _watch_payload(claims)
    return json.dumps(said, separators=(",", ":")).encode()


def _seat_payload(claims: SeatClaims) -> dict[str, object]:
    return {
        "iss": _SEAT,
        "sub": claims.player,
        "platform": claims.platform,
        "room": claims.room,
        "seat": claims.seat,
        "epoch": claims.epoch,
        "exp": claims.expires,
    }


def _watch_payload(claims: WatchClaims) -> dict[str, object]:
    late = claims.lateness.milliseconds if isinstance(claims.lateness, Delayed) else _SETTLED
    return {
        "iss": _WATCH,
        "platform": claims.platform,
        "room": claims.room,
        "late": late,
        "exp": claims.expires,
    }


def _claims(payload: bytes) -> SeatClaims | WatchClaims | None:
    """The claims in a signed payload; None if it is no token of ours, since a key may one day sign other things."""
    try:
        said: object = json.loads(payload)
    except ValueError:
        return None
    match said:
        case {"iss": str(issuer), **others} if issuer == _SEAT:
            return _seat_claims(others)
        case {"iss": str(issuer), **others} if issuer == _WATCH:
            return _watch_claims(others)
        case _:
            return None


def _seat_claims(said: dict[object, object]) -> SeatClaims | None:
    match said:
        case {
            "sub": str(player),
            "platform": str(platform),
            "room": str(room),
            "seat": int(seat),
            "epoch": int(epoch),
            "exp": int(expires),
            **others,
        } if not others and _are_counts(seat, epoch, expires):
            return SeatClaims(
                PlatformId(platform), RoomId(room), Seat(seat), Player(player), Epoch(epoch), UnixSeconds(expires)
            )
        case _:
            return None


def _watch_claims(said: dict[object, object]) -> WatchClaims | None:
    match said:
        case {
            "platform": str(platform),
            "room": str(room),
            "late": late,
            "exp": int(expires),
            **others,
        } if not others and _are_counts(expires):
            lateness = _lateness(late)
            if lateness is None:
                return None
            return WatchClaims(PlatformId(platform), RoomId(room), lateness, UnixSeconds(expires))
        case _:
            return None


def _lateness(late: object) -> Lateness | None:
    if late == _SETTLED:
        return SettledDeals()
    return Delayed(Milliseconds(late)) if isinstance(late, int) and _are_counts(late) else None


def _are_counts(*numbers: int) -> bool:
    return all(number >= 0 and not isinstance(number, bool) for number in numbers)
