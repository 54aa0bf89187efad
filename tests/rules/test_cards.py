"""Cards, decks and dealing (rules §2)."""

import pytest
from erqiwang_core.dealing import Shuffled, dealt
from erqiwang_core.kernel.cards import (
    FACES,
    FULL_DECK,
    POINTS,
    SHORT_DECK,
    Face,
    Joker,
    Rank,
    Suit,
    Suited,
    kind,
    kind_of,
)
from erqiwang_core.kernel.hand import ALL_CARDS, EMPTY, JOKERS, cards_of, count, count_pairs, ids, kinds, pairs, points
from erqiwang_core.options import Deck, FourPlayer, Game, ThreePlayer
from erqiwang_core.rules import game_rules
from erqiwang_core.units import CardId, CardSet, Seat

from tests.oracle import faces as plain
from tests.rules.written import cards


@pytest.mark.parametrize(
    ("card", "face"),
    [
        pytest.param(0, Suited(Suit.DIAMONDS, Rank.ACE), id="0 is the A of diamonds"),
        pytest.param(12, Suited(Suit.DIAMONDS, Rank.KING), id="12 is the K of diamonds"),
        pytest.param(13, Suited(Suit.CLUBS, Rank.ACE), id="13 is the A of clubs"),
        pytest.param(32, Suited(Suit.HEARTS, Rank.SEVEN), id="32 is the 7 of hearts"),
        pytest.param(51, Suited(Suit.SPADES, Rank.KING), id="51 is the K of spades"),
        pytest.param(52, Joker.SMALL, id="52 is a small joker"),
        pytest.param(53, Joker.BIG, id="53 is a big joker"),
        pytest.param(54, Suited(Suit.DIAMONDS, Rank.ACE), id="54 is the other A of diamonds"),
        pytest.param(107, Joker.BIG, id="107 is the other big joker"),
    ],
)
def test_face_of_a_card(card: int, face: Face) -> None:
    assert FACES[kind(CardId(card))] == face
    assert kind_of(face) == card % 54


def test_every_face_has_one_kind() -> None:
    assert [kind_of(face) for face in FACES] == list(range(54))
    assert len(set(FACES)) == 54


@pytest.mark.parametrize(
    ("deck", "size", "absent"),
    [
        pytest.param(SHORT_DECK, 92, {Rank.THREE, Rank.FOUR}, id="short: without 3s and 4s"),
        pytest.param(FULL_DECK, 108, set[Rank](), id="full: nothing left out"),
    ],
)
def test_decks(deck: tuple[CardId, ...], size: int, absent: set[Rank]) -> None:
    assert len(set(deck)) == len(deck) == size
    assert list(deck) == sorted(deck)
    ranks = {face.rank for face in map(FACES.__getitem__, map(kind, deck)) if isinstance(face, Suited)}
    assert ranks == set(Rank) - absent
    assert points(cards_of(deck)) == 200
    assert count_pairs(cards_of(deck)) * 2 == size


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        pytest.param("♠5 ♥5", 10, id="a 5 counts 5"),
        pytest.param("♠10", 10, id="a 10 counts 10"),
        pytest.param("♠K", 10, id="a K counts 10"),
        pytest.param("♠A ♠Q ♠J ♠9 ♠8 ♠7 ♠6 ♠2 BJ SJ", 0, id="nothing else counts"),
    ],
)
def test_points(text: str, worth: int) -> None:
    assert points(cards(text)) == worth


def test_points_of_every_card_as_the_twin_counts_them() -> None:
    assert [POINTS[kind(card)] for card in FULL_DECK] == [plain.points([card]) for card in FULL_DECK]


@pytest.mark.parametrize(
    ("game", "seats", "hand"),
    [
        pytest.param(ThreePlayer(), 3, 28, id="three seats: 28 cards"),
        pytest.param(FourPlayer(Deck.SHORT), 4, 21, id="four seats, short deck: 21 cards"),
        pytest.param(FourPlayer(Deck.FULL), 4, 25, id="four seats, full deck: 25 cards"),
    ],
)
def test_dealing_gives_each_seat_the_next_cards_and_leaves_the_kitty(game: Game, seats: int, hand: int) -> None:
    told = game_rules(game, True)
    order = tuple(reversed(told.deck))
    deal = dealt(told, 1, Seat(0), Shuffled(order))
    assert len(deal.hands) == seats
    for seat, held in deal.hands.items():
        assert set(ids(held)) == set(order[hand * seat : hand * (seat + 1)])
    assert set(ids(deal.kitty)) == set(order[-8:])


def test_a_shuffle_that_is_no_permutation_of_the_deck_is_a_bug() -> None:
    told = game_rules(ThreePlayer(), True)
    with pytest.raises(AssertionError):
        dealt(told, 1, Seat(0), Shuffled(told.deck[:-1] + told.deck[:1]))


def test_sets_of_cards() -> None:
    hand = cards("♠7 ♠7 ♥7 BJ")
    assert count(hand) == 4
    assert kinds(hand).bit_count() == 3
    assert pairs(hand) == 1 << kind_of(Suited(Suit.SPADES, Rank.SEVEN))
    assert cards_of(ids(hand)) == hand
    assert ids(EMPTY) == ()
    assert count(ALL_CARDS) == 108
    assert count(CardSet(ALL_CARDS & JOKERS)) == 4
