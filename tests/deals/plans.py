"""Plans: what hypothesis draws to reach a position by legal commands."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Final, final

from erqiwang_core.options import (
    Countdowns,
    CountdownValues,
    Deck,
    FourPlayer,
    FourPlayerValues,
    Game,
    Length,
    OptionValues,
    Payer,
    RoomOptions,
    Start,
    ThreePlayer,
    ThreePlayerValues,
)
from hypothesis import settings, strategies as st

from tests.deals.decks import Stack
from tests.deals.manners import Burial, Calling, Following, Leading, Manners, Naming


def _games() -> Iterator[Game]:
    three: Iterator[ThreePlayerValues] = product((False, True), (False, True))
    yield from (ThreePlayer(*values) for values in three)
    four: Iterator[FourPlayerValues] = product(Deck)
    yield from (FourPlayer(*values) for values in four)


GAMES: Final = tuple(_games())
"""Every game with everything a room may choose about them."""


def _countdowns() -> Iterator[Countdowns]:
    yield Countdowns()
    # They differ from each other and from the defaults, and one is the longest that the wire takes.
    values: CountdownValues = (1, 2, 3, 3600)
    yield Countdowns(*values)


def _every_table() -> Iterator[RoomOptions]:
    values: Iterator[OptionValues] = product(
        GAMES, Length, Payer, (True, False), tuple(_countdowns()), Start, (True, False)
    )
    return (RoomOptions(*each) for each in values)


TABLES: Final = tuple(_every_table())
"""Every table that can be chosen, with two choices of countdowns."""


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """A table, a deck, and how all seats play: everything that a match depends on."""

    options: RoomOptions
    seed: int
    stack: Stack
    manners: Manners


def manners() -> st.SearchStrategy[Manners]:
    """Any combination of manners."""
    return st.builds(
        Manners,
        calling=st.sampled_from(Calling),
        naming=st.sampled_from(Naming),
        burial=st.sampled_from(Burial),
        leading=st.sampled_from(Leading),
        following=st.sampled_from(Following),
    )


def rooms() -> st.SearchStrategy[RoomOptions]:
    """The options of a room: one for each value that any option can have."""
    return st.sampled_from(TABLES)


def tables() -> dict[str, st.SearchStrategy[RoomOptions]]:
    """The tables at which different things are told, by name: each game and deck, review or not."""
    games: dict[str, list[Game]] = {}
    for game in GAMES:
        games.setdefault(_name(game), []).append(game)
    return {
        f"{name}, {'review' if review else 'no review'}": st.builds(
            RoomOptions, game=st.sampled_from(of_a_kind), review=st.just(review)
        )
        for name, of_a_kind in games.items()
        for review in (True, False)
    }


def _name(game: Game) -> str:
    match game:
        case ThreePlayer():
            return "three"
        case FourPlayer(deck):
            return f"four, {deck.value} deck"


def plans(options: st.SearchStrategy[RoomOptions] | None = None) -> st.SearchStrategy[Plan]:
    """Any plan, at any table or at those given."""
    return st.builds(
        Plan,
        options=rooms() if options is None else options,
        seed=st.integers(0, 2**32 - 1),
        stack=st.sampled_from(Stack),
        manners=manners(),
    )


def by_chance(options: RoomOptions, chance: Random) -> Plan:
    """A plan for that table, for tests that count over a fixed sample."""
    return Plan(
        options,
        seed=chance.randrange(2**32),
        stack=chance.choice(tuple(Stack)),
        manners=Manners(
            calling=chance.choice(tuple(Calling)),
            naming=chance.choice(tuple(Naming)),
            burial=chance.choice(tuple(Burial)),
            leading=chance.choice(tuple(Leading)),
            following=chance.choice(tuple(Following)),
        ),
    )


def examples(share: float) -> settings:
    """So much of the profile's number of examples: whole deals are dear, and the profile sets the pace."""
    return settings(max_examples=max(1, round(settings().max_examples * share)))
