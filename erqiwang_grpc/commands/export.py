"""`erqiwang export`: the records of matches as lines of JSON, checked against the core where that is asked for."""

import json
import sys
from argparse import Namespace
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, TextIO, final

from google.protobuf.json_format import MessageToDict

from erqiwang_grpc.archive.audit import mismatch
from erqiwang_grpc.archive.records import MatchRecord, match_record
from erqiwang_grpc.commands import data_folder, interrupts
from erqiwang_grpc.commands.arguments import Subparsers
from erqiwang_grpc.commands.data_folder import NoLog
from erqiwang_grpc.events.history import UnreadableEntry
from erqiwang_grpc.names import printable, printable_json
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import Damaged, Entry, RoomId, StoreReader, Unavailable

DONE: Final = 0
FAULTY: Final = 1
CANNOT_READ: Final = 2
_PAGE: Final = 200


def add_parser(subparsers: Subparsers) -> None:
    """Add `export`."""
    parser = subparsers.add_parser(
        "export",
        help="write the records of matches as lines of JSON",
        epilog="Also beside a running server. A deal in progress is not written. Status 1: a room is faulty.",
    )
    parser.add_argument("room", nargs="*", help="the ids of rooms (default: every match that was begun)")
    parser.add_argument("--platform", help="only matches of this platform")
    parser.add_argument(
        "--verify", action="store_true", help="have the core decide every command again, and compare what it says"
    )
    data_folder.add_data_option(parser)
    parser.set_defaults(run=run)


@final
@dataclass(slots=True)
class Tally:
    """What was written, and what was found faulty."""

    written: int = 0
    verified: int = 0
    faulty: int = 0


def run(arguments: Namespace) -> int:
    """Write to standard output; 1 where a room is damaged, unreadable or verified wrong, 2 where there is no log."""
    tally = Tally()
    try:
        interrupts.run(_export(arguments, tally, sys.stdout))
    except NoLog as none:
        print(f"erqiwang export: {none}", file=sys.stderr)
        return CANNOT_READ
    verified = f", {tally.verified} verified" if arguments.verify else ""
    print(f"{tally.written} written{verified}, {tally.faulty} faulty", file=sys.stderr)
    return FAULTY if tally.faulty else DONE


async def _export(arguments: Namespace, tally: Tally, out: TextIO) -> None:
    reader = await data_folder.reader(arguments.data)
    try:
        async for room in _rooms(reader, arguments.room):
            fault = _write(arguments, await reader.read(room), tally, out)
            if fault is not None:
                tally.faulty += 1
                print(f"room {printable(room)}: {fault}", file=sys.stderr)
    finally:
        await reader.close()


async def _rooms(reader: StoreReader, named: list[str]) -> AsyncIterator[RoomId]:
    for name in named:
        yield RoomId(name)
    last = RoomId("")
    while not named:
        page = await reader.rooms(last, _PAGE)
        if isinstance(page, Unavailable):
            raise NoLog(page.why)
        for room in page:
            yield room
        if len(page) < _PAGE:
            return
        last = page[-1]


def _write(arguments: Namespace, entries: tuple[Entry, ...] | Damaged, tally: Tally, out: TextIO) -> str | None:
    """Write the match of a room, if it is one that is asked for; what is wrong with the room, if anything is."""
    if isinstance(entries, Damaged):
        return f"from event {entries.version} on {entries.why}"
    if not entries:
        return "there is no such room"
    record = match_record(entries)
    if isinstance(record, UnreadableEntry):
        return f"event {record.version} cannot be read: {record.why}"
    if not _is_asked_for(arguments, record):
        return None
    out.write(line(record) + "\n")
    tally.written += 1
    return _verify(entries, tally) if arguments.verify else None


def _is_asked_for(arguments: Namespace, record: MatchRecord) -> bool:
    summary = record.summary
    return summary.started is not None and arguments.platform in (None, summary.opened.platform)


def _verify(entries: tuple[Entry, ...], tally: Tally) -> str | None:
    wrong = mismatch(entries)
    if wrong is not None:
        return f"from event {wrong.version} on the core decides otherwise: {wrong.why}"
    tally.verified += 1
    return None


def line(record: MatchRecord) -> str:
    """A record as one line of JSON, its fields named as in `record.proto`."""
    fields = MessageToDict(
        encode.match_record(record), preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return printable_json(json.dumps(fields, ensure_ascii=False, separators=(",", ":")))
