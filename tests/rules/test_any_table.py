"""Rules are rows: a deal is played with other numbers of seats, other decks, another kitty or none, and any choice of trumps."""

from dataclasses import replace
from random import Random

import pytest
from erqiwang_core import deal as deals
from erqiwang_core.deal import Command, Deal
from erqiwang_core.dealing import Shuffled, dealt
from erqiwang_core.kernel.cards import FACES, FULL_DECK, SHORT_DECK, Joker, Rank, kind
from erqiwang_core.kernel.hand import cards_of, count, ids, points, union
from erqiwang_core.kernel.trump import TRUMPS, NoTrump, Trump
from erqiwang_core.match import Chair, Ready, Running
from erqiwang_core.options import RoomOptions
from erqiwang_core.rules import Rules, VoidNotice, game_rules
from erqiwang_core.seats import by_seat
from erqiwang_core.settlement import Settled
from erqiwang_core.units import CardId, Seat
from erqiwang_core.view import advice

from tests.deals.suggestions import suggested

THREE = game_rules(RoomOptions().game, review=True)


def only(*ranks: Rank) -> tuple[CardId, ...]:
    """The jokers, and the cards of those ranks."""
    faces = ((card, FACES[kind(card)]) for card in FULL_DECK)
    return tuple(card for card, face in faces if isinstance(face, Joker) or face.rank in ranks)


def suggestion(deal: Deal, seat: Seat) -> Command:
    """What the view of a seat whose turn it is suggests."""
    chairs = by_seat(deal.dealt.rules.seats, lambda _: Chair(None, 0))
    choice = advice(Running(RoomOptions(), chairs, deal, ()), seat).choice
    assert choice is not None, "it is the seat's turn"
    command = suggested(choice)
    assert not isinstance(command, Ready), "the deal is not settled"
    return command


def played(table: Rules, seed: int) -> tuple[Settled, int]:
    """A deal that is played as its views suggest, and how often somebody acted."""
    order = tuple(Random(seed).sample(table.deck, len(table.deck)))
    deal: Deal = deals.begin(dealt(table, 1, Seat(seed % table.seats), Shuffled(order)))
    acts = 0
    while (seat := deals.turn(deal)) is not None:
        decided = deals.decide(deal, seat, suggestion(deal, seat))
        assert isinstance(decided, tuple), decided
        for event in decided:
            deal = deals.evolve(deal, event)
        acts += 1
    assert isinstance(deal, Settled)
    return deal, acts


@pytest.mark.parametrize("notice", VoidNotice)
@pytest.mark.parametrize("trumps", [TRUMPS[:4], (NoTrump(),)], ids=["four suits", "no trump suit"])
@pytest.mark.parametrize(
    ("seats", "deck", "kitty_size"),
    [
        pytest.param(2, only(Rank.ACE), 2, id="two seats, twelve cards"),
        pytest.param(2, SHORT_DECK, 0, id="two seats and no kitty"),
        pytest.param(3, only(Rank.FIVE, Rank.KING), 14, id="more cards in the kitty than in the hands"),
        pytest.param(5, FULL_DECK, 8, id="five seats"),
        pytest.param(6, only(Rank.TWO, Rank.SEVEN, Rank.TEN), 4, id="six seats and few cards that are no trumps"),
    ],
)
def test_a_deal_is_played_to_its_settlement(
    seats: int, deck: tuple[CardId, ...], kitty_size: int, trumps: tuple[Trump, ...], notice: VoidNotice
) -> None:
    table = replace(THREE, seats=seats, deck=deck, kitty_size=kitty_size, trumps=trumps, void_notice=notice)
    for seed in range(20):
        settled, acts = played(table, seed)
        # The first bidder bids and the others pass; trump, burial; and what is led is always a single card.
        assert acts == seats + 2 + seats * table.hand_size
        shown = cards_of(card for trick in settled.finished for card in ids(trick.cards()))
        assert union(shown, settled.settlement.buried) == cards_of(deck)
        assert count(settled.settlement.buried) == kitty_size
        contract = settled.settlement.contract
        assert contract is not None
        lost = sum(points(trick.cards()) for trick in settled.finished if trick.ahead == contract.declarer)
        assert settled.settlement.trick_points + lost + points(settled.settlement.buried) == points(cards_of(deck))
        assert sum(settled.settlement.scores) == 0
