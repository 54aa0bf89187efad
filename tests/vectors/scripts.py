"""Golden deals as text: what a file gives (the table, the cards, the moves) and how it is read.

    # What to look for, and why it is right.
    table: three players, review, joker bonus, climb
    seat 0: ♠A ♠A …            the hand it is dealt, in any order
    …
    kitty: …
    > 0 bids 70
    > 0 buries ♠5 …
    > disband

Two copies of a card are told apart by who holds them: the first one named in the file is the first deck's.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias, final

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.dealing import Shuffled
from erqiwang_core.kernel.cards import KINDS
from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import Command, Disband, Match, Player, Ready, TakeSeat, begin
from erqiwang_core.naming import NameTrump, Surrender, number
from erqiwang_core.notation import UnreadableTrump, read, read_trump
from erqiwang_core.options import Deck, FourPlayer, Game, RoomOptions, ThreePlayer
from erqiwang_core.playing import Play, Request, ShowTrumps, Signal
from erqiwang_core.units import CardId, CardSet, Seat
from erqiwang_core.view import view

from tests.deals.walk import Move, Sent, Step, advance

FOLDER: Final = Path(__file__).parent


@final
@dataclass(frozen=True, slots=True)
class SeatRequest:
    """A request by a seat, which is answered and changes nothing."""

    seat: Seat
    request: Request


Line: TypeAlias = Move | SeatRequest


@final
@dataclass(frozen=True, slots=True)
class Script:
    """What a golden deal's file gives; everything else in the file follows from it."""

    remarks: tuple[str, ...]
    options: RoomOptions
    shuffled: Shuffled
    lines: tuple[str, ...]
    """The moves, as written."""


def parse(text: str) -> Script:
    """The script in a golden deal's text; what was told in it is passed over."""
    rows = text.splitlines()
    fields = dict(row.split(": ", 1) for row in rows if re.match(r"(table|seat \d|kitty): ", row))
    dealt = [cards for name, cards in fields.items() if name != "table"]
    return Script(
        remarks=tuple(row for row in rows if row.startswith("#")),
        options=_options(fields["table"]),
        shuffled=Shuffled(_named_in_turn(" ".join(dealt))),
        lines=tuple(row.removeprefix("> ") for row in rows if row.startswith("> ")),
    )


def _options(text: str) -> RoomOptions:
    words = text.split(", ")
    return RoomOptions(_game(words), review="review" in words)


def _game(words: list[str]) -> Game:
    if "three players" in words:
        return ThreePlayer(joker_bonus="joker bonus" in words, climb="climb" in words)
    return FourPlayer(Deck.FULL if "full deck" in words else Deck.SHORT)


def _named_in_turn(text: str) -> tuple[CardId, ...]:
    """The cards a text names, in its order: of two copies the first named is the first deck's."""
    named: list[CardId] = []
    for word in text.split():
        (first,) = ids(_cards(word))
        named.append(CardId(first + KINDS) if first in named else first)
    return tuple(named)


def _cards(text: str) -> CardSet:
    cards = read(text)
    assert isinstance(cards, int), f"no cards: {text}"
    return cards


def seated(script: Script) -> Match:
    """The match once all seats are taken and the first deal is dealt."""
    match: Match = begin(script.options)
    for seat in match.chairs.seats():
        step = advance(match, TakeSeat(seat, Player(f"player {seat}")), lambda: script.shuffled)
        assert isinstance(step, Step), f"refused: {step}"
        match = step.after
    return match


def line(match: Match, text: str) -> Line:
    """The move or request that a line says, in the match it is made in."""
    if text == "disband":
        return Disband()
    seat_number, verb, *rest = text.split(" ", 2)
    seat, what = Seat(int(seat_number)), " ".join(rest)
    if verb in _REQUESTS:
        return SeatRequest(seat, _REQUESTS[verb](what))
    return Sent(seat, _COMMANDS[verb](view(match, seat).hand.cards, what))


def _name(text: str) -> Command:
    trump = read_trump(text)
    assert not isinstance(trump, UnreadableTrump), f"no trump: {text}"
    return NameTrump(number(trump))


_REQUESTS: Final[dict[str, Callable[[str], Request]]] = {
    "signals": lambda what: Signal(int(what)),
    "asks": lambda _: ShowTrumps(),
}
_COMMANDS: Final[dict[str, Callable[[CardSet, str], Command]]] = {
    "bids": lambda _, what: Bid(int(what)),
    "passes": lambda *_: Pass(),
    "names": lambda _, what: _name(what),
    "surrenders": lambda *_: Surrender(),
    "buries": lambda hand, what: Bury(_held(hand, what)),
    "plays": lambda hand, what: Play(_held(hand, what)),
    "is": lambda *_: Ready(),
}


def _held(hand: CardSet, text: str) -> tuple[CardId, ...]:
    """The cards named, as the copies in the hand where there are any."""
    return tuple(_copy(hand, card) for card in _named_in_turn(text))


def _copy(hand: CardSet, card: CardId) -> CardId:
    other = CardId((card + KINDS) % (2 * KINDS))
    return other if hand >> other & 1 and not hand >> card & 1 else card
