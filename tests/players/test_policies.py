"""Policies: whatever they do is legal, comes from a view alone, and the sensible one is the better."""

from collections.abc import Iterator
from functools import partial
from random import Random

import pytest
from erqiwang_core import match as matches
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.kernel.shapes import Pair, Single, Throw, Tractor
from erqiwang_core.match import Match, Over, Ready
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.options import Deck, FourPlayer, RoomOptions, ThreePlayer
from erqiwang_core.players import (
    BOLD,
    Policy,
    RandomLegal,
    Sensible,
    Step,
    Strong,
    contest,
    shuffles,
    signals_to,
    worlds_each,
)
from erqiwang_core.playing import CardsLed, Play, SignalKind, Signalled
from erqiwang_core.rules import game_rules
from erqiwang_core.seats import by_seat
from erqiwang_core.units import Seat
from erqiwang_core.view import turn, view

POLICIES: dict[str, Policy] = {
    "random": RandomLegal(),
    "sensible": Sensible(),
    "bold": Sensible(BOLD),
    "strong": Strong(worlds_each(2)),
}
GAMES = (ThreePlayer(), ThreePlayer(joker_bonus=True, climb=True), FourPlayer(Deck.SHORT), FourPlayer(Deck.FULL))
ROOMS = [RoomOptions(game, review=review) for game in GAMES for review in (True, False)]

in_every_room = pytest.mark.parametrize("room", ROOMS, ids=lambda room: f"{room.game}, review {room.review}")
by_each_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)


def match_of(policy: Policy, room: RoomOptions, seed: int = 1) -> Iterator[Step]:
    """A match between players of one policy; it fails at the first refusal."""
    seats = game_rules(room.game, room.review).seats
    return contest(room, by_seat(seats, lambda _: policy), Random(seed), shuffles(room, Random(seed)))


def last(steps: Iterator[Step]) -> Match:
    *_, end = steps
    return end.after


@in_every_room
@by_each_policy
def test_a_match_is_played_to_its_end(policy: Policy, room: RoomOptions) -> None:
    end = last(match_of(policy, room))
    assert isinstance(end, Over)
    assert len(end.account.deals) == room.deals
    assert sum(end.account.totals) == 0


@by_each_policy
def test_only_the_seat_to_act_acts(policy: Policy) -> None:
    for step in match_of(policy, RoomOptions()):
        acting = turn(step.before).seat
        for seat in step.before.chairs.seats():
            command = policy.act(view(step.before, seat), Random(1))
            if acting is not None:
                assert (command is None) == (seat != acting)
            elif command is not None:
                assert command == Ready()
                assert isinstance(matches.decide(step.before, seat, command, shuffles(RoomOptions(), Random(1))), tuple)


@pytest.mark.parametrize("room", [RoomOptions(), RoomOptions(FourPlayer())], ids=["three", "four"])
@by_each_policy
def test_signals_reach_the_other_defenders(policy: Policy, room: RoomOptions) -> None:
    sent = set()
    for step in match_of(policy, room, seed=2):
        for seat in step.before.chairs.seats():
            signal = policy.signal(view(step.before, seat), Random(f"{seat}"))
            if signal is not None:
                told = matches.answer(step.before, seat, signal)
                assert isinstance(told, Signalled)
                sent.add(told.signal)
    assert sent <= set(SignalKind)


def test_a_sensible_signal_says_what_the_hand_can_do() -> None:
    sent = {
        signal.signal
        for seed in range(3)
        for step in match_of(POLICIES["sensible"], RoomOptions(), seed)
        for seat in step.before.chairs.seats()
        if (signal := POLICIES["sensible"].signal(view(step.before, seat), Random(1))) is not None
    }
    assert sent == set(SignalKind)


def test_sense_leaves_nothing_to_chance() -> None:
    sensible = POLICIES["sensible"]
    for step in match_of(sensible, RoomOptions()):
        heard = partial(signals_to, step.before, step.seat, by_seat(3, lambda _: sensible), Random(1))
        assert sensible.act(view(step.before, step.seat), Random("another"), heard) == step.command


def test_defenders_hear_one_another() -> None:
    """Heard is the signal of a partner who is still to play; the declarer hears nothing."""
    sensible, heard_of = POLICIES["sensible"], 0
    for step in match_of(sensible, RoomOptions()):
        heard = signals_to(step.before, step.seat, by_seat(3, lambda _: sensible), Random(1))
        agreed = view(step.before, step.seat).contract.agreed
        for signalled in heard:
            heard_of += 1
            assert agreed is not None
            assert agreed.declarer not in (step.seat, signalled.sender)
            said = sensible.signal(view(step.before, signalled.sender), Random(1))
            assert said is not None
            assert (said.signal, signalled.to) == (signalled.signal, (step.seat,))
    assert heard_of > 20


def test_a_sensible_throw_never_fails() -> None:
    led = [
        event
        for room in (RoomOptions(FourPlayer()), RoomOptions(review=False))
        for seed in range(2)
        for step in match_of(POLICIES["sensible"], room, seed)
        for event in step.events
        if isinstance(event, CardsLed)
    ]
    assert any(isinstance(event.lead.shape, Throw) for event in led)
    assert all(event.attempted is None for event in led)


def test_chance_meets_every_kind_of_action() -> None:
    steps = [step for seed in range(8) for step in match_of(POLICIES["random"], RoomOptions(), seed)]
    assert {type(step.command) for step in steps} == {Bid, Pass, NameTrump, Surrender, Bury, Play, Ready}
    led = [event for step in steps for event in step.events if isinstance(event, CardsLed)]
    assert {type(event.lead.shape) for event in led} == {Single, Pair, Tractor, Throw}
    assert any(event.attempted is not None for event in led)


@pytest.mark.parametrize(
    "room", [RoomOptions(), RoomOptions(review=False), RoomOptions(FourPlayer())], ids=["three", "no review", "four"]
)
def test_sense_beats_chance(room: RoomOptions) -> None:
    """The same decks again with the sensible player on every seat in turn, against random ones."""
    seats = game_rules(room.game, room.review).seats
    won = 0
    for seed in range(2):
        for sensible in range(seats):
            policies = by_seat(seats, lambda _: POLICIES["random"]).put(Seat(sensible), POLICIES["sensible"])
            end = last(contest(room, policies, Random(seed), shuffles(room, Random(seed))))
            assert isinstance(end, Over)
            won += end.account.totals.values[sensible]
    assert won / (2 * seats * room.deals) > 2, "chips a deal"
