"""The platform's side: rooms and seats."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar, final
from uuid import uuid4

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc.client.calls import bearer, refusal_of, retry_delay
from erqiwang_grpc.v1 import record_pb2, room_pb2, room_service_pb2 as pb, room_service_pb2_grpc as rpc

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Seated:
    """A seat that was taken."""

    seat: int
    token: str = field(repr=False)
    """Opens the seat's stream: for the player's client and nobody else."""


@final
class Platform:
    """`RoomService` with one platform's key. Every call raises `CallRefused` where it is refused."""

    def __init__(self, channel: grpc.aio.Channel, key: str) -> None:
        self._rooms = rpc.RoomServiceStub(channel)
        self._metadata = bearer(key)

    async def create_room(
        self,
        owner: str,
        options: room_pb2.RoomOptions | None = None,
        *,
        roomtype: str | None = None,
        command_id: str | None = None,
    ) -> room_pb2.Room:
        """Open a room, with typed options or a `roomtype`; the same `command_id` again gives the same room."""
        choice = pb.RoomChoice(roomtype=roomtype) if roomtype is not None else pb.RoomChoice(options=options)
        request = pb.CreateRoomRequest(command_id=command_id or uuid4().hex, owner=owner, choice=choice)
        return (await _told(self._rooms.CreateRoom(request, metadata=self._metadata))).room

    async def take_seat(self, room_id: str, player: str, seat: int | None = None, command_id: str = "") -> Seated:
        """Seat a player; without a seat, on the first that is free."""
        request = pb.TakeSeatRequest(room_id=room_id, player=player, seat=seat, command_id=command_id)
        response = await _told(self._rooms.TakeSeat(request, metadata=self._metadata))
        return Seated(response.seat, response.seat_token)

    async def leave_seat(self, room_id: str, seat: int) -> room_pb2.Room:
        """Free a seat before the match starts."""
        request = pb.LeaveSeatRequest(room_id=room_id, seat=seat)
        return (await _told(self._rooms.LeaveSeat(request, metadata=self._metadata))).room

    async def disband_room(self, room_id: str, command_id: str = "") -> pb.DisbandRoomResponse:
        """End the match now."""
        request = pb.DisbandRoomRequest(room_id=room_id, command_id=command_id)
        return await _told(self._rooms.DisbandRoom(request, metadata=self._metadata))

    async def room(self, room_id: str) -> room_pb2.Room:
        """Look at a room."""
        request = pb.GetRoomRequest(room_id=room_id)
        return (await _told(self._rooms.GetRoom(request, metadata=self._metadata))).room

    async def rooms(self, state: room_pb2.RoomState.ValueType = room_pb2.ROOM_STATE_UNSPECIFIED) -> list[room_pb2.Room]:
        """All the platform's rooms, the newest first."""
        found: list[room_pb2.Room] = []
        token = ""
        while True:
            request = pb.ListRoomsRequest(page_size=200, page_token=token, state=state)
            page = await _listed(partial(self._rooms.ListRooms, request, metadata=self._metadata))
            found += page.rooms
            token = page.next_page_token
            if not token:
                return found

    async def record(self, room_id: str) -> record_pb2.MatchRecord:
        """What was played in a room, as far as its deals are settled."""
        request = pb.GetMatchRecordRequest(room_id=room_id)
        return (await _told(self._rooms.GetMatchRecord(request, metadata=self._metadata))).record

    async def records(
        self, player: str = "", since: Timestamp | None = None, until: Timestamp | None = None
    ) -> AsyncIterator[record_pb2.MatchSummary]:
        """The platform's matches, or those of a player, that ended from `since` up to `until`, the last one first."""
        token = ""
        while True:
            request = pb.ListMatchRecordsRequest(
                page_size=200, page_token=token, player=player, since=since, until=until
            )
            page = await _listed(partial(self._rooms.ListMatchRecords, request, metadata=self._metadata))
            for summary in page.matches:
                yield summary
            token = page.next_page_token
            if not token:
                return

    async def quote(self, choice: pb.RoomChoice) -> pb.QuoteRoomResponse:
        """What a room would cost."""
        return await _told(self._rooms.QuoteRoom(pb.QuoteRoomRequest(choice=choice), metadata=self._metadata))

    async def watch(self, cursor: str = "") -> AsyncIterator[pb.RoomEvent]:
        """Public events of all the platform's rooms, from a cursor on; each carries the cursor to go on from."""
        try:
            async for response in self._rooms.WatchRooms(pb.WatchRoomsRequest(cursor=cursor), metadata=self._metadata):
                for event in response.events:
                    yield event
        except grpc.aio.AioRpcError as error:
            raise refusal_of(error) from error


async def _listed(call: Callable[[], Awaitable[T]]) -> T:
    """A page of a list. Lists may be longer than the platform's allowance, so it waits as long as the server asks it to."""
    while True:
        try:
            return await call()
        except grpc.aio.AioRpcError as error:
            delay = retry_delay(error)
            if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED or delay is None:
                raise refusal_of(error) from error
        await asyncio.sleep(delay)


async def _told(call: Awaitable[T]) -> T:
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise refusal_of(error) from error
