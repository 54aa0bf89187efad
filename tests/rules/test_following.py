"""What a lead compels: a row a ruling (rules §7; design 5.1, 5.2, 5.4.4)."""

import pytest
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.following import (
    Breach,
    GroupNotFollowed,
    PairsNotPlayed,
    TractorNotPlayed,
    WholeGroupNotPlayed,
    breach,
    is_legal,
    may,
    must,
)
from erqiwang_core.kernel.hand import count
from erqiwang_core.kernel.shapes import Lead, classify
from erqiwang_core.kernel.trump import Group, NoTrump, Order, SuitTrump, Trump, order

from tests.rules.written import cards, picked

SPADES = SuitTrump(Suit.SPADES)
CLUBS = SuitTrump(Suit.CLUBS)
NONE = NoTrump()
HEARTS_WHOLE = WholeGroupNotPlayed(Group.HEARTS)
HEARTS_FIRST = GroupNotFollowed(Group.HEARTS)
TRUMPS_FIRST = GroupNotFollowed(Group.TRUMPS)


def led(tables: Order, text: str) -> Lead:
    lead = classify(tables, cards(text))
    assert isinstance(lead, Lead)
    return lead


def check(trump: Trump, lead: str, hand: str, play: str, verdict: Breach | None) -> None:
    tables = order(trump)
    held = cards(hand)
    played = picked(held, play)
    assert count(played) == led(tables, lead).count
    assert breach(tables, led(tables, lead), held, played) == verdict
    assert is_legal(tables, led(tables, lead), held, played) == (verdict is None)


@pytest.mark.parametrize(
    ("lead", "hand", "play", "verdict"),
    [
        pytest.param("♥K", "♥5 ♥A ♣9", "♥5", None, id="any card of the suit"),
        pytest.param("♥K", "♥5 ♥5 ♥A", "♥5", None, id="a pair may be broken for it"),
        pytest.param("♥K", "♥5 ♥A ♣9", "♣9", HEARTS_FIRST, id="another suit while the suit is held"),
        pytest.param("♥K", "♥5 ♥A ♠9", "♠9", HEARTS_FIRST, id="no ruff while the suit is held"),
        pytest.param("♥K", "♥5 ♣9", "♣9", HEARTS_FIRST, id="the last card of the suit must be played"),
        pytest.param("♥K", "♥7 ♥2 ♣9", "♣9", None, id="the suit's 7 and 2 are trumps and do not follow it"),
        pytest.param("♥K", "♣9 ♠5", "♣9", None, id="void: discard"),
        pytest.param("♥K", "♣9 ♠5", "♠5", None, id="void: ruff"),
        pytest.param("♠K", "♥7 ♥5", "♥5", TRUMPS_FIRST, id="trump led: an off-suit 7 must follow"),
        pytest.param("♠K", "♥7 ♥5", "♥7", None, id="trump led: an off-suit 7 follows"),
        pytest.param("♥7", "♠5 ♥5", "♠5", None, id="an off-suit 7 led: trumps follow, not its suit"),
        pytest.param("♠K", "♥5 ♣9", "♥5", None, id="trump led: void of it, anything"),
    ],
)
def test_a_single(lead: str, hand: str, play: str, verdict: Breach | None) -> None:
    check(SPADES, lead, hand, play, verdict)


@pytest.mark.parametrize(
    ("lead", "hand", "play", "verdict"),
    [
        pytest.param("♥9 ♥9", "♥5 ♥5 ♥A ♥K", "♥5 ♥5", None, id="a pair answers"),
        pytest.param("♥9 ♥9", "♥5 ♥5 ♥A ♥K", "♥A ♥K", PairsNotPlayed(1), id="no pair though one is held"),
        pytest.param("♥9 ♥9", "♥A ♥A ♥K ♥K", "♥A ♥K", PairsNotPlayed(1), id="one card of each of two pairs"),
        pytest.param("♥9 ♥9", "♥5 ♥5 ♥6 ♥6 ♥A", "♥6 ♥6", None, id="holding a tractor: either of its pairs"),
        pytest.param("♥9 ♥9", "♥5 ♥5 ♥6 ♥6 ♥A", "♥5 ♥6", PairsNotPlayed(1), id="holding a tractor: not across it"),
        pytest.param("♥9 ♥9", "♥5 ♥6 ♥A", "♥5 ♥A", None, id="no pair held: any two"),
        pytest.param("♥9 ♥9", "♥5 ♥6 ♣9 ♣9", "♣9 ♣9", HEARTS_FIRST, id="a pair of another suit does not follow"),
        pytest.param("♥9 ♥9", "♥5 ♥6 ♣9", "♥5 ♣9", HEARTS_FIRST, id="two of the suit held, one played"),
        pytest.param("♥9 ♥9", "♥5 ♣9 ♣9 ♠5", "♥5 ♣9", None, id="one of the suit held: it and any other"),
        pytest.param("♥9 ♥9", "♥5 ♣9 ♣9 ♠5", "♥5 ♠5", None, id="one of the suit held: filled up with a trump"),
        pytest.param("♥9 ♥9", "♥5 ♣9 ♣9 ♠5", "♣9 ♣9", HEARTS_WHOLE, id="one of the suit held and kept"),
        pytest.param("♥9 ♥9", "♥5 ♠9 ♠9", "♠9 ♠9", HEARTS_WHOLE, id="one of the suit held: no ruff"),
        pytest.param("♥9 ♥9", "♣9 ♠5 ♠6", "♠5 ♠6", None, id="void: two trumps that are no pair"),
        pytest.param("♥9 ♥9", "♣9 ♣9 ♠5", "♣9 ♠5", None, id="void: no pair is called for"),
        pytest.param("♠9 ♠9", "♥7 ♦7 ♠A", "♥7 ♦7", None, id="two off-suit 7s are no pair and none is called for"),
        pytest.param("♠9 ♠9", "♥7 ♥7 ♠A ♠K", "♠A ♠K", PairsNotPlayed(1), id="an off-suit 7 pair is a trump pair"),
    ],
)
def test_a_pair(lead: str, hand: str, play: str, verdict: Breach | None) -> None:
    check(SPADES, lead, hand, play, verdict)


TWO = "♥9 ♥9 ♥10 ♥10"
THREE = "♥8 ♥8 ♥9 ♥9 ♥10 ♥10"
FOUR = "♥8 ♥8 ♥9 ♥9 ♥10 ♥10 ♥J ♥J"


@pytest.mark.parametrize(
    ("lead", "hand", "play", "verdict"),
    [
        pytest.param(TWO, "♥5 ♥5 ♥6 ♥6 ♥A ♥A", "♥5 ♥5 ♥6 ♥6", None, id="the same length must be played"),
        pytest.param(TWO, "♥5 ♥5 ♥6 ♥6 ♥A ♥A", "♥5 ♥5 ♥A ♥A", TractorNotPlayed(2), id="two loose pairs instead"),
        pytest.param(TWO, "♥5 ♥5 ♥6 ♥6 ♥K ♥K ♥A ♥A", "♥5 ♥5 ♥6 ♥6", None, id="of two tractors the lower"),
        pytest.param(TWO, "♥5 ♥5 ♥6 ♥6 ♥K ♥K ♥A ♥A", "♥K ♥K ♥A ♥A", None, id="of two tractors the higher"),
        pytest.param(
            TWO, "♥5 ♥5 ♥6 ♥6 ♥K ♥K ♥A ♥A", "♥5 ♥5 ♥A ♥A", TractorNotPlayed(2), id="half of each of two tractors"
        ),
        pytest.param(TWO, "♥5 ♥5 ♥6 ♥6 ♥8 ♥8", "♥6 ♥6 ♥8 ♥8", None, id="a part of a longer tractor"),
        pytest.param(TWO, "♥5 ♥5 ♥6 ♥6 ♥8 ♥8", "♥5 ♥5 ♥8 ♥8", TractorNotPlayed(2), id="the ends of a longer tractor"),
        pytest.param(TWO, "♥6 ♥6 ♥8 ♥8 ♥A ♥A", "♥6 ♥6 ♥A ♥A", TractorNotPlayed(2), id="6 and 8 are neighbours"),
        pytest.param(TWO, "♥5 ♥5 ♥8 ♥8 ♥K ♥K", "♥5 ♥5 ♥K ♥K", None, id="no tractor: any two pairs"),
        pytest.param(TWO, "♥5 ♥5 ♥8 ♥8 ♥K ♥A", "♥5 ♥5 ♥K ♥A", PairsNotPlayed(2), id="no tractor: one pair too few"),
        pytest.param(TWO, "♥5 ♥5 ♥8 ♥K ♥A", "♥5 ♥5 ♥K ♥A", None, id="one pair: it and any two singles"),
        pytest.param(TWO, "♥5 ♥5 ♥8 ♥K ♥A", "♥5 ♥8 ♥K ♥A", PairsNotPlayed(1), id="one pair, broken"),
        pytest.param(TWO, "♥5 ♥6 ♥8 ♥K ♥A", "♥5 ♥6 ♥K ♥A", None, id="no pair: any four"),
        pytest.param(TWO, "♥5 ♥6 ♥A ♣9 ♣9", "♥5 ♥6 ♥A ♣9", None, id="a whole suit shorter than the lead"),
        pytest.param(TWO, "♥5 ♥5 ♥A ♣9 ♣9", "♥5 ♥5 ♣9 ♣9", HEARTS_WHOLE, id="a whole suit shorter, one card kept"),
        pytest.param(
            TWO, "♥5 ♥6 ♣9 ♣9 ♣10 ♣10 ♠5", "♥5 ♥6 ♣9 ♠5", None, id="what fills up need be no pair, though one is held"
        ),
        pytest.param(TWO, "♣9 ♣9 ♣10 ♣10 ♠5", "♣9 ♣10 ♣10 ♠5", None, id="void: anything, tractors broken"),
        pytest.param(
            THREE,
            "♥5 ♥5 ♥6 ♥6 ♥K ♥K ♥A ♥Q",
            "♥5 ♥5 ♥6 ♥6 ♥K ♥K",
            None,
            id="three pairs led: a tractor of two and the loose pair",
        ),
        pytest.param(
            THREE,
            "♥5 ♥5 ♥6 ♥6 ♥K ♥K ♥A ♥Q",
            "♥5 ♥5 ♥K ♥K ♥A ♥Q",
            TractorNotPlayed(2),
            id="three pairs led: the tractor of two broken up",
        ),
        pytest.param(
            THREE,
            "♥5 ♥5 ♥6 ♥6 ♥K ♥K ♥A ♥Q",
            "♥5 ♥5 ♥6 ♥6 ♥A ♥Q",
            PairsNotPlayed(3),
            id="three pairs led: the loose pair kept",
        ),
        pytest.param(
            THREE,
            "♥5 ♥5 ♥6 ♥6 ♥Q ♥Q ♥K ♥K ♥J",
            "♥5 ♥5 ♥Q ♥Q ♥K ♥K",
            None,
            id="three pairs led: one tractor of two and half the other",
        ),
        pytest.param(
            THREE,
            "♥5 ♥5 ♥8 ♥8 ♥Q ♥Q ♥A ♥A",
            "♥5 ♥5 ♥8 ♥8 ♥A ♥A",
            None,
            id="three pairs led, no tractor: any three pairs",
        ),
        pytest.param(
            THREE,
            "♥5 ♥5 ♥6 ♥6 ♥Q ♥Q ♥A ♥A",
            "♥5 ♥5 ♥Q ♥Q ♥A ♥A",
            TractorNotPlayed(2),
            id="three pairs led: three loose pairs though a tractor of two is held",
        ),
        pytest.param(
            FOUR,
            "♥5 ♥5 ♥6 ♥6 ♥8 ♥8 ♥Q ♥Q ♥K ♥K",
            "♥5 ♥5 ♥6 ♥6 ♥Q ♥Q ♥K ♥K",
            TractorNotPlayed(3),
            id="four pairs led: two tractors of two though one of three is held",
        ),
        pytest.param(
            FOUR,
            "♥5 ♥5 ♥6 ♥6 ♥8 ♥8 ♥Q ♥Q ♥K ♥K",
            "♥5 ♥5 ♥6 ♥6 ♥8 ♥8 ♥K ♥K",
            None,
            id="four pairs led: the tractor of three and any pair",
        ),
    ],
)
def test_a_side_suit_tractor(lead: str, hand: str, play: str, verdict: Breach | None) -> None:
    check(SPADES, lead, hand, play, verdict)


@pytest.mark.parametrize(
    ("trump", "lead", "hand", "play", "verdict"),
    [
        pytest.param(
            SPADES,
            "♠9 ♠9 ♠10 ♠10",
            "♥7 ♥7 ♦7 ♦7 ♠7 ♠7",
            "♥7 ♥7 ♠7 ♠7",
            None,
            id="on-suit 7 with either off-suit 7",
        ),
        pytest.param(
            SPADES,
            "♠9 ♠9 ♠10 ♠10",
            "♥7 ♥7 ♦7 ♦7 ♠7 ♠7",
            "♥7 ♥7 ♦7 ♦7",
            TractorNotPlayed(2),
            id="two off-suit 7 pairs are no tractor where one is held",
        ),
        pytest.param(
            SPADES, "♠9 ♠9 ♠10 ♠10", "♥7 ♥7 ♦7 ♦7 ♠A", "♥7 ♥7 ♦7 ♦7", None, id="two off-suit 7 pairs are pairs"
        ),
        pytest.param(
            SPADES,
            "♠9 ♠9 ♠10 ♠10 ♠J ♠J",
            "♥2 ♥2 ♦2 ♦2 ♠A ♠A ♠5 ♠6",
            "♥2 ♥2 ♦2 ♦2 ♠A ♠A",
            None,
            id="off-suit 2 with the A, and the other off-suit 2 pair",
        ),
        pytest.param(
            SPADES,
            "♠9 ♠9 ♠10 ♠10 ♠J ♠J",
            "BJ BJ ♥2 ♥2 ♦2 ♦2 ♠A ♠A",
            "BJ BJ ♥2 ♥2 ♦2 ♦2",
            TractorNotPlayed(2),
            id="the A left beside the off-suit 2s",
        ),
        pytest.param(
            CLUBS, "♣9 ♣9 ♣10 ♣10", "♠2 ♠2 ♣A ♣A BJ BJ", "♠2 ♠2 ♣A ♣A", None, id="off-suit 2 of spades and the A"
        ),
        pytest.param(
            NONE,
            "BJ BJ SJ SJ",
            "♠7 ♠7 ♥7 ♥7 ♠2 ♠2",
            "♠7 ♠7 ♥7 ♥7",
            TractorNotPlayed(2),
            id="no trump: 7777 is no tractor",
        ),
        pytest.param(NONE, "BJ BJ SJ SJ", "♠7 ♠7 ♥7 ♥7 ♠2 ♠2", "♥7 ♥7 ♠2 ♠2", None, id="no trump: 7 and 2"),
        pytest.param(NONE, "♠9 ♠9", "♥7 ♥7 ♠5 ♠6", "♠5 ♠6", None, id="no trump: a spade lead is a side-suit lead"),
        pytest.param(
            NONE, "♥9 ♥9 ♥10 ♥10", "♥5 ♥5 ♥4 ♥4 ♥A ♥A", "♥5 ♥5 ♥A ♥A", TractorNotPlayed(2), id="full deck: 5 and 4"
        ),
    ],
)
def test_a_trump_tractor(trump: Trump, lead: str, hand: str, play: str, verdict: Breach | None) -> None:
    check(trump, lead, hand, play, verdict)


TWO_AND_ONE = "BJ BJ SJ SJ ♠7"
THREE_AND_ONE = "BJ BJ SJ SJ ♠7 ♠7 ♣7"
TWO_AND_TWO = "BJ BJ SJ SJ ♠K ♠K ♠A ♠A"
PAIR_AND_ONE = "BJ BJ SJ"


@pytest.mark.parametrize(
    ("lead", "hand", "play", "verdict"),
    [
        pytest.param(TWO_AND_ONE, "♠5 ♠5 ♠6 ♠6 ♠9 ♠10", "♠5 ♠5 ♠6 ♠6 ♠9", None, id="a tractor by a tractor"),
        pytest.param(
            TWO_AND_ONE, "♠5 ♠5 ♠6 ♠6 ♠9 ♠9", "♠5 ♠5 ♠6 ♠9 ♠9", TractorNotPlayed(2), id="a tractor held and broken"
        ),
        pytest.param(
            TWO_AND_ONE, "♠5 ♠5 ♠6 ♠6 ♠8 ♠8", "♠5 ♠6 ♠6 ♠8 ♠8", None, id="a tractor by a part of a longer one"
        ),
        pytest.param(TWO_AND_ONE, "♠5 ♠5 ♠8 ♠8 ♠10 ♠10", "♠5 ♠5 ♠10 ♠10 ♠8", None, id="no tractor: any two pairs"),
        pytest.param(
            TWO_AND_ONE, "♠5 ♠5 ♠8 ♠8 ♠10 ♠J", "♠5 ♠5 ♠8 ♠10 ♠J", PairsNotPlayed(2), id="no tractor: a pair too few"
        ),
        pytest.param(TWO_AND_ONE, "♠5 ♠5 ♠8 ♠9 ♠10 ♠J", "♠5 ♠5 ♠8 ♠9 ♠J", None, id="one pair: it and singles"),
        pytest.param(TWO_AND_ONE, "♠5 ♠6 ♥9 ♥9 ♥10 ♥J", "♠5 ♠6 ♥9 ♥10 ♥J", None, id="too few trumps: all of them"),
        pytest.param(
            TWO_AND_ONE,
            "♠5 ♠6 ♥9 ♥9 ♥10 ♥J",
            "♠5 ♥9 ♥9 ♥10 ♥J",
            WholeGroupNotPlayed(Group.TRUMPS),
            id="too few trumps: one kept",
        ),
        pytest.param(TWO_AND_ONE, "♥5 ♥6 ♥9 ♥9 ♥10 ♥J", "♥5 ♥6 ♥9 ♥10 ♥J", None, id="no trump: anything"),
        pytest.param(
            THREE_AND_ONE,
            "♠5 ♠5 ♠6 ♠6 ♠9 ♠9 ♠J ♠J ♠K",
            "♠5 ♠5 ♠9 ♠9 ♠J ♠J ♠K",
            None,
            id="a shorter tractor is not compulsory against a throw",
        ),
        pytest.param(
            THREE_AND_ONE,
            "♠5 ♠5 ♠6 ♠6 ♠9 ♠9 ♠J ♠J ♠K",
            "♠5 ♠5 ♠9 ♠9 ♠J ♠6 ♠K",
            PairsNotPlayed(3),
            id="a tractor of three not held: three pairs are called for",
        ),
        pytest.param(
            TWO_AND_TWO,
            "♠5 ♠5 ♠6 ♠6 ♠8 ♠8 ♠9 ♠9 ♠J ♠J ♥7 ♥7",
            "♠5 ♠5 ♠6 ♠6 ♠8 ♠8 ♠9 ♠9",
            None,
            id="two tractors from a run of four",
        ),
        pytest.param(
            TWO_AND_TWO,
            "♠5 ♠5 ♠6 ♠6 ♠8 ♠8 ♠9 ♠9 ♠J ♠J ♥7 ♥7",
            "♠6 ♠6 ♠8 ♠8 ♠J ♠J ♥7 ♥7",
            TractorNotPlayed(2),
            id="no choice breaks up what a later tractor could be answered with",
        ),
        pytest.param(
            "BJ BJ SJ SJ ♠7 ♠7 ♠K ♠K ♠A ♠A",
            "♠5 ♠5 ♠6 ♠6 ♠8 ♠8 ♠9 ♠9 ♠J ♠J ♥7 ♥7",
            "♠5 ♠5 ♠6 ♠6 ♠8 ♠8 ♠J ♠J ♥7 ♥7",
            None,
            id="a run of four answers a tractor of three and no second one",
        ),
        pytest.param(
            "BJ BJ SJ SJ ♠7 ♠7 ♠K ♠K ♠A ♠A",
            "♠5 ♠5 ♠6 ♠6 ♠8 ♠8 ♠9 ♠9 ♠J ♠J ♥7 ♥7",
            "♠5 ♠5 ♠6 ♠6 ♠9 ♠9 ♠J ♠J ♥7 ♥7",
            TractorNotPlayed(3),
            id="the longer thrown tractor comes first",
        ),
        pytest.param(PAIR_AND_ONE, "♠5 ♠5 ♠6 ♠9", "♠5 ♠5 ♠9", None, id="a pair by a pair, a single by any"),
        pytest.param(PAIR_AND_ONE, "♠5 ♠5 ♠6 ♠9", "♠5 ♠6 ♠9", PairsNotPlayed(1), id="a pair held and broken"),
        pytest.param(
            PAIR_AND_ONE, "♠5 ♠5 ♠6 ♠6", "♠5 ♠5 ♠6", None, id="a pair answered, another broken for the single"
        ),
        pytest.param(PAIR_AND_ONE, "♠5 ♠8 ♠6 ♠9", "♠5 ♠6 ♠9", None, id="no pair: any three"),
    ],
)
def test_a_throw(lead: str, hand: str, play: str, verdict: Breach | None) -> None:
    check(SPADES, lead, hand, play, verdict)


@pytest.mark.parametrize(
    ("lead", "hand", "compulsory", "possible"),
    [
        pytest.param("♥9 ♥9", "♥A ♥A ♥K ♥K", "", "♥A ♥A ♥K ♥K", id="a pair led, two held: nothing is compulsory"),
        pytest.param("♥9 ♥9", "♥A ♥A ♥K ♥5", "♥A ♥A", "♥A ♥A", id="a pair led, one held: it alone"),
        pytest.param("♥9 ♥9", "♥A ♥K ♥5", "", "♥A ♥K ♥5", id="a pair led, none held"),
        pytest.param("♥9", "♥A ♥A ♣5", "", "♥A ♥A", id="a single led: any of the suit"),
        pytest.param("♥9", "♥A ♣5", "♥A", "♥A", id="a single led, the last of the suit"),
        pytest.param("♥9 ♥9", "♥A ♣5 ♠5", "♥A", "♥A ♣5 ♠5", id="fewer than were led: all of them, then anything"),
        pytest.param("♥9 ♥9", "♥A ♣5", "♥A ♣5", "♥A ♣5", id="the last cards"),
        pytest.param("♥9", "♣5 ♠5", "", "♣5 ♠5", id="void"),
        pytest.param(TWO, "♥5 ♥5 ♥6 ♥6 ♥8 ♥8 ♥A", "♥6 ♥6", "♥5 ♥5 ♥6 ♥6 ♥8 ♥8", id="the middle of a longer tractor"),
        pytest.param(TWO, "♥5 ♥5 ♥6 ♥6 ♥A ♥A", "♥5 ♥5 ♥6 ♥6", "♥5 ♥5 ♥6 ♥6", id="the one tractor"),
        pytest.param(TWO, "♥5 ♥5 ♥9 ♥K ♥A", "♥5 ♥5", "♥5 ♥5 ♥9 ♥K ♥A", id="the one pair, and fillers"),
        pytest.param(
            THREE,
            "♥5 ♥5 ♥6 ♥6 ♥K ♥K ♥J ♥J ♥A",
            "♥5 ♥5 ♥6 ♥6",
            "♥5 ♥5 ♥6 ♥6 ♥K ♥K ♥J ♥J",
            id="the shorter tractor, and either loose pair",
        ),
        pytest.param(
            "♠9 ♠9 ♠10 ♠10",
            "♥7 ♥7 ♦7 ♦7 ♠7 ♠7 ♠5",
            "♠7 ♠7",
            "♥7 ♥7 ♦7 ♦7 ♠7 ♠7",
            id="the on-suit 7s with either off-suit pair",
        ),
        pytest.param(
            TWO_AND_TWO,
            "♠5 ♠5 ♠6 ♠6 ♠8 ♠8 ♠9 ♠9 ♠J ♠J",
            "♠5 ♠5 ♠6 ♠6 ♠8 ♠8 ♠9 ♠9",
            "♠5 ♠5 ♠6 ♠6 ♠8 ♠8 ♠9 ♠9",
            id="a throw: the run that answers both tractors",
        ),
        pytest.param(
            PAIR_AND_ONE, "♠5 ♠5 ♠6 ♠6", "", "♠5 ♠5 ♠6 ♠6", id="a throw of a pair and a single against two pairs"
        ),
    ],
)
def test_must_and_may(lead: str, hand: str, compulsory: str, possible: str) -> None:
    tables = order(SPADES)
    held = cards(hand)
    assert must(tables, led(tables, lead), held) == picked(held, compulsory)
    assert may(tables, led(tables, lead), held) == picked(held, possible)


def test_exactly_as_many_as_were_led_are_all_played() -> None:
    check(SPADES, "♥9 ♥9", "♥5 ♥6 ♣9", "♥5 ♣9", HEARTS_FIRST)
    tables = order(SPADES)
    held = cards("♥5 ♥6 ♣9")
    assert must(tables, led(tables, "♥9 ♥9"), held) == may(tables, led(tables, "♥9 ♥9"), held) == cards("♥5 ♥6")
