"""The rules that differ between the games, as tables (rules §4, §10, part B)."""

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final, TypeAlias, final

from erqiwang_core.kernel.cards import FULL_DECK, SHORT_DECK, Suit
from erqiwang_core.kernel.trump import NoTrump, SuitTrump, Trump
from erqiwang_core.options import Deck, FourPlayer, Game, ThreePlayer
from erqiwang_core.units import CardId, Chips, Points

RULES_VERSION: Final = 1
"""The rules version of new deals. It goes up when a ruling changes; a stored deal keeps the version it had."""


@final
@dataclass(frozen=True, slots=True)
class BidRow:
    """What one bid decides before any card is played."""

    bid: Points
    base: Chips
    """Base chips (基础子数, rules §10); in the four-player game the unit u (part B)."""
    step: Points
    """Q: below it the result is a near shutout; each further Q above the bid is one more upgrade (rules §10)."""
    target: Points
    """The points that the defenders must capture to win."""
    surrender: Chips | None
    """The chips that a surrender costs, paid to each defender; None if the bid allows no surrender (rules §5)."""
    kitty_shown: bool
    """Whether every seat sees the kitty before the declarer takes it (rules §4)."""


@final
@dataclass(frozen=True, slots=True)
class DeclarerAwards:
    """The awards of the three-player game: the declarer's, and each seat's joker bonus (傍王) if chosen (rules §11)."""

    joker_bonus: bool


@final
@dataclass(frozen=True, slots=True)
class ChainRush:
    """The awards of the four-player game (冲关): any seat may earn them; a step is worth the unit of the bid (part B)."""


AwardTable: TypeAlias = DeclarerAwards | ChainRush


class VoidNotice(Enum):
    """What is told when a seat is announced void of trump (rules §12, part B)."""

    COUNTS = "counts"
    """In a review room, every seat is told the others' trump counts and may ask to see their trumps (rules §12)."""
    STATEMENTS = "statements"
    """In every room, once two seats are void, the others tell how many trumps they hold, and if they hold a pair."""


@final
@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one game, with the options that the room chose."""

    seats: int
    deck: tuple[CardId, ...]
    kitty_size: int
    """How many cards are not dealt; the declarer buries as many. The seats share the rest of the deck evenly."""
    rows: tuple[BidRow, ...]
    """One row for each bid, the highest bid first. The last bid ends the bidding at once (rules §4)."""
    trumps: tuple[Trump, ...]
    awards: AwardTable
    void_notice: VoidNotice
    disclosure: bool
    """Whether the game has the declarer's disclosure (亮牌, rules §12)."""
    review: bool
    """Whether this is a review room (查牌): past tricks may be looked at again (rules §12)."""
    version: int

    @property
    def hand_size(self) -> int:
        """The number of cards that each seat is dealt."""
        return (len(self.deck) - self.kitty_size) // self.seats

    @property
    def counts_trumps(self) -> bool:
        """Whether a seat void of trump opens the trump counts to every seat (rules §12)."""
        return self.review and self.void_notice is VoidNotice.COUNTS

    @property
    def bids(self) -> tuple[Points, ...]:
        """The bids of this game in points, highest first."""
        return tuple(row.bid for row in self.rows)

    def row(self, bid: Points) -> BidRow:
        """The row of `bid`, which must be a bid of this game."""
        return next(row for row in self.rows if row.bid == bid)


@cache
def game_rules(game: Game, review: bool, version: int = RULES_VERSION) -> Rules:
    """The rules that a deal of rules version `version` is played by, in a review room or not."""
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
"""Bid → base chips and step Q, with climb (爬坡, rules §10)."""


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
        # All points are multiples of 5, so at bid 0 the defenders win with the first 5 that they capture (part B).
        target=Points(max(bid, 5)),
        surrender=_unit(bid) if bid > 80 else None,
        kitty_shown=True,
    )
    for bid in range(120, -5, -5)
)
"""The rows of the four-player game, highest bid first (rules part B)."""
