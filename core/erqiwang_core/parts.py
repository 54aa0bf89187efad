"""The parts of a view: what a viewer may see of a match, one value a part.

Shared parts are the same for every viewer; the public sees them and nothing else. Own parts go to one seat.
A notice carries each changed part whole: replace the old part by it, and the view is up to date (see `notices`). Only
`History` is added to instead, and says so. No part has a field that could hold what its viewer may not see.
"""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core import bidding
from erqiwang_core.calls import Called
from erqiwang_core.disclosure import Disclosure, Statement, TrumpCount
from erqiwang_core.inference import Proven
from erqiwang_core.kernel.trick import Trick
from erqiwang_core.kernel.trump import Order, Trump, order
from erqiwang_core.match import Account, Player
from erqiwang_core.options import RoomOptions
from erqiwang_core.refusals import Phase
from erqiwang_core.seats import BySeat
from erqiwang_core.settlement import Settlement
from erqiwang_core.units import CardId, CardSet, Chips, Points, Seat


@final
@dataclass(frozen=True, slots=True)
class Chairs:
    """The player on each seat; None on a free seat."""

    players: BySeat[Player | None]


@final
@dataclass(frozen=True, slots=True)
class Progress:
    """The phase of the match, the number of the deal, and the scores so far."""

    phase: Phase
    deal: int
    """Number of the deal in progress or last settled, from 1; 0 before the first deal."""
    deals: int
    totals: BySeat[Chips]
    """Accumulated score of each seat, in chips (packet: `PlayerInfo`)."""
    first_bidder: Seat | None
    commitment: bytes
    """The commitment to the order of the deck, published when it was dealt; empty if there is none."""


@final
@dataclass(frozen=True, slots=True)
class Turn:
    """The seat that must act. Show its countdown; nothing happens when it runs out (rules §13)."""

    seat: Seat | None
    countdown: int
    """Seconds from the start of the turn; 0 if no seat must act."""
    number: int
    """Number of the turn in the deal, from 1; 0 if no seat must act. It tells two turns of one seat in a row apart."""


@final
@dataclass(frozen=True, slots=True)
class Hand:
    """The cards in the seat's hand."""

    cards: CardSet


@final
@dataclass(frozen=True, slots=True)
class Auction:
    """The calls so far. Outside the bidding it is empty: no calls, no leader, no bid, 0 base chips."""

    calls: tuple[Called, ...]
    leader: Seat | None
    standing: Points | None
    base: Chips
    """The base chips of the standing bid; 0 without one."""


@final
@dataclass(frozen=True, slots=True)
class Agreed:
    """The declarer, the bid, and trump once it is named."""

    declarer: Seat
    bid: Points
    base: Chips
    may_surrender: bool
    """Whether the declarer may surrender now instead of naming trump (rules §5)."""
    trump: Trump | None


@final
@dataclass(frozen=True, slots=True)
class ContractPart:
    """The contract; None before there is a declarer and once the deal is settled."""

    agreed: Agreed | None


@final
@dataclass(frozen=True, slots=True)
class Kitty:
    """The kitty (底牌), for the declarer from taking it until it has buried. Empty for other seats and at other times."""

    cards: CardSet


@final
@dataclass(frozen=True, slots=True)
class Buried:
    """The buried cards (埋牌底牌), for the declarer during play. Empty for other seats and at other times."""

    cards: CardSet


@final
@dataclass(frozen=True, slots=True)
class Table:
    """The trick on the table, complete or not. It stays until the next lead, the last one until the next deal."""

    number: int
    """Number of the trick in the deal, from 1; 0 before the first lead."""
    trick: Trick | None


@final
@dataclass(frozen=True, slots=True)
class Captured:
    """The points that the defenders have captured in tricks so far; 0 outside play."""

    points: Points
    multiplier: int
    """The running multiplier (packet: `curmultiple`, rules §10); 0 until there is a declarer and once settled."""


@final
@dataclass(frozen=True, slots=True)
class CapturedCards:
    """The captured point cards, for the defenders during play. Empty for the declarer and at other times."""

    cards: CardSet


@final
@dataclass(frozen=True, slots=True)
class History:
    """The finished tricks of the deal in a review room; none in other rooms (rules §12).

    In a notice it is added to the old part: keep its first `kept` tricks, then add `tricks`. Telling all of them again
    after each trick would be more than half of the bytes that a deal takes.
    """

    kept: int
    """How many tricks of the old part stay; 0 in a view."""
    tricks: tuple[Trick, ...]
    """In a view all finished tricks, in order; in a notice those that come after the kept ones."""


@final
@dataclass(frozen=True, slots=True)
class Inference:
    """What the plays have proven about each seat, in a review room during play; None otherwise (rules §12)."""

    proven: BySeat[Proven] | None


@final
@dataclass(frozen=True, slots=True)
class TrumpVoid:
    """The seats announced void of trump, for the rest of the deal (rules §12)."""

    announced: tuple[Seat, ...]
    statements: tuple[Statement, ...]
    """What the other seats told when the second seat was announced; empty in games without it (part B)."""


@final
@dataclass(frozen=True, slots=True)
class TrumpCounts:
    """The numbers of trumps and trump pairs of each other seat, once a seat is announced void of trump (rules §12).

    Empty before, in no-review rooms, and in games without trump counts.
    """

    counts: tuple[tuple[Seat, TrumpCount], ...]


@final
@dataclass(frozen=True, slots=True)
class Disclosed:
    """The declarer's disclosure, for the defenders in a review room; None otherwise."""

    disclosure: Disclosure | None


@final
@dataclass(frozen=True, slots=True)
class CallAdvice:
    """The seat must call: the bids it may make, and whether it may pass."""

    bids: tuple[Points, ...]
    """The legal bids in points, highest first."""
    may_pass: bool
    suggestion: bidding.Command


@final
@dataclass(frozen=True, slots=True)
class NameAdvice:
    """The seat must name trump, or surrender if it may."""

    trumps: tuple[tuple[Trump, int], ...]
    """Each choice, with the number of pairs of that suit in the hand; for no trump, of jokers, 7s and 2s."""
    may_surrender: bool
    suggestion: Trump


@final
@dataclass(frozen=True, slots=True)
class BuryAdvice:
    """The seat must bury this number of cards."""

    number: int
    suggestion: CardSet


@final
@dataclass(frozen=True, slots=True)
class LeadAdvice:
    """The seat must lead."""

    suggestion: CardSet


@final
@dataclass(frozen=True, slots=True)
class FollowAdvice:
    """The seat must follow. `must` and `may` guide the choice; only the whole play is legal or not (rules §7)."""

    number: int
    must: CardSet
    may: CardSet
    suggestion: CardSet


@final
@dataclass(frozen=True, slots=True)
class ReadyAdvice:
    """The next deal waits for the seat to say that it is ready (rules §13)."""


Choice: TypeAlias = CallAdvice | NameAdvice | BuryAdvice | LeadAdvice | FollowAdvice | ReadyAdvice


@final
@dataclass(frozen=True, slots=True)
class Advice:
    """What the seat may do now, with one legal action as a suggestion; None while it has to wait."""

    choice: Choice | None


@final
@dataclass(frozen=True, slots=True)
class Result:
    """A settled deal: its settlement, the seats that are ready, and the deck it was dealt from."""

    settlement: Settlement
    ready: BySeat[bool]
    deck: tuple[CardId, ...]
    """All cards of the deck in dealing order. With `salt` it opens the commitment."""
    salt: bytes


@final
@dataclass(frozen=True, slots=True)
class SettlementPart:
    """The settled deal, until the next one starts; None during a deal and before the first."""

    result: Result | None


@final
@dataclass(frozen=True, slots=True)
class AccountPart:
    """The settlement of the match; None until it is over."""

    account: Account | None


Shared: TypeAlias = (
    Chairs
    | Progress
    | Turn
    | Auction
    | ContractPart
    | Table
    | Captured
    | History
    | Inference
    | TrumpVoid
    | SettlementPart
    | AccountPart
)
"""A part that is the same for every seat and for the public."""

Own: TypeAlias = Hand | Kitty | Buried | CapturedCards | TrumpCounts | Disclosed | Advice
"""A part that differs from seat to seat. The public has none."""

Part: TypeAlias = Shared | Own


@final
@dataclass(frozen=True, slots=True)
class PublicView:
    """All that the public may see: the shared parts only. No field can hold a hidden card."""

    options: RoomOptions
    chairs: Chairs
    progress: Progress
    turn: Turn
    auction: Auction
    contract: ContractPart
    table: Table
    captured: Captured
    history: History
    inference: Inference
    trump_void: TrumpVoid
    settlement: SettlementPart
    account: AccountPart


@final
@dataclass(frozen=True, slots=True)
class View:
    """All that one seat may see: the shared parts, and its own parts."""

    seat: Seat
    options: RoomOptions
    chairs: Chairs
    progress: Progress
    turn: Turn
    hand: Hand
    auction: Auction
    contract: ContractPart
    kitty: Kitty
    buried: Buried
    table: Table
    captured: Captured
    captured_cards: CapturedCards
    history: History
    inference: Inference
    trump_void: TrumpVoid
    trump_counts: TrumpCounts
    disclosed: Disclosed
    advice: Advice
    settlement: SettlementPart
    account: AccountPart

    @property
    def is_to_play(self) -> bool:
        """Whether the seat must lead or follow now."""
        return self.progress.phase is Phase.PLAYING and self.turn.seat == self.seat

    @property
    def order(self) -> Order:
        """The tables of the trump choice. Trump must have been named."""
        agreed = self.contract.agreed
        assert agreed is not None, "a declarer has been found"
        assert agreed.trump is not None, "trump has been named"
        return order(agreed.trump)

    @property
    def trick_under_way(self) -> Trick | None:
        """The trick to follow; None if the next play is a lead."""
        trick = self.table.trick
        return None if trick is None or len(trick.plays) == len(self.chairs.players) else trick


Seen: TypeAlias = View | PublicView
"""The view of any viewer."""
