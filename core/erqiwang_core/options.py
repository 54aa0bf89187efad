"""The options of a room: what its owner chooses, and what it costs (rules §14, part B).

Every field has a default, so the type checker accepts code that leaves a new one out. Code that must treat every field
therefore unpacks `values`, or builds a tuple of that type: the checker finds all of it when a field is added there.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias, final


@final
@dataclass(frozen=True, slots=True)
class ThreePlayer:
    """The three-player game, with its own options (rules §14)."""

    joker_bonus: bool = False
    climb: bool = False

    def values(self) -> "ThreePlayerValues":
        """The value of every field, in order."""
        return self.joker_bonus, self.climb


ThreePlayerValues: TypeAlias = tuple[bool, bool]


class Deck(Enum):
    """The decks of the four-player game."""

    SHORT = "short"
    """No 3s and 4s: 92 cards, 21 for each seat."""
    FULL = "full"
    """All ranks: 108 cards, 25 for each seat."""


@final
@dataclass(frozen=True, slots=True)
class FourPlayer:
    """The four-player game, with its own option (rules part B)."""

    deck: Deck = Deck.SHORT

    def values(self) -> "FourPlayerValues":
        """The value of every field, in order."""
        return (self.deck,)


FourPlayerValues: TypeAlias = tuple[Deck]


Game: TypeAlias = ThreePlayer | FourPlayer


class Payer(Enum):
    """Who pays the room cards (rules §14)."""

    OWNER = "owner"
    EACH = "each"


class Start(Enum):
    """What starts the first deal (rules §13)."""

    LAST_SEAT = "last_seat"
    """The first deal starts when the last seat is taken."""
    PLATFORM = "platform"
    """The first deal starts when the platform sends `StartMatch`; every seat must be taken."""


class Length(Enum):
    """The number of deals in a match, 6 or 12 (rules §14)."""

    SIX = 6
    TWELVE = 12


@final
@dataclass(frozen=True, slots=True)
class Countdowns:
    """Seconds shown to the seat that must act, one value a phase. Nothing happens when they run out (rules §13)."""

    bid: int = 15
    trump: int = 20
    bury: int = 40
    play: int = 20

    def values(self) -> "CountdownValues":
        """The value of every field, in order."""
        return self.bid, self.trump, self.bury, self.play


CountdownValues: TypeAlias = tuple[int, int, int, int]


@final
@dataclass(frozen=True, slots=True)
class RoomOptions:
    """The options of a room, chosen when it is created (rules §14)."""

    game: Game = ThreePlayer()
    length: Length = Length.SIX
    payer: Payer = Payer.OWNER
    review: bool = True
    countdowns: Countdowns = Countdowns()
    start: Start = Start.LAST_SEAT
    hints: bool = True
    """Whether a seat may ask the server what a sensible player would do in its place."""

    @property
    def deals(self) -> int:
        """The number of deals in the match, 6 or 12."""
        return self.length.value

    def values(self) -> "OptionValues":
        """The value of every field, in order."""
        return self.game, self.length, self.payer, self.review, self.countdowns, self.start, self.hints


OptionValues: TypeAlias = tuple[Game, Length, Payer, bool, Countdowns, Start, bool]


@final
@dataclass(frozen=True, slots=True)
class CardCost:
    """Room cards to pay (rules §14)."""

    owner: int
    """Paid by the owner for opening the room."""
    joiner: int
    """Paid by each other player for joining."""


_COSTS: Final[dict[tuple[Payer, Length], CardCost]] = {
    (Payer.OWNER, Length.SIX): CardCost(2, 0),
    (Payer.OWNER, Length.TWELVE): CardCost(4, 0),
    (Payer.EACH, Length.SIX): CardCost(1, 1),
    (Payer.EACH, Length.TWELVE): CardCost(2, 2),
}


def card_cost(options: RoomOptions) -> CardCost:
    """The room cards that a room with these options costs (rules §14)."""
    return _COSTS[options.payer, options.length]
