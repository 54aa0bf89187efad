"""What a policy is shown: a view, or a glance at one."""

from typing import Final, TypeAlias, final

from erqiwang_core import deal as deals, view as views
from erqiwang_core.burying import Burying
from erqiwang_core.kernel.trick import Trick
from erqiwang_core.kernel.trump import Order
from erqiwang_core.match import Match, Running
from erqiwang_core.options import RoomOptions
from erqiwang_core.parts import (
    Advice,
    Auction,
    Buried,
    Captured,
    CapturedCards,
    Chairs,
    ContractPart,
    Hand,
    History,
    Inference,
    Progress,
    Table,
    TrumpCounts,
    TrumpVoid,
    Turn,
    View,
)
from erqiwang_core.playing import Playing
from erqiwang_core.units import Seat


@final
class Glance:
    """A seat's view of a match. Each part is built when it is looked at.

    A whole view takes longer to build than a decision takes. It has the parts that players look at, and no way to any
    other part of the match.
    """

    __slots__ = ("_match", "seat")

    def __init__(self, match: Match, seat: Seat) -> None:
        self._match: Final = match
        self.seat: Final = seat

    @property
    def options(self) -> RoomOptions:
        """The options of the room."""
        return self._match.options

    @property
    def chairs(self) -> Chairs:
        """The player on each seat."""
        return views.chairs(self._match)

    @property
    def progress(self) -> Progress:
        """The phase, the number of the deal, and the scores so far."""
        return views.progress(self._match)

    @property
    def turn(self) -> Turn:
        """The seat that must act."""
        return views.turn(self._match)

    @property
    def is_to_play(self) -> bool:
        """Whether the seat must lead or follow now."""
        match = self._match
        return isinstance(match, Running) and isinstance(match.deal, Playing) and deals.turn(match.deal) == self.seat

    @property
    def order(self) -> Order:
        """The tables of the trump choice. Trump must have been named."""
        match = self._match
        assert isinstance(match, Running), "a deal is in progress"
        assert isinstance(match.deal, (Burying, Playing)), "trump has been named"
        return match.deal.order

    @property
    def trick_under_way(self) -> Trick | None:
        """The trick to follow; None if the next play is a lead."""
        match = self._match
        if not isinstance(match, Running) or not isinstance(match.deal, Playing) or match.deal.to_follow is None:
            return None
        return match.deal.trick

    @property
    def hand(self) -> Hand:
        """The cards in the seat's hand."""
        return views.hand(self._match, self.seat)

    @property
    def auction(self) -> Auction:
        """The calls so far, during the bidding."""
        return views.auction(self._match)

    @property
    def contract(self) -> ContractPart:
        """Declarer, bid and trump."""
        return views.contract(self._match)

    @property
    def buried(self) -> Buried:
        """The buried cards, for the declarer."""
        return views.buried(self._match, self.seat)

    @property
    def table(self) -> Table:
        """The trick on the table."""
        return views.table(self._match)

    @property
    def captured(self) -> Captured:
        """The points that the defenders have captured."""
        return views.captured(self._match)

    @property
    def captured_cards(self) -> CapturedCards:
        """The captured point cards, for the defenders."""
        return views.captured_cards(self._match, self.seat)

    @property
    def history(self) -> History:
        """The finished tricks, in a review room."""
        return views.history(self._match)

    @property
    def inference(self) -> Inference:
        """What the plays have proven, in a review room."""
        return views.inference(self._match)

    @property
    def trump_void(self) -> TrumpVoid:
        """The seats announced void of trump."""
        return views.trump_void(self._match)

    @property
    def trump_counts(self) -> TrumpCounts:
        """The numbers of trumps of the other seats, once they are open."""
        return views.trump_counts(self._match, self.seat)

    @property
    def advice(self) -> Advice:
        """What the seat may do now."""
        return views.advice(self._match, self.seat)


Sight: TypeAlias = View | Glance
"""What a policy is shown. Both have the same parts under the same names."""
