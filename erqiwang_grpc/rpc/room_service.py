"""`RoomService`: platforms create, fill, watch, list and disband their rooms."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Final, TypeVar, final

import grpc
from erqiwang_core.match import (
    HouseCommand,
    LeaveSeat,
    Match,
    Over,
    Player,
    StartMatch,
    TakeSeat,
)
from erqiwang_core.options import card_cost
from erqiwang_core.refusals import NoSuchSeat, SeatFree, SeatOccupied
from erqiwang_core.rules import game_rules
from erqiwang_core.units import Seat
from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc.archive.matches import Archive, ListedRooms, Recorded
from erqiwang_grpc.auth.files import KeyFiles
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.auth.tokens import Epoch, UnixSeconds, WatchClaims, claims_for
from erqiwang_grpc.events.actor import PLATFORM
from erqiwang_grpc.rooms.bounds import id_fault, name_fault
from erqiwang_grpc.rooms.command import Accepted, Answered, HouseAsks
from erqiwang_grpc.rooms.costs import Work
from erqiwang_grpc.rooms.fingerprint import command_key
from erqiwang_grpc.rooms.limits import SECOND
from erqiwang_grpc.rooms.quotas import Quotas
from erqiwang_grpc.rooms.refusals import (
    ForeignCursor,
    InvalidCursor,
    InvalidField,
    Refused,
    RoomFull,
)
from erqiwang_grpc.rooms.registry import Rooms, room_id
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.rpc import room_status, searches
from erqiwang_grpc.rpc.access import Access
from erqiwang_grpc.rpc.cursors import page_token, read_page_token
from erqiwang_grpc.rpc.errors import refuse
from erqiwang_grpc.rpc.room_watches import RoomWatches
from erqiwang_grpc.rpc.server_info import server_info
from erqiwang_grpc.rpc.wire import encode, requests as decode
from erqiwang_grpc.rpc.wire.encode.parts import timestamp
from erqiwang_grpc.store import Cursor, RoomId, Search, TimeNs
from erqiwang_grpc.v1 import room_service_pb2 as pb, room_service_pb2_grpc as rpc

T = TypeVar("T")
Q = TypeVar("Q")
R = TypeVar("R")

LARGEST_PAGE: Final = 200
"""Most rows of a page. A request for more rows gets this many."""
USUAL_PAGE: Final = 50


@final
class RoomServicer(rpc.RoomServiceServicer):
    """The servicer of `RoomService`. The proto file documents each method for callers."""

    def __init__(
        self, access: Access, rooms: Rooms, keys: KeyFiles, archive: Archive, quotas: Quotas, node: Node
    ) -> None:
        self._access = access
        self._rooms = rooms
        self._keys = keys
        self._archive = archive
        self._quotas = quotas
        self._node = node
        self._limits = node.limits
        self._info = server_info(node.limits, LARGEST_PAGE)
        self._watches = RoomWatches(rooms, quotas, node)
        self._working: set[asyncio.Task[object]] = set()

    @property
    def watchers(self) -> int:
        """The number of `WatchRooms` streams now."""
        return self._watches.number

    async def GetServerInfo(
        self,
        request: pb.GetServerInfoRequest,
        context: grpc.aio.ServicerContext[pb.GetServerInfoRequest, pb.GetServerInfoResponse],
    ) -> pb.GetServerInfoResponse:
        """The versions, games, features and limits of this server."""
        await self._caller(context)
        return self._info

    async def CreateRoom(
        self,
        request: pb.CreateRoomRequest,
        context: grpc.aio.ServicerContext[pb.CreateRoomRequest, pb.CreateRoomResponse],
    ) -> pb.CreateRoomResponse:
        """Create a room, or give the one that the same command created before."""
        platform = await self._caller(context)
        opening = id_fault(request.command_id, is_required=True) or decode.opening(request, platform)
        if isinstance(opening, InvalidField):
            await refuse(context, opening)
        key = command_key(request.command_id, opening)
        assert key is not None, "the command_id is required"
        is_in_memory = self._rooms.in_memory(room_id(platform, request.command_id)) is not None
        room = await self._finish(self._rooms.create(opening, key))
        if not isinstance(room, Room):
            await refuse(context, room)
        if not is_in_memory:
            # The same command may have created the room long ago.
            self._quotas.owe(platform, (room.version - 1) * Work.EVENT.units)
        return pb.CreateRoomResponse(room=self._status(room), cost=encode.card_cost(card_cost(opening.options)))

    async def GetRoom(
        self, request: pb.GetRoomRequest, context: grpc.aio.ServicerContext[pb.GetRoomRequest, pb.GetRoomResponse]
    ) -> pb.GetRoomResponse:
        """The room as its platform sees it."""
        room = await self._room(request.room_id, context)
        return pb.GetRoomResponse(room=self._status(room))

    async def ListRooms(
        self, request: pb.ListRoomsRequest, context: grpc.aio.ServicerContext[pb.ListRoomsRequest, pb.ListRoomsResponse]
    ) -> pb.ListRoomsResponse:
        """A page of the platform's rooms, newest first."""
        platform = await self._caller(context)
        size, after = await self._asked_page(request, context)
        search = searches.rooms(platform, request)
        if isinstance(search, InvalidField):
            await refuse(context, search)
        page = await self._page(platform, search, size, after, context)
        return pb.ListRoomsResponse(
            rooms=[room_status.listed(room, self._rooms) for room in page.rooms], next_page_token=self._next(page)
        )

    async def QuoteRoom(
        self, request: pb.QuoteRoomRequest, context: grpc.aio.ServicerContext[pb.QuoteRoomRequest, pb.QuoteRoomResponse]
    ) -> pb.QuoteRoomResponse:
        """The cost of a room in room cards, without creating one."""
        await self._caller(context)
        options = decode.room_choice(request.choice)
        if isinstance(options, InvalidField):
            await refuse(context, options)
        seats = game_rules(options.game, options.review).seats
        return pb.QuoteRoomResponse(cost=encode.card_cost(card_cost(options)), deals=options.deals, seats=seats)

    async def TakeSeat(
        self, request: pb.TakeSeatRequest, context: grpc.aio.ServicerContext[pb.TakeSeatRequest, pb.TakeSeatResponse]
    ) -> pb.TakeSeatResponse:
        """Seat a player, and give the seat's token."""
        platform = await self._caller(context)
        room = await self._owned(request.room_id, platform, context)
        wrong = name_fault("player", request.player) or id_fault(request.command_id)
        if wrong is not None:
            await refuse(context, wrong)
        wanted, accepted = await self._seated(room, request, context)
        seat = _seat_of(room.match, Player(request.player))
        if seat is None:
            # A repeated command: it seated the player once, but the player has left since, or lost the seat to another.
            taken = room.match.chairs[Seat(wanted)].player is not None
            await refuse(context, SeatOccupied(Seat(wanted)) if taken else SeatFree(Seat(wanted)))
        token, expires = self._token(platform, room, seat)
        return pb.TakeSeatResponse(
            room=self._status(room),
            seat=seat,
            seat_token=token,
            token_expire_time=expires,
            last_version=accepted.first - 1,
        )

    async def _seated(
        self, room: Room, request: pb.TakeSeatRequest, context: grpc.aio.ServicerContext[Q, R]
    ) -> tuple[int, Accepted]:
        """Seat the player; gives the seat number tried and the answer. Ends the call if the room refuses."""
        player = Player(request.player)
        while True:
            wanted = request.seat if request.HasField("seat") else _seat_for(room.match, player)
            answer = await self._administer(room, TakeSeat(wanted, player), request)
            if isinstance(answer, Accepted):
                return wanted, answer
            if request.HasField("seat") or not isinstance(answer, SeatOccupied):
                await refuse(context, answer)
            if all(chair.player is not None for chair in room.match.chairs):
                await refuse(context, RoomFull(len(room.match.chairs)))
            # Another player took the free seat first. Another seat is free, so try again.

    async def RefreshSeatToken(
        self,
        request: pb.RefreshSeatTokenRequest,
        context: grpc.aio.ServicerContext[pb.RefreshSeatTokenRequest, pb.RefreshSeatTokenResponse],
    ) -> pb.RefreshSeatTokenResponse:
        """A fresh token for the player on a seat. The room does not change, and older tokens stay valid."""
        platform = await self._caller(context)
        room = await self._owned(request.room_id, platform, context)
        wrong = name_fault("player", request.player) or _not_sitting(room.match, request.seat, request.player)
        if wrong is not None:
            await refuse(context, wrong)
        token, expires = self._token(platform, room, Seat(request.seat))
        return pb.RefreshSeatTokenResponse(seat_token=token, token_expire_time=expires)

    def _token(self, platform: PlatformId, room: Room, seat: Seat) -> tuple[str, Timestamp]:
        """A token for the player who sits on the seat now, and when it expires."""
        chair = room.match.chairs[seat]
        player = Player(chair.player or "")
        now = UnixSeconds(self._node.now() // SECOND)
        claims = claims_for(platform, room.id, seat, player, Epoch(chair.epoch), now)
        return self._keys.current.tokens.issue(claims), timestamp(TimeNs(claims.expires * SECOND))

    async def CreateWatchToken(
        self,
        request: pb.CreateWatchTokenRequest,
        context: grpc.aio.ServicerContext[pb.CreateWatchTokenRequest, pb.CreateWatchTokenResponse],
    ) -> pb.CreateWatchTokenResponse:
        """A token to watch the room, as late as asked. The room is not opened for it."""
        platform = await self._caller(context)
        refused = await self._access.owns(RoomId(request.room_id), platform)
        if refused is not None:
            await refuse(context, refused)
        lateness, lifetime = decode.lateness(request), decode.watch_lifetime(request)
        if isinstance(lateness, InvalidField):
            await refuse(context, lateness)
        if isinstance(lifetime, InvalidField):
            await refuse(context, lifetime)
        expires = UnixSeconds(self._node.now() // SECOND + lifetime)
        claims = WatchClaims(platform, RoomId(request.room_id), lateness, expires)
        return pb.CreateWatchTokenResponse(
            watch_token=self._keys.current.tokens.issue(claims), token_expire_time=timestamp(TimeNs(expires * SECOND))
        )

    async def LeaveSeat(
        self, request: pb.LeaveSeatRequest, context: grpc.aio.ServicerContext[pb.LeaveSeatRequest, pb.LeaveSeatResponse]
    ) -> pb.LeaveSeatResponse:
        """Free a seat before the match starts."""
        room = await self._room(request.room_id, context)
        answer = await self._administer(room, LeaveSeat(request.seat), request)
        if not isinstance(answer, Accepted):
            await refuse(context, answer)
        return pb.LeaveSeatResponse(room=self._status(room))

    async def StartMatch(
        self,
        request: pb.StartMatchRequest,
        context: grpc.aio.ServicerContext[pb.StartMatchRequest, pb.StartMatchResponse],
    ) -> pb.StartMatchResponse:
        """Start the first deal of a full room."""
        room = await self._room(request.room_id, context)
        answer = await self._administer(room, StartMatch(), request)
        if not isinstance(answer, Accepted):
            await refuse(context, answer)
        return pb.StartMatchResponse(room=self._status(room))

    async def DisbandRoom(
        self,
        request: pb.DisbandRoomRequest,
        context: grpc.aio.ServicerContext[pb.DisbandRoomRequest, pb.DisbandRoomResponse],
    ) -> pb.DisbandRoomResponse:
        """Disband the match now."""
        room = await self._room(request.room_id, context)
        asked = decode.disband(request)
        if isinstance(asked, InvalidField):
            await refuse(context, asked)
        answer = await self._administer(room, asked, request)
        if not isinstance(answer, Accepted):
            await refuse(context, answer)
        assert isinstance(room.match, Over), "a disbanded room is over"
        return pb.DisbandRoomResponse(room=self._status(room), account=encode.account(room.match.account))

    async def WatchRooms(
        self,
        request: pb.WatchRoomsRequest,
        context: grpc.aio.ServicerContext[pb.WatchRoomsRequest, pb.WatchRoomsResponse],
    ) -> None:
        """Send the public events of the platform's rooms, from a cursor on, until the caller leaves."""
        await self._watches.watch(await self._caller(context), request, context)

    def drain(self) -> None:
        """The server is shutting down: end all `WatchRooms` streams."""
        self._watches.drain()

    async def GetMatchRecord(
        self,
        request: pb.GetMatchRecordRequest,
        context: grpc.aio.ServicerContext[pb.GetMatchRecordRequest, pb.GetMatchRecordResponse],
    ) -> pb.GetMatchRecordResponse:
        """The record of a room's match, as far as its deals are settled."""
        platform = await self._caller(context)
        self._quotas.owe(platform, Work.RECORD.units - Work.CALL.units)
        record = await self._archive.record(platform, RoomId(request.room_id))
        if not isinstance(record, Recorded):
            await refuse(context, record)
        self._quotas.owe(platform, record.read * Work.DEAL.units)
        told = encode.read_record(encode.platform_summary(record.summary), record.deals)
        return pb.GetMatchRecordResponse(record=told)

    async def ListMatchRecords(
        self,
        request: pb.ListMatchRecordsRequest,
        context: grpc.aio.ServicerContext[pb.ListMatchRecordsRequest, pb.ListMatchRecordsResponse],
    ) -> pb.ListMatchRecordsResponse:
        """A page of the platform's matches that have ended, the last to end first."""
        platform = await self._caller(context)
        size, after = await self._asked_page(request, context)
        search = searches.matches(platform, request)
        if isinstance(search, InvalidField):
            await refuse(context, search)
        page = await self._page(platform, search, size, after, context)
        return pb.ListMatchRecordsResponse(
            matches=[encode.platform_summary(room) for room in page.rooms],
            next_page_token=self._next(page),
        )

    async def _page(
        self,
        platform: PlatformId,
        search: Search,
        size: int,
        after: Cursor,
        context: grpc.aio.ServicerContext[Q, R],
    ) -> ListedRooms:
        """A page of a list, paid for by what was read for it. Ends the call if the cursor is bad or the store fails."""
        page = await self._archive.page(search, size, after)
        if not isinstance(page, ListedRooms):
            await refuse(context, page)
        rows, looks, checks = len(page.rooms), page.looked_at, page.events_read
        self._quotas.owe(platform, rows * Work.ROW.units + looks * Work.LOOK.units + checks * Work.EVENT.units)
        return page

    def _next(self, page: ListedRooms) -> str:
        return "" if page.next is None else page_token(self._node.store.identity, page.next)

    async def _asked_page(
        self,
        request: pb.ListRoomsRequest | pb.ListMatchRecordsRequest,
        context: grpc.aio.ServicerContext[Q, R],
    ) -> tuple[int, Cursor]:
        """The number of rows of a page, and where it begins. Ends the call if the page token is bad."""
        after = read_page_token(request.page_token, self._node.store.identity)
        if isinstance(after, InvalidCursor | ForeignCursor):
            await refuse(context, after)
        return min(request.page_size or USUAL_PAGE, LARGEST_PAGE), after

    async def _caller(self, context: grpc.aio.ServicerContext[Q, R]) -> PlatformId:
        """The platform that calls. It pays for the call, which ends if it has no key or no allowance left."""
        platform = await self._access.platform(context)
        reached = self._quotas.call(platform, Work.CALL.units)
        if reached is not None:
            await refuse(context, reached)
        return platform

    async def _room(self, room_id: str, context: grpc.aio.ServicerContext[Q, R]) -> Room:
        platform = await self._caller(context)
        return await self._owned(room_id, platform, context)

    async def _owned(self, room_id: str, platform: PlatformId, context: grpc.aio.ServicerContext[Q, R]) -> Room:
        """The platform's room. Ends the call with NOT_FOUND if there is none, or if it is another platform's."""
        is_in_memory = self._rooms.in_memory(RoomId(room_id)) is not None
        room = await self._access.owned(RoomId(room_id), platform)
        if not isinstance(room, Room):
            await refuse(context, room)
        if not is_in_memory:
            self._quotas.owe(platform, room.version * Work.EVENT.units)
        return room

    async def _administer(
        self,
        room: Room,
        command: HouseCommand,
        request: pb.TakeSeatRequest | pb.LeaveSeatRequest | pb.StartMatchRequest | pb.DisbandRoomRequest,
    ) -> Accepted | Refused:
        wrong = id_fault(request.command_id)
        if wrong is not None:
            return wrong
        asked = HouseAsks(PLATFORM, command, command_key(request.command_id, command))
        answer = await self._finish(room.carry_out(asked))
        assert not isinstance(answer, Answered), "the house makes no request"
        return answer

    async def _finish(self, work: Coroutine[object, object, T]) -> T:
        """Do `work` to its end even if the caller gives up, because an event that is stored must also be told."""
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return await asyncio.shield(task)

    def _status(self, room: Room) -> pb.Room:
        return room_status.status(room, self._rooms)


def _not_sitting(match: Match, seat: int, player: str) -> NoSuchSeat | SeatFree | SeatOccupied | None:
    """Why `player` gets no token for `seat`; None if that player sits there."""
    if not 0 <= seat < len(match.chairs):
        return NoSuchSeat(seat, len(match.chairs))
    sitting = match.chairs[Seat(seat)].player
    if sitting is None:
        return SeatFree(Seat(seat))
    return None if sitting == player else SeatOccupied(Seat(seat))


def _seat_of(match: Match, player: Player) -> Seat | None:
    return next((seat for seat, chair in match.chairs.items() if chair.player == player), None)


def _seat_for(match: Match, player: Player) -> int:
    """The seat that the player has, else the first free seat, else seat 0, which the room will refuse."""
    seat = _seat_of(match, player)
    if seat is not None:
        return seat
    return next((seat for seat, chair in match.chairs.items() if chair.player is None), 0)
