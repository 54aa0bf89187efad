"""Compares a store with the events that a platform kept from `WatchRooms`.

Checksums chain the events of a room, but they hold no secret: anyone who can write the file can store other events with
a chain that fits. The platform's copy is beyond their reach, so it is the only proof of forgery.
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
    """An event that the platform was told, and its line number in the platform's file."""

    line: int
    event: pb.RoomEvent


@final
@dataclass(slots=True)
class Testimony:
    """All kept events by room and version, and the faults of the file itself."""

    rooms: dict[RoomId, dict[int, Kept]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def read(path: Path) -> Testimony:
    """The events in a file: one `RoomEvent` a line as proto JSON, in any order. A repeated event counts once.

    A line that is no `RoomEvent`, or that contradicts another, is a fault of the result. Raises `OSError`.
    """
    found = Testimony()
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            event = ParseDict(json.loads(line), pb.RoomEvent())
        except (ValueError, ParseError, RecursionError):
            found.faults.append(f"line {number} is no RoomEvent")
            continue
        event.ClearField("cursor")  # it differs between stores
        known = found.rooms.setdefault(RoomId(event.room_id), {}).setdefault(event.version, Kept(number, event))
        if known.event != event:
            found.faults.append(f"lines {known.line} and {number} contradict one another")
    return found


def contradictions(kept: dict[int, Kept], entries: tuple[Entry, ...], platform: str | None) -> Iterator[str]:
    """The differences between a room's entries and the events that a platform kept of it, as sentences.

    Neither may be empty. If `platform` is given, it must be the platform that opened the room. `WatchRooms` tells every
    public event in order, so the platform must also have kept every public event between two kept ones.
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
    """A sentence for each field in which two JSON values differ. `name` is the path to them from the event down."""
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
