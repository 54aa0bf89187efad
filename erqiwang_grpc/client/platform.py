"""The client of a platform: creates rooms, seats players, watches, and reads records."""

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
_ELSEWHERE: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
"""The server cannot be reached, is shutting down, does not answer, or stopped during the call. Try the next one."""
_UNKNOWN: Final = Reason.OUTCOME_UNKNOWN.name
_LOST: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN)
"""The stream was lost, but the call was correct: the same call may be made again."""


@final
@dataclass(frozen=True, slots=True)
class Created:
    """A room that was created."""

    room: pb.Room
    cost: room_pb2.CardCost
    """The cost of the room in room cards."""
    command_id: str
    """The id of the command. Calling again with it gives the same room."""

    @property
    def room_id(self) -> str:
        """The id of the room."""
        return self.room.room_id


@final
@dataclass(frozen=True, slots=True)
class Seated:
    """A seat that was taken."""

    room: pb.Room
    """The room now."""
    seat: int
    token: str = field(repr=False)
    """Opens the seat's stream. Give it only to the player's client."""
    token_expires: Timestamp
    """When the token expires. A stream that is open then goes on."""
    last_version: int
    """The version before the seat was taken. Give it to the player's client, which is then told what happened since."""
    command_id: str
    """The id of the command. Calling again with it does not invalidate the token that it gave."""


@final
@dataclass(frozen=True, slots=True)
class FreshToken:
    """A fresh token for a seat that is taken already."""

    token: str = field(repr=False)
    """Opens the seat's stream. Older tokens of the seat stay valid until they expire."""
    token_expires: Timestamp
    """When the token expires. A stream that is open then goes on."""


@final
@dataclass(frozen=True, slots=True)
class WatchToken:
    """A token with which anybody may watch a room."""

    token: str = field(repr=False)
    """Opens `SeatService.Watch` for any number of spectators, and nothing else."""
    token_expires: Timestamp
    """When the token expires. A stream that is open then ends."""


@final
class Platform:
    """`RoomService` with one platform's key, on the first of `addresses` that can be reached.

    All addresses must lead to the same store. If one server does not answer a command, it is sent to the next with the
    same id. Only the same store knows whether the command was carried out before; two stores would carry it out twice.

    Every call raises `CallRefused` if it is refused, or if no server answers within `deadline` seconds. A command has
    an id, given by the caller or made here. So it is safe to call again with the id that `CallRefused` names. If a
    server answers that the outcome of a command is unknown, it is restarting, and the command is sent again with its
    id, for at most `deadline` seconds. Call `close` at the end, or use `async with`.
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
        """The server's versions, games, features and limits."""
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
        """Create a room, with typed options or a `roomtype`. The same `command_id` again gives the same room.

        `reference` and `labels` are for the platform: they come back with the room, its events and its record. Seats
        are never told them.
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
        """Seat a player on `seat`, or on the first free seat if None."""
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
        """A fresh token for the player on a seat. The seat's stream goes on; give the token to `SeatClient.renew`."""
        request = pb.RefreshSeatTokenRequest(room_id=room_id, seat=seat, player=player)
        given = await self._answer(
            lambda rooms: rooms.RefreshSeatToken(request, metadata=self._metadata, timeout=self._deadline)
        )
        return FreshToken(given.seat_token, given.token_expire_time)

    async def watch_token(
        self, room_id: str, *, delay: float | None = None, lifetime: float | None = None
    ) -> WatchToken:
        """A token for spectators of a room, who are told everything public `delay` seconds late.

        Without a delay they are told everything up to the last settled deal. The token is valid for `lifetime` seconds; None
        means a day.
        """
        request = pb.CreateWatchTokenRequest(room_id=room_id)
        if delay is None:
            request.settled_deals = True
        else:
            request.delay.FromNanoseconds(round(1e9 * delay))
        if lifetime is not None:
            request.lifetime.FromNanoseconds(round(1e9 * lifetime))
        given = await self._answer(
            lambda rooms: rooms.CreateWatchToken(request, metadata=self._metadata, timeout=self._deadline)
        )
        return WatchToken(given.watch_token, given.token_expire_time)

    async def leave_seat(self, room_id: str, seat: int, command_id: str | None = None) -> pb.Room:
        """Free a seat before the match starts."""
        request = pb.LeaveSeatRequest(room_id=room_id, seat=seat, command_id=command_id or uuid4().hex)
        left = await self._answer(
            lambda rooms: rooms.LeaveSeat(request, metadata=self._metadata, timeout=self._deadline), request.command_id
        )
        return left.room

    async def start_match(self, room_id: str, command_id: str | None = None) -> pb.Room:
        """Start the match of a full room that was created with `START_PLATFORM` (rules §13)."""
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
        """Disband the match now. Every seat is told which `seat` asked for it, the `reason` and the `text`."""
        request = pb.DisbandRoomRequest(
            room_id=room_id, command_id=command_id or uuid4().hex, seat=seat, reason=reason, text=text
        )
        return await self._answer(
            lambda rooms: rooms.DisbandRoom(request, metadata=self._metadata, timeout=self._deadline),
            request.command_id,
        )

    async def room(self, room_id: str) -> pb.Room:
        """The room now."""
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
        """The platform's rooms, newest first. Each argument that is given selects: state, player, reference, labels."""
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
        """The record of a room's match, as far as its deals are settled."""
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
        state: room_pb2.RoomState.ValueType = room_pb2.ROOM_STATE_UNSPECIFIED,
    ) -> AsyncIterator[record_pb2.MatchSummary]:
        """The platform's matches that ended from `since` up to but not including `until`, last to end first.

        Each argument that is given selects: matches of the player, of rooms with the reference and the labels. `state`
        selects the matches that were played to their end (`ROOM_STATE_FINISHED`) or disbanded (`ROOM_STATE_DISBANDED`).
        """
        request = pb.ListMatchRecordsRequest(
            page_size=200, player=player, since=since, until=until, reference=reference, labels=labels, state=state
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
        """The cost of a room, without creating it."""
        request = pb.QuoteRoomRequest(choice=choice)
        return await self._answer(
            lambda rooms: rooms.QuoteRoom(request, metadata=self._metadata, timeout=self._deadline)
        )

    async def cursor_now(self) -> str:
        """The cursor of this moment. Given to `watch`, it tells what happens from now on."""
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
        """The public events of all the platform's rooms, without end. Each carries the cursor to go on from.

        They begin after `cursor` (see `cursor_now`), or with the first room ever if it is empty. A lost connection is
        opened again, if necessary on the next server, after the last event that was given: no event is missed or given
        twice. Raises `CallRefused` if the server refuses the call.
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
                # The caller may have closed this generator. Nothing else ends a stream that is not read any more.
                call.cancel()
            if not heard:
                self._servers.leave(address)
            await self._timing.sleep(back_off.wait(delay))

    async def _answer(self, ask: Callable[[rpc.RoomServiceStub], Awaitable[T]], command_id: str = "") -> T:
        """The answer of the first server that gives one. If the outcome of a command is unknown, ask again with its id."""
        began, back_off, unknown = self._timing.now(), BackOff(self._timing), None
        while True:
            try:
                return await self._ask(ask, command_id)
            except CallRefused as refused:
                # The outcome is unknown if the server says so, or if it stopped during the call (CANCELLED). A server
                # that says so restarts, and cannot be reached until it is back.
                is_unknown = refused.reason == _UNKNOWN or refused.code is grpc.StatusCode.CANCELLED
                unknown = refused if is_unknown else unknown
                if unknown is None or refused.code not in _ELSEWHERE:
                    raise
                wait = back_off.wait(refused.retry_delay)
                if not command_id or self._timing.now() + wait - began > self._deadline:
                    raise unknown from refused
            await self._timing.sleep(wait)

    async def _ask(self, ask: Callable[[rpc.RoomServiceStub], Awaitable[T]], command_id: str) -> T:
        """The answer of the first server that gives one."""
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
        """A page of a list. A long list may exceed the platform's allowance, so wait as long as the server asks."""
        while True:
            try:
                return await self._answer(ask)
            except CallRefused as refused:
                if refused.code is not grpc.StatusCode.RESOURCE_EXHAUSTED or refused.retry_delay is None:
                    raise
                delay = refused.retry_delay
            await self._timing.sleep(delay)
