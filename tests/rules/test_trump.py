"""Groups, strength and adjacency under every trump choice (rules §3, part B)."""

import pytest
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.hand import ALL_CARDS, cards_of, count, kind_list, kind_set
from erqiwang_core.kernel.shapes import Lead, Tractor, classify
from erqiwang_core.kernel.trump import TRUMPS, Group, NoTrump, SuitTrump, Trump, groups_of, order
from erqiwang_core.notation import write_card
from erqiwang_core.units import CardId, Kind

from tests.oracle import faces as plain
from tests.rules.drawn import KINDS
from tests.rules.written import cards, sign

GROUPS = {plain.TRUMPS: Group.TRUMPS, "♦": Group.DIAMONDS, "♣": Group.CLUBS, "♥": Group.HEARTS, "♠": Group.SPADES}


def written(trump: Trump, group: Group) -> str:
    """The levels of a group from low to high; kinds of one level stand together."""
    return " ".join("=".join(map(write_card, kind_list(rung))) for rung in order(trump).rungs[group] if rung)


@pytest.mark.parametrize(
    ("trump", "ladder"),
    [
        pytest.param(
            SuitTrump(Suit.SPADES),
            "♠3 ♠4 ♠5 ♠6 ♠8 ♠9 ♠10 ♠J ♠Q ♠K ♠A ♦2=♣2=♥2 ♠2 ♦7=♣7=♥7 ♠7 🃟 🃏",
            id="spades",
        ),
        pytest.param(
            SuitTrump(Suit.HEARTS),
            "♥3 ♥4 ♥5 ♥6 ♥8 ♥9 ♥10 ♥J ♥Q ♥K ♥A ♦2=♣2=♠2 ♥2 ♦7=♣7=♠7 ♥7 🃟 🃏",
            id="hearts",
        ),
        pytest.param(
            SuitTrump(Suit.CLUBS),
            "♣3 ♣4 ♣5 ♣6 ♣8 ♣9 ♣10 ♣J ♣Q ♣K ♣A ♦2=♥2=♠2 ♣2 ♦7=♥7=♠7 ♣7 🃟 🃏",
            id="clubs",
        ),
        pytest.param(
            SuitTrump(Suit.DIAMONDS),
            "♦3 ♦4 ♦5 ♦6 ♦8 ♦9 ♦10 ♦J ♦Q ♦K ♦A ♣2=♥2=♠2 ♦2 ♣7=♥7=♠7 ♦7 🃟 🃏",
            id="diamonds",
        ),
        pytest.param(NoTrump(), "♦2=♣2=♥2=♠2 ♦7=♣7=♥7=♠7 🃟 🃏", id="no trump: jokers, 7s and 2s alone"),
    ],
)
def test_trump_ladder(trump: Trump, ladder: str) -> None:
    assert written(trump, Group.TRUMPS) == ladder


@pytest.mark.parametrize("trump", TRUMPS)
@pytest.mark.parametrize("suit", Suit)
def test_a_side_suit_has_neither_7_nor_2_and_the_trump_suit_is_no_side_suit(trump: Trump, suit: Suit) -> None:
    plain_suit = "♦♣♥♠"[suit - 1]
    expected = (
        ""
        if trump == SuitTrump(suit)
        else " ".join(plain_suit + rank for rank in ["3", "4", "5", "6", "8", "9", "10", "J", "Q", "K", "A"])
    )
    assert written(trump, Group(suit)) == expected


@pytest.mark.parametrize("trump", TRUMPS)
def test_every_kind_stands_where_the_twin_puts_it(trump: Trump) -> None:
    tables = order(trump)
    for printed, kind in KINDS.items():
        assert tables.group[kind] is GROUPS[plain.group(printed, sign(trump))]
        for other, other_kind in KINDS.items():
            if tables.group[kind] is tables.group[other_kind]:
                stronger = plain.level(printed, sign(trump)) > plain.level(other, sign(trump))
                assert (tables.strength[kind] > tables.strength[other_kind]) == stronger


@pytest.mark.parametrize("trump", TRUMPS)
def test_neighbouring_levels_and_no_others_make_a_tractor(trump: Trump) -> None:
    tables = order(trump)
    for one, kind in KINDS.items():
        for other, other_kind in KINDS.items():
            if kind >= other_kind or plain.group(one, sign(trump)) != plain.group(other, sign(trump)):
                continue
            both = cards_of(CardId(k + 54 * copy) for k in (kind, other_kind) for copy in range(2))
            lead = classify(tables, both)
            apart = abs(plain.level(one, sign(trump)) - plain.level(other, sign(trump)))
            assert (isinstance(lead, Lead) and isinstance(lead.shape, Tractor)) == (apart == 1), (one, other)


@pytest.mark.parametrize("trump", TRUMPS)
def test_the_groups_share_out_all_cards(trump: Trump) -> None:
    tables = order(trump)
    assert sum(tables.cards) == ALL_CARDS
    assert sum(map(count, tables.cards)) == count(ALL_CARDS)


def test_a_ladder_passes_over_kinds_of_other_groups() -> None:
    tables = order(SuitTrump(Suit.SPADES))
    everything = kind_set(Kind(number) for number in range(54))
    assert tables.ladder(Group.SPADES, everything) == 0
    assert tables.ladder(Group.HEARTS, everything).bit_count() == 11
    assert tables.ladder(Group.TRUMPS, everything).bit_count() == 11 + 4 + 4 + 2


def test_no_card_of_a_group_has_no_top() -> None:
    assert order(SuitTrump(Suit.SPADES)).top(Group.HEARTS, cards("♠A ♥7")) == -1


def test_groups_of_a_hand() -> None:
    assert groups_of(order(NoTrump()), cards("♠A ♥7 ♦5")) == (Group.TRUMPS, Group.DIAMONDS, Group.SPADES)
