"""Positions for tests: the last cards of a deal with chosen hands, and plays upon them."""

from dataclasses import replace

from erqiwang_core import deal as deals
from erqiwang_core.calls import BidMade
from erqiwang_core.contract import Contract
from erqiwang_core.deal import Deal, Event
from erqiwang_core.dealing import Dealt, Shuffled
from erqiwang_core.disclosure import newly_void, statements
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.hand import EMPTY
from erqiwang_core.kernel.trump import SuitTrump, Trump, order
from erqiwang_core.options import Game, ThreePlayer
from erqiwang_core.playing import Play, Playing, begin
from erqiwang_core.rules import game_rules
from erqiwang_core.seats import BySeat
from erqiwang_core.settlement import Settled, Settlement
from erqiwang_core.units import CardSet, Points, Seat

from tests.rules.written import cards, hands, picked, raw

EAST, SOUTH, WEST, NORTH = (Seat(number) for number in range(4))
"""The seats in the order of play; the fourth in the four-player game alone."""

SPADES = SuitTrump(Suit.SPADES)


def dealt(held: tuple[CardSet, ...], game: Game, *, review: bool, kitty: CardSet = EMPTY) -> Dealt:
    """A deal in which the seats hold what the test says, however few cards that are."""
    return Dealt(game_rules(game, review), 1, EAST, Shuffled(()), BySeat(held), kitty)


def contract(of: Dealt, declarer: Seat, bid: int) -> Contract:
    """The contract that `declarer` came to with one bid."""
    return Contract(declarer, of.rules.row(Points(bid)), (BidMade(declarer, Points(bid)),))


def playing(
    held: tuple[CardSet, ...],
    *,
    trump: Trump = SPADES,
    declarer: Seat = EAST,
    leader: Seat | None = None,
    bid: int = 70,
    buried: CardSet = EMPTY,
    captured: int = 0,
    game: Game | None = None,
    review: bool = True,
) -> Playing:
    """The last cards of a deal: each seat holds what the test says, `leader` leads, else the declarer."""
    of = dealt(held, game or ThreePlayer(), review=review)
    tables = order(trump)
    void = newly_void(tables, of.hands, ())
    told = statements(of.rules, tables, of.hands, (), void)
    begun = begin(of, contract(of, declarer, bid), tables, of.hands, buried, None, void, told)
    return replace(begun, turn=begun.turn if leader is None else leader, points=Points(captured))


def endgame(
    *texts: str,
    trump: Trump = SPADES,
    declarer: Seat = EAST,
    leader: Seat | None = None,
    bid: int = 70,
    buried: str = "",
    captured: int = 0,
    game: Game | None = None,
    review: bool = True,
) -> Playing:
    """The same with the hands, seat 0 first, and the buried cards written as text."""
    return playing(
        hands(*texts),
        trump=trump,
        declarer=declarer,
        leader=leader,
        bid=bid,
        buried=cards(buried),
        captured=captured,
        game=game,
        review=review,
    )


def play(deal: Deal, text: str) -> tuple[Event, ...]:
    """What comes of whoever's turn it is playing the named cards of their hand."""
    assert isinstance(deal, Playing)
    chosen = raw(picked(deal.hands[deal.turn], text))
    events = deals.decide(deal, deal.turn, Play(chosen))
    assert isinstance(events, tuple), events
    return events


def after(deal: Deal, *texts: str) -> Deal:
    """The deal after those plays, each by whoever's turn it is."""
    for text in texts:
        for event in play(deal, text):
            deal = deals.evolve(deal, event)
    return deal


def in_play(deal: Deal) -> Playing:
    """The deal, which is in play."""
    assert isinstance(deal, Playing)
    return deal


def settlement(deal: Deal) -> Settlement:
    """The settlement of a deal that has ended."""
    assert isinstance(deal, Settled)
    return deal.settlement
