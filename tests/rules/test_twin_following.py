"""The core and its plain twin agree on every play of every hand: legality, must and may (rules §7)."""

from collections.abc import Iterable
from itertools import combinations

from erqiwang_core.kernel.following import by_price, follow, is_legal, may, must
from erqiwang_core.kernel.shapes import Lead, classify
from erqiwang_core.kernel.trump import Order, order
from hypothesis import given, settings, strategies as st

from tests.oracle import following as plain
from tests.oracle.faces import Cards, face, group, of_faces, paired
from tests.rules.drawn import Following, crowded, decks, following, groups, leads, of_one_group, trump_choices
from tests.rules.written import core, sign, twin

prices = st.lists(st.integers(0, 9), min_size=108, max_size=108)


def led(tables: Order, cards: Cards) -> Lead:
    lead = classify(tables, core(cards))
    assert isinstance(lead, Lead)
    return lead


@settings(max_examples=500)
@given(following())
def test_every_play_is_judged_alike(position: Following) -> None:
    judged_alike(position, map(frozenset, combinations(sorted(position.hand), len(position.lead))))


@settings(max_examples=400)
@given(crowded())
def test_every_answer_to_a_throw_of_two_tractors_is_judged_alike(position: Following) -> None:
    # The hand has pairs enough, so whatever breaks one up is illegal for that alone.
    pairs = combinations(sorted(paired(position.hand)), len(position.lead) // 2)
    judged_alike(position, (of_faces(position.hand, faces) for faces in pairs))


def judged_alike(position: Following, plays: Iterable[Cards]) -> None:
    trump, cards, hand = position
    tables = order(trump)
    lead = led(tables, cards)
    legal = []
    for play in plays:
        verdict = plain.is_legal(cards, hand, play, sign(trump))
        assert is_legal(tables, lead, core(hand), core(play)) == verdict, play
        if verdict:
            legal.append(play)
    assert twin(must(tables, lead, core(hand))) == plain.must(legal)
    assert twin(may(tables, lead, core(hand))) == plain.may(legal)


@settings(max_examples=200)
@given(position=following(most=20), cost=prices)
def test_a_suggested_follow_is_legal_whatever_cards_cost(position: Following, cost: list[int]) -> None:
    suggested_is_legal(position, cost)


@settings(max_examples=200)
@given(position=crowded(), cost=prices)
def test_a_suggested_answer_to_a_throw_of_two_tractors_is_legal(position: Following, cost: list[int]) -> None:
    suggested_is_legal(position, cost)


def suggested_is_legal(position: Following, cost: list[int]) -> None:
    trump, cards, hand = position
    tables = order(trump)
    play = twin(follow(tables, led(tables, cards), core(hand), by_price(cost)))
    assert len(play) == len(cards)
    assert play <= hand
    assert plain.is_legal(cards, hand, play, sign(trump))


@st.composite
def long_hands(draw: st.DrawFn) -> Following:
    """A lead, and as many cards as a seat may ever hold of the group and of another."""
    trump, deck = draw(trump_choices), draw(decks)
    lead = draw(leads(trump, deck))
    mine = of_one_group(trump, group(face(min(lead)), sign(trump)), deck, 14)
    other = of_one_group(trump, draw(st.sampled_from(groups(trump))), deck, 8)
    hand = draw(mine) | draw(mine) | draw(other)
    missing = sorted(frozenset(deck) - hand)[: max(0, len(lead) - len(hand))]
    return Following(trump, lead, hand | frozenset(missing))


@settings(max_examples=300)
@given(position=long_hands(), cost=prices, data=st.data())
def test_a_long_hand_is_judged_alike_near_the_border_of_the_legal(
    position: Following, cost: list[int], data: st.DataObject
) -> None:
    trump, cards, hand = position
    tables = order(trump)
    lead = led(tables, cards)
    play = twin(follow(tables, lead, core(hand), by_price(cost)))
    for _ in range(6):
        assert is_legal(tables, lead, core(hand), core(play)) == plain.is_legal(cards, hand, play, sign(trump))
        if play == hand:
            break
        out = data.draw(st.sampled_from(sorted(play)))
        play = play - {out} | {data.draw(st.sampled_from(sorted(hand - play)))}


@given(following())
def test_must_is_played_by_the_suggestion_and_may_covers_it(position: Following) -> None:
    trump, cards, hand = position
    tables = order(trump)
    lead = led(tables, cards)
    play = follow(tables, lead, core(hand), by_price([0] * 108))
    assert not must(tables, lead, core(hand)) & ~play
    assert not play & ~may(tables, lead, core(hand))
