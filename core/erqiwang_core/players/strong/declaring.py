"""The calls, trump choice and burial of a strong player, by the chips that a declarer is expected to win."""

from dataclasses import dataclass
from math import erfc, sqrt
from random import Random
from typing import Final, final

from erqiwang_core.awards import seat_awards
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.kernel.hand import cards_of, union, without
from erqiwang_core.kernel.trump import Trump, order
from erqiwang_core.naming import NameTrump, Surrender, number
from erqiwang_core.parts import CallAdvice, NameAdvice
from erqiwang_core.players.declaring import best_burial, best_trump, burials
from erqiwang_core.players.reading import agreed, rules_of
from erqiwang_core.players.sight import Sight
from erqiwang_core.players.strength import weakness
from erqiwang_core.players.strong.budget import Budget
from erqiwang_core.players.strong.choosing import Estimate, compared
from erqiwang_core.players.strong.known_deal import KnownDeal
from erqiwang_core.players.strong.places import places
from erqiwang_core.players.strong.playout import play_out
from erqiwang_core.players.strong.stakes import chips, stakes_of, surrendered
from erqiwang_core.players.style import Style
from erqiwang_core.rules import BidRow, Rules
from erqiwang_core.units import CardId, CardSet

_SPREAD: Final = 20
"""How far the points of a playout before the first lead are from those of a play, in points."""
_HOPE: Final = 12
"""The points that playouts promise too much of a hand whose kitty is still unknown."""
_DOUBT: Final = 1.0
"""The chips that playouts promise too little of a hand that is about to name trump."""
_TRUMPS: Final = 3
_BURIALS: Final = 6
"""The numbers of trump choices and of burials that are played out: those that leave the strongest hands."""
_AWARDED: Final = 0.7
"""The number of awards from which on a hand counts as one with awards."""
_FIRST_STANDING: Final = 1.0
_LATER_STANDING: Final = -1.5
"""The chips that a defender wins on the mean against the first bid, which is mostly surrendered, and a later one."""


@final
@dataclass(frozen=True, slots=True)
class _Declared:
    """A way to declare: the trump choice and the cards that are buried and kept."""

    trump: Trump
    buried: CardSet
    kept: CardSet
    awards: int


@final
@dataclass(frozen=True, slots=True)
class _Outlook:
    """What came of declaring in one world: the points that the defenders captured, and the declarer's awards."""

    points: int
    awards: int


def strong_call(view: Sight, advice: CallAdvice, style: Style, budget: Budget, random: Random) -> Bid | Pass:
    """The bid of most chips among those that are likely enough to be made; a pass if none is worth it."""
    rules, seen = rules_of(view), _forecast(view, budget, random)
    awarded = sum(world.awards for world in seen) >= _AWARDED * len(seen)
    success = style.success_with_awards if awarded else style.success
    worths = {
        bid: _worth(rules, rules.row(bid), seen)
        for bid in advice.bids
        if _made(rules.row(bid), seen) >= success * len(seen) or (not advice.may_pass and bid == advice.bids[0])
    }
    if not worths:
        return Pass()
    best = max(worths, key=worths.__getitem__)
    standing = view.auction.standing
    passed = _FIRST_STANDING if standing == rules.bids[0] else _LATER_STANDING
    return Bid(best) if not advice.may_pass or worths[best] > passed + style.contest else Pass()


def _forecast(view: Sight, budget: Budget, random: Random) -> list[_Outlook]:
    """What comes of declaring in many worlds, each with a kitty and hands of its own."""
    rules, hidden, found = rules_of(view), _hidden(view), list[_Outlook]()
    while not found or not budget(len(found)):
        random.shuffle(hidden)
        hand = union(view.hand.cards, cards_of(hidden[: rules.kitty_size]))
        trump, _ = best_trump(rules.trumps, hand, rules.kitty_size)
        way = _declared(rules, trump, hand, best_burial(order(trump), hand, rules.kitty_size))
        found.append(_Outlook(_captured(view, way, hidden[rules.kitty_size :]), way.awards))
    return found


def _worth(rules: Rules, row: BidRow, seen: list[_Outlook]) -> float:
    """The mean chips of a declarer at that bid, who may surrender if the bid allows it."""
    total = 0.0
    for world in seen:
        stakes = stakes_of(rules, row, declares=True, awards=world.awards, spread=_SPREAD)
        total += chips(stakes, world.points)
    mean = total / len(seen)
    return mean if row.surrender is None else max(mean, surrendered(rules, row, 0))


def _made(row: BidRow, seen: list[_Outlook]) -> float:
    """In how many worlds the bid is made. One that is nearly made, or nearly missed, counts in part."""
    return sum(0.5 * erfc((world.points + _HOPE - row.target) / (_SPREAD * sqrt(2.0))) for world in seen)


def strong_name(view: Sight, advice: NameAdvice, style: Style, budget: Budget, random: Random) -> NameTrump | Surrender:
    """The trump choice of most chips; a surrender if playing is expected to cost more."""
    rules, hand = rules_of(view), view.hand.cards
    row = rules.row(agreed(view).bid)
    ways = [_declared(rules, trump, hand, best_burial(order(trump), hand, rules.kitty_size)) for trump in rules.trumps]
    ways = sorted(ways, key=lambda way: weakness(order(way.trump), way.kept))[:_TRUMPS]
    best = _best(view, row, ways, budget, random)
    if advice.may_surrender and row.surrender is not None:
        awards = seat_awards(rules.awards, None, hand, declarer=True).total
        if best.chips + _DOUBT + style.patience < surrendered(rules, row, awards):
            return Surrender()
    return NameTrump(number(ways[best.choice].trump))


def strong_burial(view: Sight, size: int, budget: Budget, random: Random) -> CardSet:
    """The burial of most chips."""
    rules, hand, trump = rules_of(view), view.hand.cards, view.order.trump
    ways = [_declared(rules, trump, hand, buried) for buried in dict.fromkeys(burials(view.order, hand, size))]
    ways = sorted(ways, key=lambda way: weakness(view.order, way.kept))[:_BURIALS]
    best = _best(view, rules.row(agreed(view).bid), ways, budget, random)
    return ways[best.choice].buried


def _best(view: Sight, row: BidRow, ways: list[_Declared], budget: Budget, random: Random) -> Estimate:
    rules, hidden = rules_of(view), _hidden(view)

    def play_out_in_a_world(choices: list[int]) -> list[float]:
        random.shuffle(hidden)
        found = []
        for way in (ways[choice] for choice in choices):
            stakes = stakes_of(rules, row, declares=True, awards=way.awards, spread=_SPREAD)
            found.append(chips(stakes, _captured(view, way, hidden)))
        return found

    return compared([0.0] * len(ways), play_out_in_a_world, budget)[0]


def _declared(rules: Rules, trump: Trump, hand: CardSet, buried: CardSet) -> _Declared:
    kept = without(hand, buried)
    awards = seat_awards(rules.awards, order(trump), kept, declarer=True).total
    return _Declared(trump, buried, kept, awards)


def _captured(view: Sight, way: _Declared, hidden: list[CardId]) -> int:
    """The points that the defenders capture if the hidden cards are dealt in that order."""
    tables, size = places(way.trump), rules_of(view).hand_size
    hands, dealt = [], 0
    for seat in range(rules_of(view).seats):
        if seat == view.seat:
            hands.append(int(tables.row(way.kept)))
        else:
            hands.append(int(tables.row(cards_of(hidden[dealt : dealt + size]))))
            dealt += size
    return play_out(KnownDeal(tables, hands, view.seat, view.seat, 0), tables.points(tables.row(way.buried)))


def _hidden(view: Sight) -> list[CardId]:
    """The cards that the seat does not hold, before the first lead."""
    return [card for card in rules_of(view).deck if not view.hand.cards >> card & 1]
