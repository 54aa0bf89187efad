"""The parts of a view: what a viewer may see of a match, one value a part.

Shared parts are the same for every seat, and the public sees them and nothing else. Own parts are told to one seat.
A part is assigned to, never worked out: whoever puts the parts of every notice in the place of the old ones holds the view
(see `notices`). Nothing hidden from the viewer has a place in any of them.
"""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core import bidding
from erqiwang_core.calls import Called
from erqiwang_core.disclosure import Disclosure, Statement, TrumpCount
from erqiwang_core.inference import Proven
from erqiwang_core.kernel.trick import Trick
from erqiwang_core.kernel.trump import Trump
from erqiwang_core.match import Account, Player
from erqiwang_core.options import RoomOptions
from erqiwang_core.refusals import Phase
from erqiwang_core.seats import BySeat
from erqiwang_core.settlement import Settlement
from erqiwang_core.units import CardId, CardSet, Chips, Points, Seat


@final
@dataclass(frozen=True, slots=True)
class Chairs:
    """Who sits where; None on a free seat."""

    players: BySeat[Player | None]


@final
@dataclass(frozen=True, slots=True)
class Progress:
    """Where the match stands."""

    phase: Phase
    deal: int
    """The deal in progress or last settled, from 1; 0 before the first."""
    deals: int
    totals: BySeat[Chips]
    """Accumulated scores (packet: `PlayerInfo`)."""
    first_bidder: Seat | None
    commitment: bytes
    """What was published of the deck as it was dealt; empty where nothing was."""


@final
@dataclass(frozen=True, slots=True)
class Turn:
    """Who is to act. The countdown is shown and nothing happens when it runs out (rules §13)."""

    seat: Seat | None
    countdown: int
    """Seconds; 0 where nobody is to act."""
    number: int
    """Which turn of the deal it is, from 1, so that a seat that acts twice running is seen to; 0 likewise."""


@final
@dataclass(frozen=True, slots=True)
class Hand:
    """The seat's own cards."""

    cards: CardSet


@final
@dataclass(frozen=True, slots=True)
class Auction:
    """The calls so far; no calls, nobody ahead and 0 base chips outside the bidding."""

    calls: tuple[Called, ...]
    leader: Seat | None
    standing: Points | None
    base: Chips
    """The base chips of the standing bid."""


@final
@dataclass(frozen=True, slots=True)
class Agreed:
    """What the bidding came to, and the trump once it is named."""

    declarer: Seat
    bid: Points
    base: Chips
    may_surrender: bool
    """Whether surrender is open now, instead of naming trump."""
    trump: Trump | None


@final
@dataclass(frozen=True, slots=True)
class ContractPart:
    """The contract; nothing before there is a declarer and after the settlement."""

    agreed: Agreed | None


@final
@dataclass(frozen=True, slots=True)
class Kitty:
    """The cards of the kitty (底牌), to the declarer until burying; empty to everyone else and at other times."""

    cards: CardSet


@final
@dataclass(frozen=True, slots=True)
class Buried:
    """The buried cards (埋牌底牌), to the declarer in play; empty to everyone else and at other times."""

    cards: CardSet


@final
@dataclass(frozen=True, slots=True)
class Table:
    """The trick on the table, finished or not: it lies there until the next lead, the last until the next deal."""

    number: int
    """Which trick of the deal, from 1; 0 before the first lead."""
    trick: Trick | None


@final
@dataclass(frozen=True, slots=True)
class Captured:
    """What the defenders have captured in tricks so far."""

    points: Points
    multiplier: int
    """The running multiplier (packet: `curmultiple`); 0 until there is a declarer."""


@final
@dataclass(frozen=True, slots=True)
class CapturedCards:
    """The captured point cards, to the defenders in play; empty to the declarer and at other times."""

    cards: CardSet


@final
@dataclass(frozen=True, slots=True)
class History:
    """The finished tricks of the deal, in review rooms; nothing in others (rules §12)."""

    tricks: tuple[Trick, ...]


@final
@dataclass(frozen=True, slots=True)
class Inference:
    """What the plays have proven of every seat, in review rooms while play goes on; nothing otherwise."""

    proven: BySeat[Proven] | None


@final
@dataclass(frozen=True, slots=True)
class TrumpVoid:
    """The seats announced to hold no trump, and what all are told because of it, for the rest of the deal."""

    announced: tuple[Seat, ...]
    statements: tuple[Statement, ...]
    """What seats told as the second was announced, where the game has them tell."""


@final
@dataclass(frozen=True, slots=True)
class TrumpCounts:
    """How many trumps every other seat holds, once a seat is announced to hold none, for the rest of the deal.

    Empty before, and in rooms without review and games that do not count.
    """

    counts: tuple[tuple[Seat, TrumpCount], ...]


@final
@dataclass(frozen=True, slots=True)
class Disclosed:
    """The declarer's disclosure, to the defenders in a review room."""

    disclosure: Disclosure | None


@final
@dataclass(frozen=True, slots=True)
class CallAdvice:
    """What the seat may call."""

    bids: tuple[Points, ...]
    """Highest first."""
    may_pass: bool
    suggestion: bidding.Command


@final
@dataclass(frozen=True, slots=True)
class NameAdvice:
    """What the seat may name."""

    trumps: tuple[tuple[Trump, int], ...]
    """Each choice, with the pairs that the seat holds of that suit; for no trump, of jokers, 7s and 2s."""
    may_surrender: bool
    suggestion: Trump


@final
@dataclass(frozen=True, slots=True)
class BuryAdvice:
    """How many cards the seat is to bury."""

    number: int
    suggestion: CardSet


@final
@dataclass(frozen=True, slots=True)
class LeadAdvice:
    """The seat leads."""

    suggestion: CardSet


@final
@dataclass(frozen=True, slots=True)
class FollowAdvice:
    """The seat follows. Must and may guide; they do not decide (rules §7)."""

    number: int
    must: CardSet
    may: CardSet
    suggestion: CardSet


@final
@dataclass(frozen=True, slots=True)
class ReadyAdvice:
    """The next deal waits for the seat to say that it is ready: nothing else is to be done (rules §13)."""


Choice: TypeAlias = CallAdvice | NameAdvice | BuryAdvice | LeadAdvice | FollowAdvice | ReadyAdvice


@final
@dataclass(frozen=True, slots=True)
class Advice:
    """What the seat may do now, and one whole legal action, from its own hand alone; None where it is to wait."""

    choice: Choice | None


@final
@dataclass(frozen=True, slots=True)
class Result:
    """A settled deal: every part of its sum, who is ready, and the deck it was dealt from."""

    settlement: Settlement
    ready: BySeat[bool]
    deck: tuple[CardId, ...]
    """All cards in dealing order: opens the commitment."""
    salt: bytes


@final
@dataclass(frozen=True, slots=True)
class SettlementPart:
    """The settled deal, until the next one starts; nothing during a deal."""

    result: Result | None


@final
@dataclass(frozen=True, slots=True)
class AccountPart:
    """How the match ended; nothing while it goes on."""

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
"""A part that is the same for every seat, and for the public."""

Own: TypeAlias = Hand | Kitty | Buried | CapturedCards | TrumpCounts | Disclosed | Advice
"""A part that every seat has its own of, and the public none."""

Part: TypeAlias = Shared | Own


@final
@dataclass(frozen=True, slots=True)
class PublicView:
    """All that the public may see: what every seat sees alike. A hidden card has no place in it."""

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
    """All that one seat may see."""

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


Seen: TypeAlias = View | PublicView
"""All that a viewer may see."""
