"""Rooms of others do not exist: whatever state a room is in, only its own platform and its seats can tell that it is there.

Every rpc is asked about a room in every state, by its own platform, by another one, without a credential and with a bad one.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import time, time_ns
from typing import Final, final

import grpc
import pytest
from erqiwang_core.match import Player
from erqiwang_core.rules import RULES_VERSION
from erqiwang_core.units import Seat
from google.protobuf.message import Message

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.auth.tokens import Epoch, SeatClaims, UnixSeconds
from erqiwang_grpc.calls import REQUEST_ID
from erqiwang_grpc.client import CallRefused, Platform, refusal_of
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.events.index import ENDED, of_platform
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.store import NOTHING, Actor, Appended, Batch, RoomId, Summary, TimeNs
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.v1 import room_service_pb2 as room_pb, seat_service_pb2 as pb
from erqiwang_grpc.v1.gateway_service_pb2 import SeatEnded
from tests.service.gateways import RawGateway, gateway_of
from tests.service.tables import PATIENCE, Service, Table, seated, served
from tests.service.test_access import RPCS, answer

OK: Final = "OK"
NO_ROOM: Final = "NO_SUCH_ROOM"
NO_RECORD: Final = "NO_SUCH_RECORD"
APART: Final = "ROOM_QUARANTINED"
NO_COMMAND: Final = "NO_COMMAND"
NOTHING_TO_DECIDE: Final = "NOTHING_TO_DECIDE"
ROOM: Final = "RoomService."
SEAT: Final = "SeatService."
ASKED: Final = (
    # In the order in which the own platform asks: the end of the room comes last.
    ROOM + "GetRoom", ROOM + "GetMatchRecord", SEAT + "GetView", SEAT + "GetHint", SEAT + "GetRecord", SEAT + "Act", SEAT + "Play", SEAT + "Watch",
    ROOM + "CreateWatchToken", ROOM + "RefreshSeatToken", ROOM + "StartMatch", ROOM + "TakeSeat", ROOM + "LeaveSeat", ROOM + "DisbandRoom",
)  # fmt: skip
"""Every rpc that names a room, itself or by its token."""
OTHERS: Final = {
    ROOM + name for name in ("GetServerInfo", "CreateRoom", "QuoteRoom", "ListRooms", "ListMatchRecords", "WatchRooms")
}

NOTHING_THERE: Final = (NO_ROOM, NO_RECORD, *[NO_ROOM] * 12)
BEYOND_THE_FIRST: Final = (*[APART] * 8, OK, *[APART] * 5)
"""What is damaged behind the first event. A watch token is made from that one alone; who watches with it is told."""
EXPECTED: Final[Mapping[str, tuple[str, ...]]] = {
    # What the own platform and the own seat are told, in the order of `ASKED`.
    "absent": NOTHING_THERE,
    "gathering": (
        OK,
        NO_RECORD,
        OK,
        NOTHING_TO_DECIDE,
        NO_RECORD,
        NO_COMMAND,
        OK,
        OK,
        OK,
        OK,
        "NOT_IN_THIS_ROOM",
        OK,
        OK,
        OK,
    ),
    "playing": (OK, OK, OK, OK, OK, NO_COMMAND, OK, OK, OK, OK, "WRONG_PHASE", "ROOM_FULL", "WRONG_PHASE", OK),
    "over": (OK, OK, OK, NOTHING_TO_DECIDE, OK, NO_COMMAND, OK, OK, OK, OK, *["WRONG_PHASE"] * 4),
    "quarantined": (OK, APART, OK, APART, APART, APART, OK, OK, OK, OK, APART, APART, APART, OK),
    "damaged head": BEYOND_THE_FIRST,
    "no head": BEYOND_THE_FIRST,
    "damaged event": BEYOND_THE_FIRST,
    "damaged first event": NOTHING_THERE,
    "unreadable first event": NOTHING_THERE,
    "deleted": NOTHING_THERE,
}
DAMAGE: Final = {
    "damaged head": "UPDATE rooms SET version = version + 1 WHERE room = ?",
    "no head": "DELETE FROM rooms WHERE room = ?",
    "damaged event": "UPDATE batches SET time_ns = time_ns + 1 WHERE room = ? AND first_version = 3",
    "damaged first event": "UPDATE batches SET time_ns = time_ns + 1 WHERE room = ? AND first_version = 1",
}
LISTED: Final = {"gathering", "playing", "over", "quarantined", "damaged event", "damaged first event"}
"""A list opens no room, and tells of a damaged one what its summary says."""


@final
@dataclass(frozen=True, slots=True)
class Rooms:
    """A server, a room in every state with the token of its seat 0, and another platform."""

    service: Service
    tables: Mapping[str, Table]
    rival: str

    def request(self, rpc: str, state: str) -> bytes:
        return request_about(rpc, self.tables[state].room_id).SerializeToString()

    async def told(self, rpc: str, state: str, credential: str | None) -> tuple[object, ...]:
        """How a call about that room ends; for one that is refused, everything that the caller learns."""
        # Otherwise the caller is told a random one.
        named = ((REQUEST_ID, "asked"),)
        metadata = named if credential is None else (*bearer(credential), *named)
        try:
            async with asyncio.timeout(PATIENCE):
                await answer(self.service, RPCS[rpc], metadata, self.request(rpc, state))
        except grpc.aio.AioRpcError as error:
            refused: CallRefused = refusal_of(error)
            return refused.reason, refused.code, str(refused), tuple(error.trailing_metadata() or ())
        return (OK,)

    def token(self, state: str, platform: str) -> str:
        """A token for seat 0 of that room with our own signature, as if the platform owned the room."""
        claims = SeatClaims(
            PlatformId(platform), RoomId(self.tables[state].room_id), Seat(0), Player("alice"), Epoch(1),
            UnixSeconds(int(time()) + 1000),
        )  # fmt: skip
        return self.service.keys.current.tokens.issue(claims)


def request_about(rpc: str, room_id: str) -> Message:
    """A request that names the room, where the rpc's token does not."""
    match rpc:
        case "RoomService.GetRoom":
            return room_pb.GetRoomRequest(room_id=room_id)
        case "RoomService.GetMatchRecord":
            return room_pb.GetMatchRecordRequest(room_id=room_id)
        case "RoomService.TakeSeat":
            return room_pb.TakeSeatRequest(room_id=room_id, player="zoe")
        case "RoomService.CreateWatchToken":
            return room_pb.CreateWatchTokenRequest(room_id=room_id, settled_deals=True)
        case "RoomService.RefreshSeatToken":
            return room_pb.RefreshSeatTokenRequest(room_id=room_id, seat=0, player="alice")
        case "RoomService.StartMatch":
            return room_pb.StartMatchRequest(room_id=room_id)
        case "RoomService.LeaveSeat":
            return room_pb.LeaveSeatRequest(room_id=room_id, seat=0)
        case "RoomService.DisbandRoom":
            return room_pb.DisbandRoomRequest(room_id=room_id)
        case "SeatService.Watch":
            return pb.WatchRequest()
        case "SeatService.Play":
            return pb.PlayRequest(attach=pb.Attach())
        case _:
            return pb.ActRequest()


async def opened(path: Path) -> SqliteStore:
    store = await open_store(path)
    assert isinstance(store, SqliteStore), store
    return store


async def without_first_event(store: SqliteStore) -> str:
    """A room of the platform whose first event was logged by something else."""
    unreadable = Summary((of_platform(PlatformId("local")),), TimeNs(time_ns()), None, b"\xff")
    batch = Batch(TimeNs(time_ns()), Actor("platform"), None, RULES_VERSION, (b"\xff",), unreadable)
    room = RoomId("unreadable")
    assert isinstance(await store.append(room, NOTHING, batch), Appended)
    return room


@asynccontextmanager
async def rooms(folder: Path) -> AsyncIterator[Rooms]:
    """Rooms in every state, as a server finds them that was started on what another left."""
    path = folder / STORE_FILE
    store = await opened(path)
    async with served(folder, store=store) as service:
        platform = service.platform
        gone = await seated(platform)
        await platform.disband_room(gone.room_id)
        assert await store.delete_rooms(ENDED, TimeNs(time_ns()), 10) == (gone.room_id,)
        gathering = await platform.create_room("alice")
        seat = await platform.take_seat(gathering.room_id, "alice")
        tables = {
            state: await seated(platform, command_id=state) for state in ("playing", "over", "quarantined", *DAMAGE)
        }
        tables |= {
            "absent": Table("nowhere", gone.tokens),
            "deleted": gone,
            "gathering": Table(gathering.room_id, (seat.token,)),
            "unreadable first event": Table(await without_first_event(store), gone.tokens),
        }
        await platform.disband_room(tables["over"].room_id)
        apart = RoomId(tables["quarantined"].room_id)
        stands = SummaryWriter().write(service.room(apart).state.standing)
        garbage = Batch(TimeNs(time_ns()), Actor("seat 0 alice"), None, RULES_VERSION, (b"\xff\xff",), stands)
        assert isinstance(await store.append(apart, service.room(apart).version, garbage), Appended)
    await store.close()
    db = sqlite3.connect(path, isolation_level=None)
    for state, statement in DAMAGE.items():
        assert db.execute(statement, (tables[state].room_id,)).rowcount == 1
    db.close()
    store = await opened(path)
    try:
        async with served(folder, store=store) as service:
            yield Rooms(service, tables, service.tenant("rival"))
    finally:
        await store.close()


def test_every_rpc_and_every_state_is_asked() -> None:
    assert {*ASKED, *OTHERS, "GatewayService.Connect"} == set(RPCS)
    assert all(len(row) == len(ASKED) for row in EXPECTED.values())


async def test_whether_a_room_exists_is_told_to_its_own_platform_and_seats_alone(tmp_path: Path) -> None:
    async with rooms(tmp_path) as all_rooms:
        assert set(all_rooms.tables) == set(EXPECTED)
        await nobody_else_is_told(all_rooms)
        for state, expected in EXPECTED.items():
            told = []
            for rpc in ASKED:
                mine = all_rooms.service.key if rpc.startswith(ROOM) else all_rooms.token(state, "local")
                told.append((await all_rooms.told(rpc, state, mine))[0])
            assert tuple(told) == expected, state


async def nobody_else_is_told(all_rooms: Rooms) -> None:
    """Whatever the state, others learn exactly what they learn of a room that is not there, to the byte."""
    for rpc in ASKED:
        nowhere = NO_RECORD if rpc == ROOM + "GetMatchRecord" else NO_ROOM
        for credential, reason in (
            ("rival", nowhere),
            (None, "CREDENTIAL_MISSING"),
            ("erqk_" + "A" * 43, "CREDENTIAL_WRONG" if rpc.startswith(ROOM) else "CREDENTIAL_MALFORMED"),
        ):
            told = set()
            for state in EXPECTED:
                sent = credential
                if credential == "rival":
                    sent = all_rooms.rival if rpc.startswith(ROOM) else all_rooms.token(state, "rival")
                told.add(await all_rooms.told(rpc, state, sent))
            assert len(told) == 1, (rpc, credential, told)
            assert told.pop()[0] == reason


async def test_a_gateway_is_told_of_the_rooms_of_its_platform_alone(tmp_path: Path) -> None:
    """Of its own it is told what `Play` tells; of others what it is told of a room that is not there, to the byte."""
    async with rooms(tmp_path) as all_rooms:
        service = all_rooms.service
        async with gateway_of(service) as own, gateway_of(service, service.gateway_key("rival")) as rival:
            told = {}
            for state in EXPECTED:
                for platform in ("rival", "local"):
                    ended = await opening(rival, all_rooms.token(state, platform))
                    assert ended is not None
                    told[ended.SerializeToString(deterministic=True)] = ended.reason
            assert list(told.values()) == [NO_ROOM]
            for state, expected in EXPECTED.items():
                ended = await opening(own, all_rooms.token(state, "local"))
                assert (OK if ended is None else ended.reason) == expected[ASKED.index(SEAT + "Play")], state


async def opening(gateway: RawGateway, token: str) -> SeatEnded | None:
    """How a seat ends that a gateway opens; None if it begins."""
    ear = gateway.seat(token)
    await ear.say(pb.PlayRequest(attach=pb.Attach()))
    await ear.next()
    return ear.ended


async def test_lists_and_the_watch_tell_of_own_rooms_alone(tmp_path: Path) -> None:
    async with rooms(tmp_path) as all_rooms:
        rival = Platform([all_rooms.service.address], all_rooms.rival)
        own = await rival.create_room("mallory")
        for state in EXPECTED:
            # The id of a command is the platform's own: to use another's finds nothing.
            again = await rival.create_room("mallory", command_id=state)
            assert again.room_id not in {table.room_id for table in all_rooms.tables.values()}
            await rival.disband_room(again.room_id)
        ids = {room.room_id for room in await rival.rooms()}
        assert not ids & {table.room_id for table in all_rooms.tables.values()}
        assert [record async for record in rival.records()] == []
        assert (await anext(rival.watch())).room_id == own.room_id
        listed = {room.room_id for room in await all_rooms.service.platform.rooms()}
        assert listed == {all_rooms.tables[state].room_id for state in LISTED}
        records = [record.room_id async for record in all_rooms.service.platform.records()]
        assert records == [all_rooms.tables["over"].room_id]


@pytest.mark.parametrize("is_full", [False, True])
async def test_a_room_that_was_never_full_has_no_record(service: Service, is_full: bool) -> None:
    platform = service.platform
    room = await platform.create_room("alice")
    seats = [
        await platform.take_seat(room.room_id, player) for player in ("alice", "bob", "carol")[: 3 if is_full else 2]
    ]
    for _ in range(2):
        metadata = bearer(seats[0].token)
        for call in (platform.record(room.room_id), service.seats.GetRecord(pb.GetRecordRequest(), metadata=metadata)):
            if is_full:
                await call
            else:
                with pytest.raises((CallRefused, grpc.aio.AioRpcError)) as refused:
                    await call
                error = refused.value
                assert isinstance(error, CallRefused | grpc.aio.AioRpcError)
                assert (error if isinstance(error, CallRefused) else refusal_of(error)).reason == NO_RECORD
        if (await platform.room(room.room_id)).HasField("end_time"):
            break
        await platform.disband_room(room.room_id)
    listed = [record.room_id async for record in platform.records()]
    of_player = [record.room_id async for record in platform.records("bob")]
    assert listed == of_player == [room.room_id] * is_full
