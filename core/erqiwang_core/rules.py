"""Rules as data: what differs between the games (rules §4, §10, part B)."""

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final, TypeAlias, final

from erqiwang_core.kernel.cards import FULL_DECK, SHORT_DECK, Suit
from erqiwang_core.kernel.trump import NoTrump, SuitTrump, Trump
from erqiwang_core.options import Deck, FourPlayer, Game, ThreePlayer
from erqiwang_core.units import CardId, Chips, Points

RULES_VERSION: Final = 1
"""Raised when a ruling changes, so that a stored deal tells what it was played under."""


@final
@dataclass(frozen=True, slots=True)
class BidRow:
    """All that one bid decides beforehand."""

    bid: Points
    base: Chips
    """Base chips (基础子数)."""
    step: Points
    """Q: the border between near shutout and made, and the width of an upgrade."""
    target: Points
    """What the defenders must capture to win."""
    surrender: Chips | None
    """What a surrender costs, to each defender; None where it is not open."""
    kitty_shown: bool
    """Whether the kitty is shown to every seat before the declarer takes it."""


@final
@dataclass(frozen=True, slots=True)
class DeclarerAwards:
    """The awards of the three-player game: the declarer's alone, and the joker bonus (傍王) of every seat if chosen."""

    joker_bonus: bool


@final
@dataclass(frozen=True, slots=True)
class ChainRush:
    """冲关 of the four-player game: every seat's, each step worth the unit of the bid."""


AwardTable: TypeAlias = DeclarerAwards | ChainRush


class VoidNotice(Enum):
    """What follows when seats are announced void of trump."""

    COUNTS = "counts"
    """In a review room every seat sees the others' numbers of trumps and trump pairs, and may have the trumps shown (rules §12)."""
    STATEMENTS = "statements"
    """In every room, when two seats are void, the others tell how many trumps they hold and whether a pair (part B)."""


@final
@dataclass(frozen=True, slots=True)
class Rules:
    """One game, as chosen by a room."""

    seats: int
    deck: tuple[CardId, ...]
    kitty_size: int
    """How many cards are not dealt, and how many the declarer buries; what is left is the same for every seat."""
    rows: tuple[BidRow, ...]
    """The bids, highest first; the last ends the bidding at once."""
    trumps: tuple[Trump, ...]
    awards: AwardTable
    void_notice: VoidNotice
    disclosure: bool
    """Whether the declarer's disclosure (亮牌) exists."""
    review: bool
    """Whether past tricks and trump counts may be looked back at (查牌)."""
    version: int

    @property
    def hand_size(self) -> int:
        """How many cards each seat is dealt."""
        return (len(self.deck) - self.kitty_size) // self.seats

    @property
    def counts_trumps(self) -> bool:
        """Whether a seat void of trump lets every seat see the others' trump counts and have their trumps shown."""
        return self.review and self.void_notice is VoidNotice.COUNTS

    @property
    def bids(self) -> tuple[Points, ...]:
        """The bids, highest first."""
        return tuple(row.bid for row in self.rows)

    def row(self, bid: Points) -> BidRow:
        """The row of a bid of this game."""
        return next(row for row in self.rows if row.bid == bid)


@cache
def game_rules(game: Game, review: bool, version: int = RULES_VERSION) -> Rules:
    """The rules of a game, in a review room or not, as a deal of that version was played by them."""
    match game:
        case ThreePlayer(joker_bonus, climb):
            return Rules(
                seats=3,
                deck=SHORT_DECK,
                kitty_size=8,
                rows=_three_player_rows(_CLIMB if climb else _REGULAR),
                trumps=_SUIT_TRUMPS,
                awards=DeclarerAwards(joker_bonus),
                void_notice=VoidNotice.COUNTS,
                disclosure=True,
                review=review,
                version=version,
            )
        case FourPlayer(deck):
            return Rules(
                seats=4,
                deck=FULL_DECK if deck is Deck.FULL else SHORT_DECK,
                kitty_size=8,
                rows=_FOUR_PLAYER_ROWS,
                trumps=(*_SUIT_TRUMPS, NoTrump()),
                awards=ChainRush(),
                void_notice=VoidNotice.STATEMENTS,
                disclosure=False,
                review=review,
                version=version,
            )


_SUIT_TRUMPS: Final[tuple[Trump, ...]] = tuple(SuitTrump(suit) for suit in Suit)

_REGULAR: Final = {
    70: (2, 40),
    65: (2, 40),
    60: (3, 40),
    55: (4, 40),
    **dict.fromkeys(range(50, 0, -5), (6, 40)),
}
"""Bid → base chips and step Q (rules §10)."""

_CLIMB: Final = {
    70: (2, 40),
    65: (2, 40),
    60: (3, 40),
    55: (4, 40),
    50: (6, 40),
    45: (7, 40),
    40: (8, 20),
    35: (9, 20),
    30: (10, 15),
    25: (11, 15),
    20: (12, 10),
    15: (13, 10),
    10: (14, 5),
    5: (15, 5),
}
"""The same with climb (爬坡)."""


def _three_player_rows(table: dict[int, tuple[int, int]]) -> tuple[BidRow, ...]:
    return tuple(
        BidRow(
            bid=Points(bid),
            base=Chips(base),
            step=Points(step),
            target=Points(bid),
            surrender=Chips(1) if bid == 70 else None,
            kitty_shown=bid == 70,
        )
        for bid, (base, step) in table.items()
    )


def _unit(bid: int) -> Chips:
    if bid >= 85:
        return Chips(1)
    if bid >= 45:
        return Chips(2)
    return Chips(4) if bid >= 5 else Chips(8)


_FOUR_PLAYER_ROWS: Final = tuple(
    BidRow(
        bid=Points(bid),
        base=_unit(bid),
        step=Points(40),
        # Points come in fives: at bid 0 the defenders need the first of them.
        target=Points(max(bid, 5)),
        surrender=_unit(bid) if bid > 80 else None,
        kitty_shown=True,
    )
    for bid in range(120, -5, -5)
)
"""Part B."""
