"""Refusals: why a command may not stand, as values that hold what its sender needs to know (rules §15)."""

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TypeAlias, final

from erqiwang_core.kernel.following import Breach
from erqiwang_core.kernel.shapes import SeveralGroups, SideSuitThrow
from erqiwang_core.units import CardSet, Points, Seat


class Code(IntEnum):
    """`errcode` in the packet protocol. The service, not the core, answers 1 (PLAYER) and 2 (NODESK)."""

    PLAYER = 1
    NODESK = 2
    STEP = 3
    SEAT = 4
    PARAM = 5
    RULE = 6


class Phase(Enum):
    """The phase of a match."""

    OPEN = "open"
    """The first deal has not started."""
    BIDDING = "bidding"
    NAMING = "naming"
    """The declarer must name trump or surrender."""
    BURYING = "burying"
    PLAYING = "playing"
    SETTLED = "settled"
    """The deal is settled. The next one waits for each seat to say that it is ready."""
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
    """It is the turn of another seat, given here."""

    turn: Seat


@final
@dataclass(frozen=True, slots=True)
class SeatOccupied:
    """Another player sits on this seat."""

    seat: Seat


@final
@dataclass(frozen=True, slots=True)
class SeatFree:
    """Nobody sits on this seat."""

    seat: Seat


@final
@dataclass(frozen=True, slots=True)
class SeatedElsewhere:
    """The player already has another seat at this table, given here."""

    seat: Seat


@final
@dataclass(frozen=True, slots=True)
class NotABid:
    """The number is no bid of this game (rules §4, part B)."""

    points: int
    bids: tuple[Points, ...]
    """Every bid of the game, highest first."""


@final
@dataclass(frozen=True, slots=True)
class NotATrump:
    """The number is no trump choice of this game."""

    trump: int
    trumps: tuple[int, ...]
    """Every choice of the game, by its number."""


@final
@dataclass(frozen=True, slots=True)
class NotASignal:
    """The number is no signal. 1: can beat; 2: no points; 3: has points."""

    signal: int


@final
@dataclass(frozen=True, slots=True)
class NotACard:
    """No card has this id."""

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
    """The number of cards is wrong. An expected number of 0 means at least one."""

    expected: int
    given: int


@final
@dataclass(frozen=True, slots=True)
class FirstBidderMustBid:
    """The first bidder may not pass."""

    opening: Points
    """The highest bid, which the first bidder may always make."""


@final
@dataclass(frozen=True, slots=True)
class BidNotLower:
    """The bid is not lower than the standing bid, given here."""

    standing: Points


@final
@dataclass(frozen=True, slots=True)
class SurrenderNotAllowed:
    """This bid allows no surrender."""

    bid: Points


@final
@dataclass(frozen=True, slots=True)
class IllegalLead:
    """The cards may not be led together (rules §6)."""

    fault: SeveralGroups | SideSuitThrow
    legal: CardSet
    """A legal lead, as a suggestion."""


@final
@dataclass(frozen=True, slots=True)
class IllegalFollow:
    """The cards do not follow the lead (rules §7)."""

    breach: Breach
    compulsory: CardSet
    """The cards of the sender's hand that are in every legal play."""
    legal: CardSet
    """A legal play, as a suggestion."""


@final
@dataclass(frozen=True, slots=True)
class DeclarerMayNotSignal:
    """The declarer may not signal (rules §13)."""


@final
@dataclass(frozen=True, slots=True)
class NotInThisRoom:
    """The options of the room do not allow this command."""


@final
@dataclass(frozen=True, slots=True)
class NobodyIsVoid:
    """No seat is announced void of trump, so no trumps are shown yet (rules §12)."""


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
    """The `errcode` of a refusal in the packet protocol."""
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
