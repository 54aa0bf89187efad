"""The options of a room: what its owner chooses, and what it costs (rules §14, part B)."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias, final


@final
@dataclass(frozen=True, slots=True)
class ThreePlayer:
    """The three-player game and the options it alone has."""

    joker_bonus: bool = False
    climb: bool = False


class Deck(Enum):
    """The decks of the four-player game."""

    SHORT = "short"
    """Without 3s and 4s: 92 cards, 21 a seat."""
    FULL = "full"
    """With them: 108 cards, 25 a seat."""


@final
@dataclass(frozen=True, slots=True)
class FourPlayer:
    """The four-player game and the option it alone has."""

    deck: Deck = Deck.SHORT


Game: TypeAlias = ThreePlayer | FourPlayer


class Payer(Enum):
    """Who pays the room cards."""

    OWNER = "owner"
    EACH = "each"


class Start(Enum):
    """What starts the first deal (rules §13)."""

    LAST_SEAT = "last_seat"
    """The last seat that is taken."""
    PLATFORM = "platform"
    """The platform, once every seat is taken."""


class Length(Enum):
    """How many deals a match has."""

    SIX = 6
    TWELVE = 12


@final
@dataclass(frozen=True, slots=True)
class Countdowns:
    """Seconds shown to whoever is to act. Nothing ever happens when they run out (rules §13)."""

    bid: int = 15
    trump: int = 20
    bury: int = 40
    play: int = 20


@final
@dataclass(frozen=True, slots=True)
class RoomOptions:
    """What the owner of a room chooses."""

    game: Game = ThreePlayer()
    length: Length = Length.SIX
    payer: Payer = Payer.OWNER
    review: bool = True
    countdowns: Countdowns = Countdowns()
    start: Start = Start.LAST_SEAT

    @property
    def deals(self) -> int:
        """How many deals the match has."""
        return self.length.value


@final
@dataclass(frozen=True, slots=True)
class CardCost:
    """Room cards to pay (rules §14)."""

    owner: int
    """By the owner, for opening the room."""
    joiner: int
    """By every other player, for joining."""


_COSTS: Final[dict[tuple[Payer, Length], CardCost]] = {
    (Payer.OWNER, Length.SIX): CardCost(2, 0),
    (Payer.OWNER, Length.TWELVE): CardCost(4, 0),
    (Payer.EACH, Length.SIX): CardCost(1, 1),
    (Payer.EACH, Length.TWELVE): CardCost(2, 2),
}


def card_cost(options: RoomOptions) -> CardCost:
    """What a room with those options costs (rules §14)."""
    return _COSTS[options.payer, options.length]
