"""The core and its plain twin agree on throws that stand, forced cards, winners and the last trick (rules §6, §8, §9)."""

from erqiwang_core import deal as deals
from erqiwang_core.kernel.shapes import Lead, classify, component, holds_higher
from erqiwang_core.kernel.trick import Played, Trick, ahead_after
from erqiwang_core.kernel.trump import Group, Trump, order
from erqiwang_core.options import Deck, FourPlayer, Game, ThreePlayer
from erqiwang_core.playing import CardsFollowed, CardsLed, Play, Playing
from erqiwang_core.settlement import Settled
from erqiwang_core.units import CardId, CardSet, Seat
from hypothesis import assume, given, settings, strategies as st

from tests.oracle import tricks as plain
from tests.oracle.faces import TRUMPS, points
from tests.oracle.shapes import Part, led
from tests.rules.drawn import OneTrick, components, decks, last_trick, of_one_group, trump_choices
from tests.rules.positions import playing
from tests.rules.written import core, raw, sign


def game(seats: int) -> Game:
    return ThreePlayer() if seats == 3 else FourPlayer(Deck.FULL)


@settings(max_examples=500)
@given(last_trick())
def test_who_is_ahead_after_every_play(trick: OneTrick) -> None:
    tables = order(trick.trump)
    lead = classify(tables, core(trick.plays[0]))
    assert isinstance(lead, Lead)
    lying = Trick(lead, (Played(Seat(0), core(trick.plays[0])),), Seat(0), failed_throw=False)
    for seat, play in enumerate(trick.plays[1:], start=1):
        ahead = ahead_after(tables, lying, Seat(seat), core(play))
        assert ahead == plain.winner(list(trick.plays[: seat + 1]), sign(trick.trump))
        lying = Trick(lead, (*lying.plays, Played(Seat(seat), core(play))), ahead, failed_throw=False)


@st.composite
def thrown(draw: st.DrawFn) -> OneTrick:
    """A throw, and what the other seats hold against it: trumps near its own."""
    trump, deck = draw(trump_choices), draw(decks)
    throw = draw(of_one_group(trump, TRUMPS, deck, most=8))
    assume(not isinstance(led(throw, sign(trump)), Part))
    hands = [throw]
    for _ in range(draw(st.integers(2, 3))):
        hands.append(draw(of_one_group(trump, TRUMPS, deck, most=8)).difference(*hands))
    return OneTrick(trump, tuple(hands))


@settings(max_examples=500)
@given(trick=thrown(), leader=st.integers(0, 3), declarer=st.integers(0, 3))
def test_a_throw_stands_or_comes_to_its_lowest_card(trick: OneTrick, leader: int, declarer: int) -> None:
    seats = len(trick.plays)
    held = tuple(core(trick.plays[(seat - leader) % seats]) for seat in range(seats))
    seat = Seat(leader % seats)
    deal = playing(held, trump=trick.trump, declarer=Seat(declarer % seats), leader=seat, game=game(seats))
    decided = deals.decide(deal, seat, Play(raw(held[seat])))
    assert isinstance(decided, tuple)
    (event,) = decided
    assert isinstance(event, CardsLed)
    if plain.stands(trick.plays[0], trick.plays[1:], sign(trick.trump)):
        assert (event.cards, event.attempted) == (held[seat], None)
    else:
        assert event.cards == 1 << plain.forced(trick.plays[0], sign(trick.trump))
        assert event.attempted == held[seat]
        assert event.lead.count == 1


@settings(max_examples=400)
@given(data=st.data(), trump=trump_choices, deck=decks)
def test_whether_a_hand_holds_something_higher(data: st.DataObject, trump: Trump, deck: tuple[CardId, ...]) -> None:
    part = data.draw(components(trump, TRUMPS, deck, longest=6))
    hand = data.draw(of_one_group(trump, TRUMPS, deck, most=16)) | data.draw(of_one_group(trump, TRUMPS, deck, most=16))
    shape = component(order(trump), Group.TRUMPS, core(part))
    expected = led(part, sign(trump))
    assert shape is not None
    assert isinstance(expected, Part)
    higher = plain.holds_higher(hand, expected, sign(trump))
    assert holds_higher(order(trump), Group.TRUMPS, core(hand), shape) == higher


def may_be_led(trick: OneTrick) -> bool:
    shape = led(trick.plays[0], sign(trick.trump))
    return isinstance(shape, Part) or plain.stands(trick.plays[0], trick.plays[1:], sign(trick.trump))


@settings(max_examples=400)
@given(trick=last_trick(), buried=st.sets(st.integers(0, 107), max_size=8), declarer=st.integers(0, 3))
def test_the_last_trick_captures_the_buried_cards_or_not(trick: OneTrick, buried: set[int], declarer: int) -> None:
    assume(may_be_led(trick))
    hidden = frozenset(buried).difference(*trick.plays)
    seats = len(trick.plays)
    deal = played_out(trick, core(hidden), Seat(declarer % seats))
    winner = plain.winner(list(trick.plays), sign(trick.trump))
    held = sum(points(play) for play in trick.plays)
    multiplier = plain.capture_multiplier(trick.plays[winner], sign(trick.trump))
    by_defenders = winner != declarer % seats
    result = deal.settlement
    assert result.trick_points == (held if by_defenders else 0)
    assert (result.kitty_capture is not None) == (by_defenders and multiplier > 0)
    assert result.grade == by_defenders * (held + multiplier * points(hidden))


def played_out(trick: OneTrick, hidden: CardSet, declarer: Seat) -> Settled:
    """The deal after every seat has played the last cards it holds, seat 0 first."""
    held = tuple(core(play) for play in trick.plays)
    deal: deals.Deal = playing(
        held, trump=trick.trump, declarer=declarer, leader=Seat(0), buried=hidden, game=game(len(held))
    )
    for seat, cards in enumerate(held):
        deal = after_play(deal, Seat(seat), cards)
    assert isinstance(deal, Settled)
    return deal


def after_play(deal: deals.Deal, seat: Seat, cards: CardSet) -> deals.Deal:
    assert isinstance(deal, Playing)
    events = deals.decide(deal, seat, Play(raw(cards)))
    assert isinstance(events, tuple)
    assert isinstance(events[0], CardsLed | CardsFollowed)
    for event in events:
        deal = deals.evolve(deal, event)
    return deal
