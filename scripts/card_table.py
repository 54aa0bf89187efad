"""Write docs/cards.json from the core, so that no client works out what a card is; `--check` only compares.

Of every card it tells suit, rank, copy, names and points. Of every trump it tells the group and the level of each kind,
by the kind's number, and the order in which a player holds the cards. Levels are those of `Component.level`.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from erqiwang_core.kernel.cards import (
    CARDS,
    FACES,
    FULL_DECK,
    KINDS,
    POINTS,
    SHORT_DECK,
    Face,
    Joker,
    Rank,
    Suit,
    Suited,
    kind,
)
from erqiwang_core.kernel.hand import cards_of
from erqiwang_core.kernel.trump import TRUMPS, Trump, order
from erqiwang_core.notation import in_order, write_card
from erqiwang_core.units import CardId

from erqiwang_grpc.rpc.wire.numbers import GROUPS, NAMED
from erqiwang_grpc.v1 import card_pb2

PUBLISHED: Final = Path(__file__).resolve().parent.parent / "docs" / "cards.json"

_SUITS: Final = {Suit.DIAMONDS: "方块", Suit.CLUBS: "梅花", Suit.HEARTS: "红桃", Suit.SPADES: "黑桃"}
_RANKS: Final = {Rank.ACE: "A", Rank.JACK: "J", Rank.QUEEN: "Q", Rank.KING: "K"}
_JOKERS: Final = {Joker.SMALL: "小王", Joker.BIG: "大王"}


def card(number: CardId) -> dict[str, object]:
    """What is to be known of a card, whatever is trump."""
    return {
        "id": number,
        "kind": kind(number),
        "copy": number // KINDS,
        **printed(FACES[kind(number)]),
        "symbol": write_card(kind(number)),
        "points": POINTS[kind(number)],
        "in_short_deck": number in SHORT_DECK,
    }


def printed(face: Face) -> dict[str, object]:
    """What is on a card: suit and rank, null of a joker, and its names."""
    match face:
        case Suited(suit, rank):
            return {
                "suit": card_pb2.Suit.Name(card_pb2.Suit.ValueType(suit.value)),
                "rank": rank.value,
                "name": f"{rank.name} of {suit.name}".lower(),
                "name_zh": _SUITS[suit] + _RANKS.get(rank, str(rank.value)),
            }
        case Joker():
            return {"suit": None, "rank": None, "name": f"{face.name} joker".lower(), "name_zh": _JOKERS[face]}


def trump_order(trump: Trump) -> dict[str, object]:
    """What is to be known of the cards under a trump."""
    tables = order(trump)
    return {
        "trump": card_pb2.Trump.Name(NAMED[trump]),
        "groups": [card_pb2.Group.Name(GROUPS[group]) for group in tables.group],
        "levels": list(tables.strength),
        "hand": list(in_order(tables, cards_of(FULL_DECK))),
    }


def published() -> str:
    """The whole file, an entry a line."""
    cards = _lines(card(CardId(number)) for number in range(CARDS))
    return f'{{\n"cards": [\n{cards}\n],\n"trumps": [\n{_lines(map(trump_order, TRUMPS))}\n]\n}}\n'


def _lines(entries: Iterable[dict[str, object]]) -> str:
    return ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)


def main() -> None:
    """Write the file, or with `--check` say whether it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when the file is out of date")
    check: bool = parser.parse_args().check
    if not check:
        PUBLISHED.parent.mkdir(exist_ok=True)
        PUBLISHED.write_text(published(), encoding="utf-8")
    elif not PUBLISHED.exists() or PUBLISHED.read_text(encoding="utf-8") != published():
        sys.exit("docs/cards.json is out of date (make generate)")


if __name__ == "__main__":
    main()
