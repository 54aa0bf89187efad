"""Who is calling: the platform key or seat token of a call's metadata."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, final

import grpc

from erqiwang_grpc.auth.bearer import credential
from erqiwang_grpc.auth.files import KeyFiles
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.auth.tokens import SeatClaims, TokenRefused, UnixSeconds
from erqiwang_grpc.rooms.limits import SECOND
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.errors import refuse, unauthenticated
from erqiwang_grpc.store import TimeNs

Q = TypeVar("Q")
R = TypeVar("R")


@final
class Access:
    """Checks every call before anything else is done for it."""

    def __init__(self, keys: KeyFiles, rooms: Rooms, now: Callable[[], TimeNs]) -> None:
        self._keys = keys
        self._rooms = rooms
        # Tokens are good on every node and outlive the process, so the wall clock says when they expire.
        self._now = now

    async def platform(self, context: grpc.aio.ServicerContext[Q, R]) -> PlatformId:
        """The platform whose key the call carries. Ends the call with UNAUTHENTICATED if it carries none."""
        presented = _credential(context)
        platform = None if presented is None else self._keys.current.platforms.platform(presented)
        if platform is None:
            await unauthenticated(context, "a platform key is required: authorization: Bearer <key>")
        return platform

    async def seat(self, context: grpc.aio.ServicerContext[Q, R]) -> tuple[SeatClaims, Room]:
        """The seat whose token the call carries, and its room.

        Ends the call with UNAUTHENTICATED if it carries none, or one that is no longer good: nothing about a room is said
        without one.
        """
        presented = _credential(context)
        if presented is None:
            await unauthenticated(context, "a seat token is required: authorization: Bearer <token>")
        claims = self._keys.current.tokens.verify(presented, UnixSeconds(self._now() // SECOND))
        if isinstance(claims, TokenRefused):
            await unauthenticated(context, claims.fault.value)
        return claims, await self.room(claims, context)

    async def room(self, claims: SeatClaims, context: grpc.aio.ServicerContext[Q, R]) -> Room:
        """The room of a seat's token, of which it is still good. Ends the call likewise."""
        room = await self._rooms.find(claims.room)
        if not isinstance(room, Room):
            await refuse(context, room)
        if not holds(room, claims):
            await unauthenticated(context, "the seat was left or taken anew: ask the platform for a fresh token")
        return room


def holds(room: Room, claims: SeatClaims) -> bool:
    """Whether the seat is still the token's: of this room's platform, with this player, in this epoch."""
    if room.state.opened.platform != claims.platform or not 0 <= claims.seat < len(room.match.chairs):
        return False
    chair = room.match.chairs[claims.seat]
    return chair.player is not None and str(chair.player) == str(claims.player) and chair.epoch == claims.epoch


def _credential(context: grpc.aio.ServicerContext[Q, R]) -> str | None:
    for key, value in context.invocation_metadata() or ():
        if key == "authorization" and isinstance(value, str):
            return credential(value)
    return None
