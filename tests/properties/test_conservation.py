"""No card is lost, doubled or in two places, in any phase."""

from collections import Counter

from erqiwang_core.bidding import Bidding
from erqiwang_core.burying import Burying
from erqiwang_core.deal import Deal
from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import Running
from erqiwang_core.naming import Naming
from erqiwang_core.playing import Playing
from erqiwang_core.settlement import Settled
from erqiwang_core.units import CardSet
from hypothesis import given

from tests.deals.plans import Plan, examples, plans
from tests.deals.walk import positions


def places(deal: Deal) -> list[CardSet]:
    """The cards at every place where a card of a deal can be."""
    match deal:
        case Bidding(dealt=dealt):
            return [*dealt.hands, dealt.kitty]
        case Naming(hands=hands) | Burying(hands=hands):
            return [*hands]
        case Playing() as playing:
            return [*playing.hands, playing.buried, *_tricks(playing)]
        case Settled(settlement=settlement, finished=tricks):
            return [settlement.buried, *(trick.cards() for trick in tricks)]


def _tricks(playing: Playing) -> list[CardSet]:
    under_way = [playing.trick] if playing.trick is not None and playing.to_follow is not None else []
    return [trick.cards() for trick in (*playing.finished, *under_way)]


@examples(0.5)
@given(plan=plans())
def test_every_card_is_in_exactly_one_place(plan: Plan) -> None:
    for match in positions(plan):
        if isinstance(match, Running):
            deal = match.deal
            found = Counter(card for place in places(deal) for card in ids(place))
            surrendered = isinstance(deal, Settled) and not deal.finished
            assert found == Counter(() if surrendered else deal.dealt.rules.deck)


@examples(0.5)
@given(plan=plans())
def test_what_was_dealt_is_what_was_shuffled(plan: Plan) -> None:
    *_, match = positions(plan)
    assert isinstance(match, Running)
    dealt = match.deal.dealt
    size = dealt.rules.hand_size
    assert {len(ids(hand)) for hand in dealt.hands} == {size}
    for seat, hand in dealt.hands.items():
        assert ids(hand) == tuple(sorted(dealt.shuffled.order[size * seat : size * (seat + 1)]))
    assert ids(dealt.kitty) == tuple(sorted(dealt.shuffled.order[size * dealt.rules.seats :]))


@examples(0.5)
@given(plan=plans())
def test_between_tricks_all_hands_are_of_one_size(plan: Plan) -> None:
    for match in positions(plan):
        if isinstance(match, Running) and isinstance(match.deal, Playing) and match.deal.to_follow is None:
            assert len({len(ids(hand)) for hand in match.deal.hands}) == 1
