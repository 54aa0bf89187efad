"""Records: whole deals once they have ended, and nothing of the one in progress."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import grpc
import pytest
from erqiwang_core.kernel.hand import EMPTY, cards_of, union
from erqiwang_core.match import DealStarted, Disband, Over, Running
from erqiwang_core.options import Deck, FourPlayer, RoomOptions, ThreePlayer
from erqiwang_core.scoring import Made, NearShutout, Shutout, Upgrade
from erqiwang_core.settlement import DealSettled, Settled
from erqiwang_core.units import CardSet
from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc import shuffling
from erqiwang_grpc.archive.audit import mismatch
from erqiwang_grpc.archive.records import DealRecord, MatchRecord, match_record
from erqiwang_grpc.client.calls import CallRefused
from erqiwang_grpc.events import read
from erqiwang_grpc.events.summary import RoomSummary, summary_of
from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rooms.state import State, replay
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import Entry
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import record_pb2, room_pb2, room_service_pb2, seat_service_pb2 as pb
from tests.durability.played import administer, node_on, opened, play, seated
from tests.service.tables import Service, Table, attached, play_all, seated as seated_over_the_wire, served, step

GAMES = [
    pytest.param(RoomOptions(), id="three players"),
    pytest.param(RoomOptions(ThreePlayer(joker_bonus=True, climb=True), review=False), id="no review, all extras"),
    pytest.param(RoomOptions(FourPlayer(Deck.FULL)), id="four players"),
]


async def entries_of(store: MemoryStore, room: Room) -> tuple[Entry, ...]:
    return await store.read(room.id)


def recorded(entries: tuple[Entry, ...]) -> MatchRecord:
    record = match_record(entries)
    assert isinstance(record, MatchRecord), record
    return record


def is_whole(deal: DealRecord) -> None:
    """The deal's cards are the deck, as it was committed to; its plays are the hands that were dealt."""
    shuffled = deal.dealt.shuffled
    assert shuffling.opens(shuffled.commitment, shuffled.salt, shuffled.order)
    held = deal.dealt.kitty
    for hand in deal.dealt.hands:
        held = union(held, hand)
    assert held == cards_of(deal.dealt.rules.deck)
    played = sum(trick.trick.cards() for trick in deal.tricks)
    assert CardSet(played & ~held) == 0
    if isinstance(deal.settlement.outcome, Shutout | NearShutout | Made | Upgrade):
        assert CardSet(played | deal.settlement.buried) == held
    assert all(trick.taken is not None for trick in deal.tricks[:-1])


@pytest.mark.parametrize("options", GAMES)
async def test_a_match_is_recorded_as_it_was_played(options: RoomOptions) -> None:
    store = MemoryStore()
    room = await seated(Rooms(node_on(store)), options=options)
    await play(room, 10_000)
    match = room.match
    assert isinstance(match, Over)
    record = recorded(await entries_of(store, room))
    assert [deal.settlement.scores for deal in record.deals] == list(match.account.deals)
    assert record.summary.totals == match.account.totals
    assert record.summary.settled_deals == options.deals
    assert record.summary.players == match.chairs.map(lambda chair: chair.player)
    assert (record.summary.created, record.summary.started, record.summary.ended) == (
        room.state.standing.created,
        room.state.standing.started,
        room.state.standing.ended,
    )
    for number, deal in enumerate(record.deals, start=1):
        assert deal.dealt.number == number
        contract = deal.settlement.contract
        assert contract is not None
        assert deal.calls == contract.calls
        is_whole(deal)
    said = [(read(entry.body, entry.rules_version), entry.time) for entry in await entries_of(store, room)]
    started = [time for event, time in said if isinstance(event, DealStarted)]
    ended = [time for event, time in said if isinstance(event, DealSettled)]
    assert [(deal.started, deal.ended) for deal in record.deals] == list(zip(started, ended, strict=True))
    message = encode.match_record(record)
    assert [deal.start_time.ToNanoseconds() for deal in message.deals] == started
    assert [deal.end_time.ToNanoseconds() for deal in message.deals] == ended
    assert match.last is not None
    assert tuple(trick.trick for trick in record.deals[-1].tricks) == match.last.finished


def summary_after(entries: tuple[Entry, ...]) -> RoomSummary:
    """The summary of a room that was replayed."""
    state = replay(entries)
    assert isinstance(state, State)
    return summary_of(entries[0].room, state.standing)


@pytest.mark.parametrize("options", GAMES)
async def test_while_a_deal_is_in_progress_nothing_of_it_changes_the_record(options: RoomOptions) -> None:
    store = MemoryStore()
    room = await seated(Rooms(node_on(store)), options=options)
    while not (isinstance(room.match, Running) and len(room.match.by_deal) == 1 and room.version % 40 == 0):
        await play(room, 1, Random(room.version))
    entries = await entries_of(store, room)
    said: list[bytes] = []
    for version in range(len(room.match.chairs) + 2, len(entries) + 1):
        record = recorded(entries[:version])
        now = encode.match_record(record).SerializeToString(deterministic=True)
        said += [now] if now not in said[-1:] else []
        assert summary_after(entries[:version]) == record.summary
    assert len(said) == 2, "the record changed once, with the settlement"


@pytest.mark.parametrize("steps", [0, 2, 4, 5, 30, 31, 32])
async def test_a_deal_cut_short_is_recorded_as_far_as_it_went(steps: int) -> None:
    store = MemoryStore()
    room = await seated(Rooms(node_on(store)))
    await play(room, steps, Random(8))
    match = room.match
    assert isinstance(match, Running)
    assert not isinstance(match.deal, Settled)
    assert isinstance(await administer(room, Disband()), Accepted)
    record = recorded(await entries_of(store, room))
    assert record.summary.disbanding
    assert record.summary.settled_deals == 0
    (deal,) = record.deals
    assert set(deal.settlement.scores) == {0}
    assert deal.settlement.buried == EMPTY
    assert deal.dealt.shuffled.order, "the deck is opened"
    is_whole(deal)


async def test_a_room_that_was_never_filled_has_a_record_without_deals() -> None:
    store = MemoryStore()
    room = await opened(Rooms(node_on(store)))
    assert recorded(await entries_of(store, room)).deals == ()
    assert isinstance(await administer(room, Disband()), Accepted)
    record = recorded(await entries_of(store, room))
    assert record.deals == ()
    assert record.summary.started is None
    assert record.summary.ended is not None


@pytest.mark.parametrize("options", GAMES)
async def test_every_decision_of_a_match_is_made_again(options: RoomOptions) -> None:
    store = MemoryStore()
    room = await seated(Rooms(node_on(store)), options=options)
    await play(room, 10_000)
    entries = await entries_of(store, room)
    assert mismatch(entries) is None


# Over the wire.


async def settled_deals(service: Service, table: Table, number: int) -> None:
    """Play until so many deals are settled."""
    while (await service.platform.room(table.room_id)).deal <= number:
        await step(service, table)


@pytest.mark.parametrize("no_review", [False, True])
async def test_a_platform_reads_the_match_it_owns_and_a_seat_the_one_it_plays(tmp_path: Path, no_review: bool) -> None:
    async with served(tmp_path) as service:
        table = await seated_over_the_wire(service.platform, room_pb2.RoomOptions(no_review=no_review))
        assert (await service.platform.record(table.room_id)).summary.settled_deals == 0
        await settled_deals(service, table, 1)
        record = await service.platform.record(table.room_id)
        assert record.summary.settled_deals == 1
        (deal,) = record.deals
        assert shuffling.opens(deal.commitment, deal.salt, deal.deck)
        for seat in range(3):
            own = await service.seats.GetRecord(pb.GetRecordRequest(), metadata=table.metadata(seat))
            assert own.record == record
        other = service.tenant("rival")
        with pytest.raises(CallRefused) as refused:
            await type(service.platform)([service.address], other).record(table.room_id)
        assert refused.value.code is grpc.StatusCode.NOT_FOUND
        assert refused.value.reason == "NO_SUCH_RECORD"


async def finished(service: Service, players: Sequence[str]) -> str:
    table = await seated_over_the_wire(service.platform, players=players)
    await service.platform.disband_room(table.room_id)
    return table.room_id


async def listed(
    service: Service, player: str = "", since: Timestamp | None = None, until: Timestamp | None = None
) -> list[record_pb2.MatchSummary]:
    return [summary async for summary in service.platform.records(player, since, until)]


async def test_matches_are_found_by_player_and_by_time_page_after_page(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        going_on = await seated_over_the_wire(service.platform)
        rooms = [await finished(service, (f"p{number % 3}", "eve", "mallory")) for number in range(7)]
        everything = await listed(service)
        assert [summary.room_id for summary in everything] == rooms[::-1]
        assert going_on.room_id not in rooms
        assert [summary.room_id for summary in await listed(service, "p1")] == [rooms[4], rooms[1]]
        assert await listed(service, "nobody") == []
        since, until = everything[4].end_time, everything[1].end_time
        assert await listed(service, since=since, until=until) == everything[2:5]
        assert await listed(service, since=until, until=since) == []
        page = await service.rooms.ListMatchRecords(
            request_of(page_size=3), metadata=(("authorization", f"Bearer {service.key}"),)
        )
        assert list(page.matches) == everything[:3]
        rest = await service.rooms.ListMatchRecords(
            request_of(page_size=200, page_token=page.next_page_token),
            metadata=(("authorization", f"Bearer {service.key}"),),
        )
        assert list(rest.matches) == everything[3:]
        assert rest.next_page_token == ""


def request_of(page_size: int, page_token: str = "") -> room_service_pb2.ListMatchRecordsRequest:
    return room_service_pb2.ListMatchRecordsRequest(page_size=page_size, page_token=page_token)


async def test_a_whole_match_over_streams_is_recorded(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        table = await seated_over_the_wire(service.platform)
        async with attached(service, table) as seats:
            await play_all(seats)
            account = seats[0].view.parts.account.account
        record = await service.platform.record(table.room_id)
        assert [[score.score for score in deal.settlement.seats] for deal in record.deals] == [
            list(deal.scores) for deal in account.deals
        ]
        assert record.summary.totals == account.totals
