"""The platform's side: rooms and seats."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self, TypeVar, final
from uuid import uuid4

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc.client.calls import CallRefused, Cancellation, bearer, refusal_of
from erqiwang_grpc.client.servers import Options, Servers
from erqiwang_grpc.client.timing import BackOff, Timing
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.v1 import record_pb2, room_pb2, room_service_pb2 as pb, room_service_pb2_grpc as rpc, settlement_pb2

T = TypeVar("T")

DEADLINE_SECONDS: Final = 10.0
_ELSEWHERE: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
"""The server cannot be reached, is leaving, or does not answer: another may."""
_UNKNOWN: Final = Reason.OUTCOME_UNKNOWN.name
_LOST: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN)
"""A stream was lost for no fault of the call: the same call may go on."""


@final
@dataclass(frozen=True, slots=True)
class Created:
    """A room that was opened."""

    room: pb.Room
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

    room: pb.Room
    """The room as it stands."""
    seat: int
    token: str = field(repr=False)
    """Opens the seat's stream: for the player's client and nobody else."""
    token_expires: Timestamp
    """When the token ends. A stream that is open by then goes on."""
    last_version: int
    """The version before the seat was taken: for the player's client too, which is then told of a deal that began meanwhile."""
    command_id: str
    """The id of the command: called with it again, it does not make the token void that it gave."""


@final
@dataclass(frozen=True, slots=True)
class FreshToken:
    """A token for a seat that is taken already."""

    token: str = field(repr=False)
    """As in `Seated`. Older tokens of the seat stay valid until their own end."""
    token_expires: Timestamp


@final
class Platform:
    """`RoomService` with one platform's key, on the first of `addresses` that can be reached.

    All addresses must lead to the same store: a command that one server did not answer is sent to the next under the same id,
    and only the store where the first may have kept it knows that it is the same command. Two stores would both carry it out.

    Every call raises `CallRefused` where it is refused, or is not answered within `deadline` seconds by any of the servers.
    A command has an id, the caller's or a fresh one: that makes it safe to send it to the next server too, and for the
    caller to call again with the id that `CallRefused` names. Where a server answers that the outcome of a command is
    unknown, the command is sent again under its id, for `deadline` seconds at most: the server is then starting anew.
    `close` it, or use it with `async with`.
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

    async def server_info(self) -> pb.GetServerInfoResponse:
        """What the server is: its version, its games, what it can do and what it takes."""
        request = pb.GetServerInfoRequest()
        return await self._answer(
            lambda rooms: rooms.GetServerInfo(request, metadata=self._metadata, timeout=self._deadline)
        )

    async def create_room(
        self,
        owner: str,
        options: room_pb2.RoomOptions | None = None,
        *,
        roomtype: str | None = None,
        command_id: str | None = None,
        reference: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> Created:
        """Open a room, with typed options or a `roomtype`; the same `command_id` again gives the same room.

        `reference` and `labels` are the platform's own: they come back with the room, its events and its record, and are told
        to no seat.
        """
        choice = pb.RoomChoice(roomtype=roomtype) if roomtype is not None else pb.RoomChoice(options=options)
        request = pb.CreateRoomRequest(
            command_id=command_id or uuid4().hex, owner=owner, choice=choice, reference=reference, labels=labels
        )
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
        return Seated(
            room=taken.room,
            seat=taken.seat,
            token=taken.seat_token,
            token_expires=taken.token_expire_time,
            last_version=taken.last_version,
            command_id=request.command_id,
        )

    async def refresh_seat_token(self, room_id: str, seat: int, player: str) -> FreshToken:
        """A fresh token for the player on a seat, whose stream goes on: `SeatClient.renew` takes it."""
        request = pb.RefreshSeatTokenRequest(room_id=room_id, seat=seat, player=player)
        given = await self._answer(
            lambda rooms: rooms.RefreshSeatToken(request, metadata=self._metadata, timeout=self._deadline)
        )
        return FreshToken(given.seat_token, given.token_expire_time)

    async def leave_seat(self, room_id: str, seat: int, command_id: str | None = None) -> pb.Room:
        """Free a seat before the match starts."""
        request = pb.LeaveSeatRequest(room_id=room_id, seat=seat, command_id=command_id or uuid4().hex)
        left = await self._answer(
            lambda rooms: rooms.LeaveSeat(request, metadata=self._metadata, timeout=self._deadline), request.command_id
        )
        return left.room

    async def start_match(self, room_id: str, command_id: str | None = None) -> pb.Room:
        """Start the match of a full room that was created with `START_PLATFORM`."""
        request = pb.StartMatchRequest(room_id=room_id, command_id=command_id or uuid4().hex)
        started = await self._answer(
            lambda rooms: rooms.StartMatch(request, metadata=self._metadata, timeout=self._deadline), request.command_id
        )
        return started.room

    async def disband_room(
        self,
        room_id: str,
        command_id: str | None = None,
        *,
        seat: int | None = None,
        reason: settlement_pb2.DisbandReason.ValueType = settlement_pb2.DISBAND_REASON_UNSPECIFIED,
        text: str = "",
    ) -> pb.DisbandRoomResponse:
        """End the match now. Every seat is told the `seat` whose player asked for it, the `reason` and the `text`."""
        request = pb.DisbandRoomRequest(
            room_id=room_id, command_id=command_id or uuid4().hex, seat=seat, reason=reason, text=text
        )
        return await self._answer(
            lambda rooms: rooms.DisbandRoom(request, metadata=self._metadata, timeout=self._deadline),
            request.command_id,
        )

    async def room(self, room_id: str) -> pb.Room:
        """Look at a room."""
        request = pb.GetRoomRequest(room_id=room_id)
        found = await self._answer(
            lambda rooms: rooms.GetRoom(request, metadata=self._metadata, timeout=self._deadline)
        )
        return found.room

    async def rooms(
        self,
        state: room_pb2.RoomState.ValueType = room_pb2.ROOM_STATE_UNSPECIFIED,
        player: str = "",
        *,
        reference: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> list[pb.Room]:
        """All the platform's rooms, or those in a state, of a player, with a reference and with labels, the newest first."""
        found: list[pb.Room] = []
        request = pb.ListRoomsRequest(page_size=200, state=state, player=player, reference=reference, labels=labels)
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
        self,
        player: str = "",
        since: Timestamp | None = None,
        until: Timestamp | None = None,
        *,
        reference: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> AsyncIterator[record_pb2.MatchSummary]:
        """The platform's matches that ended from `since` up to `until`, the last one first.

        Only those of a player, and of rooms with a reference and with labels, where these are given.
        """
        request = pb.ListMatchRecordsRequest(
            page_size=200, player=player, since=since, until=until, reference=reference, labels=labels
        )
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

    async def cursor_now(self) -> str:
        """The cursor of this moment: watched from it, `watch` tells what happens after."""
        return await self._answer(self._first_cursor)

    async def _first_cursor(self, rooms: rpc.RoomServiceStub) -> str:
        watching = rooms.WatchRooms(pb.WatchRoomsRequest(now=True), metadata=self._metadata, timeout=self._deadline)
        try:
            response = await watching.read()
        finally:
            watching.cancel()
        assert isinstance(response, pb.WatchRoomsResponse), "a watch from now begins with a message"
        return response.cursor

    async def watch(self, cursor: str = "") -> AsyncGenerator[pb.RoomEvent, None]:
        """Public events of all the platform's rooms, without an end; each carries the cursor to go on from.

        They begin behind a cursor (`cursor_now` gives that of this moment); without one, with the first room that there was.
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
                heard = heard and refused.reason != Reason.DRAINING.name
                delay = refused.retry_delay
            finally:
                # The caller may have closed this generator: nothing else ends a stream that nobody reads any more.
                call.cancel()
            if not heard:
                self._servers.leave(address)
            await self._timing.sleep(back_off.wait(delay))

    async def _answer(self, ask: Callable[[rpc.RoomServiceStub], Awaitable[T]], command_id: str = "") -> T:
        """The answer of the first server that has one; where it is that the outcome is unknown, the one that tells."""
        began, back_off, unknown = self._timing.now(), BackOff(self._timing), None
        while True:
            try:
                return await self._ask(ask, command_id)
            except CallRefused as refused:
                # After that answer the server leaves: until it is back, it cannot be reached.
                unknown = refused if refused.reason == _UNKNOWN else unknown
                if unknown is None or refused.code not in _ELSEWHERE:
                    raise
                wait = back_off.wait(refused.retry_delay)
                if not command_id or self._timing.now() + wait - began > self._deadline:
                    raise unknown from refused
            await self._timing.sleep(wait)

    async def _ask(self, ask: Callable[[rpc.RoomServiceStub], Awaitable[T]], command_id: str) -> T:
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
                if refused.code is not grpc.StatusCode.RESOURCE_EXHAUSTED or refused.retry_delay is None:
                    raise
                delay = refused.retry_delay
            await self._timing.sleep(delay)
