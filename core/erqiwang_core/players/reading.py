"""What a player reads off a view: the cards not seen yet, and who is on which side."""

from erqiwang_core.kernel.hand import cards_of
from erqiwang_core.kernel.trump import Group
from erqiwang_core.parts import Agreed
from erqiwang_core.players.sight import Sight
from erqiwang_core.refusals import Phase
from erqiwang_core.rules import Rules, game_rules
from erqiwang_core.seats import seats_after
from erqiwang_core.units import CardSet, Seat


def rules_of(view: Sight) -> Rules:
    """The rules of the match that the view shows."""
    return game_rules(view.options.game, view.options.review)


def may_signal(view: Sight) -> bool:
    """Whether the seat is a defender and play has begun."""
    return view.progress.phase is Phase.PLAYING and agreed(view).declarer != view.seat


def agreed(view: Sight) -> Agreed:
    """The contract. There must be a declarer."""
    contract = view.contract.agreed
    assert contract is not None, "a declarer has been found"
    return contract


def is_partner(view: Sight, seat: Seat) -> bool:
    """Whether `seat` is on the same side as the view's seat. A seat is its own partner."""
    declarer = agreed(view).declarer
    return (seat == declarer) == (view.seat == declarer)


def opponents(view: Sight, among: tuple[Seat, ...]) -> tuple[Seat, ...]:
    """The seats in `among` on the other side."""
    return tuple(seat for seat in among if not is_partner(view, seat))


def partners(view: Sight, among: tuple[Seat, ...]) -> tuple[Seat, ...]:
    """The seats in `among` on the same side as the view's seat."""
    return tuple(seat for seat in among if is_partner(view, seat))


def still_to_play(view: Sight) -> tuple[Seat, ...]:
    """The other seats that have not played to the present trick, in order of play."""
    trick = view.trick_under_way
    played = () if trick is None else tuple(played.seat for played in trick.plays)
    return tuple(seat for seat in seats_after(view.seat, rules_of(view).seats) if seat not in played)


def unseen(view: Sight) -> CardSet:
    """The cards that may be in another hand: those that the seat does not hold, has not buried, and cannot see.

    A review room shows all past tricks. A no-review room shows only the trick on the table and, to defenders, the
    captured point cards.
    """
    seen = view.hand.cards | view.buried.cards | view.captured_cards.cards
    for trick in view.history.tricks:
        seen |= trick.cards()
    if view.table.trick is not None:
        seen |= view.table.trick.cards()
    return CardSet(cards_of(rules_of(view).deck) & ~seen)


def is_void(view: Sight, seat: Seat, group: Group) -> bool:
    """Whether it is known that `seat` holds no card of `group`."""
    if group is Group.TRUMPS and seat in view.trump_void.announced:
        return True
    proven = view.inference.proven
    return proven is not None and group in proven[seat].void
