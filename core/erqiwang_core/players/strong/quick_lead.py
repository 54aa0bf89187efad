"""The lead of a playout, by rules of thumb, for a seat that sees every hand."""

from typing import Final

from erqiwang_core.players.strong.known_deal import KnownDeal
from erqiwang_core.players.strong.places import FIRST_COPIES

_CARD: Final = 3
"""What each card of a lead that wins counts for, in points."""
_MANY: Final = 1000
"""More cards than there are."""


def quick_lead(deal: KnownDeal) -> int:
    """The lead of the seat whose turn it is, as a row: what wins, then what a partner wins, then what costs least."""
    seat = deal.turn
    hand = deal.hands[seat]
    if not hand & hand - 1:
        return hand
    defends = seat != deal.declarer
    foes = (deal.declarer,) if defends else tuple(other for other in range(deal.seats) if other != seat)
    against = 0
    for foe in foes:
        against |= deal.hands[foe] & deal.trumps
    own = hand & deal.trumps
    if own and not defends:
        # The declarer draws trumps, and plays all of its own at once when no foe has any.
        row = _winner(deal, own, deal.trumps, foes, ruffable=False) if against else own
        if row:
            return row
    row = _best_winner(deal, hand, foes, ruffable=against > 0)
    if not row and defends:
        row = _for_a_partner(deal, hand, seat)
    if not row and own:
        row = _trumps(deal, own, hand, foes, held_against=against > 0)
    return row or _cheapest(deal, hand)


def _best_winner(deal: KnownDeal, hand: int, foes: tuple[int, ...], *, ruffable: bool) -> int:
    """The lead from a side suit that wins most; 0 if none wins."""
    found, worth = 0, -1
    for side in deal.places.sides:
        cards = hand & side
        row = _winner(deal, cards, side, foes, ruffable=ruffable) if cards else 0
        if row:
            value = _CARD * row.bit_count() + deal.places.points(row)
            if value > worth:
                found, worth = row, value
    return found


def _trumps(deal: KnownDeal, own: int, hand: int, foes: tuple[int, ...], *, held_against: bool) -> int:
    """A lead of trumps that wins, from a hand with nothing else, or with trumps to spare; 0 if there is none."""
    if own != hand and (not held_against or own.bit_count() <= 2):
        return 0
    row = _winner(deal, own, deal.trumps, foes, ruffable=False)
    return row if own == hand or row.bit_count() > 1 else 0


def _winner(deal: KnownDeal, cards: int, group: int, foes: tuple[int, ...], *, ruffable: bool) -> int:
    """The longest lead of `cards`, all of one group, that no foe can beat; 0 if there is none."""
    hands, level = deal.hands, deal.places.level
    twos = cards & cards >> 1 & FIRST_COPIES
    single, pair, foe_twos, ruffed = -1, -1, 0, False
    for foe in foes:
        held = hands[foe] & group
        if not held:
            trumps = hands[foe] & deal.trumps if ruffable else 0
            if trumps & trumps >> 1 & FIRST_COPIES:
                return 0
            ruffed = ruffed or trumps > 0
            continue
        single = max(single, level[held.bit_length()])
        held = held & held >> 1 & FIRST_COPIES
        foe_twos |= held
        pair = max(pair, level[held.bit_length()])
    if twos:
        row = _tractor(deal, twos, foe_twos) if twos & twos - 1 else 0
        if row:
            return row
        if level[twos.bit_length()] >= pair:
            return 3 << twos.bit_length() - 1
    top = cards.bit_length()
    return 1 << top - 1 if level[top] >= single and not ruffed else 0


def _tractor(deal: KnownDeal, twos: int, foe_twos: int) -> int:
    """The longest tractor of these pairs, the highest of several; 0 if there is none, or one that a foe might beat."""
    level = deal.places.level
    found, length, highest = 0, 1, 0
    run, number, before, head = 0, 0, -2, 0
    while twos:
        bit = twos.bit_length()
        twos ^= 1 << bit - 1
        here = level[bit]
        if here == before:
            continue
        if here == before - 1:
            run |= 3 << bit - 1
            number += 1
        else:
            run, number, head = 3 << bit - 1, 1, here
        before = here
        if number > length:
            found, length, highest = run, number, head
    if not found or level[foe_twos.bit_length()] <= highest:
        return found
    return found if _pairs_above(deal, foe_twos, highest) < length else 0


def _pairs_above(deal: KnownDeal, twos: int, highest: int) -> int:
    found, level = 0, deal.places.level
    while level[twos.bit_length()] > highest:
        found += 1
        twos ^= 1 << twos.bit_length() - 1
    return found


def _for_a_partner(deal: KnownDeal, hand: int, seat: int) -> int:
    """A single card of a side suit that a partner wins, with points if there are any; 0 if there is none."""
    places, against = deal.places, deal.hands[deal.declarer]
    found, worth = 0, -1
    for side in places.sides:
        cards = hand & side
        foe = against & side
        if not cards or (not foe and against & deal.trumps):
            continue
        if _partner_wins(deal, seat, side, places.level[foe.bit_length()]):
            given = cards & places.tens or cards & places.fives
            value = 10 if given else 1
            if value > worth:
                low = given or cards
                found, worth = low & -low, value
    return found


def _partner_wins(deal: KnownDeal, seat: int, side: int, level: int) -> bool:
    """Whether a partner of the defender `seat` holds a card above `level` of that side suit, or can ruff."""
    for other in range(deal.seats):
        if other not in (seat, deal.declarer):
            held = deal.hands[other] & side
            if deal.places.level[held.bit_length()] > level if held else deal.hands[other] & deal.trumps:
                return True
    return False


def _cheapest(deal: KnownDeal, hand: int) -> int:
    """The lowest card of the shortest side suit, without points if possible; a trump if there is nothing else."""
    places = deal.places
    side_cards = hand & ~deal.trumps
    cards = side_cards & ~places.fives & ~places.tens or side_cards
    found, least = hand, _MANY
    for side in places.sides:
        length = (hand & side).bit_count()
        if cards & side and length < least:
            found, least = cards & side, length
    return found & -found
