"""docs/cards.json, for clients that show and sort cards: not out of date, and saying what the schemas say."""

import json
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

from erqiwang_grpc.v1 import card_pb2

REPOSITORY = Path(__file__).parents[2]


class Card(TypedDict):
    id: int
    kind: int
    copy: int
    suit: str | None
    rank: int | None
    symbol: str
    name: str
    name_zh: str
    points: int
    in_short_deck: bool


class TrumpOrder(TypedDict):
    trump: str
    groups: list[str]
    levels: list[int]
    hand: list[int]


class Published(TypedDict):
    cards: list[Card]
    trumps: list[TrumpOrder]


PUBLISHED: Published = json.loads((REPOSITORY / "docs" / "cards.json").read_text(encoding="utf-8"))
CARDS = PUBLISHED["cards"]
KINDS = CARDS[:54]
TRUMPS = PUBLISHED["trumps"]


def test_it_is_what_the_core_says_today() -> None:
    check = [sys.executable, "scripts/card_table.py", "--check"]
    assert subprocess.run(check, cwd=REPOSITORY, check=False).returncode == 0


def test_ids_are_made_as_the_schema_says() -> None:
    assert [card["id"] for card in CARDS] == list(range(108))
    for card in CARDS:
        assert card["id"] == 54 * card["copy"] + card["kind"]
        if card["suit"] is not None and card["rank"] is not None:
            assert card["kind"] == 13 * (card_pb2.Suit.Value(card["suit"]) - 1) + card["rank"] - 1
    assert [card["name"] for card in CARDS if card["suit"] is None] == 2 * ["small joker", "big joker"]


def test_every_name_and_symbol_is_of_one_kind() -> None:
    for key in ("symbol", "name", "name_zh"):
        assert len({card[key] for card in KINDS}) == 54


def test_the_deck_holds_200_points_and_the_short_one_92_cards() -> None:
    assert sum(card["points"] for card in CARDS) == 200
    assert {card["rank"] for card in CARDS if not card["in_short_deck"]} == {3, 4}
    assert sum(card["in_short_deck"] for card in CARDS) == 92


def test_every_trump_is_told_of() -> None:
    named = [name for name in card_pb2.Trump.keys() if name != "TRUMP_UNSPECIFIED"]  # noqa: SIM118  # an enum is no mapping
    assert [each["trump"] for each in TRUMPS] == named


def test_hands_are_sorted_by_group_and_falling_level_and_pairs_lie_together() -> None:
    for each in TRUMPS:
        assert sorted(each["hand"]) == list(range(108))
        places = [(each["groups"][card % 54], -each["levels"][card % 54]) for card in each["hand"]]
        groups = [group for group, _ in places]
        assert groups[0] == "GROUP_TRUMPS"
        for group in set(groups):
            run = [place for place in places if place[0] == group]
            assert run == sorted(run)
            start = groups.index(group)
            assert groups[start : start + len(run)] == [group] * len(run)
        assert all(
            first % 54 == second % 54 for first, second in zip(each["hand"][::2], each["hand"][1::2], strict=True)
        )


def test_the_jokers_the_sevens_and_the_twos_are_trumps_under_every_trump() -> None:
    for each in TRUMPS:
        own = each["trump"].replace("TRUMP_", "SUIT_")
        for card in KINDS:
            is_trump = card["suit"] in {None, own} or card["rank"] in {2, 7}
            assert (each["groups"][card["kind"]] == "GROUP_TRUMPS") == is_trump
