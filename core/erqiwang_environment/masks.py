"""Masks: which actions a seat may take now, by its view and the cards that it has chosen so far.

The mask allows exactly the steps that some legal whole action goes on with.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from erqiwang_core import Bid, CardSet, NameTrump, Pass, Surrender, View
from erqiwang_core.kernel.cards import KINDS
from erqiwang_core.naming import number
from erqiwang_core.parts import BuryAdvice, CallAdvice, FollowAdvice, LeadAdvice, NameAdvice, ReadyAdvice
from erqiwang_core.units import KindSet
from numpy.typing import NDArray

from erqiwang_environment.actions import ACTIONS, DONE, Action, number_of
from erqiwang_environment.completion import Next, burial, follow, lead

Mask: TypeAlias = NDArray[np.int8]
"""1 for each action that is allowed, 0 for every other."""

_BYTES: Final = (KINDS + 7) // 8


def mask(view: View, chosen: CardSet) -> Mask:
    """The actions that the view's seat may take, after it has chosen these cards; none if it is not to act."""
    allowed: Mask = np.zeros(len(ACTIONS), np.int8)
    match view.advice.choice:
        case None | ReadyAdvice():
            pass
        case CallAdvice() | NameAdvice() as advice:
            for action in _called(advice):
                allowed[number_of(action)] = 1
        case BuryAdvice(size):
            _allow(allowed, burial(view.hand.cards, chosen, size))
        case LeadAdvice() | FollowAdvice():
            trick, hand = view.trick_under_way, view.hand.cards
            if trick is None:
                _allow(allowed, lead(view.order, hand, chosen))
            else:
                _allow(allowed, follow(view.order, trick.lead, hand, chosen))
    return allowed


def _called(advice: CallAdvice | NameAdvice) -> Iterator[Action]:
    match advice:
        case CallAdvice(bids, may_pass):
            yield from (Bid(points) for points in bids)
            if may_pass:
                yield Pass()
        case NameAdvice(trumps, may_surrender):
            yield from (NameTrump(number(trump)) for trump, _ in trumps)
            if may_surrender:
                yield Surrender()


def _allow(allowed: Mask, after: Next) -> None:
    allowed[:KINDS] = _bits(after.kinds)
    allowed[DONE] = after.done


def _bits(kinds: KindSet) -> NDArray[np.uint8]:
    """1 for each kind of the set, 0 for every other."""
    return np.unpackbits(np.frombuffer(kinds.to_bytes(_BYTES, "little"), np.uint8), bitorder="little", count=KINDS)
