"""What is stored is what was decided: read back it is the same, and anything else is found and not believed."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random
from typing import get_args

import pytest
from erqiwang_core.match import (
    DealStarted,
    Disband,
    DisbandReason,
    Event,
    Match,
    Over,
    Player,
    SeatLeft,
    SeatReady,
    SeatTaken,
    begin,
    evolve,
)
from erqiwang_core.options import Countdowns, Game, RoomOptions
from erqiwang_core.rules import RULES_VERSION, game_rules
from erqiwang_core.units import Seat
from hypothesis import example, given, strategies as st

from erqiwang_grpc import events as stored
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events import Unreadable
from erqiwang_grpc.events.model import Label, RoomOpened, StoredEvent
from erqiwang_grpc.stored.v1 import event_pb2, room_pb2, settlement_pb2
from tests.deals.decks import never_shuffled
from tests.deals.plans import GAMES, Plan, by_chance, examples, plans, rooms
from tests.deals.walk import Step, advance, steps
from tests.wire.arbitrary import messages

EMPTY_FIELD_200 = bytes([0xC2, 0x0C, 0])


def stored_and_read(event: StoredEvent) -> StoredEvent | Unreadable:
    return stored.read(stored.write(event), RULES_VERSION)


def events(plan: Plan, deals_played: int = 1) -> Iterator[Event]:
    for step in steps(plan, deals_played):
        yield from (change.event for change in step.changes)


def check_replay(plan: Plan, deals_played: int) -> Match:
    """The match after so many deals, once it is found that its events as bytes come to the same."""
    live: Match = begin(plan.options)
    replayed: Match = begin(plan.options)
    for event in events(plan, deals_played):
        live = evolve(live, event)
        read = stored_and_read(event)
        assert read == event
        assert isinstance(read, get_args(Event))
        replayed = evolve(replayed, read)
    assert replayed == live
    return live


@examples(0.2)
@given(plan=plans())
def test_a_match_replayed_from_bytes_is_the_live_one(plan: Plan) -> None:
    check_replay(plan, deals_played=2)


@pytest.mark.parametrize(("game", "review"), list(product(GAMES, (True, False))), ids=repr)
def test_to_its_end_in_every_game(game: Game, review: bool) -> None:
    options = RoomOptions(game, review=review)
    assert isinstance(check_replay(by_chance(options, Random(27)), options.deals), Over)


@examples(0.1)
@given(plan=plans())
def test_a_disbanded_match_too(plan: Plan) -> None:
    for step in steps(plan):
        disbanded = advance(step.after, Disband(0, DisbandReason.ABSENT, "who knows 谁知道"), never_shuffled)
        assert isinstance(disbanded, Step), "a match may be disbanded at any moment"
        for change in disbanded.changes:
            assert stored_and_read(change.event) == change.event


@given(
    options=st.builds(replace, rooms(), countdowns=st.builds(Countdowns, *[st.integers(1, 3600)] * 4)),
    platform=st.text(max_size=9),
    owner=st.text(max_size=9),
)
@example(RoomOptions(), "", "")
def test_any_room(options: RoomOptions, platform: str, owner: str) -> None:
    opened = RoomOpened(PlatformId(platform), owner, options)
    assert stored_and_read(opened) == opened


@given(reference=st.text(), labels=st.dictionaries(st.text(), st.text(), max_size=16))
def test_any_labels(reference: str, labels: dict[str, str]) -> None:
    in_order = tuple(Label(key, value) for key, value in sorted(labels.items()))
    opened = RoomOpened(PlatformId("p"), "alice", RoomOptions(), reference, in_order)
    assert stored_and_read(opened) == opened


@pytest.mark.parametrize("keys", [("b", "a"), ("a", "a"), ("a", "b", "a")])
def test_labels_out_of_order_were_not_written_here(keys: tuple[str, ...]) -> None:
    body = stored.write(
        RoomOpened(PlatformId("p"), "alice", RoomOptions(), labels=tuple(Label(key, "") for key in keys))
    )
    assert isinstance(stored.read(body, RULES_VERSION), Unreadable)


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_the_last_seat_of_every_game_and_none_beyond_the_largest(game: Game) -> None:
    last = SeatLeft(Seat(game_rules(game, review=True).seats - 1))
    assert stored_and_read(last) == last
    beyond = SeatLeft(Seat(max(game_rules(each, review=True).seats for each in GAMES)))
    assert isinstance(stored.read(stored.write(beyond), RULES_VERSION), Unreadable)


@pytest.mark.parametrize("event", [SeatTaken(Seat(3), Player("玩家")), SeatLeft(Seat(0)), SeatReady(Seat(2))], ids=repr)
def test_what_happens_between_deals(event: Event) -> None:
    assert stored_and_read(event) == event


def test_every_event_has_its_message() -> None:
    assert len(get_args(Event)) + 1 == len(event_pb2.Event.DESCRIPTOR.fields)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff", id="no message"),
        pytest.param(EMPTY_FIELD_200, id="an event of a kind to come"),
        pytest.param(stored.write(SeatLeft(Seat(1))) + EMPTY_FIELD_200, id="a field to come beside the event"),
        pytest.param(bytes([0x1A, 5, 8, 1]) + EMPTY_FIELD_200, id="a field to come within the event"),
        pytest.param(
            event_pb2.Event(seat_left=room_pb2.SeatLeft(seat=4)).SerializeToString(), id="a seat that no table has"
        ),
        pytest.param(
            event_pb2.Event(trump_named=event_pb2.TrumpNamed(trump=6)).SerializeToString(), id="a trump to come"
        ),
        pytest.param(
            event_pb2.Event(cards_followed=event_pb2.CardsFollowed(cards=b"\x6c")).SerializeToString(), id="no card"
        ),
        pytest.param(
            event_pb2.Event(cards_followed=event_pb2.CardsFollowed(cards=b"\x02\x01")).SerializeToString(),
            id="cards out of order",
        ),
        pytest.param(
            event_pb2.Event(cards_followed=event_pb2.CardsFollowed(cards=b"\x01\x01")).SerializeToString(),
            id="a card twice",
        ),
        pytest.param(
            event_pb2.Event(
                deal_settled=settlement_pb2.DealSettled(settlement=settlement_pb2.Settlement())
            ).SerializeToString(),
            id="a settlement without an outcome",
        ),
        pytest.param(
            event_pb2.Event(room_opened=room_pb2.RoomOpened(owner="owner")).SerializeToString(),
            id="a room without options",
        ),
        pytest.param(
            event_pb2.Event(deal_started=room_pb2.DealStarted(number=1)).SerializeToString(), id="a deal without cards"
        ),
    ],
)
def test_what_was_not_written_here_is_unreadable(body: bytes) -> None:
    read = stored.read(body, RULES_VERSION)
    assert isinstance(read, Unreadable)
    assert read.why


def test_what_newer_rules_decided_is_unreadable() -> None:
    body = stored.write(SeatLeft(Seat(1)))
    assert isinstance(stored.read(body, RULES_VERSION + 1), Unreadable)


def first_deal(plan: Plan) -> DealStarted:
    return next(event for event in events(plan) if isinstance(event, DealStarted))


@examples(0.1)
@given(plan=plans())
def test_a_deal_by_newer_rules_is_unreadable(plan: Plan) -> None:
    event = first_deal(plan)
    newer = replace(event, rules_version=RULES_VERSION + 1)
    assert isinstance(stored_and_read(newer), Unreadable)


@examples(0.2)
@given(plan=plans(), data=st.data())
def test_a_deck_that_is_no_permutation_is_unreadable(plan: Plan, data: st.DataObject) -> None:
    order = list(first_deal(plan).shuffled.order)
    one, other = data.draw(st.permutations(range(len(order))))[:2]
    order[one] = order[other]
    message = event_pb2.Event.FromString(stored.write(first_deal(plan)))
    message.deal_started.order = bytes(order)
    assert isinstance(stored.read(message.SerializeToString(), RULES_VERSION), Unreadable)


@given(body=st.binary(max_size=60), rules_version=st.integers(-1, 3))
def test_random_bytes_never_raise(body: bytes, rules_version: int) -> None:
    assert isinstance(stored.read(body, rules_version), StoredEvent | Unreadable)


@examples(2)
@given(message=messages(event_pb2.Event))
def test_any_message_is_read_to_the_letter_or_unreadable(message: event_pb2.Event) -> None:
    read = stored.read(message.SerializeToString(), RULES_VERSION)
    if not isinstance(read, Unreadable):
        assert event_pb2.Event.FromString(stored.write(read)) == message


@examples(0.2)
@given(plan=plans(), data=st.data())
def test_a_flipped_bit_never_raises(plan: Plan, data: st.DataObject) -> None:
    body = data.draw(st.sampled_from([stored.write(event) for event in events(plan)]))
    bit = data.draw(st.integers(0, 8 * len(body) - 1))
    flipped = bytearray(body)
    flipped[bit // 8] ^= 1 << bit % 8
    assert isinstance(stored.read(bytes(flipped), RULES_VERSION), StoredEvent | Unreadable)
