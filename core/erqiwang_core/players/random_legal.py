"""A player that chooses among legal actions at random: for tests, and to measure better players against."""

from random import Random
from typing import Final, final

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.kernel.cards import CARDS
from erqiwang_core.kernel.following import by_price, follow, is_legal, may, must
from erqiwang_core.kernel.hand import cards_of, count, ids
from erqiwang_core.kernel.shapes import Lead, all_components
from erqiwang_core.kernel.trump import Order
from erqiwang_core.match import Command, Ready
from erqiwang_core.naming import NameTrump, Surrender, number
from erqiwang_core.parts import BuryAdvice, CallAdvice, Choice, FollowAdvice, LeadAdvice, NameAdvice, ReadyAdvice
from erqiwang_core.players.policy import Heard, nothing_heard
from erqiwang_core.players.reading import may_signal
from erqiwang_core.players.sight import Sight
from erqiwang_core.playing import Play, Signal, SignalKind
from erqiwang_core.units import CardSet

# A number n means: once in n times. If all calls were equally likely, almost every bid would be low, and no deal would
# be played at a high bid, where the kitty is shown and surrender is possible.
_BID: Final = 3
_ANY_BID: Final = 2
_SURRENDER: Final = 4
_THROW: Final = 8
_SIGNAL: Final = 10


@final
class RandomLegal:
    """Chooses legal actions at random, so that each kind of action happens often enough for tests."""

    def act(self, view: Sight, random: Random, heard: Heard = nothing_heard) -> Command | None:  # noqa: ARG002 (it listens to nobody)
        """A random legal command; None if the seat has nothing to do."""
        # The advice to a seat that must play holds a suggestion, which takes longer to find than this player's choice.
        if view.is_to_play:
            return _play(view, random)
        choice = view.advice.choice
        return None if choice is None else _choose(choice, view, random)

    def signal(self, view: Sight, random: Random) -> Signal | None:
        """Now and then a random signal, true or not; None most of the time."""
        if not may_signal(view) or random.randrange(_SIGNAL):
            return None
        return Signal(random.choice(tuple(SignalKind)))


def _choose(choice: Choice, view: Sight, random: Random) -> Command:
    hand = view.hand.cards
    match choice:
        case CallAdvice(bids, may_pass, _):
            if may_pass and random.randrange(_BID):
                return Pass()
            return Bid(bids[0] if random.randrange(_ANY_BID) else random.choice(bids))
        case NameAdvice(trumps, may_surrender, _):
            if may_surrender and not random.randrange(_SURRENDER):
                return Surrender()
            return NameTrump(number(random.choice(trumps)[0]))
        case BuryAdvice(size, _):
            return Bury(tuple(random.sample(ids(hand), size)))
        case LeadAdvice() | FollowAdvice():
            return _play(view, random)
        case ReadyAdvice():
            return Ready()


def _play(view: Sight, random: Random) -> Play:
    order, hand, trick = view.order, view.hand.cards, view.trick_under_way
    return Play(ids(_lead(order, hand, random) if trick is None else _follow(order, trick.lead, hand, random)))


def _lead(order: Order, hand: CardSet, random: Random) -> CardSet:
    trumps = order.trumps(hand)
    if count(trumps) > 1 and not random.randrange(_THROW):
        return cards_of(random.sample(ids(trumps), random.randint(2, count(trumps))))
    return random.choice(all_components(order, hand))


def _follow(order: Order, lead: Lead, hand: CardSet, random: Random) -> CardSet:
    """A legal play: random cards from `may` if they happen to be legal, else the cheapest play at random prices.

    Random cards break up pairs wherever the rules allow it. The cheapest play breaks up none without need, so alone it
    would leave many legal plays untried.
    """
    needed = must(order, lead, hand)
    free = ids(CardSet(may(order, lead, hand) & ~needed))
    tried = CardSet(needed | cards_of(random.sample(free, lead.count - count(needed))))
    if is_legal(order, lead, hand, tried):
        return tried
    return follow(order, lead, hand, by_price(random.sample(range(CARDS), CARDS)))
