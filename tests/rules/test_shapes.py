"""What may be led, and as what (rules §6; design 5.3, 5.4.3)."""

import pytest
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.shapes import (
    Component,
    Lead,
    Pair,
    SeveralGroups,
    SideSuitThrow,
    Single,
    Throw,
    Tractor,
    capture_multiplier,
    classify,
    pairs_in,
    tractors,
)
from erqiwang_core.kernel.trump import Group, NoTrump, SuitTrump, Trump, order
from erqiwang_core.units import Level

from tests.rules.drawn import KINDS
from tests.rules.written import cards

SPADES = SuitTrump(Suit.SPADES)
NONE = NoTrump()


def level(printed: str, trump: Trump) -> Level:
    return order(trump).strength[KINDS[printed]]


@pytest.mark.parametrize(
    ("trump", "text", "top"),
    [
        pytest.param(SPADES, "♥9", "♥9", id="a side-suit single"),
        pytest.param(SPADES, "BJ", "big", id="a big joker"),
        pytest.param(SPADES, "♥7", "♥7", id="an off-suit 7 is a trump"),
    ],
)
def test_singles(trump: Trump, text: str, top: str) -> None:
    lead = classify(order(trump), cards(text))
    assert isinstance(lead, Lead)
    assert (lead.shape, lead.count) == (Single(level(top, trump)), 1)


@pytest.mark.parametrize(
    ("text", "top"),
    [
        pytest.param("♥9 ♥9", "♥9", id="of a side suit"),
        pytest.param("♥7 ♥7", "♥7", id="of off-suit 7s"),
        pytest.param("♦2 ♦2", "♦2", id="of off-suit 2s"),
        pytest.param("SJ SJ", "small", id="of small jokers"),
    ],
)
def test_pairs(text: str, top: str) -> None:
    lead = classify(order(SPADES), cards(text))
    assert isinstance(lead, Lead)
    assert (lead.shape, lead.count) == (Pair(level(top, SPADES)), 2)


@pytest.mark.parametrize(
    ("trump", "text", "length", "top"),
    [
        pytest.param(SPADES, "♥K ♥K ♥Q ♥Q", 2, "♥K", id="KKQQ"),
        pytest.param(SPADES, "♥Q ♥Q ♥J ♥J ♥K ♥K", 3, "♥K", id="QQJJKK"),
        pytest.param(SPADES, "♥6 ♥6 ♥8 ♥8", 2, "♥8", id="6 and 8 of a side suit are neighbours"),
        pytest.param(SPADES, "♠6 ♠6 ♠8 ♠8", 2, "♠8", id="6 and 8 of the trump suit are neighbours"),
        pytest.param(SPADES, "♥5 ♥5 ♥6 ♥6", 2, "♥6", id="5566"),
        pytest.param(SPADES, "BJ BJ SJ SJ", 2, "big", id="both jokers"),
        pytest.param(SPADES, "SJ SJ ♠7 ♠7", 2, "small", id="small joker and on-suit 7"),
        pytest.param(SPADES, "♠7 ♠7 ♥7 ♥7", 2, "♠7", id="on-suit and off-suit 7"),
        pytest.param(SPADES, "♥7 ♥7 ♠2 ♠2", 2, "♥7", id="off-suit 7 and on-suit 2"),
        pytest.param(SPADES, "♠2 ♠2 ♦2 ♦2", 2, "♠2", id="on-suit and off-suit 2"),
        pytest.param(SPADES, "♦2 ♦2 ♠A ♠A", 2, "♦2", id="off-suit 2 and the trump suit's A, diamonds"),
        pytest.param(SPADES, "♣2 ♣2 ♠A ♠A", 2, "♣2", id="off-suit 2 and the trump suit's A, clubs"),
        pytest.param(SPADES, "♥2 ♥2 ♠A ♠A", 2, "♥2", id="off-suit 2 and the trump suit's A, hearts"),
        pytest.param(
            SPADES,
            "BJ BJ SJ SJ ♠7 ♠7 ♣7 ♣7 ♠2 ♠2 ♥2 ♥2 ♠A ♠A ♠K ♠K",
            8,
            "big",
            id="from the big joker down to the trump suit",
        ),
        pytest.param(NONE, "♣7 ♣7 ♥2 ♥2", 2, "♣7", id="no trump: 7 and 2 are neighbours"),
        pytest.param(NONE, "BJ BJ SJ SJ ♦7 ♦7 ♠2 ♠2", 4, "big", id="no trump: big joker, small joker, 7, 2"),
        pytest.param(NONE, "♠6 ♠6 ♠8 ♠8", 2, "♠8", id="no trump: spades are a side suit"),
        pytest.param(NONE, "♥5 ♥5 ♥4 ♥4 ♥3 ♥3", 3, "♥5", id="full deck: 5, 4 and 3 go on"),
    ],
)
def test_tractors(trump: Trump, text: str, length: int, top: str) -> None:
    lead = classify(order(trump), cards(text))
    assert isinstance(lead, Lead)
    assert (lead.shape, lead.count) == (Tractor(length, level(top, trump)), 2 * length)


@pytest.mark.parametrize(
    ("trump", "text", "components"),
    [
        pytest.param(SPADES, "♠7 ♥7", (Single(level("♠7", SPADES)), Single(level("♥7", SPADES))), id="♠7♥7 is no pair"),
        pytest.param(SPADES, "♦7 ♥7", (Single(level("♥7", SPADES)),) * 2, id="two off-suit 7s are no pair"),
        pytest.param(SPADES, "BJ SJ", (Single(level("big", SPADES)), Single(level("small", SPADES))), id="two jokers"),
        pytest.param(
            SPADES, "♣7 ♣7 ♥7 ♥7", (Pair(level("♥7", SPADES)),) * 2, id="two pairs of off-suit 7s are no tractor"
        ),
        pytest.param(
            SuitTrump(Suit.DIAMONDS),
            "♠7 ♠7 ♥7 ♥7",
            (Pair(level("♠7", SuitTrump(Suit.DIAMONDS))),) * 2,
            id="♠7♠7♥7♥7 is no tractor",
        ),
        pytest.param(NONE, "♠7 ♠7 ♥7 ♥7", (Pair(level("♠7", NONE)),) * 2, id="no trump: 7777 is no tractor"),
        pytest.param(NONE, "♠2 ♠2 ♥2 ♥2", (Pair(level("♠2", NONE)),) * 2, id="no trump: 2222 is no tractor"),
        pytest.param(
            SPADES,
            "♠7 ♠7 ♣7 ♣7 ♥7 ♥7",
            (Tractor(2, level("♠7", SPADES)), Pair(level("♥7", SPADES))),
            id="a tractor takes one pair from a level",
        ),
        pytest.param(
            SPADES,
            "♠K ♠K ♠5",
            (Pair(level("♠K", SPADES)), Single(level("♠5", SPADES))),
            id="a pair and a single",
        ),
        pytest.param(
            SPADES,
            "♠A ♠A ♠Q ♠Q",
            (Pair(level("♠A", SPADES)), Pair(level("♠Q", SPADES))),
            id="two pairs apart",
        ),
        pytest.param(
            SPADES,
            "♠5 ♠5 ♠6 ♠6 ♠9 ♠9 ♠10 ♠10 ♠J ♠J",
            (Tractor(3, level("♠J", SPADES)), Tractor(2, level("♠6", SPADES))),
            id="the longest tractor first",
        ),
        pytest.param(
            SPADES,
            "♠5 ♠5 ♠6 ♠6 ♠9 ♠9 ♠10 ♠10",
            (Tractor(2, level("♠10", SPADES)), Tractor(2, level("♠6", SPADES))),
            id="of equally long tractors the highest first",
        ),
        pytest.param(
            SPADES,
            "♣2 ♣2 ♥2 ♥2 ♠2 ♠2 ♠A ♠A ♦2 ♦2 ♠K",
            (
                Tractor(3, level("♠2", SPADES)),
                Pair(level("♥2", SPADES)),
                Pair(level("♥2", SPADES)),
                Single(level("♠K", SPADES)),
            ),
            id="pairs left on the level of a tractor",
        ),
        pytest.param(
            SPADES,
            "♠2 ♠2 ♣2 ♣2 ♥7 ♥7 ♦7 ♦7 ♠7 ♠7 ♠A ♠A ♦2 ♦2",
            (Tractor(5, level("♠7", SPADES)), Pair(level("♥7", SPADES)), Pair(level("♦2", SPADES))),
            id="a tractor through both 7 and both 2 levels",
        ),
        pytest.param(
            NONE,
            "♠7 ♠7 ♥7 ♥7 ♠2 ♠2 ♥2 ♥2",
            (Tractor(2, level("♠7", NONE)),) * 2,
            id="no trump: two tractors of the same two levels",
        ),
    ],
)
def test_throws(trump: Trump, text: str, components: tuple[Component, ...]) -> None:
    lead = classify(order(trump), cards(text))
    assert isinstance(lead, Lead)
    assert lead.group is Group.TRUMPS
    assert lead.shape == Throw(components)
    assert lead.count == len(text.split())


@pytest.mark.parametrize(
    ("trump", "text", "fault"),
    [
        pytest.param(SPADES, "♥A ♥K", SideSuitThrow(Group.HEARTS), id="two side-suit singles"),
        pytest.param(SPADES, "♥A ♥A ♥K", SideSuitThrow(Group.HEARTS), id="AAK of a side suit"),
        pytest.param(SPADES, "♥A ♥A ♥Q ♥Q", SideSuitThrow(Group.HEARTS), id="AAQQ of a side suit"),
        pytest.param(SPADES, "♥6 ♥6 ♥9 ♥9", SideSuitThrow(Group.HEARTS), id="6 and 9 are not neighbours"),
        pytest.param(NONE, "♠A ♠A ♠K", SideSuitThrow(Group.SPADES), id="no trump: every suit is a side suit"),
        pytest.param(SPADES, "♥A ♦A", SeveralGroups((Group.DIAMONDS, Group.HEARTS)), id="two suits"),
        pytest.param(
            SPADES,
            "♥6 ♥6 ♥7 ♥7",
            SeveralGroups((Group.TRUMPS, Group.HEARTS)),
            id="6677 of a side suit: the 7s are trumps",
        ),
        pytest.param(SPADES, "♥A ♥A ♥2 ♥2", SeveralGroups((Group.TRUMPS, Group.HEARTS)), id="A and 2 of a side suit"),
        pytest.param(SPADES, "♠A ♦A", SeveralGroups((Group.TRUMPS, Group.DIAMONDS)), id="a trump and a side card"),
    ],
)
def test_what_may_not_be_led_together(trump: Trump, text: str, fault: SeveralGroups | SideSuitThrow) -> None:
    assert classify(order(trump), cards(text)) == fault


def test_6677_of_the_trump_suit_is_a_throw_of_two_pairs() -> None:
    lead = classify(order(SPADES), cards("♠6 ♠6 ♠7 ♠7"))
    assert isinstance(lead, Lead)
    assert lead.shape == Throw((Pair(level("♠7", SPADES)), Pair(level("♠6", SPADES))))


@pytest.mark.parametrize(
    ("text", "multiplier"),
    [
        pytest.param("♠5", 1, id="single: 1"),
        pytest.param("♠5 ♠5", 2, id="pair: 2"),
        pytest.param("♠5 ♠5 ♠6 ♠6", 4, id="tractor(2): 4"),
        pytest.param("♠5 ♠5 ♠6 ♠6 ♠8 ♠8", 6, id="tractor(3): 6"),
        pytest.param("♠5 ♠5 ♠6 ♠6 ♠8 ♠8 ♠9 ♠9", 8, id="tractor(4): 8"),
        pytest.param("BJ ♠K", 1, id="throw of singles: 1"),
        pytest.param("BJ ♠K ♠K", 2, id="throw with a pair: 2"),
        pytest.param("BJ ♠K ♠K ♠5 ♠5 ♠6 ♠6", 4, id="throw: its greatest component alone"),
    ],
)
def test_capture_multiplier(text: str, multiplier: int) -> None:
    lead = classify(order(SPADES), cards(text))
    assert isinstance(lead, Lead)
    assert capture_multiplier(lead.shape) == multiplier


@pytest.mark.parametrize(
    ("text", "lengths", "pairs"),
    [
        pytest.param("♠5", (), 0, id="single"),
        pytest.param("♠5 ♠5", (), 1, id="pair"),
        pytest.param("♠5 ♠5 ♠6 ♠6", (2,), 2, id="tractor"),
        pytest.param("BJ ♠K ♠K ♠5 ♠5 ♠6 ♠6", (2,), 3, id="throw"),
    ],
)
def test_tractors_and_pairs_of_a_shape(text: str, lengths: tuple[int, ...], pairs: int) -> None:
    lead = classify(order(SPADES), cards(text))
    assert isinstance(lead, Lead)
    assert (tractors(lead.shape), pairs_in(lead.shape)) == (lengths, pairs)
