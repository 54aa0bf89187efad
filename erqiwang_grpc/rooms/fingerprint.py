"""Command keys: the id and a fingerprint of a command, which recognise it when it is sent again.

The fingerprint is taken over the core command, so every transport gives the same. It is stored with every batch: if its
form changes, a command sent before the change and repeated after it is refused.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.match import Disband, HouseCommand, LeaveSeat, Outside, Ready, StartMatch, TakeSeat
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.options import FourPlayer, Game, RoomOptions, ThreePlayer
from erqiwang_core.playing import Play, ShowTrumps, Signal

from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rooms.command import SeatCommand
from erqiwang_grpc.store import CommandId, CommandKey

_BYTES: Final = 16


def command_key(command_id: str, command: SeatCommand | HouseCommand | RoomOpened) -> CommandKey | None:
    """The key of a command; None without an id, since such a command is never recognised."""
    if not command_id:
        return None
    return CommandKey(CommandId(command_id), fingerprint(command))


def fingerprint(command: SeatCommand | HouseCommand | RoomOpened) -> bytes:
    """Sixteen bytes of a hash: equal for equal commands, different for different ones."""
    return hashlib.blake2b(form(command).encode(), digest_size=_BYTES).digest()


def form(command: SeatCommand | HouseCommand | RoomOpened) -> str:
    """The stable text of a command: its name and its values in order. A text comes last, so none run together."""
    match command:
        case Bid(points):
            return f"bid {points}"
        case Pass():
            return "pass"
        case NameTrump(trump):
            return f"name_trump {trump}"
        case Surrender():
            return "surrender"
        case Bury(cards):
            return f"bury {_numbers(cards)}"
        case Play(cards):
            return f"play {_numbers(cards)}"
        case Ready():
            return "ready"
        case Signal(signal):
            return f"signal {signal}"
        case ShowTrumps():
            return "show_trumps"
        case TakeSeat(seat, player):
            return f"take_seat {seat} {player}"
        case LeaveSeat(seat):
            return f"leave_seat {seat}"
        case StartMatch():
            return "start_match"
        case Disband(asker, reason, text):
            return f"disband {asker.value if isinstance(asker, Outside) else asker} {reason.value} {text}"
        case RoomOpened(platform, owner, options, reference, labels):
            words = "".join(f" {label.key}={_text(label.value)}" for label in labels)
            return f"open_room {_options(options)} {platform} {_text(reference)} {len(labels)}{words} {owner}"


def _text(text: str) -> str:
    """A text that does not come last: its length is put before it."""
    return f"{len(text)}:{text}"


def _options(options: RoomOptions) -> str:
    game, length, payer, review, countdowns, start, hints = options.values()
    bid, trump, bury, play = countdowns.values()
    return " ".join(
        (
            _game(game),
            str(length.value),
            payer.value,
            "review" if review else "no_review",
            _numbers((bid, trump, bury, play)),
            start.value,
            "hints" if hints else "no_hints",
        )
    )


def _game(game: Game) -> str:
    match game:
        case ThreePlayer():
            joker_bonus, climb = game.values()
            return f"three_player {joker_bonus:d} {climb:d}"
        case FourPlayer():
            (deck,) = game.values()
            return f"four_player {deck.value}"


def _numbers(numbers: Iterable[int]) -> str:
    return " ".join(str(number) for number in numbers)
