"""Deciding again: a log that says anything but what the core decides is found out, at the right version."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from erqiwang_core.match import DealStarted, Disbanding, DisbandReason, Event, MatchEnded, Outside, SeatReady
from erqiwang_core.options import FourPlayer, RoomOptions
from erqiwang_core.playing import CardsFollowed, CardsLed
from erqiwang_core.rules import game_rules
from erqiwang_core.settlement import DealSettled
from erqiwang_core.units import CardSet, Chips, Points, Seat

from erqiwang_grpc import events as stored
from erqiwang_grpc.archive.audit import Mismatch, mismatch
from erqiwang_grpc.events.history import RoomHistory, read
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store import Actor, CommandId, CommandKey, Entry, Version
from erqiwang_grpc.store.memory import MemoryStore
from tests.durability.played import node_on, play, seated

OTHER = CommandKey(CommandId("other"), b"")


async def match_of(options: RoomOptions, seed: int) -> tuple[Entry, ...]:
    store = MemoryStore()
    room = await seated(Rooms(node_on(store)), options=options)
    await play(room, 10_000, Random(seed))
    return await store.read(room.id)


def changed(event: Event) -> Iterator[Event]:
    """The event, a little other than it was decided."""
    match event:
        case CardsFollowed(taken=taken) if taken is not None:
            yield replace(event, taken=replace(taken, points=Points(taken.points + 5)))
            yield replace(event, taken=replace(taken, captured=not taken.captured))
        case CardsLed(attempted=attempted) if attempted is not None:
            yield replace(event, cards=CardSet(attempted & ~event.cards))
        case DealSettled(number, settlement):
            score = settlement.seats.values[0]
            dearer = replace(score, base_chips=Chips(score.base_chips + 1))
            seats = settlement.seats.put(Seat(0), dearer)
            yield DealSettled(number, replace(settlement, seats=seats))
            yield DealSettled(number, replace(settlement, stake=Chips(settlement.stake + 1)))
            yield DealSettled(number + 1, settlement)
        case DealStarted(shuffled=shuffled):
            first, second, *others = shuffled.order
            yield replace(event, shuffled=replace(shuffled, order=(second, first, *others)))
            yield replace(event, shuffled=replace(shuffled, salt=bytes(32)))
            yield replace(
                event, first_bidder=Seat((event.first_bidder + 1) % game_rules(event.game, event.review).seats)
            )
        case MatchEnded(account):
            asked = Disbanding(Outside.PLATFORM, DisbandReason.UNSAID, "") if account.disbanding is None else None
            yield MatchEnded(replace(account, disbanding=asked), None)
        case _:
            pass


@pytest.mark.parametrize("options", [RoomOptions(), RoomOptions(FourPlayer(), review=False)])
async def test_whatever_is_changed_in_a_log_is_found_where_it_is(options: RoomOptions) -> None:
    entries = await match_of(options, 5)
    store = read(entries)
    assert isinstance(store, RoomHistory)
    tried: set[type[Event]] = set()
    for each in store.later:
        if each.entry.version > 200 and type(each.event) in tried:
            continue
        for other in changed(each.event):
            tried.add(type(each.event))
            at = each.entry.version - 1
            spoilt = (*entries[:at], replace(entries[at], body=stored.write(other)), *entries[at + 1 :])
            found = mismatch(spoilt)
            assert isinstance(found, Mismatch), other
            assert found.version == each.entry.version, (found, other)
    assert tried == {CardsFollowed, CardsLed, DealSettled, DealStarted, MatchEnded}


async def test_what_is_missing_between_two_decisions_is_found() -> None:
    entries = await match_of(RoomOptions(), 6)
    for at in range(4, 120, 7):
        assert mismatch(renumbered((*entries[:at], *entries[at + 1 :]))) is not None, at


async def test_one_decision_logged_as_two_is_found() -> None:
    entries = await match_of(RoomOptions(), 6)
    store = read(entries)
    assert isinstance(store, RoomHistory)
    second = next(each.entry for each in store.later if isinstance(each.event, DealStarted))
    for other in (replace(second, command=OTHER), replace(second, actor=Actor("seat 2 carol"))):
        found = mismatch((*entries[: second.version - 1], other, *entries[second.version :]))
        assert found is not None
        assert found.version == second.version


async def test_what_older_rules_decided_is_followed_and_not_decided_again() -> None:
    entries = await match_of(RoomOptions(), 6)
    store = read(entries)
    assert isinstance(store, RoomHistory)
    ready = next(each.entry for each in store.later if isinstance(each.event, SeatReady))
    older = tuple(replace(entry, rules_version=0) if entry.version > ready.version else entry for entry in entries)
    assert mismatch(older) is None


def renumbered(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return tuple(replace(entry, version=Version(number)) for number, entry in enumerate(entries, start=1))
