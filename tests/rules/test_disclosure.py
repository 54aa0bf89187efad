"""The declarer's disclosure, trump-void notices, counts and statements (rules §12, part B; design 5.4.2, 8.2, 9)."""

import pytest
from erqiwang_core import deal as deals
from erqiwang_core.burying import Bury, Burying, CardsBuried
from erqiwang_core.deal import Event
from erqiwang_core.disclosure import Disclosure, Statement, TrumpCount, TrumpHolding, disclosure, trump_count
from erqiwang_core.kernel.trump import NoTrump, Trump, order
from erqiwang_core.match import Running
from erqiwang_core.notices import BuriedBy, cause
from erqiwang_core.options import FourPlayer, Game, RoomOptions, ThreePlayer
from erqiwang_core.playing import (
    CardsFollowed,
    CardsLed,
    Playing,
    ShowTrumps,
    TrumpsShown,
    answer,
    counts_open,
)
from erqiwang_core.refusals import NobodyIsVoid, NotInThisRoom
from erqiwang_core.rules import game_rules
from erqiwang_core.units import CardSet, Seat

from tests.rules.positions import EAST, NORTH, SOUTH, SPADES, WEST, after, contract, dealt, endgame, in_play, play
from tests.rules.table import dealt_table
from tests.rules.written import cards, hands, picked, raw

NINE_FIXED = "BJ SJ ♠7 ♥7 ♣7 ♦7 ♠2 ♥2 ♣2"


def told(text: str, game: Game | None = None, *, review: bool = True, trump: Trump = SPADES) -> Disclosure | None:
    return disclosure(game_rules(game or ThreePlayer(), review), order(trump), cards(text))


@pytest.mark.parametrize(
    ("text", "disclosed"),
    [
        pytest.param(NINE_FIXED, None, id="nine fixed trumps: nothing"),
        pytest.param(f"{NINE_FIXED} ♠A ♠K", None, id="the trump suit is no fixed trump"),
        pytest.param(
            f"{NINE_FIXED} ♦2", Disclosure(TrumpHolding(10, 0, 0), None, None, None), id="ten fixed trumps, no pair"
        ),
        pytest.param(
            f"{NINE_FIXED} BJ ♠A ♠A ♥A ♥A",
            Disclosure(TrumpHolding(12, 2, 0), 3, None, None),
            id="counted are all trumps and their pairs, side suits not",
        ),
        pytest.param(
            "BJ BJ SJ SJ ♠7 ♠7 ♥7 ♥7 ♣7 ♣7 ♠5 ♠5",
            Disclosure(TrumpHolding(12, 6, 1), 4, 6, None),
            id="a tractor is a run of levels: two off-suit 7 pairs make it no longer",
        ),
        pytest.param(
            "BJ BJ SJ SJ ♥7 ♥7 ♠2 ♠2 ♦2 ♦2 ♠A ♠A ♠8 ♠8 ♠6 ♠6",
            Disclosure(TrumpHolding(16, 8, 3), 4, None, None),
            id="three runs",
        ),
        pytest.param("BJ BJ", None, id="two jokers: nothing"),
        pytest.param("BJ BJ SJ", Disclosure(None, 3, None, None), id="three jokers"),
        pytest.param("BJ BJ SJ SJ", Disclosure(None, 4, None, None), id="four jokers"),
        pytest.param("♠7 ♠7 ♥7 ♥7 ♣7", None, id="five 7s: nothing"),
        pytest.param("♠7 ♠7 ♥7 ♥7 ♣7 ♣7", Disclosure(None, None, 6, None), id="six 7s"),
        pytest.param("♠2 ♠2 ♥2 ♥2 ♣2 ♣2 ♦2", Disclosure(None, None, None, 7), id="seven 2s"),
        pytest.param(
            "BJ BJ SJ ♠7 ♠7 ♥7 ♥7 ♣7 ♣7", Disclosure(None, 3, 6, None), id="several at once, nine fixed trumps"
        ),
    ],
)
def test_what_is_disclosed(text: str, disclosed: Disclosure | None) -> None:
    assert told(text) == disclosed


@pytest.mark.parametrize(
    ("game", "review"),
    [
        pytest.param(ThreePlayer(), False, id="not in a no-review room"),
        pytest.param(FourPlayer(), True, id="not with four players"),
    ],
)
def test_no_disclosure(game: Game, review: bool) -> None:
    assert told("BJ BJ SJ SJ", game, review=review) is None


def buried(*texts: str, away: str, game: Game | None = None, trump: Trump = SPADES, review: bool = True) -> CardsBuried:
    """What comes of EAST burying eight cards."""
    held = hands(*texts)
    of = dealt(held, game or ThreePlayer(), review=review)
    state = Burying(of, contract(of, EAST, 70), order(trump), of.hands)
    events = deals.decide(state, EAST, Bury(raw(picked(held[0], away))))
    assert isinstance(events, tuple)
    (event,) = events
    assert isinstance(event, CardsBuried)
    return event


EIGHT = "♣5 ♣6 ♣8 ♣9 ♣10 ♣J ♣Q ♣K"


def test_the_disclosure_is_of_the_hand_that_is_kept() -> None:
    assert buried(f"BJ BJ SJ {EIGHT}", "♠5", "♠6", away=EIGHT).disclosure == Disclosure(None, 3, None, None)
    assert buried(f"BJ BJ SJ {EIGHT}", "♠5", "♠6", away=f"BJ {EIGHT[3:]}").disclosure is None


@pytest.mark.parametrize(
    ("texts", "void"),
    [
        pytest.param((f"♠A {EIGHT}", "♠5", "♠6"), (), id="everybody holds a trump"),
        pytest.param((f"♠A {EIGHT}", "♥5", "♠6"), (SOUTH,), id="a defender is void from the first lead on"),
        pytest.param((f"♥A {EIGHT}", "♠5", "♠6"), (EAST,), id="the declarer is void once the cards are buried"),
        pytest.param((f"♥A {EIGHT}", "♥5", "♥6"), (EAST, SOUTH, WEST), id="all are"),
        pytest.param((f"♥A {EIGHT}", "♥7", "♦2"), (EAST,), id="an off-suit 7 or 2 is a trump"),
    ],
)
def test_void_as_play_begins(texts: tuple[str, ...], void: tuple[Seat, ...]) -> None:
    for review in (True, False):
        assert buried(*texts, away=EIGHT, review=review).void == void


@pytest.mark.parametrize("review", [True, False])
@pytest.mark.parametrize(
    ("game", "texts", "void", "statements"),
    [
        pytest.param(ThreePlayer(), (f"♠A {EIGHT}", "♥5", "♥6"), (SOUTH, WEST), (), id="three players"),
        pytest.param(
            FourPlayer(),
            (f"♠A {EIGHT}", "♥5", "♥6", "♠6"),
            (SOUTH, WEST),
            (Statement(EAST, 1, False), Statement(NORTH, 1, False)),
            id="four players: with what they tell",
        ),
    ],
)
def test_what_is_told_as_play_begins_is_in_the_cause_of_burying(
    game: Game, texts: tuple[str, ...], void: tuple[Seat, ...], statements: tuple[Statement, ...], review: bool
) -> None:
    held = hands(*texts)
    of = dealt(held, game, review=review)
    before = Burying(of, contract(of, EAST, 70), order(SPADES), of.hands)
    event = buried(*texts, away=EIGHT, game=game, review=review)
    begun = dealt_table(RoomOptions(game, review=review))
    for deal in (before, deals.evolve(before, event)):
        match = Running(begun.options, begun.chairs, deal, ())
        for seat in match.chairs.seats():
            assert cause(match, event, seat) == BuriedBy(EAST, void, statements)


def void_by(deal: Playing, *texts: str) -> tuple[Seat, ...]:
    """Who is announced by the last of those plays."""
    return announced(play(after(deal, *texts[:-1]), texts[-1])[0])


def announced(event: Event) -> tuple[Seat, ...]:
    assert isinstance(event, CardsLed | CardsFollowed)
    return event.void


@pytest.mark.parametrize(
    ("texts", "plays", "void"),
    [
        pytest.param(("♠A ♥5", "♠5 ♥6", "♠6 ♥8"), ("♠A",), (EAST,), id="by leading the last trump"),
        pytest.param(("♠A ♥5", "♠5 ♥6", "♠6 ♥8"), ("♠A", "♠5"), (SOUTH,), id="by following with it"),
        pytest.param(
            ("♠A ♥5", "♠5 ♥6", "♠6 ♥8"), ("♠A", "♠5", "♠6"), (WEST,), id="by the play that ends the last trick but one"
        ),
        pytest.param(("♥5 ♥9", "♠5 ♣6", "♥6 ♥8"), ("♥5", "♠5"), (SOUTH,), id="by a ruff"),
        pytest.param(("♠A ♠K", "♠5 ♠8", "♠6 ♠9"), ("♠A", "♠5", "♠6", "♠K"), (), id="not by the lead of the last trick"),
        pytest.param(
            ("♠A ♠K", "♠5 ♠8", "♠6 ♠9"), ("♠A", "♠5", "♠6", "♠K", "♠8"), (), id="not by following in the last trick"
        ),
        pytest.param(("♠A ♠K ♥5", "♠5 ♥6 ♥8", "♠6 ♥9 ♥J"), ("♠A",), (), id="not while a trump is left"),
        pytest.param(("♠A ♥5", "♥9 ♥6", "♠6 ♥8"), ("♥5", "♥6"), (), id="not again: a seat that was void as play began"),
    ],
)
def test_void_in_play(texts: tuple[str, ...], plays: tuple[str, ...], void: tuple[Seat, ...]) -> None:
    for review in (True, False):
        assert void_by(endgame(*texts, review=review), *plays) == void


def test_a_failed_throw_leaves_its_other_trumps() -> None:
    assert void_by(endgame("♠K ♠5 ♥9", "♠A ♥5 ♠6", "♠8 ♠9 ♣8"), "♠K ♠5") == ()


def test_nobody_is_announced_twice() -> None:
    deal = in_play(after(endgame("♠A ♥5 ♥9", "♠5 ♥6 ♥8", "♠6 ♥J ♥Q"), "♠A", "♠5", "♠6", "♥5"))
    assert deal.void == (EAST, SOUTH, WEST)
    assert deal.statements == ()


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        pytest.param("♥5", TrumpCount(0, 0), id="none"),
        pytest.param("♠5 ♠5 ♥7 ♦7 ♥A ♥A", TrumpCount(4, 1), id="off-suit 7s count, side suits not"),
        pytest.param("♥7 ♥7 ♦7 ♦7", TrumpCount(4, 2), id="two pairs on one level"),
    ],
)
def test_trump_counts(text: str, counted: TrumpCount) -> None:
    assert trump_count(order(SPADES), cards(text)) == counted


def test_trumps_are_shown_to_whoever_asks_once_a_seat_is_void() -> None:
    deal = endgame("♠A ♥5", "♠5 ♥6", "♠6 ♥8")
    assert answer(deal, SOUTH, ShowTrumps()) == NobodyIsVoid()
    assert not counts_open(deal)
    after_it = in_play(after(deal, "♠A"))
    assert counts_open(after_it)
    for asking in (EAST, SOUTH, WEST):
        shown = tuple(
            (seat, picked(hand, text))
            for (seat, hand), text in zip(after_it.hands.items(), ("", "♠5", "♠6"), strict=True)
            if seat != asking
        )
        assert answer(after_it, asking, ShowTrumps()) == TrumpsShown(asking, shown)


def test_no_trumps_are_shown_in_a_no_review_room_or_with_four_players() -> None:
    closed = in_play(after(endgame("♠A ♥5", "♠5 ♥6", "♠6 ♥8", review=False), "♠A"))
    four = in_play(after(endgame("♠A ♥5", "♠5 ♥6", "♠6 ♥8", "♠8 ♥9", game=FourPlayer()), "♠A"))
    assert four.void == (EAST,)
    for deal in (closed, four):
        assert answer(deal, EAST, ShowTrumps()) == NotInThisRoom()
        assert not counts_open(deal)


FOUR = FourPlayer()


def stated_by(deal: Playing, *texts: str) -> tuple[Statement, ...]:
    event = play(after(deal, *texts[:-1]), texts[-1])[0]
    assert isinstance(event, CardsLed | CardsFollowed)
    return event.statements


FOUR_HANDS = ("♠A ♥5 ♥9", "♠5 ♥6 ♥8", "♠6 ♠8 ♠8", "♠9 ♥7 ♦7")


@pytest.mark.parametrize(
    ("plays", "statements"),
    [
        pytest.param(("♠A",), (), id="one seat void: announced and no more"),
        pytest.param(
            ("♠A", "♠5"), (Statement(WEST, 3, True), Statement(NORTH, 3, False)), id="two void: the other two tell"
        ),
        pytest.param(("♠A", "♠5", "♠6"), (), id="once, and not again"),
    ],
)
def test_statements_of_the_four_player_game(plays: tuple[str, ...], statements: tuple[Statement, ...]) -> None:
    for review in (True, False):
        assert stated_by(endgame(*FOUR_HANDS, game=FOUR, review=review), *plays) == statements


@pytest.mark.parametrize("review", [True, False])
@pytest.mark.parametrize(
    ("plays", "void", "statements"),
    [
        pytest.param(("♠A",), (EAST,), (), id="the first: announced and no more"),
        pytest.param(
            ("♠A", "♠5", "♠6", "BJ", "♠K"),
            (NORTH,),
            (Statement(SOUTH, 2, False), Statement(WEST, 2, True)),
            id="the second: the other two tell",
        ),
    ],
)
def test_a_lead_tells_what_a_follow_does(
    plays: tuple[str, ...], void: tuple[Seat, ...], statements: tuple[Statement, ...], review: bool
) -> None:
    deal = endgame("♠A ♥5 ♥9", "♠5 ♠9 ♠10", "♠6 ♠8 ♠8", "BJ ♠K ♥J", game=FOUR, review=review)
    assert (void_by(deal, *plays), stated_by(deal, *plays)) == (void, statements)
    assert in_play(after(deal, *plays)).statements == statements


def test_the_third_seat_that_a_lead_leaves_void_makes_nobody_tell() -> None:
    deal = endgame("♥A ♥5", "♥6 ♣6", "♠6 ♥8", "♠K ♠9", leader=WEST, game=FOUR)
    assert (void_by(deal, "♠6"), stated_by(deal, "♠6")) == ((WEST,), ())
    assert in_play(after(deal, "♠6")).statements == (Statement(WEST, 1, False), Statement(NORTH, 2, False))


def test_nothing_is_told_when_a_third_seat_is_void() -> None:
    deal = endgame("♠A ♥5 ♥9", "♠5 ♥6 ♥8", "♠6 ♥J ♥Q", "♠9 ♥7 ♦7", game=FOUR)
    assert stated_by(deal, "♠A", "♠5", "♠6") == ()
    assert in_play(after(deal, "♠A", "♠5", "♠6")).void == (EAST, SOUTH, WEST)


@pytest.mark.parametrize(
    ("texts", "trump", "statements"),
    [
        pytest.param(
            (f"♠A ♠A {EIGHT}", "♥5", "♥6", "♠6"),
            SPADES,
            (Statement(EAST, 2, True), Statement(NORTH, 1, False)),
            id="two void as play begins",
        ),
        pytest.param(
            (f"♠A {EIGHT}", "♥5", "♥6", "♥8"), SPADES, (Statement(EAST, 1, False),), id="three void: the last tells"
        ),
        pytest.param((f"♠A {EIGHT}", "♥5", "♠6", "♠8"), SPADES, (), id="one void: nobody tells"),
        pytest.param(
            (f"♠A {EIGHT}", "♥7 ♥7", "♥6", "♥2"),
            NoTrump(),
            (Statement(SOUTH, 2, True), Statement(NORTH, 1, False)),
            id="no trump: jokers, 7s and 2s alone count",
        ),
    ],
)
def test_statements_as_play_begins(texts: tuple[str, ...], trump: Trump, statements: tuple[Statement, ...]) -> None:
    for review in (True, False):
        assert buried(*texts, away=EIGHT, game=FOUR, trump=trump, review=review).statements == statements


def test_three_players_tell_nothing_but_counts() -> None:
    assert buried(f"♠A {EIGHT}", "♥5", "♥6", away=EIGHT).statements == ()
    assert CardSet(0) == cards("")
