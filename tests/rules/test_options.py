"""What a room chooses: the `roomtype` string, what it costs, and what is chosen by no string (rules §14, part B)."""

from dataclasses import fields
from itertools import product
from typing import Final, get_args

import pytest
from erqiwang_core.kernel.trump import NoTrump
from erqiwang_core.options import (
    CardCost,
    Countdowns,
    Deck,
    FourPlayer,
    Game,
    Length,
    Payer,
    RoomOptions,
    ThreePlayer,
    card_cost,
)
from erqiwang_core.roomtype import parse_roomtype, roomtype
from erqiwang_core.rules import ChainRush, DeclarerAwards, VoidNotice, game_rules

ALL_STRINGS = tuple("".join(bits) for bits in product("01", repeat=5))


@pytest.mark.parametrize("text", ALL_STRINGS)
def test_every_roomtype(text: str) -> None:
    options = parse_roomtype(text)
    assert options == RoomOptions(
        game=ThreePlayer(joker_bonus=text[2] == "1", climb=text[3] == "1"),
        length=Length.TWELVE if text[0] == "1" else Length.SIX,
        payer=Payer.EACH if text[1] == "1" else Payer.OWNER,
        review=text[4] == "0",
    )
    assert roomtype(options) == text
    assert options.deals == (12 if text[0] == "1" else 6)


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        pytest.param(None, "00000", id="missing"),
        pytest.param("", "00000", id="empty"),
        pytest.param("1", "10000", id="short"),
        pytest.param("0011", "00110", id="one short"),
        pytest.param("111110", "11111", id="longer: the rest is passed over"),
        pytest.param("2x1 ?", "00100", id="other signs count as 0"),
        pytest.param(10100, "00000", id="a number"),
        pytest.param(["1", "1"], "00000", id="a list"),
        pytest.param(b"11111", "00000", id="bytes"),
        pytest.param(True, "00000", id="a bool"),
        pytest.param("１１１１１", "00000", id="full-width digits are no 1"),
    ],
)
def test_whatever_is_no_full_string_of_bits(text: object, read_as: str) -> None:
    assert parse_roomtype(text) == parse_roomtype(read_as)


@pytest.mark.parametrize(
    ("text", "owner", "joiner", "deals"),
    [
        pytest.param("00000", 2, 0, 6, id="the owner pays, 6 deals"),
        pytest.param("10000", 4, 0, 12, id="the owner pays, 12 deals"),
        pytest.param("01000", 1, 1, 6, id="each pays, 6 deals"),
        pytest.param("11000", 2, 2, 12, id="each pays, 12 deals"),
        pytest.param("00111", 2, 0, 6, id="other options cost nothing"),
    ],
)
def test_card_cost(text: str, owner: int, joiner: int, deals: int) -> None:
    options = parse_roomtype(text)
    assert card_cost(options) == CardCost(owner, joiner)
    assert options.deals == deals


@pytest.mark.parametrize("deck", Deck)
def test_a_four_player_room_passes_over_joker_bonus_and_climb(deck: Deck) -> None:
    options = parse_roomtype("11111", FourPlayer(deck))
    assert options == RoomOptions(FourPlayer(deck), Length.TWELVE, Payer.EACH, review=False)
    assert roomtype(options) == "11001"
    assert parse_roomtype("00110", ThreePlayer()).game == ThreePlayer(joker_bonus=True, climb=True)


@pytest.mark.parametrize(
    ("game", "seats", "deck", "choices"),
    [
        pytest.param(ThreePlayer(), 3, 92, 4, id="three players"),
        pytest.param(FourPlayer(Deck.SHORT), 4, 92, 5, id="four players, short deck"),
        pytest.param(FourPlayer(Deck.FULL), 4, 108, 5, id="four players, full deck"),
    ],
)
def test_games(game: Game, seats: int, deck: int, choices: int) -> None:
    for review in (True, False):
        told = game_rules(game, review)
        assert (told.seats, len(told.deck), len(told.trumps), told.review) == (seats, deck, choices, review)
        assert (NoTrump() in told.trumps) == (seats == 4)
        assert told.disclosure == (seats == 3)
        assert told.void_notice is (VoidNotice.COUNTS if seats == 3 else VoidNotice.STATEMENTS)


def test_awards_of_a_game() -> None:
    assert game_rules(ThreePlayer(joker_bonus=True), True).awards == DeclarerAwards(joker_bonus=True)
    assert game_rules(ThreePlayer(), True).awards == DeclarerAwards(joker_bonus=False)
    assert game_rules(FourPlayer(), True).awards == ChainRush()


def test_countdowns_by_default() -> None:
    assert RoomOptions().countdowns == Countdowns(bid=15, trump=20, bury=40, play=20)


CHOSEN: Final = [RoomOptions(), Countdowns(), *(kind() for kind in get_args(Game))]


@pytest.mark.parametrize("chosen", CHOSEN, ids=lambda chosen: type(chosen).__name__)
def test_values_are_those_of_every_field(chosen: RoomOptions | Countdowns | Game) -> None:
    assert chosen.values() == tuple(getattr(chosen, field.name) for field in fields(chosen))
