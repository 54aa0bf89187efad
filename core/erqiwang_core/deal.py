"""A deal (小局): from the dealt cards to the settlement, one phase at a time."""

from typing import TypeAlias

from erqiwang_core import bidding, burying, naming, playing
from erqiwang_core.bidding import Bid, Bidding, DeclarerFound, Pass
from erqiwang_core.burying import Bury, Burying, CardsBuried
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.dealing import Dealt
from erqiwang_core.naming import NameTrump, Naming, Surrender, TrumpNamed
from erqiwang_core.playing import CardsFollowed, CardsLed, Play, Playing
from erqiwang_core.refusals import Phase, Refusal, WrongPhase
from erqiwang_core.settlement import DealSettled, Settled
from erqiwang_core.units import Seat

Deal: TypeAlias = Bidding | Naming | Burying | Playing | Settled
Command: TypeAlias = Bid | Pass | NameTrump | Surrender | Bury | Play
Event: TypeAlias = (
    BidMade | BidPassed | DeclarerFound | TrumpNamed | CardsBuried | CardsLed | CardsFollowed | DealSettled
)


def begin(dealt: Dealt) -> Deal:
    """A deal whose cards have just been dealt."""
    return bidding.begin(dealt)


def phase(deal: Deal) -> Phase:
    """The phase of the deal."""
    match deal:
        case Bidding():
            return Phase.BIDDING
        case Naming():
            return Phase.NAMING
        case Burying():
            return Phase.BURYING
        case Playing():
            return Phase.PLAYING
        case Settled():
            return Phase.SETTLED


def turn(deal: Deal) -> Seat | None:
    """The seat that must bid, name trump, bury or play. None after the last call of the bidding, and once settled."""
    match deal:
        case Bidding(auction=auction):
            return bidding.turn(auction)
        case Naming(contract=contract) | Burying(contract=contract):
            return contract.declarer
        case Playing(turn=seat, hands=hands):
            return seat if hands[seat] else None
        case Settled():
            return None


def turns(deal: Deal) -> int:
    """How many turns the deal has had: calls, the naming, the burying, and plays. 0 once it is settled."""
    match deal:
        case Bidding(calls=calls):
            return len(calls)
        case Naming(contract=contract):
            return len(contract.calls)
        case Burying(contract=contract):
            return len(contract.calls) + 1
        case Playing(contract=contract) as state:
            return len(contract.calls) + 2 + playing.plays(state)
        case Settled():
            return 0


def decide(deal: Deal, seat: Seat, command: Command) -> tuple[Event, ...] | Refusal:
    """What `command` by `seat` brings about, or why it may not stand.

    `WrongPhase` if the command belongs to another phase; otherwise what that phase's own `decide` gives.
    """
    match command:
        # Plays come first, because almost all commands are plays.
        case Play():
            return playing.decide(deal, seat, command) if isinstance(deal, Playing) else WrongPhase(phase(deal))
        case Bid() | Pass():
            return bidding.decide(deal, seat, command) if isinstance(deal, Bidding) else WrongPhase(phase(deal))
        case NameTrump() | Surrender():
            return _alone(naming.decide(deal, seat, command)) if isinstance(deal, Naming) else WrongPhase(phase(deal))
        case Bury():
            return _alone(burying.decide(deal, seat, command)) if isinstance(deal, Burying) else WrongPhase(phase(deal))


def _alone(decided: TrumpNamed | DealSettled | CardsBuried | Refusal) -> tuple[Event, ...] | Refusal:
    if isinstance(decided, TrumpNamed | DealSettled | CardsBuried):
        return (decided,)
    return decided


def evolve(deal: Deal, event: Event) -> Deal:
    """The deal after `event`. The event must come from this deal's own `decide`."""
    match deal:
        # Plays come first, because almost all events are plays.
        case Playing():
            assert isinstance(event, (CardsLed, CardsFollowed, DealSettled)), "an event of play"
            return playing.evolve(deal, event)
        case Bidding():
            assert isinstance(event, BidMade | BidPassed | DeclarerFound), "an event of bidding"
            return bidding.evolve(deal, event)
        case Naming():
            assert isinstance(event, TrumpNamed | DealSettled), "an event of naming"
            return naming.evolve(deal, event)
        case Burying():
            assert isinstance(event, CardsBuried), "an event of burying"
            return burying.evolve(deal, event)
        case Settled():
            raise AssertionError("a settled deal brings nothing about")
