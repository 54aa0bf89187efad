"""Requests: decodes messages from clients into the core's commands and options.

Only the form is checked here. The numbers in a command are passed on unchecked: the core alone refuses them.
"""

from dataclasses import fields
from math import ceil
from typing import Final

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.match import Disband, DisbandReason, Outside, Ready
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.options import (
    Countdowns,
    CountdownValues,
    FourPlayer,
    FourPlayerValues,
    Game,
    Length,
    OptionValues,
    RoomOptions,
    ThreePlayer,
    ThreePlayerValues,
)
from erqiwang_core.playing import Play, ShowTrumps, Signal
from erqiwang_core.roomtype import parse_roomtype
from google.protobuf.duration_pb2 import Duration

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.auth.tokens import (
    LIFETIME,
    LONGEST_DELAY,
    LONGEST_WATCH,
    Delayed,
    Lateness,
    Milliseconds,
    Seconds,
    SettledDeals,
)
from erqiwang_grpc.events.model import Label, RoomOpened
from erqiwang_grpc.rooms.bounds import (
    LONGEST_DISBAND_TEXT,
    LONGEST_REFERENCE,
    choice_fault,
    labels_fault,
    name_fault,
    text_fault,
)
from erqiwang_grpc.rooms.command import SeatCommand
from erqiwang_grpc.rooms.refusals import Bounds, InvalidField, NoCommand, Unit
from erqiwang_grpc.rpc.wire.numbers import DECKS, DISBAND_REASONS, PAYERS, STARTS, reverse
from erqiwang_grpc.v1 import room_pb2, room_service_pb2, seat_service_pb2

LONGEST_COUNTDOWN: Final = 3600
"""Most seconds of a countdown. Nothing happens when one runs out; the bound only keeps nonsense off screens."""


def command(message: seat_service_pb2.Command) -> SeatCommand | NoCommand:
    """The command or request in a message, with its numbers unchecked; `NoCommand` if it holds none."""
    match message.WhichOneof("command"):
        case "bid":
            return Bid(message.bid.points)
        case "pass_bid":
            return Pass()
        case "name_trump":
            return NameTrump(message.name_trump.trump)
        case "surrender":
            return Surrender()
        case "bury":
            return Bury(tuple(message.bury.cards))
        case "play_cards":
            return Play(tuple(message.play_cards.cards))
        case "ready":
            return Ready()
        case "signal":
            return Signal(message.signal.signal)
        case "show_trumps":
            return ShowTrumps()
        case None:
            return NoCommand()


def room_choice(choice: room_service_pb2.RoomChoice) -> RoomOptions | InvalidField:
    """The options in a request, typed or as a `roomtype`; defaults without either. `InvalidField` if out of range."""
    match choice.WhichOneof("choice"):
        case "options":
            return room_options(choice.options, "choice.options.")
        case "roomtype":
            return parse_roomtype(choice.roomtype)
        case None:
            return RoomOptions()


def opening(request: room_service_pb2.CreateRoomRequest, platform: PlatformId) -> RoomOpened | InvalidField:
    """The opening of the room that a platform wants to create. `InvalidField` for the first field with a bad value."""
    wrong = (
        name_fault("owner", request.owner)
        or text_fault("reference", request.reference, LONGEST_REFERENCE)
        or labels_fault(request.labels)
    )
    if wrong is not None:
        return wrong
    options = room_choice(request.choice)
    if isinstance(options, InvalidField):
        return options
    labels = tuple(Label(key, value) for key, value in sorted(request.labels.items()))
    return RoomOpened(platform, request.owner, options, request.reference, labels)


_NOT_ASKED: Final = DisbandReason.EXPIRED
"""The reason for a disband that only the server itself gives."""


def disband(request: room_service_pb2.DisbandRoomRequest) -> Disband | InvalidField:
    """The command to disband a match: who asks, why, and a remark. `InvalidField` for a bad value."""
    reason = _REASONS.get(request.reason)
    if reason is None:
        return choice_fault("reason", request.reason, tuple(_REASONS))
    wrong = text_fault("text", request.text, LONGEST_DISBAND_TEXT)
    if wrong is not None:
        return wrong
    return Disband(request.seat if request.HasField("seat") else Outside.PLATFORM, reason, request.text)


def lateness(request: room_service_pb2.CreateWatchTokenRequest) -> Lateness | InvalidField:
    """How late a spectator is to be told. `InvalidField` if the request says nothing of it, or names a wrong delay."""
    match request.WhichOneof("told"):
        case "delay":
            wrong = _duration_fault("delay", request.delay, 0, LONGEST_DELAY)
            milliseconds = request.delay.seconds * 1_000 + ceil(request.delay.nanos / 1_000_000)
            return wrong or Delayed(Milliseconds(milliseconds))
        case "settled_deals" if request.settled_deals:
            return SettledDeals()
        case _:
            return InvalidField("told", Bounds(Unit.ITEMS, 0, 1, 1))


def watch_lifetime(request: room_service_pb2.CreateWatchTokenRequest) -> Seconds | InvalidField:
    """How long a watch token is to be valid. `InvalidField` if that is too short or too long."""
    if not request.HasField("lifetime"):
        return LIFETIME
    wrong = _duration_fault("lifetime", request.lifetime, 1, LONGEST_WATCH)
    return wrong or Seconds(_seconds(request.lifetime))


def _duration_fault(path: str, duration: Duration, least: int, most: int) -> InvalidField | None:
    """Why a duration is refused; None if it has `least` to `most` seconds. A part of a second counts as a whole one."""
    given = _seconds(duration)
    return None if least <= given <= most else InvalidField(path, Bounds(Unit.SECONDS, given, least, most))


def _seconds(duration: Duration) -> int:
    return duration.seconds + (duration.nanos > 0) - (duration.nanos < 0)


def room_options(message: room_pb2.RoomOptions, path: str = "") -> RoomOptions | InvalidField:
    """The options of a room. 0 and unset mean the default. `InvalidField` for the first option that is out of range.

    `path` is the path of the options in the request, ending in a dot; the refusal names the field by it.
    """
    game = _game(message, path)
    if isinstance(game, InvalidField):
        return game
    length = _LENGTHS.get(message.deals)
    if length is None:
        return choice_fault(f"{path}deals", message.deals, tuple(_LENGTHS))
    payer = _PAYERS.get(message.payer)
    if payer is None:
        return choice_fault(f"{path}payer", message.payer, tuple(_PAYERS))
    start = _STARTS.get(message.start)
    if start is None:
        return choice_fault(f"{path}start", message.start, tuple(_STARTS))
    countdowns = _countdowns(message.countdowns, path)
    if isinstance(countdowns, InvalidField):
        return countdowns
    values: OptionValues = (game, length, payer, not message.no_review, countdowns, start, not message.no_hints)
    return RoomOptions(*values)


_DEFAULTS: Final = RoomOptions()
_DECKS: Final = {room_pb2.DECK_UNSPECIFIED: FourPlayer().deck} | reverse(DECKS)
_PAYERS: Final = {room_pb2.PAYER_UNSPECIFIED: _DEFAULTS.payer} | reverse(PAYERS)
_REASONS: Final = {stored: reason for stored, reason in reverse(DISBAND_REASONS).items() if reason is not _NOT_ASKED}
_STARTS: Final = {room_pb2.START_UNSPECIFIED: _DEFAULTS.start} | reverse(STARTS)
_LENGTHS: Final = {0: _DEFAULTS.length} | {length.value: length for length in Length}


def _game(message: room_pb2.RoomOptions, path: str) -> Game | InvalidField:
    match message.WhichOneof("game"):
        case "three_player":
            three: ThreePlayerValues = (message.three_player.joker_bonus, message.three_player.climb)
            return ThreePlayer(*three)
        case "four_player":
            deck = _DECKS.get(message.four_player.deck)
            if deck is None:
                return choice_fault(f"{path}four_player.deck", message.four_player.deck, tuple(_DECKS))
            four: FourPlayerValues = (deck,)
            return FourPlayer(*four)
        case None:
            return ThreePlayer()


def _countdowns(message: room_pb2.Countdowns, path: str) -> Countdowns | InvalidField:
    chosen: CountdownValues = (message.bid, message.trump, message.bury, message.play)
    for phase, seconds in zip(fields(Countdowns), chosen, strict=True):
        if seconds > LONGEST_COUNTDOWN:
            return InvalidField(f"{path}countdowns.{phase.name}", Bounds(Unit.SECONDS, seconds, 0, LONGEST_COUNTDOWN))
    defaults = _DEFAULTS.countdowns.values()
    return Countdowns(*(seconds or default for seconds, default in zip(chosen, defaults, strict=True)))
