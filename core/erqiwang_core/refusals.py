"""Refusals: why a command may not stand, as values that say what the sender needs to know (rules §15)."""

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TypeAlias, final

from erqiwang_core.kernel.following import Breach
from erqiwang_core.kernel.shapes import SeveralGroups, SideSuitThrow
from erqiwang_core.units import CardSet, Points, Seat


class Code(IntEnum):
    """The packets' `errcode`; 1 (PLAYER) and 2 (NODESK) are the service's to answer."""

    PLAYER = 1
    NODESK = 2
    STEP = 3
    SEAT = 4
    PARAM = 5
    RULE = 6


class Phase(Enum):
    """Where a match stands."""

    OPEN = "open"
    """The first deal has not started."""
    BIDDING = "bidding"
    NAMING = "naming"
    """The declarer names trump or surrenders."""
    BURYING = "burying"
    PLAYING = "playing"
    SETTLED = "settled"
    """The deal is settled, and each seat is to say it is ready."""
    OVER = "over"
    """The match is settled or was disbanded."""


@final
@dataclass(frozen=True, slots=True)
class WrongPhase:
    """The command does not belong to this phase."""

    phase: Phase


@final
@dataclass(frozen=True, slots=True)
class NoSuchSeat:
    """The table has no such seat."""

    seat: int
    seats: int
    """How many seats the table has, counted from 0."""


@final
@dataclass(frozen=True, slots=True)
class NotYourTurn:
    """It is another seat's turn."""

    turn: Seat


@final
@dataclass(frozen=True, slots=True)
class SeatOccupied:
    """Another player sits there."""

    seat: Seat


@final
@dataclass(frozen=True, slots=True)
class SeatFree:
    """Nobody sits there."""

    seat: Seat


@final
@dataclass(frozen=True, slots=True)
class SeatedElsewhere:
    """The player already has another seat at this table."""

    seat: Seat


@final
@dataclass(frozen=True, slots=True)
class NotABid:
    """No bid of this game: bids are its multiples of 5."""

    points: int
    bids: tuple[Points, ...]
    """Every bid of the game, highest first."""


@final
@dataclass(frozen=True, slots=True)
class NotATrump:
    """No trump choice of this game."""

    trump: int
    trumps: tuple[int, ...]
    """Every choice of the game, by its number."""


@final
@dataclass(frozen=True, slots=True)
class NotASignal:
    """There is no such signal: 1 can beat, 2 no points, 3 has points."""

    signal: int


@final
@dataclass(frozen=True, slots=True)
class NotACard:
    """No card has that id."""

    card: int


@final
@dataclass(frozen=True, slots=True)
class RepeatedCard:
    """The card is given twice."""

    card: int


@final
@dataclass(frozen=True, slots=True)
class CardNotHeld:
    """The card is not in the sender's hand."""

    card: int


@final
@dataclass(frozen=True, slots=True)
class WrongNumberOfCards:
    """Another number of cards is called for; 0 expected stands for "one at least"."""

    expected: int
    given: int


@final
@dataclass(frozen=True, slots=True)
class FirstBidderMustBid:
    """The first bidder may not pass."""

    opening: Points
    """The highest bid, which is always open to the first bidder."""


@final
@dataclass(frozen=True, slots=True)
class BidNotLower:
    """A bid must be strictly lower than the standing one."""

    standing: Points


@final
@dataclass(frozen=True, slots=True)
class SurrenderNotAllowed:
    """Surrender is not open at this bid."""

    bid: Points


@final
@dataclass(frozen=True, slots=True)
class IllegalLead:
    """Those cards may not be led together."""

    fault: SeveralGroups | SideSuitThrow
    legal: CardSet
    """One whole lead that would be legal."""


@final
@dataclass(frozen=True, slots=True)
class IllegalFollow:
    """Those cards do not follow the lead."""

    breach: Breach
    compulsory: CardSet
    """The cards of the sender's hand that every legal play holds."""
    legal: CardSet
    """One whole play that would be legal."""


@final
@dataclass(frozen=True, slots=True)
class DeclarerMayNotSignal:
    """Signals pass between defenders alone."""


@final
@dataclass(frozen=True, slots=True)
class NotInThisRoom:
    """The room's options do not offer it."""


@final
@dataclass(frozen=True, slots=True)
class NobodyIsVoid:
    """Trumps are shown only once a seat holds none."""


Refusal: TypeAlias = (
    WrongPhase
    | NoSuchSeat
    | NotYourTurn
    | SeatOccupied
    | SeatFree
    | SeatedElsewhere
    | NotABid
    | NotATrump
    | NotASignal
    | NotACard
    | RepeatedCard
    | CardNotHeld
    | WrongNumberOfCards
    | FirstBidderMustBid
    | BidNotLower
    | SurrenderNotAllowed
    | IllegalLead
    | IllegalFollow
    | DeclarerMayNotSignal
    | NotInThisRoom
    | NobodyIsVoid
)


def code(refusal: Refusal) -> Code:
    """The packets' `errcode` of a refusal."""
    match refusal:
        case WrongPhase():
            return Code.STEP
        case NoSuchSeat() | NotYourTurn() | SeatOccupied() | SeatFree() | SeatedElsewhere():
            return Code.SEAT
        case (
            NotABid() | NotATrump() | NotASignal() | NotACard() | RepeatedCard() | CardNotHeld() | WrongNumberOfCards()
        ):
            return Code.PARAM
        case (
            FirstBidderMustBid()
            | BidNotLower()
            | SurrenderNotAllowed()
            | IllegalLead()
            | IllegalFollow()
            | DeclarerMayNotSignal()
            | NotInThisRoom()
            | NobodyIsVoid()
        ):
            return Code.RULE
