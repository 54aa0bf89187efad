"""Naming trump, surrender and burying (rules §5, part B)."""

import pytest
from erqiwang_core import deal as deals, naming
from erqiwang_core.burying import Bury, Burying
from erqiwang_core.deal import Deal
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.hand import count, ids
from erqiwang_core.kernel.trump import NoTrump, SuitTrump, Trump
from erqiwang_core.match import Match, Running
from erqiwang_core.naming import NameTrump, Naming, Surrender
from erqiwang_core.options import Deck, FourPlayer, RoomOptions
from erqiwang_core.playing import Playing
from erqiwang_core.refusals import (
    CardNotHeld,
    NotACard,
    NotATrump,
    NotYourTurn,
    Refusal,
    RepeatedCard,
    SurrenderNotAllowed,
    WrongNumberOfCards,
    WrongPhase,
)
from erqiwang_core.settlement import Settled
from erqiwang_core.units import Points, Seat

from tests.rules.positions import EAST, SOUTH
from tests.rules.table import burying_table, named_table, seat
from tests.rules.written import cards

FOUR = RoomOptions(game=FourPlayer(Deck.FULL))


def deal(match: Match) -> Deal:
    assert isinstance(match, Running)
    return match.deal


@pytest.mark.parametrize(
    ("options", "raw", "trump"),
    [
        pytest.param(None, 1, SuitTrump(Suit.DIAMONDS), id="1 is diamonds"),
        pytest.param(None, 2, SuitTrump(Suit.CLUBS), id="2 is clubs"),
        pytest.param(None, 3, SuitTrump(Suit.HEARTS), id="3 is hearts"),
        pytest.param(None, 4, SuitTrump(Suit.SPADES), id="4 is spades"),
        pytest.param(FOUR, 4, SuitTrump(Suit.SPADES), id="four players: suits as with three"),
        pytest.param(FOUR, 5, NoTrump(), id="four players: 5 is no trump"),
    ],
)
def test_naming(options: RoomOptions | None, raw: int, trump: Trump) -> None:
    after = deal(seat(named_table(options), 0, NameTrump(raw)))
    assert isinstance(after, Burying)
    assert after.order.trump == trump
    assert naming.number(trump) == raw


@pytest.mark.parametrize(
    ("options", "raw"),
    [
        pytest.param(None, 5, id="no trump is not offered with three players"),
        pytest.param(None, 0, id="0 is nothing"),
        pytest.param(None, -1, id="negative"),
        pytest.param(FOUR, 0, id="four players: 0 is nothing either"),
        pytest.param(FOUR, 6, id="four players: past no trump"),
    ],
)
def test_what_is_no_trump_choice(options: RoomOptions | None, raw: int) -> None:
    assert deals.decide(deal(named_table(options)), EAST, NameTrump(raw)) == NotATrump(
        raw, (1, 2, 3, 4) if options is None else (1, 2, 3, 4, 5)
    )


@pytest.mark.parametrize("command", [NameTrump(4), NameTrump(99), Surrender()])
def test_the_declarer_alone_names(command: NameTrump | Surrender) -> None:
    assert deals.decide(deal(named_table()), SOUTH, command) == NotYourTurn(EAST)


@pytest.mark.parametrize(
    ("options", "bid", "refusal"),
    [
        pytest.param(None, 70, None, id="at 70"),
        pytest.param(None, 65, SurrenderNotAllowed(Points(65)), id="not at 65"),
        pytest.param(FOUR, 120, None, id="four players: at 120"),
        pytest.param(FOUR, 85, None, id="four players: at 85"),
        pytest.param(FOUR, 80, SurrenderNotAllowed(Points(80)), id="four players: not at 80"),
    ],
)
def test_surrender(options: RoomOptions | None, bid: int, refusal: Refusal | None) -> None:
    begun = deal(named_table(options, bid=bid))
    decided = deals.decide(begun, EAST, Surrender())
    if refusal is None:
        assert isinstance(decided, tuple)
        assert isinstance(deals.evolve(begun, decided[0]), Settled)
    else:
        assert decided == refusal


def test_no_surrender_once_trump_is_named() -> None:
    begun = deal(burying_table())
    assert isinstance(deals.decide(begun, EAST, Surrender()), WrongPhase)


def test_burying_leaves_the_declarer_the_rest_and_the_first_lead() -> None:
    begun = deal(burying_table())
    assert isinstance(begun, Burying)
    hand = begun.hands[EAST]
    assert count(hand) == 36
    chosen = ids(hand)[3:11]
    after = deal(seat(burying_table(), 0, Bury(tuple(reversed(chosen)))))
    assert isinstance(after, Playing)
    assert set(ids(after.buried)) == set(chosen)
    assert set(ids(after.hands[EAST])) == set(ids(hand)) - set(chosen)
    assert (after.turn, after.trick, after.to_follow) == (EAST, None, None)
    assert after.snapshot == after.hands


def held(number: int) -> tuple[int, ...]:
    begun = deal(burying_table())
    assert isinstance(begun, Burying)
    return ids(begun.hands[EAST])[:number]


MINE = held(9)
ELSEWHERE = next(number for number in range(108) if number not in held(36) and number % 13 not in {2, 3})


@pytest.mark.parametrize(
    ("raw", "refusal"),
    [
        pytest.param((), WrongNumberOfCards(8, 0), id="nothing"),
        pytest.param(MINE[:7], WrongNumberOfCards(8, 7), id="seven"),
        pytest.param(MINE, WrongNumberOfCards(8, 9), id="nine"),
        pytest.param((*MINE[:7], MINE[0]), RepeatedCard(MINE[0]), id="a card twice"),
        pytest.param((*MINE[:7], ELSEWHERE), CardNotHeld(ELSEWHERE), id="a card of another hand"),
        pytest.param((*MINE[:7], 108), NotACard(108), id="past the last id"),
        pytest.param((*MINE[:7], -1), NotACard(-1), id="negative"),
        pytest.param((2,), CardNotHeld(2), id="a 3, which is not in the deck"),
    ],
)
def test_what_may_not_be_buried(raw: tuple[int, ...], refusal: Refusal) -> None:
    assert deals.decide(deal(burying_table()), EAST, Bury(raw)) == refusal


def test_the_declarer_alone_buries() -> None:
    assert deals.decide(deal(burying_table()), Seat(2), Bury(())) == NotYourTurn(EAST)


@pytest.mark.parametrize(
    ("options", "text", "trump"),
    [
        pytest.param(None, "♥5 ♥6 ♥8 ♠A ♠A", SuitTrump(Suit.HEARTS), id="most trumps"),
        pytest.param(None, "♥5 ♥6 ♠A ♠A", SuitTrump(Suit.SPADES), id="among equals most pairs"),
        pytest.param(FOUR, "BJ ♥7", SuitTrump(Suit.DIAMONDS), id="a suit before no trump"),
    ],
)
def test_suggested_trump(options: RoomOptions | None, text: str, trump: Trump) -> None:
    begun = deal(named_table(options))
    assert isinstance(begun, Naming)
    suggested = naming.suggested_trump(Naming(begun.dealt, begun.contract, begun.hands.put(EAST, cards(text))))
    assert suggested == trump
