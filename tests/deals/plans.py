"""Plans: what hypothesis draws to reach a position by legal commands."""

from dataclasses import dataclass
from random import Random
from typing import Final, final

from erqiwang_core.options import Deck, FourPlayer, Game, Length, RoomOptions, Start, ThreePlayer
from hypothesis import settings, strategies as st

from tests.deals.decks import Stack
from tests.deals.manners import Burial, Calling, Following, Leading, Manners, Naming

GAMES: Final[tuple[Game, ...]] = (
    *(ThreePlayer(joker_bonus, climb) for joker_bonus in (False, True) for climb in (False, True)),
    *(FourPlayer(deck) for deck in Deck),
)
"""Every game with everything a room may choose about them."""


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
    """Any table: every game, all its options, review or not, started by either."""
    return st.builds(
        RoomOptions,
        game=st.sampled_from(GAMES),
        length=st.sampled_from(Length),
        review=st.booleans(),
        start=st.sampled_from(Start),
    )


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
