"""The walks reach what the theorems speak of: a theorem about what never happens would prove nothing."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from random import Random
from typing import Final, TypeAlias

import pytest
from erqiwang_core.bidding import DeclarerFound
from erqiwang_core.burying import CardsBuried
from erqiwang_core.kernel.hand import without
from erqiwang_core.kernel.shapes import Pair, Throw, Tractor
from erqiwang_core.kernel.trump import Group, NoTrump
from erqiwang_core.match import Running
from erqiwang_core.naming import TrumpNamed
from erqiwang_core.options import Deck, FourPlayer, RoomOptions, ThreePlayer
from erqiwang_core.playing import CardsFollowed, CardsLed, Playing
from erqiwang_core.scoring import Made, NearShutout, Shutout, Surrendered, Upgrade
from erqiwang_core.settlement import DealSettled

from tests.deals.decks import Stack
from tests.deals.manners import Leading
from tests.deals.plans import Plan, by_chance
from tests.deals.walk import Change, steps

Happening: TypeAlias = Callable[[Change], bool]


def _ended(*outcomes: type) -> Happening:
    return lambda change: (
        isinstance(change.event, DealSettled) and isinstance(change.event.settlement.outcome, outcomes)
    )


def _captured_times(multiplier: int) -> Happening:
    def happened(change: Change) -> bool:
        if not isinstance(change.event, DealSettled):
            return False
        capture = change.event.settlement.kitty_capture
        return capture is not None and capture.multiplier == multiplier

    return happened


def _led(shape: type) -> Happening:
    return lambda change: isinstance(change.event, CardsLed) and isinstance(change.event.lead.shape, shape)


def _failed(change: Change) -> bool:
    return isinstance(change.event, CardsLed) and change.event.attempted is not None


def _ruffed(change: Change) -> bool:
    event, before = change.event, change.before
    if not (isinstance(event, CardsFollowed) and isinstance(before, Running) and isinstance(before.deal, Playing)):
        return False
    trick = before.deal.trick
    assert trick is not None, "who follows follows a trick"
    trumps_only = not without(event.cards, before.deal.order.cards[Group.TRUMPS])
    return trick.lead.group is not Group.TRUMPS and trumps_only and event.ahead == event.seat


def _announced(change: Change) -> bool:
    return isinstance(change.event, CardsBuried | CardsLed | CardsFollowed) and bool(change.event.void)


def _announced_as_play_begins(change: Change) -> bool:
    return isinstance(change.event, CardsBuried) and bool(change.event.void)


def _stated(change: Change) -> bool:
    return isinstance(change.event, CardsBuried | CardsLed | CardsFollowed) and bool(change.event.statements)


def _disclosed(change: Change) -> bool:
    return isinstance(change.event, CardsBuried) and change.event.disclosure is not None


def _shown(change: Change) -> bool:
    return isinstance(change.event, DeclarerFound) and change.event.shown is not None


def _named_none(change: Change) -> bool:
    return isinstance(change.event, TrumpNamed) and isinstance(change.event.trump, NoTrump)


EVERYWHERE: Final[dict[str, Happening]] = {
    "upgrade": _ended(Upgrade),
    "made": _ended(Made),
    "near shutout": _ended(NearShutout),
    "shutout": _ended(Shutout),
    "surrender": _ended(Surrendered),
    "pair": _led(Pair),
    "tractor": _led(Tractor),
    "throw": _led(Throw),
    "failed throw": _failed,
    "ruff": _ruffed,
    "kitty shown": _shown,
    "kitty capture times 1": _captured_times(1),
    "kitty capture times 2": _captured_times(2),
    "kitty capture times 4": _captured_times(4),
}
IN_REVIEW_ROOMS: Final[dict[str, Happening]] = {
    "void notice": _announced,
    "void notice as play begins": _announced_as_play_begins,
}
THREE: Final = ThreePlayer(joker_bonus=True, climb=True)
SAMPLE: Final = 8


def sample(options: RoomOptions) -> Iterator[Plan]:
    """The same few plans at every run: each way to lead with each stack, all else by chance."""
    chance = Random(27)
    for leading, stack, _ in product(Leading, Stack, range(SAMPLE)):
        plan = by_chance(options, chance)
        yield replace(plan, stack=stack, manners=replace(plan.manners, leading=leading))


@pytest.mark.parametrize(
    ("options", "looked_for"),
    [
        pytest.param(
            RoomOptions(THREE, review=True),
            EVERYWHERE | IN_REVIEW_ROOMS | {"disclosure": _disclosed},
            id="three, review",
        ),
        pytest.param(RoomOptions(THREE, review=False), EVERYWHERE, id="three, no review"),
        *(
            pytest.param(
                RoomOptions(FourPlayer(deck), review=review),
                EVERYWHERE | {"no trump": _named_none} | (IN_REVIEW_ROOMS | {"statement": _stated} if review else {}),
                id=f"four, {deck.value} deck, {'review' if review else 'no review'}",
            )
            for deck, review in product(Deck, (True, False))
        ),
    ],
)
def test_it_happens(options: RoomOptions, looked_for: dict[str, Happening]) -> None:
    happened = Counter(
        name
        for plan in sample(options)
        for step in steps(plan)
        for change in step.changes
        for name, happens in looked_for.items()
        if happens(change)
    )
    assert [name for name in looked_for if not happened[name]] == []
