"""Notation: what is written is read again, and what cannot be read says where."""

import pytest
from erqiwang_core.kernel.cards import CARDS, FACES, KINDS, Joker, Rank, Suit, Suited, kind_of
from erqiwang_core.kernel.hand import ALL_CARDS, cards_of, kinds, pairs
from erqiwang_core.kernel.trump import TRUMPS, NoTrump, SuitTrump, Trump
from erqiwang_core.notation import (
    ThirdCopy,
    UnreadableCard,
    UnreadableTrump,
    read,
    read_trump,
    write,
    write_card,
    write_trump,
)
from erqiwang_core.units import CardId, CardSet, Kind
from hypothesis import given, strategies as st

HEARTS = SuitTrump(Suit.HEARTS)


def first_copies(*faces: Suited | Joker) -> CardSet:
    return cards_of(CardId(kind_of(face)) for face in faces)


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        pytest.param("", CardSet(0), id="nothing"),
        pytest.param("♠7", first_copies(Suited(Suit.SPADES, Rank.SEVEN)), id="a suit's sign"),
        pytest.param("s7", first_copies(Suited(Suit.SPADES, Rank.SEVEN)), id="a suit's letter"),
        pytest.param("♥️10", first_copies(Suited(Suit.HEARTS, Rank.TEN)), id="a coloured sign"),
        pytest.param("hT", first_copies(Suited(Suit.HEARTS, Rank.TEN)), id="T is ten"),
        pytest.param("dk", first_copies(Suited(Suit.DIAMONDS, Rank.KING)), id="a small rank"),
        pytest.param("SJ", first_copies(Joker.SMALL), id="SJ is the small joker"),
        pytest.param("sJ", first_copies(Suited(Suit.SPADES, Rank.JACK)), id="sJ is the J of spades"),
        pytest.param("🃏 🃟", first_copies(*Joker), id="jokers by their signs"),
        pytest.param("BJBJ", CardSet(1 << 53 | 1 << 53 + KINDS), id="the same twice is both copies"),
        pytest.param(
            " s5,h10 c2d3 ",
            first_copies(
                Suited(Suit.SPADES, Rank.FIVE),
                Suited(Suit.HEARTS, Rank.TEN),
                Suited(Suit.CLUBS, Rank.TWO),
                Suited(Suit.DIAMONDS, Rank.THREE),
            ),
            id="apart or close together",
        ),
        pytest.param(
            "黑桃A红心10，梅花十、方块二 大王 小王",
            first_copies(
                Suited(Suit.SPADES, Rank.ACE),
                Suited(Suit.HEARTS, Rank.TEN),
                Suited(Suit.CLUBS, Rank.TEN),
                Suited(Suit.DIAMONDS, Rank.TWO),
                *Joker,
            ),
            id="Chinese",
        ),
        pytest.param("s7 s7 h7 s7", ThirdCopy(kind_of(Suited(Suit.SPADES, Rank.SEVEN))), id="a third copy"),
        pytest.param("s7 queen, h7", UnreadableCard("queen"), id="no card"),
        pytest.param("S7", UnreadableCard("S7"), id="a capital letter is no suit"),
        pytest.param("s11", UnreadableCard("s11"), id="no such rank"),
        pytest.param("♠", UnreadableCard("♠"), id="a suit alone"),
        pytest.param("h10 h5x", UnreadableCard("x"), id="something behind a card"),
    ],
)
def test_read(text: str, cards: CardSet | UnreadableCard | ThirdCopy) -> None:
    assert read(text) == cards


@pytest.mark.parametrize(
    ("trump", "text"),
    [
        pytest.param(HEARTS, "🃏 🃟 ♥7 ♠7 ♦7 ♥2 ♠2 ♥A ♥5 ♠A ♠5 ♣A ♦K", id="a suit"),
        pytest.param(NoTrump(), "🃏 🃟 ♠7 ♥7 ♦7 ♠2 ♥2 ♠A ♠5 ♥A ♥5 ♣A ♦K", id="no trump"),
        pytest.param(None, "🃏 🃟 ♠7 ♥7 ♦7 ♠2 ♥2 ♠A ♠5 ♥A ♥5 ♣A ♦K", id="not named yet"),
    ],
)
def test_cards_are_written_as_a_player_holds_them(trump: Trump | None, text: str) -> None:
    cards = read("dK cA h5 hA s5 sA s2 h2 d7 h7 s7 SJ BJ")
    assert isinstance(cards, int)
    assert write(cards, trump) == text


def test_copies_of_a_card_lie_together() -> None:
    cards = read("h7 s7 c7 h7 s7")
    assert isinstance(cards, int)
    assert write(cards, SuitTrump(Suit.DIAMONDS)) == "♠7 ♠7 ♥7 ♥7 ♣7"


@given(chosen=st.sets(st.integers(0, CARDS - 1)), trump=st.sampled_from(TRUMPS))
def test_what_is_written_is_read_again(chosen: set[int], trump: Trump) -> None:
    cards = cards_of(CardId(card) for card in chosen)
    again = read(write(cards, trump))
    assert isinstance(again, int)
    assert write(again, trump) == write(cards, trump)
    # Text does not tell the copies apart, but how many there are of each.
    assert kinds(again) == kinds(cards)
    assert pairs(again) == pairs(cards)


def test_the_whole_deck_is_read_again() -> None:
    assert read(write(ALL_CARDS)) == ALL_CARDS


def test_no_two_cards_share_a_text() -> None:
    assert len({write_card(Kind(number)) for number in range(KINDS)}) == len(FACES)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    found = read(text)
    if isinstance(found, UnreadableCard):
        assert found.word in text
        assert found.word.split() == [found.word]


@pytest.mark.parametrize(
    ("text", "trump"),
    [
        ("♥", HEARTS),
        ("♥️", HEARTS),
        ("h", HEARTS),
        ("Hearts", HEARTS),
        ("no trump", NoTrump()),
        ("No-Trump", NoTrump()),
        ("nt", NoTrump()),
        ("", UnreadableTrump("")),
        ("spade", UnreadableTrump("spade")),
    ],
)
def test_read_trump(text: str, trump: Trump | UnreadableTrump) -> None:
    assert read_trump(text) == trump


@pytest.mark.parametrize("trump", TRUMPS)
def test_every_trump_is_read_again(trump: Trump) -> None:
    assert read_trump(write_trump(trump)) == trump
