"""The options of a room: what its owner chooses, and what it costs (rules §14, part B)."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias, final


@final
@dataclass(frozen=True, slots=True)
class ThreePlayer:
    """The three-player game, with its own options (rules §14)."""

    joker_bonus: bool = False
    climb: bool = False


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

    @property
    def deals(self) -> int:
        """The number of deals in the match, 6 or 12."""
        return self.length.value


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
