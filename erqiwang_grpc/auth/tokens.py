"""Seat tokens: each lets its bearer play one seat of one room, until it expires or the seat is taken again.

They are JWTs with HS256. Only the nodes of one service make and check them and all read the same key file,
so a public key would have no reader; an HMAC costs a tenth of a signature and needs nothing to be compiled.

A token's header is compared, not interpreted: it must be, to the letter, the header that one of our keys
writes. No algorithm, key location or extension named by a sender is ever looked at. So all that is left of JWT is
one HMAC, which the standard library has: a library for the rest would be a sixth of what a server loads at its start.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, NewType, final

from erqiwang_core.match import Player
from erqiwang_core.units import Seat

from erqiwang_grpc.auth.keys import PlatformId, SigningKey, SigningKeys
from erqiwang_grpc.store.port import RoomId

Epoch = NewType("Epoch", int)
"""How many times a seat has been given out; a token of an earlier epoch is dead, which the room knows."""
UnixSeconds = NewType("UnixSeconds", int)
"""Seconds since 1970-01-01 UTC."""
Seconds = NewType("Seconds", int)

LIFETIME: Final = Seconds(24 * 60 * 60)
LONGEST: Final = 4_096
"""Characters of the longest token that is looked at, or made."""

_ISSUER: Final = "erqiwang/seat"
_FORM: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}")


@final
@dataclass(frozen=True, slots=True)
class SeatClaims:
    """What a token says. Whether `epoch` is still the seat's is for the room to say."""

    platform: PlatformId
    room: RoomId
    seat: Seat
    player: Player
    epoch: Epoch
    expires: UnixSeconds


class Fault(Enum):
    """Why a token is refused."""

    MALFORMED = "it is no seat token"
    UNKNOWN_KEY = "it was not signed with a key that is in use"
    FORGED = "its signature is not ours"
    EXPIRED = "it has expired: ask the platform for a fresh one"


@final
@dataclass(frozen=True, slots=True)
class TokenRefused:
    """The token gives no right to anything."""

    fault: Fault


@final
class SeatTokens:
    """Makes and checks tokens with one set of keys."""

    def __init__(self, keys: SigningKeys) -> None:
        self._newest = keys.newest
        self._by_header = {_header(key): key for key in keys.all}

    def issue(self, claims: SeatClaims) -> str:
        """The token that says `claims`. `ValueError` if it would be longer than is ever looked at."""
        said = f"{_header(self._newest)}.{_base64(_payload(claims))}"
        token = f"{said}.{_signature(self._newest, said)}"
        if len(token) > LONGEST:
            raise ValueError("the names of room and player are too long for a token")
        return token

    def verify(self, token: str, now: UnixSeconds) -> SeatClaims | TokenRefused:
        """What the token says, if one of our keys signed it and `now` is before its end."""
        if len(token) > LONGEST or not _FORM.fullmatch(token):
            return TokenRefused(Fault.MALFORMED)
        said, _, signature = token.rpartition(".")
        header, _, payload = said.partition(".")
        key = self._by_header.get(header)
        if key is None:
            return TokenRefused(Fault.UNKNOWN_KEY)
        # As text: base64 leaves two bits that decoders do not look at, so several texts stand for one signature.
        if not hmac.compare_digest(signature, _signature(key, said)):
            return TokenRefused(Fault.FORGED)
        claims = _claims(_decoded(payload))
        if claims is None:
            return TokenRefused(Fault.MALFORMED)
        return claims if now < claims.expires else TokenRefused(Fault.EXPIRED)


def claims_for(
    platform: PlatformId, room: RoomId, seat: Seat, player: Player, epoch: Epoch, now: UnixSeconds
) -> SeatClaims:
    """The claims of a token given out `now`, with the usual lifetime."""
    return SeatClaims(platform, room, seat, player, epoch, UnixSeconds(now + LIFETIME))


def _header(key: SigningKey) -> str:
    return _base64(json.dumps({"alg": "HS256", "kid": key.id, "typ": "JWT"}, separators=(",", ":")).encode())


def _signature(key: SigningKey, said: str) -> str:
    return _base64(hmac.digest(key.secret, said.encode(), "sha256"))


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    """What we have encoded ourselves, so that it is sound."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _payload(claims: SeatClaims) -> bytes:
    said = {
        "iss": _ISSUER,
        "sub": claims.player,
        "platform": claims.platform,
        "room": claims.room,
        "seat": claims.seat,
        "epoch": claims.epoch,
        "exp": claims.expires,
    }
    return json.dumps(said, separators=(",", ":")).encode()


def _claims(payload: bytes) -> SeatClaims | None:
    """What a payload says that we signed, or None if it is not a seat's: a key may sign other things one day."""
    try:
        said: object = json.loads(payload)
    except ValueError:
        return None
    match said:
        case {
            "iss": str(issuer),
            "sub": str(player),
            "platform": str(platform),
            "room": str(room),
            "seat": int(seat),
            "epoch": int(epoch),
            "exp": int(expires),
            **others,
        } if issuer == _ISSUER and not others and _are_counts(seat, epoch, expires):
            return SeatClaims(
                PlatformId(platform), RoomId(room), Seat(seat), Player(player), Epoch(epoch), UnixSeconds(expires)
            )
        case _:
            return None


def _are_counts(*numbers: int) -> bool:
    return all(number >= 0 and not isinstance(number, bool) for number in numbers)
