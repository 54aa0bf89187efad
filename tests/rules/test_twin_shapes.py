"""The core and its plain twin agree on what cards are: singles, pairs, tractors, throws (rules §6)."""

from itertools import combinations

from erqiwang_core.kernel.cards import FULL_DECK
from erqiwang_core.kernel.hand import ids
from erqiwang_core.kernel.shapes import (
    Component,
    Lead,
    Pair,
    SeveralGroups,
    Shape,
    SideSuitThrow,
    Single,
    Throw,
    Tractor,
    all_components,
    classify,
)
from erqiwang_core.kernel.trump import Group, Trump, order
from erqiwang_core.units import CardSet
from hypothesis import given, settings, strategies as st

from tests.oracle.faces import TRUMPS, Cards, face, group, levels
from tests.oracle.shapes import Led, Part, led, part
from tests.rules.drawn import KINDS, decks, groups, of_one_group, trump_choices
from tests.rules.written import core, sign


@st.composite
def any_cards(draw: st.DrawFn, trump: Trump, most: int = 10) -> Cards:
    """Some cards, mostly of one group, neighbours and pairs among them."""
    deck = draw(decks)
    wanted = draw(st.sampled_from(groups(trump)))
    stray = draw(st.lists(st.sampled_from(FULL_DECK), max_size=draw(st.sampled_from([0, 0, 0, 2])), unique=True))
    return draw(of_one_group(trump, wanted, deck, most)) | frozenset(stray)


def as_part(shape: Component, of: str, trump: Trump) -> Part:
    """A core component as the twin writes it."""
    ladder = levels(of, sign(trump))
    strengths = [order(trump).strength[KINDS[level[0]]] for level in ladder]
    match shape:
        case Single(level):
            return Part(0, strengths.index(level))
        case Pair(level):
            return Part(1, strengths.index(level))
        case Tractor(length, level):
            return Part(length, strengths.index(level))


def as_led(shape: Shape, of: str, trump: Trump) -> Led:
    """A core shape as the twin writes it."""
    if isinstance(shape, Throw):
        return tuple(as_part(each, of, trump) for each in shape.components)
    return as_part(shape, of, trump)


@settings(max_examples=400)
@given(data=st.data(), trump=trump_choices)
def test_classification(data: st.DataObject, trump: Trump) -> None:
    chosen = data.draw(any_cards(trump))
    told = sorted({group(face(card), sign(trump)) for card in chosen})
    expected = led(chosen, sign(trump))
    lead = classify(order(trump), core(chosen))
    match lead:
        case SeveralGroups(found):
            assert [_sign(each) for each in found] == sorted(told, key=_group_number)
            assert len(told) > 1
        case SideSuitThrow(found):
            assert [_sign(found)] == told
            assert expected is None
        case Lead(found, shape, number):
            assert [_sign(found)] == told
            assert number == len(chosen)
            assert as_led(shape, told[0], trump) == expected


def _sign(of: Group) -> str:
    return (TRUMPS, "♦", "♣", "♥", "♠")[of]


def _group_number(of: str) -> int:
    return (TRUMPS, "♦", "♣", "♥", "♠").index(of)


@settings(max_examples=60)
@given(data=st.data(), trump=trump_choices)
def test_components_of_a_hand_are_the_sets_that_are_singles_pairs_or_tractors(
    data: st.DataObject, trump: Trump
) -> None:
    hand = data.draw(any_cards(trump, most=9))
    expected = {
        core(chosen)
        for size in range(1, len(hand) + 1)
        for chosen in combinations(sorted(hand), size)
        if part(frozenset(chosen), sign(trump))
    }
    found = all_components(order(trump), core(hand))
    assert len(found) == len(set(found))
    assert set(found) == expected


@given(hand=st.integers(0, (1 << 108) - 1), trump=trump_choices)
def test_every_component_of_any_hand_may_be_led(hand: int, trump: Trump) -> None:
    for chosen in all_components(order(trump), CardSet(hand)):
        lead = classify(order(trump), chosen)
        assert isinstance(lead, Lead)
        assert not isinstance(lead.shape, Throw)
        assert lead.count == len(ids(chosen))
