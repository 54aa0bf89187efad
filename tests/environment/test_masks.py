"""What may come next is exactly what some legal whole action goes on with: held against all of them, tried one by one."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from random import Random
from typing import Final, TypeAlias

import pytest
from erqiwang_core.kernel.cards import Suit, kind
from erqiwang_core.kernel.hand import EMPTY, cards_of, ids, kind_list, union, without
from erqiwang_core.kernel.shapes import Lead, classify
from erqiwang_core.kernel.trump import Order, SuitTrump, order
from erqiwang_core.units import CardSet, Kind
from erqiwang_environment.actions import copy_of
from erqiwang_environment.completion import Next, burial, follow, lead
from hypothesis import given, settings, strategies as st

from tests.oracle import following as plain
from tests.oracle.faces import TRUMPS, Cards
from tests.rules.drawn import Following, crowded, decks, following, groups, of_one_group, trump_choices
from tests.rules.written import cards, core, sign

Kinds: TypeAlias = tuple[Kind, ...]
"""Cards by their kinds, lowest first, a kind twice where both copies are meant."""

WALKS: Final = 4
chances = st.integers(0, 2**32 - 1).map(Random)


def kinds_of(chosen: Iterable[int]) -> Kinds:
    return tuple(sorted(Kind(card % 54) for card in chosen))


def held_against(every: Iterable[Kinds], hand: CardSet, following: Callable[[CardSet], Next], chance: Random) -> None:
    """Choose cards at random until a whole action is reached, some times over. Each step is held against all actions."""
    actions = set(every)
    assert actions, "something is legal"
    for _ in range(WALKS):
        chosen, left = EMPTY, [Counter(action) for action in actions]
        while True:
            said, so_far = following(chosen), Counter(kinds_of(ids(chosen)))
            going_on = {each for action in left for each in action - so_far}
            assert set(kind_list(said.kinds)) == going_on, so_far
            assert said.done == (so_far in left), so_far
            if not going_on or (said.done and not chance.randrange(3)):
                break
            chosen = union(chosen, copy_of(chance.choice(sorted(going_on)), without(hand, chosen)))
            after = Counter(kinds_of(ids(chosen)))
            left = [action for action in left if after <= action]


def follows(position: Following, plays: Iterable[Cards], chance: Random) -> None:
    trump, led_cards, hand = position
    tables, led = order(trump), led_by(order(trump), led_cards)
    legal = {kinds_of(play) for play in plays if plain.is_legal(led_cards, hand, play, sign(trump))}
    held_against(legal, core(hand), lambda chosen: follow(tables, led, core(hand), chosen), chance)


def led_by(tables: Order, led: Cards) -> Lead:
    found = classify(tables, core(led))
    assert isinstance(found, Lead)
    return found


@settings(max_examples=600)
@given(position=following(), chance=chances)
def test_a_follow_goes_on_as_some_legal_follow_does(position: Following, chance: Random) -> None:
    follows(position, map(frozenset, combinations(sorted(position.hand), len(position.lead))), chance)


@settings(max_examples=300)
@given(position=crowded(), chance=chances)
def test_so_does_an_answer_to_a_throw_of_two_tractors(position: Following, chance: Random) -> None:
    follows(position, map(frozenset, combinations(sorted(position.hand), len(position.lead))), chance)


@st.composite
def hands(draw: st.DrawFn) -> tuple[Order, CardSet]:
    """A hand of two groups, full of pairs."""
    trump, deck = draw(trump_choices), draw(decks)
    mine = draw(of_one_group(trump, draw(st.sampled_from(groups(trump))), deck, 8))
    others = draw(of_one_group(trump, draw(st.sampled_from([TRUMPS, *groups(trump)])), deck, 3))
    return order(trump), core(mine | others)


def subsets(hand: CardSet) -> Iterator[CardSet]:
    held = ids(hand)
    for number in range(1, len(held) + 1):
        yield from map(cards_of, combinations(held, number))


@settings(max_examples=300)
@given(holding=hands(), chance=chances)
def test_a_lead_goes_on_as_some_legal_lead_does(holding: tuple[Order, CardSet], chance: Random) -> None:
    tables, hand = holding
    legal = {kinds_of(ids(chosen)) for chosen in subsets(hand) if isinstance(classify(tables, chosen), Lead)}
    held_against(legal, hand, lambda chosen: lead(tables, hand, chosen), chance)


@settings(max_examples=100)
@given(holding=hands(), chance=chances, size=st.integers(1, 8))
def test_a_burial_goes_on_until_it_has_its_size(holding: tuple[Order, CardSet], chance: Random, size: int) -> None:
    _, hand = holding
    size = min(size, len(ids(hand)))
    legal = {kinds_of(chosen) for chosen in combinations(ids(hand), size)}
    held_against(legal, hand, lambda chosen: burial(hand, chosen, size), chance)


@pytest.mark.parametrize(
    ("led", "hand", "chosen", "next_ones"),
    [
        pytest.param("♥9 ♥9", "♥A ♥A ♥K ♥K ♥5", "", "♥A ♥K", id="a pair is called for"),
        pytest.param("♥9 ♥9", "♥A ♥A ♥K ♥K ♥5", "♥A", "♥A", id="and the pair that was begun is completed"),
        pytest.param("♥9 ♥9 ♥8 ♥8", "♥A ♥A ♥K ♥K ♥J ♥J ♥10 ♥10 ♥5", "♥A", "♥A ♥K", id="one tractor is begun"),
        pytest.param("♥9 ♥9 ♥8 ♥8", "♥A ♥A ♥K ♥K ♥Q ♥Q", "♥K", "♥A ♥K ♥Q", id="part of a longer tractor"),
        pytest.param("♥9 ♥9 ♥8 ♥8", "♥A ♥A ♥Q ♥J ♥10", "♥Q", "♥A ♥J ♥10", id="one pair, and any two besides"),
        pytest.param("♥9 ♥9 ♥8 ♥8", "♥A ♥A ♥Q ♥J ♥10", "♥Q ♥J", "♥A", id="the pair must still fit"),
        pytest.param("♥9 ♥9", "♥A ♣5 ♣6", "♣5", "♥A", id="the whole group must be played"),
        pytest.param("♥9 ♥9", "♣5 ♣6 ♠7", "♣5", "♣6 ♠7", id="void"),
    ],
)
def test_what_comes_next_in_a_follow(led: str, hand: str, chosen: str, next_ones: str) -> None:
    tables = order(SuitTrump(Suit.SPADES))
    found = classify(tables, cards(led))
    assert isinstance(found, Lead)
    after = follow(tables, found, cards(hand), cards(chosen))
    assert set(kind_list(after.kinds)) == {kind(card) for card in ids(cards(next_ones))}
    assert not after.done
