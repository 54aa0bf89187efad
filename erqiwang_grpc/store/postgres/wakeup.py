"""Wakeups between nodes: hints travel as notifications of the database, and may be lost like all hints."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from typing import Final, final

from erqiwang_grpc.store.port import RoomId, Version
from erqiwang_grpc.store.postgres import failures
from erqiwang_grpc.store.postgres.connections import AnotherStoreError, Connection
from erqiwang_grpc.store.wakeup import ProcessWakeup

log = logging.getLogger(__name__)

CHANNEL: Final = "erqiwang"
_LARGEST: Final = 7_900
"""Most bytes of a notification. PostgreSQL refuses 8,000."""
_MOST_DUE: Final = 10_000
"""Most rooms whose hints wait for a database that is away. Beyond that hints are lost."""
_FIRST_DELAY: Final = 0.05
_LONGEST_DELAY: Final = 2.0
_QUIET_SECONDS: Final = 10.0
"""Seconds of silence after which the connection is tried: the network may have lost it without a word."""


@final
class PostgresWakeup:
    """`Wakeup` for all nodes on one database. Hints are gathered while one notification is under way."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connect = connect
        self._node = secrets.token_hex(8)
        """Marks this node's own notifications, which have been heard here already."""
        self._here = ProcessWakeup()
        self._due: dict[RoomId, Version] = {}
        self._rung = asyncio.Event()
        self.is_connected = asyncio.Event()
        """Set while other nodes are heard."""
        self._speaking = asyncio.create_task(self._speak())

    def hint(self, room: RoomId, version: Version) -> None:
        """Call all listeners here, and tell the other nodes soon."""
        self._here.hint(room, version)
        if len(self._due) < _MOST_DUE:
            self._due[room] = version
            self._rung.set()

    def listen(self, hear: Callable[[RoomId, Version], None]) -> AbstractContextManager[None]:
        """Call `hear` for every hint while in the context."""
        return self._here.listen(hear)

    async def close(self) -> None:
        """Stop hearing and telling. Hints that wait are lost."""
        self._speaking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._speaking

    async def _speak(self) -> None:
        """Hear and tell, with a new connection whenever one is lost."""
        delay = _FIRST_DELAY
        while True:
            try:
                db = await self._connect()
            except (*failures.ERRORS, AnotherStoreError):
                # Whether the database is away is told by the connections that read and write.
                await asyncio.sleep(delay)
                delay = min(2 * delay, _LONGEST_DELAY)
                continue
            delay = _FIRST_DELAY
            try:
                await self._converse(db)
            except (*failures.ERRORS, AnotherStoreError) as error:
                log.warning("wakeups interrupted", extra={"why": failures.sentence(error)})
            finally:
                self.is_connected.clear()
                db.terminate()

    async def _converse(self, db: Connection) -> None:
        db.add_termination_listener(lambda _: self._rung.set())
        await db.add_listener(CHANNEL, self._hear)
        self.is_connected.set()
        while not db.is_closed():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_QUIET_SECONDS):
                    await self._rung.wait()
            self._rung.clear()
            due, self._due = self._due, {}
            async with asyncio.timeout(_QUIET_SECONDS):
                for payload in payloads(self._node, due):
                    await db.execute("SELECT pg_notify($1, $2)", CHANNEL, payload)
                if not due:
                    await db.execute("SELECT 1")

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        for room, version in heard(self._node, payload):
            self._here.hint(room, version)


def payloads(node: str, due: dict[RoomId, Version]) -> list[str]:
    """The notifications that tell these hints, none of them too long."""
    told: list[str] = []
    parts: list[str] = []
    length = 0
    for room, version in due.items():
        part = json.dumps([room, version])  # in ASCII: any character may stand in a room's id, the character zero too
        if length + len(part) + 1 > _LARGEST - len(node) - 8 and parts:
            told.append(_payload(node, parts))
            parts, length = [], 0
        if len(part) < _LARGEST - len(node) - 8:
            parts.append(part)
            length += len(part) + 1
    if parts:
        told.append(_payload(node, parts))
    return told


def _payload(node: str, parts: list[str]) -> str:
    return f'["{node}",{",".join(parts)}]'


def heard(node: str, payload: object) -> Iterator[tuple[RoomId, Version]]:
    """The hints of other nodes in a notification. Anybody may have sent it, so whatever is no hint is passed over."""
    if not isinstance(payload, str):
        return
    try:
        told: object = json.loads(payload)
    except (ValueError, RecursionError):
        return
    match told:
        case [str(sender), *hints] if sender != node:
            for hint in hints:
                match hint:
                    case [str(room), int(version)]:
                        yield RoomId(room), Version(version)
                    case _:
                        pass
        case _:
            pass
