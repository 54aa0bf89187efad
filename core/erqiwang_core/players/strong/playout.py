"""The playout: quick play of a known deal, to its end.

Every seat sees every hand and follows a few rules of thumb. That is no good play, but it is much the same for all
choices that are compared, and takes microseconds a card.
"""

from erqiwang_core.players.strong.known_deal import KnownDeal
from erqiwang_core.players.strong.places import FIRST_COPIES
from erqiwang_core.players.strong.quick_answer import quick_answer
from erqiwang_core.players.strong.quick_lead import quick_lead


def play_out(deal: KnownDeal, buried: int) -> int:
    """Play the deal to its end; gives the points that the defenders capture, with those of the kitty (`buried`)."""
    _finish_trick(deal)
    while deal.hands[deal.turn]:
        row = quick_lead(deal)
        deal.lead(row, thrown=_is_throw(row))
        _finish_trick(deal)
    return deal.grade(buried)


def _finish_trick(deal: KnownDeal) -> None:
    while deal.to_play:
        deal.follow(quick_answer(deal))


def _is_throw(row: int) -> bool:
    """Whether a lead of rules of thumb is a throw: it leads no side suit but by a single, a pair or a tractor."""
    return bool(row & row - 1) and row.bit_count() != 2 * (row & row >> 1 & FIRST_COPIES).bit_count()
