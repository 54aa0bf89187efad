"""`erqiwang export`: writes the records of matches as lines of JSON and, if asked, checks them against the core."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO, final

from google.protobuf.json_format import MessageToDict

from erqiwang_grpc.archive.audit import mismatch
from erqiwang_grpc.archive.records import MatchRecord, match_record
from erqiwang_grpc.archive.summaries import Contradicted, checked
from erqiwang_grpc.commands import against, data_folder, interrupts, stores
from erqiwang_grpc.commands.against import Testimony
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.commands.stores import Readable
from erqiwang_grpc.events.history import UnreadableEntry
from erqiwang_grpc.names import printable, printable_json
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import Damaged, Entry, RoomId, StoreReader, Unavailable
from erqiwang_grpc.store.sqlite import SqliteReader
from erqiwang_grpc.store.sqlite.opening import make_private

DONE: Final = 0
FAULTY: Final = 1
CANNOT_READ: Final = 2
_PAGE: Final = 200


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `export`."""
    parser.epilog = "Also beside a running server. A deal in progress is not written. Status 1: a room is faulty."
    parser.add_argument("room", nargs="*", help="the ids of rooms (default: every match that was begun)")
    parser.add_argument("--platform", help="only matches of this platform")
    parser.add_argument("--to", type=Path, metavar="FILE", help="write to this new file, which only you can read")
    parser.add_argument(
        "--verify", action="store_true", help="have the core decide every command again, and compare what it says"
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FILE",
        help="compare with the RoomEvents that a platform kept from WatchRooms, a line of JSON each",
    )
    data_folder.add_data_option(parser)
    stores.add_store_option(parser)
    parser.set_defaults(run=run)


@final
@dataclass(slots=True)
class Tally:
    """The numbers of matches written and verified, and of faults found."""

    written: int = 0
    verified: int = 0
    faulty: int = 0

    def fault(self, *what: str) -> None:
        """Count one faulty room or file, and print what is wrong with it, one line for each fault."""
        self.faulty += 1
        for each in what:
            print(printable(each), file=sys.stderr)


def run(arguments: Namespace) -> int:
    """Write the records. Gives 1 if a room is damaged, unreadable or fails verification, 2 if there is no store."""
    tally = Tally()
    try:
        testimony = None if arguments.against is None else against.read(arguments.against)
        with _output(arguments.to) as out:
            interrupts.run(_export(arguments, testimony, tally, out))
    except BrokenPipeError:
        raise  # nobody reads the records any more
    except (NoStore, OSError) as error:
        print(f"erqiwang export: {error}", file=sys.stderr)
        return CANNOT_READ
    verified = f", {tally.verified} verified" if arguments.verify else ""
    print(f"{tally.written} written{verified}, {tally.faulty} faulty", file=sys.stderr)
    return FAULTY if tally.faulty else DONE


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    """The output for the records. A new file is readable only by its owner. Raises `OSError` if the file exists."""
    if path is None:
        yield sys.stdout
        return
    make_private(path)
    with path.open("w", encoding="utf-8") as out:
        yield out


async def _export(arguments: Namespace, testimony: Testimony | None, tally: Tally, out: TextIO) -> None:
    reader = await stores.reader(stores.place(arguments.store, arguments.data))
    kept = {} if testimony is None else dict(testimony.rooms)
    try:
        for fault in () if testimony is None else testimony.faults:
            tally.fault(f"{arguments.against}: {fault}")
        async for room in every_room(reader, arguments.room):
            entries = await reader.read(room)
            if isinstance(entries, Unavailable):
                raise NoStore(entries.why)
            faults = [*_write(arguments, entries, tally, out)]
            if isinstance(entries, tuple) and entries and room in kept:
                faults += against.contradictions(kept[room], entries, arguments.platform)
            if arguments.verify and isinstance(entries, tuple) and entries:
                faults += await _faults_of_summary(reader, room, entries)
            kept.pop(room, None)
            if faults:
                tally.fault(*(f"room {room}: {fault}" for fault in faults))
        if not arguments.room:
            for missing in kept:
                tally.fault(f"room {missing}: the platform was told of it, and it is not there")
            if arguments.verify:
                await _look_at_the_whole(reader, tally)
    finally:
        await reader.close()


async def _faults_of_summary(reader: StoreReader, room: RoomId, entries: tuple[Entry, ...]) -> tuple[str, ...]:
    """The faults of a room's summary. Empty too if it cannot be checked: the room is faulty itself then, or in play."""
    found = await checked(reader, room, entries)
    return (f"{found.why}: `erqiwang store rebuild` rebuilds it",) if isinstance(found, Contradicted) else ()


async def _look_at_the_whole(reader: Readable, tally: Tally) -> None:
    """Check the file or the tables, because what lists find rooms by may be damaged even if every room is sound."""
    found = await reader.faults()
    what = "file" if isinstance(reader, SqliteReader) else "database"
    for fault in (found.why,) if isinstance(found, Unavailable) else found:
        tally.fault(f"the {what}: {fault}")


async def every_room(reader: StoreReader, named: Sequence[str], page: int = _PAGE) -> AsyncIterator[RoomId]:
    """The named rooms, or all rooms if none is named. Raises `NoStore` if they cannot be listed."""
    for name in named:
        yield RoomId(name)
    last = RoomId("")
    while not named:
        rooms = await reader.rooms(last, page)
        if isinstance(rooms, Unavailable):
            raise NoStore(rooms.why)
        for room in rooms:
            yield room
        if len(rooms) < page:
            return
        last = rooms[-1]


def _write(arguments: Namespace, entries: tuple[Entry, ...] | Damaged, tally: Tally, out: TextIO) -> Iterator[str]:
    """Write the record of a room's match, if it was asked for, and give the faults of the room as sentences."""
    if isinstance(entries, Damaged):
        yield f"from event {entries.version} on {entries.why}"
        return
    if not entries:
        yield "there is no such room"
        return
    record = match_record(entries)
    if isinstance(record, UnreadableEntry):
        yield f"event {record.version} cannot be read: {record.why}"
        return
    if arguments.platform not in (None, record.summary.opened.platform):
        return
    if record.summary.started is not None:
        out.write(line(record) + "\n")
        tally.written += 1
    if arguments.verify:
        wrong = mismatch(entries)
        tally.verified += wrong is None
        if wrong is not None:
            yield f"from event {wrong.version} on the core decides otherwise: {wrong.why}"


def line(record: MatchRecord) -> str:
    """A record as one line of JSON. The field names are those of `record.proto`."""
    fields = MessageToDict(
        encode.match_record(record), preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    # The order of a map differs from process to process, but the same record must give the same line.
    fields["summary"]["labels"] = dict(sorted(fields["summary"]["labels"].items()))
    return printable_json(json.dumps(fields, ensure_ascii=False, separators=(",", ":")))
