"""Awards: what a snapshot earns, and what that costs the others (rules §11; design 8.1, 8.3, 8.4; part B)."""

import pytest
from erqiwang_core.awards import AwardKind, SeatAwards, award_chips, award_unit, seat_awards
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.trump import NoTrump, SuitTrump, Trump, order
from erqiwang_core.rules import ChainRush, DeclarerAwards
from erqiwang_core.seats import BySeat
from erqiwang_core.units import Awards, Chips

from tests.rules.written import cards

SPADES = SuitTrump(Suit.SPADES)
HEARTS = SuitTrump(Suit.HEARTS)
THREE_JOKERS = "BJ BJ SJ"
FOUR_JOKERS = "BJ BJ SJ SJ"
SIX_7S = "♠7 ♠7 ♥7 ♥7 ♣7 ♦7"
SIX_2S = "♠2 ♠2 ♥2 ♥2 ♣2 ♦2"
WHOLE_CHAIN = "♠7 ♠7 ♥7 ♥7 ♠2 ♠2 ♦2 ♦2 ♠A ♠A ♠K ♠K ♠Q ♠Q ♠J ♠J ♠10 ♠10 ♠9 ♠9 ♠8 ♠8 ♠6 ♠6 ♠5 ♠5"


def earned(text: str, trump: Trump | None = SPADES, *, declarer: bool = True, bonus: bool = False) -> SeatAwards:
    tables = None if trump is None else order(trump)
    return seat_awards(DeclarerAwards(bonus), tables, cards(text), declarer=declarer)


def by_kind(awards: SeatAwards) -> dict[AwardKind, int]:
    return {award.kind: award.number for award in awards.awards}


JOKERS, SEVENS, TWOS, CHAIN = AwardKind.JOKERS, AwardKind.SEVENS, AwardKind.TWOS, AwardKind.CHAIN
BONUS, RUSH = AwardKind.JOKER_BONUS, AwardKind.RUSH


@pytest.mark.parametrize(
    ("text", "trump", "awards"),
    [
        pytest.param("BJ SJ ♠A", SPADES, {}, id="two jokers: nothing"),
        pytest.param(THREE_JOKERS, SPADES, {JOKERS: 1}, id="three jokers: 1"),
        pytest.param(FOUR_JOKERS, SPADES, {JOKERS: 3}, id="four jokers: 3"),
        pytest.param("♠7 ♠7 ♥7 ♥7 ♣7", SPADES, {}, id="five 7s: nothing"),
        pytest.param(SIX_7S, SPADES, {SEVENS: 1}, id="six 7s: 1"),
        pytest.param(SIX_7S + " ♣7", SPADES, {SEVENS: 2}, id="seven 7s: 2"),
        pytest.param(SIX_7S + " ♣7 ♦7", SPADES, {SEVENS: 3}, id="eight 7s: 3"),
        pytest.param("♠2 ♠2 ♥2 ♥2 ♣2", SPADES, {}, id="five 2s: nothing"),
        pytest.param(SIX_2S, SPADES, {TWOS: 1}, id="six 2s: 1"),
        pytest.param(SIX_2S + " ♣2", SPADES, {TWOS: 2}, id="seven 2s: 2"),
        pytest.param(SIX_2S + " ♣2 ♦2", SPADES, {TWOS: 3}, id="eight 2s: 3"),
        pytest.param(
            f"{FOUR_JOKERS} {SIX_7S} {SIX_2S}", SPADES, {JOKERS: 3, SEVENS: 1, TWOS: 1, CHAIN: 4}, id="they add up"
        ),
        pytest.param(f"{THREE_JOKERS} ♠7 ♠7", SPADES, {JOKERS: 1, CHAIN: 1}, id="chain: the on-suit 7 pair counts 1"),
        pytest.param(f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7", SPADES, {JOKERS: 1, CHAIN: 2}, id="chain: and an off-suit 7 pair"),
        pytest.param(
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7 ♣7 ♣7 ♦7 ♦7",
            SPADES,
            {JOKERS: 1, SEVENS: 3, CHAIN: 2},
            id="chain: a level counts once however many pairs it holds",
        ),
        pytest.param(
            f"{THREE_JOKERS} ♥7 ♥7 ♠2 ♠2", SPADES, {JOKERS: 1}, id="chain: nothing without the on-suit 7 pair"
        ),
        pytest.param(
            f"{THREE_JOKERS} ♠7 ♠7 ♠2 ♠2", SPADES, {JOKERS: 1, CHAIN: 1}, id="chain: a level without a pair ends it"
        ),
        pytest.param(
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♣7", SPADES, {JOKERS: 1, CHAIN: 1}, id="chain: two off-suit 7s are no pair"
        ),
        pytest.param("BJ SJ ♠7 ♠7 ♥7 ♥7", SPADES, {}, id="chain: not with two jokers"),
        pytest.param(
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7 ♠2 ♠2 ♦2 ♦2 ♠A ♠A ♠Q ♠Q", SPADES, {JOKERS: 1, CHAIN: 5}, id="chain: to the A"
        ),
        pytest.param(
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7 ♠2 ♠2 ♦2 ♦2 ♥A ♥A", SPADES, {JOKERS: 1, CHAIN: 4}, id="chain: no side suit"
        ),
        pytest.param(
            f"{THREE_JOKERS} {WHOLE_CHAIN}"[:-6], SPADES, {JOKERS: 1, CHAIN: 12}, id="chain: to the 6 of the trump suit"
        ),
        pytest.param(f"{THREE_JOKERS} {WHOLE_CHAIN}", SPADES, {JOKERS: 1, CHAIN: 13}, id="chain: the whole of it"),
        pytest.param(f"{THREE_JOKERS} ♥7 ♥7 ♠7 ♠7", HEARTS, {JOKERS: 1, CHAIN: 2}, id="chain: on-suit is the trump's"),
        pytest.param(
            f"{FOUR_JOKERS} {SIX_7S} ♠2 ♠2", None, {JOKERS: 3, SEVENS: 1}, id="surrender: no chain without a trump suit"
        ),
    ],
)
def test_awards_of_the_declarer(text: str, trump: Trump | None, awards: dict[AwardKind, int]) -> None:
    found = earned(text, trump)
    assert by_kind(found) == awards
    assert found.total == found.regular == sum(awards.values())


@pytest.mark.parametrize(
    ("text", "declarer", "awards", "regular"),
    [
        pytest.param("BJ", True, {BONUS: 1}, 0, id="the declarer, one joker"),
        pytest.param(THREE_JOKERS, True, {JOKERS: 1, BONUS: 3}, 1, id="the declarer, on top of the regular awards"),
        pytest.param(FOUR_JOKERS, False, {BONUS: 4}, 0, id="a defender, the bonus alone"),
        pytest.param("♠A", False, {}, 0, id="a defender without jokers"),
    ],
)
def test_joker_bonus(text: str, declarer: bool, awards: dict[AwardKind, int], regular: int) -> None:
    found = earned(text, declarer=declarer, bonus=True)
    assert by_kind(found) == awards
    assert found.regular == regular
    assert found.jokers == sum(word in {"BJ", "SJ"} for word in text.split())


def test_a_defender_earns_no_regular_award_whatever_it_holds() -> None:
    assert earned(f"{FOUR_JOKERS} {SIX_7S} {SIX_2S}", declarer=False).total == 0


@pytest.mark.parametrize(
    ("text", "declarer", "shown"),
    [
        pytest.param("BJ ♠7 ♠7 ♠A", True, "BJ", id="a joker is shown though it earns nothing"),
        pytest.param(f"BJ {SIX_7S} ♠2", True, f"BJ {SIX_7S}", id="the 7s where there are six"),
        pytest.param(f"{SIX_2S} ♠7 ♠A", True, SIX_2S, id="the 2s where there are six"),
        pytest.param(f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♠A ♠A", True, f"{THREE_JOKERS} ♠7 ♠7", id="the pairs of the chain"),
        pytest.param(
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7 ♣7 ♣7",
            True,
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7 ♣7 ♣7",
            id="every pair on a level of the chain",
        ),
        pytest.param(f"{FOUR_JOKERS} {SIX_7S}", False, FOUR_JOKERS, id="of a defender the jokers alone"),
    ],
)
def test_cards_shown_for_awards(text: str, declarer: bool, shown: str) -> None:
    assert earned(text, declarer=declarer).cards == cards(shown)


@pytest.mark.parametrize(
    ("text", "trump", "steps", "shown"),
    [
        pytest.param("BJ SJ ♠7 ♠7", SPADES, 0, "BJ SJ", id="two jokers: nothing"),
        pytest.param(THREE_JOKERS, SPADES, 1, THREE_JOKERS, id="three jokers: 1"),
        pytest.param(FOUR_JOKERS, SPADES, 1, FOUR_JOKERS, id="four jokers are worth no more"),
        pytest.param(f"{THREE_JOKERS} ♠7 ♠7", SPADES, 2, f"{THREE_JOKERS} ♠7 ♠7", id="with the on-suit 7 pair: 2"),
        pytest.param(
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7", SPADES, 3, f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7", id="and an off-suit 7 pair: 3"
        ),
        pytest.param(
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7 ♠2 ♠2",
            SPADES,
            4,
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7 ♠2 ♠2",
            id="and the on-suit 2 pair: 4",
        ),
        pytest.param(
            f"{FOUR_JOKERS} ♠7 ♠7 ♥7 ♥7 ♠2 ♠2 ♦2 ♦2 ♠A ♠A",
            SPADES,
            5,
            f"{FOUR_JOKERS} ♠7 ♠7 ♥7 ♥7 ♠2 ♠2 ♦2 ♦2",
            id="and an off-suit 2 pair: 5, and no further",
        ),
        pytest.param(f"{THREE_JOKERS} ♥7 ♥7 ♠2 ♠2", SPADES, 1, THREE_JOKERS, id="not without the on-suit 7 pair"),
        pytest.param(f"{THREE_JOKERS} ♥7 ♥7", NoTrump(), 2, f"{THREE_JOKERS} ♥7 ♥7", id="no trump: any 7 pair: 2"),
        pytest.param(
            f"{THREE_JOKERS} ♥7 ♥7 ♦2 ♦2 ♠A ♠A", NoTrump(), 3, f"{THREE_JOKERS} ♥7 ♥7 ♦2 ♦2", id="no trump: a 2 pair: 3"
        ),
        pytest.param(f"{THREE_JOKERS} ♦2 ♦2", NoTrump(), 1, THREE_JOKERS, id="no trump: 2s not without a 7 pair"),
        pytest.param(f"{THREE_JOKERS} ♠7 ♠7", None, 1, THREE_JOKERS, id="surrender: the jokers alone"),
        pytest.param(
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7 ♣7 ♣7 ♦7",
            SPADES,
            3,
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7 ♣7 ♣7",
            id="a level counts once, and every pair on it is shown",
        ),
        pytest.param(
            f"{THREE_JOKERS} {SIX_7S} {SIX_2S} ♠A ♠A",
            NoTrump(),
            3,
            f"{THREE_JOKERS} ♠7 ♠7 ♥7 ♥7 ♠2 ♠2 ♥2 ♥2",
            id="no trump: two levels, and every pair on them is shown",
        ),
        pytest.param(f"{SIX_7S} {SIX_2S}", SPADES, 0, "", id="7s and 2s alone earn nothing and are not shown"),
    ],
)
@pytest.mark.parametrize("declarer", [True, False])
def test_rush(text: str, trump: Trump | None, steps: int, shown: str, declarer: bool) -> None:
    tables = None if trump is None else order(trump)
    found = seat_awards(ChainRush(), tables, cards(text), declarer=declarer)
    assert by_kind(found) == ({RUSH: steps} if steps else {})
    assert found.total == steps
    assert found.cards == cards(shown)


@pytest.mark.parametrize(
    ("unit", "awards", "chips"),
    [
        pytest.param(6, (1, 0, 0), (12, -6, -6), id="design 8.4: the declarer has 1 award at X = 6"),
        pytest.param(6, (0, 2, 0), (-12, 24, -12), id="design 8.4: a defender has 2 awards at X = 6"),
        pytest.param(6, (1, 2, 0), (0, 18, -18), id="design 8.4: both at once"),
        pytest.param(1, (3, 3, 3), (0, 0, 0), id="all alike: nothing moves"),
        pytest.param(4, (1, 0, 0, 2), (4, -12, -12, 20), id="four seats"),
        pytest.param(0, (5, 1, 0), (0, 0, 0), id="nothing at stake"),
    ],
)
def test_chips_for_awards(unit: int, awards: tuple[int, ...], chips: tuple[int, ...]) -> None:
    found = award_chips(Chips(unit), BySeat(tuple(map(Awards, awards))))
    assert found.values == chips
    assert sum(found) == 0


def test_an_award_is_worth_the_stake_and_a_step_of_the_rush_the_unit_of_the_bid() -> None:
    assert award_unit(DeclarerAwards(True), stake=Chips(12), base=Chips(4)) == 12
    assert award_unit(ChainRush(), stake=Chips(12), base=Chips(4)) == 4
