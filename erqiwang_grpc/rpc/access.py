"""Who is calling: reads the platform key or seat token in a call's metadata."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Final, Never, TypeVar, final

import grpc

from erqiwang_grpc.archive.ownership import owner
from erqiwang_grpc.auth.bearer import credential
from erqiwang_grpc.auth.files import KeyFiles
from erqiwang_grpc.auth.keys import PlatformId, Scope, scope
from erqiwang_grpc.auth.tokens import Fault, SeatClaims, TokenRefused, UnixSeconds, WatchClaims
from erqiwang_grpc.bounded import Bounded
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.counters import Credential, Wrong
from erqiwang_grpc.rooms.limits import SECOND
from erqiwang_grpc.rooms.refusals import NoSuchRoom, Refused, StoreUnavailable, WrittenByNewer
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.errors import end, refuse
from erqiwang_grpc.store import RoomId, StoreReader, TimeNs

log = logging.getLogger(__name__)

_FAILURES: Final = 10
_FAILURES_SECONDS: Final = 10.0
"""So many refused credentials are logged in so many seconds: strangers can send as many as they like."""

Q = TypeVar("Q")
R = TypeVar("R")

_WRONG: Final = {
    Reason.CREDENTIAL_MISSING: Wrong.MISSING,
    Reason.CREDENTIAL_MALFORMED: Wrong.MALFORMED,
    Reason.CREDENTIAL_WRONG: Wrong.WRONG,
    Reason.CREDENTIAL_EXPIRED: Wrong.EXPIRED,
    Reason.UNSEATED: Wrong.UNSEATED,
}


@final
class Access:
    """Checks the credential of every call, before anything else is done for it."""

    def __init__(self, keys: KeyFiles, rooms: Rooms, store: StoreReader, now: Callable[[], TimeNs]) -> None:
        self._keys = keys
        self._rooms = rooms
        self._store = store
        # Tokens are valid on every node and outlive the process, so the wall clock decides when they expire.
        self._now = now
        self._failures = Bounded(_FAILURES, _FAILURES_SECONDS)

    async def platform(self, context: grpc.aio.ServicerContext[Q, R]) -> PlatformId:
        """The platform whose platform key the call carries. Ends the call with UNAUTHENTICATED if it carries no valid one."""
        return await self._platform(Scope.PLATFORM, context)

    async def gateway(self, context: grpc.aio.ServicerContext[Q, R]) -> PlatformId:
        """The platform whose gateway key the call carries. Ends the call with UNAUTHENTICATED if it carries no valid one."""
        return await self._platform(Scope.GATEWAY, context)

    async def _platform(self, needed: Scope, context: grpc.aio.ServicerContext[Q, R]) -> PlatformId:
        key = Credential.PLATFORM_KEY if needed is Scope.PLATFORM else Credential.GATEWAY_KEY
        presented = await self._credential(context, key, f"A {needed.label} key is required.")
        platform = self._keys.current.platforms.platform(presented, needed)
        if platform is not None:
            return platform
        if scope(presented) is needed:
            await self._turn_away(
                context, key, Reason.CREDENTIAL_WRONG, f"The {needed.label} key is wrong: no platform has it now."
            )
        said = f"The credential is no {needed.label} key, as this call needs."
        return await self._turn_away(context, key, Reason.CREDENTIAL_MALFORMED, said)

    async def seat(self, context: grpc.aio.ServicerContext[Q, R]) -> tuple[SeatClaims, Room]:
        """The seat whose token the call carries, and its room.

        Ends the call with UNAUTHENTICATED if it carries no valid token. The caller then learns nothing about any room.
        """
        presented = await self._credential(context, Credential.SEAT_TOKEN, "A seat token is required.")
        claims = self.claims(presented, context.peer())
        if isinstance(claims, TokenRefused):
            # `claims` has noted it.
            await end(context, _reason(claims.fault), f"The seat token is refused: {claims.fault.value}.")
        return claims, await self.room(claims, context)

    async def viewer(self, context: grpc.aio.ServicerContext[Q, R]) -> SeatClaims | WatchClaims:
        """What the seat token or watch token says that the call carries. Only the room knows whether it is still valid.

        Ends the call with UNAUTHENTICATED if it carries no token of either kind.
        """
        token = Credential.SEAT_OR_WATCH_TOKEN
        presented = await self._credential(context, token, "A seat token or a watch token is required.")
        claims = self._keys.current.tokens.verify_either(presented, UnixSeconds(self._now() // SECOND))
        if isinstance(claims, TokenRefused):
            said = f"The token is refused: {claims.fault.value}."
            await self._turn_away(context, token, _reason(claims.fault), said)
        return claims

    def claims(self, token: str, address: str | None = None) -> SeatClaims | TokenRefused:
        """What a seat token says, if it is ours and has not expired. Only the room knows whether it is still valid."""
        claims = self._keys.current.tokens.verify(token, UnixSeconds(self._now() // SECOND))
        if isinstance(claims, TokenRefused):
            why = _reason(claims.fault)
            self.note(Credential.SEAT_TOKEN, _WRONG[why], why, address)
        return claims

    async def room(self, claims: SeatClaims, context: grpc.aio.ServicerContext[Q, R]) -> Room:
        """The room that the token names. Ends the call with UNAUTHENTICATED if the token is no longer valid for its seat."""
        room = await self.owned(claims.room, claims.platform)
        if not isinstance(room, Room):
            await refuse(context, room)
        if not holds(room, claims):
            await self._turn_away(context, Credential.SEAT_TOKEN, Reason.UNSEATED)
        return room

    def note(self, credential: Credential, wrong: Wrong, why: Reason, address: str | None = None) -> None:
        """Count a credential that is refused, and log it. Of very many only some are logged, and the others counted."""
        self._rooms.node.counters.unauthenticated[credential, wrong] += 1
        if self._failures.is_said(monotonic()):
            log.warning("authentication failed", extra={"why": why.name, "address": address})

    def tell_left_out(self) -> None:
        """Log how many refused credentials were not logged. Call it about once a second."""
        if self._failures.left_out and not self._failures.is_full(monotonic()):
            log.warning("more authentications failed", extra={"count": self._failures.take_left_out()})

    async def _turn_away(
        self, context: grpc.aio.ServicerContext[Q, R], credential: Credential, why: Reason, said: str = ""
    ) -> Never:
        self.note(credential, _WRONG[why], why, context.peer())
        await end(context, why, said)

    async def _credential(self, context: grpc.aio.ServicerContext[Q, R], needed: Credential, required: str) -> str:
        """The credential in the call's metadata. Ends the call if there is none, or if it has the wrong form."""
        for key, value in context.invocation_metadata() or ():
            if key == "authorization" and isinstance(value, str):
                presented = credential(value)
                if presented is None:
                    said = "`authorization` has another form than: Bearer <credential>."
                    await self._turn_away(context, needed, Reason.CREDENTIAL_MALFORMED, said)
                return presented
        return await self._turn_away(context, needed, Reason.CREDENTIAL_MISSING, required)

    async def owns(
        self, room_id: RoomId, platform: PlatformId
    ) -> NoSuchRoom | StoreUnavailable | WrittenByNewer | None:
        """None if the room is the platform's; else the refusal. The room is not opened."""
        owned_by = await self._owner(room_id)
        if isinstance(owned_by, StoreUnavailable | WrittenByNewer):
            return owned_by
        return None if owned_by == platform else NoSuchRoom()

    async def owned(self, room_id: RoomId, platform: PlatformId) -> Room | Refused:
        """The platform's room.

        Refusals: `NoSuchRoom`, also for the room of another; `RoomQuarantined` if damaged; `StoreUnavailable`;
        `WrittenByNewer`.
        """
        # Only its own platform may have a room opened: opening takes time, and a place in memory.
        return await self.owns(room_id, platform) or await self._rooms.find(room_id)

    async def _owner(self, room_id: RoomId) -> str | StoreUnavailable | WrittenByNewer | None:
        """The platform of a room, in memory or stored; None if there is no such room."""
        room = self._rooms.in_memory(room_id)
        return await owner(self._store, room_id) if room is None else room.state.opened.platform


def holds(room: Room, claims: SeatClaims) -> bool:
    """Whether the token is still valid for its seat: the room is its platform's, with the same player and epoch."""
    if not 0 <= claims.seat < len(room.match.chairs):
        return False
    chair = room.match.chairs[claims.seat]
    return chair.player == claims.player and chair.epoch == claims.epoch


def _reason(fault: Fault) -> Reason:
    match fault:
        case Fault.MALFORMED:
            return Reason.CREDENTIAL_MALFORMED
        case Fault.UNKNOWN_KEY | Fault.FORGED:
            return Reason.CREDENTIAL_WRONG
        case Fault.EXPIRED:
            return Reason.CREDENTIAL_EXPIRED
