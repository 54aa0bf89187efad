"""Seat tokens: each lets its bearer play one seat of one room, until it expires or the seat is taken again.

They are JWTs with HS256. Only the nodes of one service make and check them and all read the same key file,
so a public key would have no reader; an HMAC costs a tenth of a signature and needs nothing to be compiled.

A token's header is compared, not interpreted: it must be, to the letter, the header that one of our keys
writes. No algorithm, key location or extension named by a sender is ever looked at.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, NewType, final

import jwt
from erqiwang_core.match import Player
from erqiwang_core.units import Seat

from erqiwang_grpc.auth.keys import PlatformId, SigningKey, SigningKeys
from erqiwang_grpc.store.port import RoomId

"""A player as the platform names them."""
Epoch = NewType("Epoch", int)
"""How many times a seat has been given out; a token of an earlier epoch is dead, which the room knows."""
UnixSeconds = NewType("UnixSeconds", int)
"""Seconds since 1970-01-01 UTC."""
Seconds = NewType("Seconds", int)

LIFETIME: Final = Seconds(24 * 60 * 60)
LONGEST: Final = 4_096
"""Characters of the longest token that is looked at, or made."""

_ALGORITHM: Final = "HS256"
_JWS: Final = jwt.PyJWS(algorithms=[_ALGORITHM])  # knows no other
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
        token = _signed(self._newest, _payload(claims))
        if len(token) > LONGEST:
            raise ValueError("the names of room and player are too long for a token")
        return token

    def verify(self, token: str, now: UnixSeconds) -> SeatClaims | TokenRefused:
        """What the token says, if one of our keys signed it and `now` is before its end."""
        if len(token) > LONGEST or not _FORM.fullmatch(token) or not _is_canonical(token):
            return TokenRefused(Fault.MALFORMED)
        key = self._by_header.get(token.partition(".")[0])
        if key is None:
            return TokenRefused(Fault.UNKNOWN_KEY)
        payload = _verified(key, token)
        if payload is None:
            return TokenRefused(Fault.FORGED)
        claims = _claims(payload)
        if claims is None:
            return TokenRefused(Fault.MALFORMED)
        return claims if now < claims.expires else TokenRefused(Fault.EXPIRED)


def claims_for(
    platform: PlatformId, room: RoomId, seat: Seat, player: Player, epoch: Epoch, now: UnixSeconds
) -> SeatClaims:
    """The claims of a token given out `now`, with the usual lifetime."""
    return SeatClaims(platform, room, seat, player, epoch, UnixSeconds(now + LIFETIME))


def _signed(key: SigningKey, payload: bytes) -> str:
    return _JWS.encode(payload, key.secret, _ALGORITHM, headers={"kid": key.id})


def _header(key: SigningKey) -> str:
    return _signed(key, b"").partition(".")[0]


def _verified(key: SigningKey, token: str) -> bytes | None:
    """The payload, if the key signed it. Times are not looked at here: the clock is the caller's."""
    try:
        payload = _JWS.decode(token, key.secret, algorithms=[_ALGORITHM])
    except jwt.InvalidTokenError:
        return None
    return payload if isinstance(payload, bytes) else None


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


def _is_canonical(token: str) -> bool:
    """Whether the signature is written as we would: base64 leaves two bits that decoders do not look at."""
    signature = token.rpartition(".")[2]
    decoded = base64.urlsafe_b64decode(signature + "=")
    return base64.urlsafe_b64encode(decoded).rstrip(b"=") == signature.encode()
