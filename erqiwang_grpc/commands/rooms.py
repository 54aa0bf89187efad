"""`erqiwang rooms`: lists a platform's rooms on a running server, shows one, or disbands one."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from google.protobuf.json_format import MessageToJson
from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc.client import CallRefused, Platform
from erqiwang_grpc.commands import folding, interrupts, server_arguments
from erqiwang_grpc.commands.arguments import BadArguments
from erqiwang_grpc.names import printable, printable_json
from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb, settlement_pb2, view_pb2

DONE: Final = 0
REFUSED: Final = 1
NOT_ASKED: Final = 2

_STATES: Final = {name.removeprefix("ROOM_STATE_").lower(): number for name, number in room_pb2.RoomState.items()}
_REASONS: Final = {
    name.removeprefix("DISBAND_REASON_").lower(): number
    for name, number in settlement_pb2.DisbandReason.items()
    # Only the server gives the one, and the other is given by leaving the option out.
    if number not in (settlement_pb2.DISBAND_REASON_EXPIRED, settlement_pb2.DISBAND_REASON_UNSPECIFIED)
}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `rooms`."""
    parser.epilog = "Only the rooms of the platform whose key is given. Status 1: the server refused, or does not answer. Status 2: it was not asked."
    actions = parser.add_subparsers(metavar="action", required=True)
    listing = actions.add_parser("list", help="list rooms, newest first")
    listing.add_argument("--state", choices=[state for state in _STATES if state != "unspecified"], help="only these")
    listing.add_argument("--player", default="", help="only rooms where this player sits")
    listing.add_argument("--reference", default="", help="only rooms with this reference of the platform's own")
    _finish(listing, _list)
    show = actions.add_parser("show", help="show one room")
    show.add_argument("room", help="its id")
    _finish(show, _show)
    disband = actions.add_parser("disband", help="end a room now; every seat is told, and no deal in progress counts")
    disband.add_argument("room", help="its id")
    disband.add_argument(
        "--reason", choices=list(_REASONS), metavar="REASON", help=f"why, as every seat is told: {', '.join(_REASONS)}"
    )
    disband.add_argument("--text", default="", help="a sentence that every seat is told too")
    _finish(disband, _disband)


def _finish(action: ArgumentParser, ask: Callable[[Namespace, Platform], Awaitable[list[pb.Room]]]) -> None:
    action.add_argument("--json", action="store_true", help="print each room whole, as a line of JSON")
    server_arguments.add_server_options(action)
    server_arguments.add_key_option(action)
    action.set_defaults(parser=action, run=lambda arguments: run(arguments, ask))


def run(arguments: Namespace, ask: Callable[[Namespace, Platform], Awaitable[list[pb.Room]]]) -> int:
    """Ask the server and print the rooms. Gives 1 if it refuses or does not answer, 2 if it cannot be asked."""
    try:
        rooms = interrupts.run(_asked(arguments, ask))
    except BadArguments as bad:
        print(f"erqiwang rooms: {bad}", file=sys.stderr)
        return NOT_ASKED
    except CallRefused as refused:
        print(f"erqiwang rooms: {server_arguments.refused(refused, arguments.server)}", file=sys.stderr)
        return REFUSED
    if arguments.json:
        for room in rooms:
            print(printable_json(MessageToJson(room, indent=None, ensure_ascii=False)))
    else:
        folding.say(map(told, rooms), indent=2)
    return DONE


async def _asked(arguments: Namespace, ask: Callable[[Namespace, Platform], Awaitable[list[pb.Room]]]) -> list[pb.Room]:
    async with server_arguments.platform(arguments) as platform:
        return await ask(arguments, platform)


async def _list(arguments: Namespace, platform: Platform) -> list[pb.Room]:
    state = _STATES[arguments.state or "unspecified"]
    return await platform.rooms(state, arguments.player, reference=arguments.reference)


async def _show(arguments: Namespace, platform: Platform) -> list[pb.Room]:
    return [await platform.room(arguments.room)]


async def _disband(arguments: Namespace, platform: Platform) -> list[pb.Room]:
    reason = settlement_pb2.DISBAND_REASON_UNSPECIFIED if arguments.reason is None else _REASONS[arguments.reason]
    answer = await platform.disband_room(arguments.room, reason=reason, text=arguments.text)
    return [answer.room]


def told(room: pb.Room) -> str:
    """A room in one line: its id, state, seats and scores, the deal, the seats it waits for, and its last event."""
    return "  ".join(filter(None, _parts(room)))


def _parts(room: pb.Room) -> Iterable[str]:
    yield room.room_id
    yield room_pb2.RoomState.Name(room.state).removeprefix("ROOM_STATE_").lower()
    if room.quarantined:
        yield "set apart"
    if room.deal:
        yield f"deal {room.deal}, {view_pb2.Phase.Name(room.phase).removeprefix('PHASE_').lower()}"
    yield ", ".join(_seat(room, seat) for seat in room.seats)
    if room.to_act:
        yield f"waits for {', '.join(map(str, room.to_act))}"
    yield f"version {room.version}"
    yield f"last event {_time(room.last_event_time)}"
    if room.reference:
        yield f"reference {printable(room.reference)}"


def _seat(room: pb.Room, seat: pb.SeatStatus) -> str:
    if not seat.player:
        return f"{seat.seat} free"
    score = f" {room.totals[seat.seat]:+}" if room.deal else ""
    away = "" if seat.present or room.state != room_pb2.ROOM_STATE_PLAYING else " (away)"
    return f"{seat.seat} {printable(seat.player)}{score}{away}"


def _time(at: Timestamp) -> str:
    """A time in UTC, to the second."""
    return at.ToDatetime().strftime("%Y-%m-%d %H:%M:%S")
