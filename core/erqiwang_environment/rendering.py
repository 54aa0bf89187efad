"""Rendering: a view as text, for a person who watches an agent."""

from collections.abc import Iterator

from erqiwang_core import CardSet, Seat, View
from erqiwang_core.notation import write, write_trump


def rendered(view: View, chosen: CardSet) -> str:
    """What the view's seat sees, a line each: the deal, the contract, the trick, its hand, and what it has chosen."""
    return "\n".join(_lines(view, chosen))


def _lines(view: View, chosen: CardSet) -> Iterator[str]:
    agreed, trick = view.contract.agreed, view.table.trick
    trump = None if agreed is None else agreed.trump
    yield f"deal {view.progress.deal}, {view.progress.phase.value}, seen by {_name(view.seat)}"
    if view.auction.leader is not None:
        yield f"lowest bid: {view.auction.standing} by {_name(view.auction.leader)}"
    if agreed is not None:
        named = "" if trump is None else f", trump {write_trump(trump)}"
        yield f"declarer: {_name(agreed.declarer)}, bid {agreed.bid}{named}; captured: {view.captured.points}"
    if trick is not None:
        plays = (f"{_name(played.seat)} {write(played.cards, trump)}" for played in trick.plays)
        yield f"trick {view.table.number}: {', '.join(plays)}; ahead: {_name(trick.ahead)}"
    yield f"hand: {write(view.hand.cards, trump)}"
    if chosen:
        yield f"chosen: {write(chosen, trump)}"


def _name(seat: Seat) -> str:
    return f"player_{seat}"
