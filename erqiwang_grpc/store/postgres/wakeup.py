"""Wakeups between nodes: hints travel as notifications of the database, and may be lost like all hints."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Final, final

from erqiwang_grpc.store.port import RoomId, Version
from erqiwang_grpc.store.postgres.notifications import packed, unpacked
from erqiwang_grpc.store.wakeup import ProcessWakeup

CHANNEL: Final = "erqiwang"
_MOST_DUE: Final = 10_000
"""Most rooms whose hints wait for a database that is away. Beyond that hints are lost."""


@final
class PostgresWakeup:
    """`Wakeup` for all nodes on one database. Hints are gathered while one notification is under way."""

    name: Final = CHANNEL

    def __init__(self, rung: asyncio.Event) -> None:
        """Sets `rung` when a hint waits to be told."""
        self._rung = rung
        self._node = secrets.token_hex(8)
        """Marks this node's own notifications, which have been heard here already."""
        self._here = ProcessWakeup()
        self._due: dict[RoomId, Version] = {}

    def hint(self, room: RoomId, version: Version) -> None:
        """Call all listeners here, and tell the other nodes soon."""
        self._here.hint(room, version)
        if len(self._due) < _MOST_DUE:
            self._due[room] = version
            self._rung.set()

    def listen(self, hear: Callable[[RoomId, Version], None]) -> AbstractContextManager[None]:
        """Call `hear` for every hint while in the context."""
        return self._here.listen(hear)

    def due(self) -> list[str]:
        """The notifications that tell the hints that wait."""
        due, self._due = self._due, {}
        return payloads(self._node, due)

    def hear(self, payload: object) -> None:
        """Call all listeners here for the hints of other nodes in a notification."""
        for room, version in heard(self._node, payload):
            self._here.hint(room, version)


def payloads(node: str, due: dict[RoomId, Version]) -> list[str]:
    """The notifications that tell these hints, none of them too long."""
    # In ASCII: any character may stand in a room's id, the character zero too.
    return packed(node, [json.dumps([room, version]) for room, version in due.items()])


def heard(node: str, payload: object) -> Iterator[tuple[RoomId, Version]]:
    """The hints of other nodes in a notification. Anybody may have sent it, so whatever is no hint is passed over."""
    sender, hints = unpacked(payload)
    for hint in hints if sender != node else ():
        match hint:
            case [str(room), int(version)]:
                yield RoomId(room), Version(version)
            case _:
                pass
