"""What a platform kept of `WatchRooms`, held against a store: the only witness that is not in the hands of who wrote the file.

The checksums of a room are chained, but nothing in the file is secret: who can write it can make a whole new chain that says
something else. What the platform was told when it happened, that cannot be changed afterwards.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final, final

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from erqiwang_grpc import events as stored
from erqiwang_grpc.events import Unreadable
from erqiwang_grpc.events.index import is_public
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import Entry, RoomId
from erqiwang_grpc.v1 import room_service_pb2 as pb

_NOTHING: Final = "nothing"


@final
@dataclass(frozen=True, slots=True)
class Kept:
    """An event that the platform was told, and the line of the file that it stands in."""

    line: int
    event: pb.RoomEvent


@final
@dataclass(slots=True)
class Testimony:
    """All that was kept, by room and version, and what is wrong with the file itself."""

    rooms: dict[RoomId, dict[int, Kept]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def read(path: Path) -> Testimony:
    """The file: one `RoomEvent` a line, as proto JSON; in any order, and an event that stands twice counts once."""
    found = Testimony()
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            event = ParseDict(json.loads(line), pb.RoomEvent())
        except (ValueError, ParseError, RecursionError):
            found.faults.append(f"line {number} is no RoomEvent")
            continue
        event.ClearField("cursor")  # a place in a store, which changes with it
        known = found.rooms.setdefault(RoomId(event.room_id), {}).setdefault(event.version, Kept(number, event))
        if known.event != event:
            found.faults.append(f"lines {known.line} and {number} contradict one another")
    return found


def contradictions(kept: dict[int, Kept], entries: tuple[Entry, ...], platform: str | None) -> Iterator[str]:
    """What the store says otherwise of a room than the platform was told, and whether the room is that platform's, if one is named.

    `WatchRooms` tells events in order and leaves none out, so one that stands between two that were kept was kept too.
    """
    told = dict(_told(entries))
    opened = stored.read(entries[0].body, entries[0].rules_version)
    if platform is not None and isinstance(opened, RoomOpened) and opened.platform != platform:
        yield f"it is {opened.platform!r}'s, and {platform!r} was told of it"
    for version in sorted(kept.keys() | {each for each in told if min(kept) < each < max(kept)}):
        if version not in kept:
            kind = told[version].WhichOneof("event")
            yield f"event {version} ({kind}) was never told, though later ones were"
        elif version not in told:
            yield f"event {version} ({kept[version].event.WhichOneof('event')}, line {kept[version].line}) is not there"
        else:
            for said in _differences(_fields(kept[version].event), _fields(told[version]), ""):
                yield f"event {version} (line {kept[version].line}): {said}"


def _told(entries: tuple[Entry, ...]) -> Iterator[tuple[int, pb.RoomEvent]]:
    first = stored.read(entries[0].body, entries[0].rules_version)
    opened = first if isinstance(first, RoomOpened) else None
    for entry in entries:
        event = stored.read(entry.body, entry.rules_version)
        if not isinstance(event, Unreadable) and is_public(event):
            yield entry.version, encode.room_event(entry, event, opened, "")


def _fields(event: pb.RoomEvent) -> object:
    return MessageToDict(event, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)


def _differences(kept: object, stored: object, name: str) -> Iterator[str]:
    """Every field in which the two differ, with what was told and what is stored."""
    match kept, stored:
        case dict(), dict():
            for key in dict.fromkeys(chain(kept, stored)):
                yield from _differences(kept.get(key, _NOTHING), stored.get(key, _NOTHING), f"{name}.{key}".lstrip("."))
        case list(), list() if len(kept) == len(stored):
            for number, (one, other) in enumerate(zip(kept, stored, strict=True)):
                yield from _differences(one, other, f"{name}[{number}]")
        case _:
            if kept != stored:
                yield f"{name} was told as {kept!r} and is stored as {stored!r}"
