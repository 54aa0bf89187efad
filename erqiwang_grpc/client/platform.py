"""The platform's side: rooms and seats."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self, TypeVar, final
from uuid import uuid4

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc.client.calls import CallRefused, Cancellation, bearer, refusal_of, retry_delay
from erqiwang_grpc.client.servers import Options, Servers
from erqiwang_grpc.client.timing import BackOff, Timing
from erqiwang_grpc.v1 import record_pb2, room_pb2, room_service_pb2 as pb, room_service_pb2_grpc as rpc

T = TypeVar("T")

DEADLINE_SECONDS: Final = 10.0
_ELSEWHERE: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
"""The server cannot be reached, is leaving, or does not answer: another may."""
_LOST: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN)
"""A stream was lost for no fault of the call: the same call may go on."""


@final
@dataclass(frozen=True, slots=True)
class Created:
    """A room that was opened."""

    room: room_pb2.Room
    cost: room_pb2.CardCost
    """What the platform charges for it."""
    command_id: str
    """The id of the command: called with it again, it gives the same room."""

    @property
    def room_id(self) -> str:
        """The room's id."""
        return self.room.room_id


@final
@dataclass(frozen=True, slots=True)
class Seated:
    """A seat that was taken."""

    room: room_pb2.Room
    """The room as it stands."""
    seat: int
    token: str = field(repr=False)
    """Opens the seat's stream: for the player's client and nobody else."""
    token_expires: Timestamp
    """When the token ends. A stream that is open by then goes on."""
    command_id: str
    """The id of the command: called with it again, it does not make the token void that it gave."""


@final
class Platform:
    """`RoomService` with one platform's key, on the first of `addresses` that can be reached.

    Every call raises `CallRefused` where it is refused, or is not answered within `deadline` seconds by any of the servers.
    A command has an id, the caller's or a fresh one: that makes it safe to send it to the next server too, and for the
    caller to call again with the id that `CallRefused` names. `close` it, or use it with `async with`.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        key: str,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        options: Options = (),
        deadline: float = DEADLINE_SECONDS,
        timing: Timing | None = None,
    ) -> None:
        self._servers = Servers(addresses, credentials, options)
        self._metadata = bearer(key)
        self._deadline = deadline
        self._timing = Timing() if timing is None else timing

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._servers.close()

    async def create_room(
        self,
        owner: str,
        options: room_pb2.RoomOptions | None = None,
        *,
        roomtype: str | None = None,
        command_id: str | None = None,
    ) -> Created:
        """Open a room, with typed options or a `roomtype`; the same `command_id` again gives the same room."""
        choice = pb.RoomChoice(roomtype=roomtype) if roomtype is not None else pb.RoomChoice(options=options)
        request = pb.CreateRoomRequest(command_id=command_id or uuid4().hex, owner=owner, choice=choice)
        made = await self._answer(
            lambda rooms: rooms.CreateRoom(request, metadata=self._metadata, timeout=self._deadline), request.command_id
        )
        return Created(made.room, made.cost, request.command_id)

    async def take_seat(
        self, room_id: str, player: str, seat: int | None = None, command_id: str | None = None
    ) -> Seated:
        """Seat a player; without a seat, on the first that is free."""
        request = pb.TakeSeatRequest(room_id=room_id, player=player, seat=seat, command_id=command_id or uuid4().hex)
        taken = await self._answer(
            lambda rooms: rooms.TakeSeat(request, metadata=self._metadata, timeout=self._deadline), request.command_id
        )
        return Seated(taken.room, taken.seat, taken.seat_token, taken.token_expire_time, request.command_id)

    async def leave_seat(self, room_id: str, seat: int, command_id: str | None = None) -> room_pb2.Room:
        """Free a seat before the match starts."""
        request = pb.LeaveSeatRequest(room_id=room_id, seat=seat, command_id=command_id or uuid4().hex)
        left = await self._answer(
            lambda rooms: rooms.LeaveSeat(request, metadata=self._metadata, timeout=self._deadline), request.command_id
        )
        return left.room

    async def disband_room(self, room_id: str, command_id: str | None = None) -> pb.DisbandRoomResponse:
        """End the match now."""
        request = pb.DisbandRoomRequest(room_id=room_id, command_id=command_id or uuid4().hex)
        return await self._answer(
            lambda rooms: rooms.DisbandRoom(request, metadata=self._metadata, timeout=self._deadline),
            request.command_id,
        )

    async def room(self, room_id: str) -> room_pb2.Room:
        """Look at a room."""
        request = pb.GetRoomRequest(room_id=room_id)
        found = await self._answer(
            lambda rooms: rooms.GetRoom(request, metadata=self._metadata, timeout=self._deadline)
        )
        return found.room

    async def rooms(
        self, state: room_pb2.RoomState.ValueType = room_pb2.ROOM_STATE_UNSPECIFIED, player: str = ""
    ) -> list[room_pb2.Room]:
        """All the platform's rooms, or those in a state, or those of a player, the newest first."""
        found: list[room_pb2.Room] = []
        request = pb.ListRoomsRequest(page_size=200, state=state, player=player)
        while True:
            page = await self._page(
                lambda rooms: rooms.ListRooms(request, metadata=self._metadata, timeout=self._deadline)
            )
            found += page.rooms
            request.page_token = page.next_page_token
            if not request.page_token:
                return found

    async def record(self, room_id: str) -> record_pb2.MatchRecord:
        """What was played in a room, as far as its deals are settled."""
        request = pb.GetMatchRecordRequest(room_id=room_id)
        found = await self._answer(
            lambda rooms: rooms.GetMatchRecord(request, metadata=self._metadata, timeout=self._deadline)
        )
        return found.record

    async def records(
        self, player: str = "", since: Timestamp | None = None, until: Timestamp | None = None
    ) -> AsyncIterator[record_pb2.MatchSummary]:
        """The platform's matches, or those of a player, that ended from `since` up to `until`, the last one first."""
        request = pb.ListMatchRecordsRequest(page_size=200, player=player, since=since, until=until)
        while True:
            page = await self._page(
                lambda rooms: rooms.ListMatchRecords(request, metadata=self._metadata, timeout=self._deadline)
            )
            for summary in page.matches:
                yield summary
            request.page_token = page.next_page_token
            if not request.page_token:
                return

    async def quote(self, choice: pb.RoomChoice) -> pb.QuoteRoomResponse:
        """What a room would cost."""
        request = pb.QuoteRoomRequest(choice=choice)
        return await self._answer(
            lambda rooms: rooms.QuoteRoom(request, metadata=self._metadata, timeout=self._deadline)
        )

    async def watch(self, cursor: str = "") -> AsyncGenerator[pb.RoomEvent, None]:
        """Public events of all the platform's rooms, from a cursor on, without an end; each carries the cursor to go on from.

        A lost connection is opened again, on the next server where this one is gone, after the last event that was given:
        none is missed and none comes twice. Raises `CallRefused` where the server refuses to be watched.
        """
        back_off = BackOff(self._timing)
        while True:
            cancellation = Cancellation()
            address, heard, delay = self._servers.address, False, None
            rooms = rpc.RoomServiceStub(self._servers.channel())
            call = rooms.WatchRooms(pb.WatchRoomsRequest(cursor=cursor), metadata=self._metadata)
            try:
                async for response in call:
                    heard = True
                    back_off.begin_again()
                    for event in response.events:
                        cursor = event.cursor
                        yield event
            except grpc.aio.AioRpcError as error:
                cancellation.heed()
                refused = refusal_of(error)
                if refused.code not in _LOST:
                    raise refused from error
                heard = heard and refused.reason != "DRAINING"
                delay = retry_delay(error)
            finally:
                # The caller may have closed this generator: nothing else ends a stream that nobody reads any more.
                call.cancel()
            if not heard:
                self._servers.leave(address)
            await self._timing.sleep(back_off.wait(delay))

    async def _answer(self, ask: Callable[[rpc.RoomServiceStub], Awaitable[T]], command_id: str = "") -> T:
        """The answer of the first server that has one."""
        cancellation = Cancellation()
        for left in reversed(range(len(self._servers))):
            address = self._servers.address
            try:
                return await ask(rpc.RoomServiceStub(self._servers.channel()))
            except grpc.aio.AioRpcError as error:
                cancellation.heed()
                if error.code() in _ELSEWHERE:
                    self._servers.leave(address)
                    if left:
                        continue
                raise refusal_of(error, command_id) from error
        raise AssertionError("the last server's answer is returned or raised")

    async def _page(self, ask: Callable[[rpc.RoomServiceStub], Awaitable[T]]) -> T:
        """A page of a list. Lists may be longer than the platform's allowance, so it waits as long as the server asks it to."""
        while True:
            try:
                return await self._answer(ask)
            except CallRefused as refused:
                cause = refused.__cause__
                delay = retry_delay(cause) if isinstance(cause, grpc.aio.AioRpcError) else None
                if refused.code is not grpc.StatusCode.RESOURCE_EXHAUSTED or delay is None:
                    raise
            await self._timing.sleep(delay)
