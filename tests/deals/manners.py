"""Manners of playing: how a seat chooses among what the rules leave open to it.

A seat chooses from its own view, as a player would; which manner it has is a test's choice. Each manner is there to
bring about something that players who only take the first legal action never come to.
"""

from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import final

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.kernel.cards import CARDS, KINDS
from erqiwang_core.kernel.following import by_price, follow
from erqiwang_core.kernel.hand import POINT_CARDS, count, ids, without
from erqiwang_core.kernel.shapes import all_components, longest
from erqiwang_core.kernel.trump import Group, NoTrump, Order, order
from erqiwang_core.match import Command, Ready
from erqiwang_core.naming import NameTrump, Surrender, number
from erqiwang_core.parts import BuryAdvice, CallAdvice, FollowAdvice, LeadAdvice, NameAdvice, ReadyAdvice, View
from erqiwang_core.playing import Play
from erqiwang_core.units import CardId, CardSet


class Calling(Enum):
    """How the seats bid."""

    HIGHEST = "highest"
    """The highest bid and passes: the kitty is shown, and surrender is open."""
    LOWEST = "lowest"
    """The lowest bid at once."""
    AUCTION = "auction"
    """Lower and lower, by chance."""


class Naming(Enum):
    """What the declarer decides once the kitty is taken."""

    STRONGEST = "strongest"
    ANY = "any"
    NO_TRUMP = "no trump"
    """No trump where the game has it."""
    SURRENDER = "surrender"
    """Surrender where the bid allows it."""


class Burial(Enum):
    """What the declarer buries."""

    CHEAPEST = "cheapest"
    POINTS = "points"
    """As many points as there are: a kitty capture is worth something."""
    SHORT_SUITS = "short suits"
    """Whole side suits: the declarer ruffs soon."""
    TRUMPS = "trumps"
    """All trumps there is room for: the declarer may be void of trump from the first lead on."""


class Leading(Enum):
    """What a seat leads."""

    ANY = "any"
    LONGEST = "longest"
    """The most cards: tractors first."""
    SAVING = "saving"
    """Whatever leaves the longest tractor of trumps in the hand: it is left for the last trick."""
    THROWS = "throws"
    """Several trumps at once, whether they stand or not."""


class Following(Enum):
    """Which of the legal plays a seat follows with."""

    CHEAPEST = "cheapest"
    DEAREST = "dearest"
    """The highest trumps first: ruffs wherever they are allowed."""
    ANY = "any"


@final
@dataclass(frozen=True, slots=True)
class Manners:
    """How all seats of a table play."""

    calling: Calling
    naming: Naming
    burial: Burial
    leading: Leading
    following: Following


def choose(manners: Manners, chance: Random, seen: View) -> Command:
    """What a seat does where it has something to do."""
    choice = seen.advice.choice
    match choice:
        case CallAdvice():
            return _call(manners.calling, chance, choice)
        case NameAdvice():
            return _name(manners.naming, chance, choice)
        case BuryAdvice():
            return _bury(manners.burial, chance, _tables(seen), seen.hand.cards, choice)
        case LeadAdvice():
            return _lead(manners.leading, chance, _tables(seen), seen.hand.cards)
        case FollowAdvice():
            return _follow(manners.following, chance, _tables(seen), seen, choice)
        case ReadyAdvice():
            return Ready()
        case None:
            raise AssertionError("a seat that is asked has something to do")


def _tables(seen: View) -> Order:
    assert seen.contract.agreed is not None, "asked once there is a declarer"
    assert seen.contract.agreed.trump is not None, "asked once trump is named"
    return order(seen.contract.agreed.trump)


def _call(manner: Calling, chance: Random, choice: CallAdvice) -> Command:
    match manner:
        case Calling.HIGHEST:
            return choice.suggestion
        case Calling.LOWEST:
            return Bid(choice.bids[-1])
        case Calling.AUCTION:
            if choice.may_pass and (not choice.bids or chance.random() < 0.4):
                return Pass()
            # Mostly a short way down, so that an auction has several bids.
            return Bid(choice.bids[min(int(chance.expovariate(0.4)), len(choice.bids) - 1)])


def _name(manner: Naming, chance: Random, choice: NameAdvice) -> Command:
    trumps = [trump for trump, _ in choice.trumps]
    match manner:
        case Naming.SURRENDER if choice.may_surrender:
            return Surrender()
        case Naming.NO_TRUMP if NoTrump() in trumps:
            return NameTrump(number(NoTrump()))
        case Naming.ANY:
            return NameTrump(number(chance.choice(trumps)))
        case Naming.STRONGEST | Naming.SURRENDER | Naming.NO_TRUMP:
            return NameTrump(number(choice.suggestion))


def _bury(manner: Burial, chance: Random, tables: Order, hand: CardSet, choice: BuryAdvice) -> Command:
    held = chance.sample(ids(hand), count(hand))
    sizes = [count(CardSet(hand & cards)) for cards in tables.cards]

    def group(card: CardId) -> Group:
        return tables.group[card % KINDS]

    match manner:
        case Burial.CHEAPEST:
            return Bury(ids(choice.suggestion))
        case Burial.POINTS:
            held.sort(key=lambda card: not POINT_CARDS >> card & 1)
        case Burial.SHORT_SUITS:
            held.sort(key=lambda card: (group(card) is Group.TRUMPS, sizes[group(card)], group(card)))
        case Burial.TRUMPS:
            held.sort(key=lambda card: group(card) is not Group.TRUMPS)
    return Bury(tuple(held[: choice.number]))


def _lead(manner: Leading, chance: Random, tables: Order, hand: CardSet) -> Command:
    choices = all_components(tables, hand)
    match manner:
        case Leading.ANY:
            return Play(ids(chance.choice(choices)))
        case Leading.LONGEST:
            most = max(count(cards) for cards in choices)
            return Play(ids(chance.choice([cards for cards in choices if count(cards) == most])))
        case Leading.SAVING:
            if hand in choices:
                return Play(ids(hand))
            in_any_order = chance.sample(choices, len(choices))
            return Play(ids(max(in_any_order, key=lambda cards: _tractor_left(tables, without(hand, cards)))))
        case Leading.THROWS:
            return Play(ids(_throw(chance, tables, hand) or chance.choice(choices)))


def _tractor_left(tables: Order, hand: CardSet) -> tuple[int, int]:
    return longest(tables.pair_ladder(Group.TRUMPS, hand)), count(tables.trumps(hand))


def _throw(chance: Random, tables: Order, hand: CardSet) -> CardSet | None:
    """Several trumps, by chance or from the top down; None where there are not several."""
    trumps = list(ids(tables.trumps(hand)))
    if len(trumps) < 2:
        return None
    chance.shuffle(trumps)
    if chance.random() < 0.6:
        trumps.sort(key=lambda card: -tables.strength[card % KINDS])
    several = min(len(trumps), chance.choice((2, 3, 4, 5, len(trumps))))
    return CardSet(sum(1 << card for card in trumps[:several]))


def _follow(manner: Following, chance: Random, tables: Order, seen: View, choice: FollowAdvice) -> Command:
    match manner:
        case Following.CHEAPEST:
            return Play(ids(choice.suggestion))
        case Following.DEAREST:
            return _priced(tables, seen, [_dearest_first(tables, CardId(card)) for card in range(CARDS)])
        case Following.ANY:
            return _priced(tables, seen, chance.sample(range(CARDS), CARDS))


def _priced(tables: Order, seen: View, prices: list[int]) -> Command:
    assert seen.table.trick is not None, "who follows sees the lead"
    return Play(ids(follow(tables, seen.table.trick.lead, seen.hand.cards, by_price(prices))))


def _dearest_first(tables: Order, card: CardId) -> int:
    trump = 100 if tables.group[card % KINDS] is Group.TRUMPS else 0
    return -trump - tables.strength[card % KINDS]
