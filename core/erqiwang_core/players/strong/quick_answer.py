"""The answer to a lead in a playout, by rules of thumb, for a seat that sees every hand.

An answer is legal but for two rare cases, which do no harm in an estimate: shorter tractors are not looked for, and
tractors that are thrown are answered by any pairs.
"""

from typing import Final, TypeAlias

from erqiwang_core.players.strong.known_deal import KnownDeal
from erqiwang_core.players.strong.places import FIRST_COPIES, Places

_OURS: Final = -2
_LOST: Final = -1
Aim: TypeAlias = int
"""The level to beat in the led group; `_OURS` if the own side wins the trick, `_LOST` if this seat cannot win it."""


def quick_answer(deal: KnownDeal) -> int:
    """The answer of the seat whose turn it is, as a row."""
    hand, count = deal.hands[deal.turn], deal.count
    held = hand & deal.group
    number = held.bit_count()
    if number < count:
        return _short(deal, hand, held, number)
    if number == count:
        return held
    aim = _aim(deal)
    if count == 1:
        return _single(deal, held, aim)
    twos = held & held >> 1 & FIRST_COPIES if deal.pairs else 0
    if twos and deal.pairs == 1 and count == 2:
        return _pair(deal, twos, aim)
    return _several(deal, held, twos, aim)


def _aim(deal: KnownDeal) -> Aim:
    seat, level = deal.turn, deal.places.level
    defends = seat != deal.declarer
    ours = (deal.ahead != deal.declarer) == defends
    if deal.thrown:
        return _OURS if ours else _LOST
    best, highest, ruff = level[deal.best.bit_length()], -1, False
    other = seat
    for _ in range(deal.to_play - 1):
        other = deal.after(other)
        if (other != deal.declarer) == defends:
            continue
        held = deal.hands[other] & deal.group
        if held.bit_count() < deal.count:
            ruff = ruff or (not held and _may_ruff(deal, deal.hands[other] & deal.trumps))
        elif deal.pairs:
            highest = max(highest, level[(held & held >> 1 & FIRST_COPIES).bit_length()])
        else:
            highest = max(highest, level[held.bit_length()])
    if ours and not ruff and (deal.ruffed or highest <= best):
        return _OURS
    return _LOST if ruff or deal.ruffed else max(best, highest)


def _may_ruff(deal: KnownDeal, trumps: int) -> bool:
    if deal.group == deal.trumps:
        return False
    return bool(trumps & trumps >> 1 & FIRST_COPIES if deal.pairs else trumps)


def _single(deal: KnownDeal, held: int, aim: Aim) -> int:
    places = deal.places
    if aim == _OURS:
        return _lowest(_with_points(places, held))
    if aim != _LOST and places.level[held.bit_length()] > aim:
        row = _above(places, held, aim)
        return _lowest(row & places.tens or row)
    return _lowest(_without_points(places, held))


def _pair(deal: KnownDeal, twos: int, aim: Aim) -> int:
    places = deal.places
    if aim == _OURS:
        return 3 * _lowest(_with_points(places, twos))
    if aim != _LOST and places.level[twos.bit_length()] > aim:
        return 3 * _lowest(_above(places, twos, aim))
    return 3 * _lowest(_without_points(places, twos))


def _above(places: Places, row: int, level: int) -> int:
    """The cards above that level. All of `row` are of one group, so they are the highest ones."""
    left = row
    while places.level[(left & -left).bit_length()] <= level:
        left &= left - 1
    return left


def _several(deal: KnownDeal, held: int, twos: int, aim: Aim) -> int:
    """Pairs as far as they are called for, then single cards."""
    places, row = deal.places, 0
    for _ in range(min(deal.pairs, twos.bit_count())):
        low = _lowest(_with_points(places, twos) if aim == _OURS else _without_points(places, twos))
        row |= 3 * low
        twos ^= low
    return row | _cards(places, held & ~row, deal.count - row.bit_count(), give=aim == _OURS)


def _cards(places: Places, row: int, number: int, *, give: bool) -> int:
    """`number` single cards of `row`: with points if they are given to a partner, else the cheapest."""
    found = 0
    for _ in range(number):
        low = _lowest(_with_points(places, row) if give else _without_points(places, row))
        found |= low
        row ^= low
    return found


def _short(deal: KnownDeal, hand: int, held: int, number: int) -> int:
    """A ruff if the group is void and it is worth it; else all cards of the group, and the cheapest others."""
    aim = _aim(deal)
    if not number and aim != _OURS:
        row = _ruff(deal, hand & deal.trumps)
        if row:
            return row
    missing = deal.count - number
    side = hand & ~held & ~deal.trumps
    row = _cards(deal.places, side, min(missing, side.bit_count()), give=aim == _OURS)
    rest = hand & ~held & ~side
    for _ in range(missing - row.bit_count()):
        low = _lowest(rest)
        row |= low
        rest ^= low
    return held | row


def _ruff(deal: KnownDeal, trumps: int) -> int:
    """The lowest ruff that is ahead; 0 if there is none, or if a partner is ahead of a trick without points."""
    if not trumps or deal.thrown or deal.group == deal.trumps or deal.pairs > 1 or deal.count > 2:
        return 0
    partner_ahead = (deal.ahead != deal.declarer) == (deal.turn != deal.declarer)
    if partner_ahead and not deal.on_table and deal.count == 1:
        return 0
    row = trumps & trumps >> 1 & FIRST_COPIES if deal.pairs else trumps
    need = deal.places.level[deal.best.bit_length()] if deal.ruffed else -1
    if deal.places.level[row.bit_length()] <= need:
        return 0
    low = _lowest(_above(deal.places, row, need))
    return 3 * low if deal.pairs else low


def _with_points(places: Places, row: int) -> int:
    """The cards of `row` that are worth most points."""
    return row & places.tens or row & places.fives or row


def _without_points(places: Places, row: int) -> int:
    """The cards of `row` that are worth fewest points."""
    return row & ~places.fives & ~places.tens or row & places.fives or row


def _lowest(row: int) -> int:
    return row & -row
