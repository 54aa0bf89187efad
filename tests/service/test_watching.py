"""`WatchRooms`: every public event of the platform's rooms, once, in order, from whatever cursor one goes on."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic

import grpc
import pytest

from erqiwang_grpc.client import CallRefused, Platform
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.store import BadCursor, Cursor, Fed, Unavailable
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.v1 import room_service_pb2 as pb, view_pb2
from tests.service.tables import PATIENCE, Service, attached, eventually, in_phase, play_all, seated, served
from tests.store.passing_on import PassingOn


async def told(watching: AsyncIterator[pb.RoomEvent], number: int) -> list[pb.RoomEvent]:
    """The next so many events."""
    async with asyncio.timeout(PATIENCE):
        return [await anext(watching) for _ in range(number)]


def kinds(events: list[pb.RoomEvent]) -> list[str]:
    return [str(event.WhichOneof("event")) for event in events]


async def two_deals_and_a_disband(service: Service) -> str:
    table = await seated(service.platform, command_id="watched")
    async with attached(service, table) as seats:
        await play_all(seats, until=in_phase(view_pb2.PHASE_BIDDING, deal=3))
    await service.platform.disband_room(table.room_id)
    return table.room_id


STORY = [
    "created",
    "seat_taken",
    "seat_taken",
    "seat_taken",
    "deal_started",
    "deal_settled",
    "deal_started",
    "deal_settled",
    "deal_started",
    "match_settled",
]


async def test_a_room_is_told_from_its_opening_to_its_account(service: Service) -> None:
    room_id = await two_deals_and_a_disband(service)
    events = await told(service.platform.watch(), len(STORY))
    assert kinds(events) == STORY
    assert {event.room_id for event in events} == {room_id}
    assert [event.version for event in events] == sorted({event.version for event in events})
    room = await service.platform.room(room_id)
    assert events[0].created == pb.RoomCreated(owner="alice", options=room.options)
    assert [event.seat_taken.player for event in events[1:4]] == ["alice", "bob", "carol"]
    assert [event.deal_started.deal for event in events if event.HasField("deal_started")] == [1, 2, 3]
    settled = [event.deal_settled for event in events if event.HasField("deal_settled")]
    assert [each.deal for each in settled] == [1, 2]
    account = events[-1].match_settled.account
    assert (account.HasField("disbanding"), events[-1].match_settled.expired) == (True, False)
    assert list(account.totals) == list(room.totals)
    scores = [[seat.score for seat in each.settlement.seats] for each in settled]
    assert [list(deal.scores) for deal in account.deals] == [*scores, [0, 0, 0]]


async def test_from_every_cursor_the_rest_is_told(service: Service) -> None:
    await two_deals_and_a_disband(service)
    await service.platform.create_room("bob")
    events = await told(service.platform.watch(), len(STORY) + 1)
    assert len({event.cursor for event in events}) == len(events)
    for number, event in enumerate(events):
        rest = events[number + 1 :]
        assert await told(service.platform.watch(event.cursor), len(rest)) == rest


async def test_who_watches_hears_of_what_happens(service: Service) -> None:
    watching = service.platform.watch()
    hearing = asyncio.create_task(told(watching, len(STORY)))
    room_id = await two_deals_and_a_disband(service)
    assert kinds(await hearing) == STORY
    more = asyncio.create_task(told(watching, 1))
    await service.platform.create_room("bob")
    (event,) = await more
    assert event.room_id != room_id


async def test_many_rooms_at_once_miss_nothing(service: Service) -> None:
    """While rooms are opened and ended beside one another, a watcher that comes and goes hears of each, once."""
    platform = service.platform

    async def lifetime(number: int) -> None:
        room = await platform.create_room("alice", command_id=f"{number}")
        await platform.take_seat(room.room_id, "alice")
        await platform.disband_room(room.room_id)

    heard: list[pb.RoomEvent] = []

    async def come_and_go() -> None:
        while len(heard) < 3 * 60:
            watching = platform.watch(heard[-1].cursor if heard else "")
            heard.extend(await told(watching, min(7, 3 * 60 - len(heard))))

    await asyncio.gather(come_and_go(), *(lifetime(number) for number in range(60)))
    by_room: dict[str, list[pb.RoomEvent]] = {}
    for event in heard:
        by_room.setdefault(event.room_id, []).append(event)
    assert len(by_room) == 60
    assert all(kinds(events) == ["created", "seat_taken", "match_settled"] for events in by_room.values())


async def test_another_platforms_events_are_not_told(service: Service) -> None:
    rival = Platform([service.address], service.tenant("rival"))
    watching = rival.watch()
    hearing = asyncio.create_task(told(watching, 2))
    await two_deals_and_a_disband(service)
    room = await rival.create_room("mallory")
    await service.platform.create_room("alice")
    await rival.disband_room(room.room_id)
    events = await hearing
    assert (kinds(events), {event.room_id for event in events}) == (["created", "match_settled"], {room.room_id})
    (first,) = await told(service.platform.watch(), 1)
    stolen = [event.room_id for event in await told(rival.watch(first.cursor), 2)]
    assert stolen == [room.room_id] * 2, "another's cursor is a place in time and nothing more"


async def responses(
    watching: grpc.aio.UnaryStreamCall[pb.WatchRoomsRequest, pb.WatchRoomsResponse], number: int
) -> list[pb.WatchRoomsResponse]:
    found: list[pb.WatchRoomsResponse] = []
    for _ in range(number):
        response = await asyncio.wait_for(watching.read(), PATIENCE)
        assert isinstance(response, pb.WatchRoomsResponse)
        found.append(response)
    return found


async def test_from_now_nothing_of_before_is_told_and_the_first_message_has_the_cursor(service: Service) -> None:
    await two_deals_and_a_disband(service)
    began = monotonic()
    watching = service.rooms.WatchRooms(pb.WatchRoomsRequest(now=True), metadata=bearer(service.key))
    (first,) = await responses(watching, 1)
    assert monotonic() - began < 10, "at once, and not when it was silent for long"
    assert (list(first.events), bool(first.cursor)) == ([], True)
    room = await service.platform.create_room("bob")
    (second,) = await responses(watching, 1)
    assert [(event.room_id, event.WhichOneof("event")) for event in second.events] == [(room.room_id, "created")]
    assert second.cursor == second.events[-1].cursor
    assert await told(service.platform.watch(first.cursor), 1) == list(second.events), "it can be gone on from"
    await service.platform.disband_room(room.room_id)
    (third,) = await responses(watching, 1)
    assert kinds(list(third.events)) == ["match_settled"]
    watching.cancel()


async def test_from_now_in_an_empty_store_is_from_its_first_room(tmp_path: Path) -> None:
    store = await open_store(tmp_path / STORE_FILE)
    assert isinstance(store, SqliteStore), store
    async with served(tmp_path, store=store) as service:
        before = await service.platform.cursor_now()
        room = await service.platform.create_room("alice")
        after = await service.platform.cursor_now()
        (event,) = await told(service.platform.watch(before), 1)
        assert (event.room_id, event.cursor.split("-")[:2]) == (room.room_id, after.split("-")[:2])
        ended = asyncio.create_task(told(service.platform.watch(after), 1))
        await service.platform.disband_room(room.room_id)
        assert kinds(await ended) == ["match_settled"]
    await store.close()


async def test_every_message_has_the_cursor_behind_it(service: Service) -> None:
    await two_deals_and_a_disband(service)
    watching = service.rooms.WatchRooms(pb.WatchRoomsRequest(), metadata=bearer(service.key))
    heard = 0
    while heard < len(STORY):
        (response,) = await responses(watching, 1)
        heard += len(response.events)
        assert response.cursor == response.events[-1].cursor
    watching.cancel()


async def test_many_that_watch_from_now_leave_nothing_behind(service: Service) -> None:
    for _ in range(20):
        await service.platform.cursor_now()
    await eventually(lambda: service.server._platforms.watchers == 0)


class BlindStore(PassingOn):
    """A store that cannot say where it ends."""

    async def latest(self) -> Cursor | Unavailable:
        return Unavailable("its disk is away")


async def test_a_store_that_cannot_say_where_it_ends_is_said_to_be_unavailable(tmp_path: Path) -> None:
    async with served(tmp_path, store=BlindStore(MemoryStore())) as service:
        with pytest.raises(CallRefused) as refused:
            await service.platform.cursor_now()
        assert refused.value.reason == "STORE_UNAVAILABLE"


class CountingStore(PassingOn):
    """A store that counts how often somebody asks for what is new."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.looks = 0

    async def feed(self, feed: str, after: Cursor, limit: int) -> tuple[Fed, ...] | BadCursor | Unavailable:
        self.looks += 1
        return await super().feed(feed, after, limit)


async def said(watching: grpc.aio.UnaryStreamCall[pb.WatchRoomsRequest, pb.WatchRoomsResponse]) -> int:
    """How many events the next message holds."""
    response = await asyncio.wait_for(watching.read(), PATIENCE)
    assert isinstance(response, pb.WatchRoomsResponse)
    return len(response.events)


async def test_what_happens_elsewhere_costs_a_watcher_little_and_is_nothing_to_be_told(tmp_path: Path) -> None:
    store = CountingStore()
    async with served(tmp_path, store=store) as service:
        rival = Platform([service.address], service.tenant("rival"))
        await service.platform.create_room("alice", command_id="first")
        began = monotonic()
        watching = service.rooms.WatchRooms(pb.WatchRoomsRequest(), metadata=bearer(service.key))
        heard = [await said(watching)]
        for number in range(200):
            await rival.create_room("mallory", command_id=f"{number}")
        await service.platform.create_room("alice", command_id="second")
        heard.append(await said(watching))
        seconds = monotonic() - began
        assert heard == [1, 1], "a message without events is for silence alone"
        assert store.looks <= 4 + seconds / 0.05
