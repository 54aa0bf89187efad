"""The connection on which a node tells the other nodes something and hears them: LISTEN and NOTIFY of the database."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, final

from erqiwang_grpc.store.postgres import failures
from erqiwang_grpc.store.postgres.connections import AnotherStoreError, Connection

log = logging.getLogger(__name__)

LARGEST: Final = 7_900
"""Most bytes of a notification. PostgreSQL refuses 8,000."""
_FIRST_DELAY: Final = 0.05
_LONGEST_DELAY: Final = 2.0
_QUIET_SECONDS: Final = 10.0
"""Seconds of silence after which the connection is tried: the network may have lost it without a word."""
_LAST_WORDS_SECONDS: Final = 1.0
"""How long a node that is closed may take to tell what waits."""


class Channel(Protocol):
    """One channel of notifications."""

    @property
    def name(self) -> str:
        """Its name in the database."""

    def due(self) -> list[str]:
        """The notifications that wait to be told. They are given once."""

    def hear(self, payload: object) -> None:
        """Take a notification in. Anybody may have sent it, so it may be anything. It never raises."""


Errand = Callable[[Connection], Awaitable[None]]
"""What is done on the connection once it is made, and about every ten seconds from then on."""


@final
class Notifications:
    """The channels of a node. A lost connection is made again; what was to be told over it is lost."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        failed: Callable[[], None],
        rung: asyncio.Event,
        channels: tuple[Channel, ...],
        errands: tuple[Errand, ...] = (),
    ) -> None:
        """`failed` is called when `connect` has raised. A channel that has something to tell sets `rung`."""
        self._connect = connect
        self._failed = failed
        self._rung = rung
        self._channels = channels
        self._errands = errands
        self._is_closing = False
        self.is_connected = asyncio.Event()
        """Set while other nodes are heard."""
        self._speaking = asyncio.create_task(self._speak())

    async def close(self) -> None:
        """Tell what waits, if that is possible at once, then stop hearing and telling."""
        self._is_closing = True
        self._rung.set()
        if self.is_connected.is_set():
            await asyncio.wait((self._speaking,), timeout=_LAST_WORDS_SECONDS)
        self._speaking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._speaking

    async def _speak(self) -> None:
        """Hear and tell, with a new connection whenever one is lost."""
        delay = _FIRST_DELAY
        while not self._is_closing:
            try:
                db = await self._connect()
            except (*failures.ERRORS, AnotherStoreError):
                # The connections that read and write tell whether the database is away. A node that is not played on
                # uses none of them for long.
                self._failed()
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
        for channel in self._channels:
            await db.add_listener(channel.name, _passing_on(channel))
        await self._run_errands(db)
        self.is_connected.set()
        loop = asyncio.get_running_loop()
        errands_at = loop.time() + _QUIET_SECONDS
        while not db.is_closed():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(errands_at):
                    await self._rung.wait()
            self._rung.clear()
            await self._tell(db)
            if self._is_closing:
                return
            if loop.time() >= errands_at:
                await self._run_errands(db)
                errands_at = loop.time() + _QUIET_SECONDS

    async def _tell(self, db: Connection) -> None:
        async with asyncio.timeout(_QUIET_SECONDS):
            for channel in self._channels:
                for payload in channel.due():
                    await db.execute("SELECT pg_notify($1, $2)", channel.name, payload)

    async def _run_errands(self, db: Connection) -> None:
        async with asyncio.timeout(_QUIET_SECONDS):
            await db.execute("SELECT 1")
            for errand in self._errands:
                await errand(db)


def _passing_on(channel: Channel) -> Callable[[object, int, str, object], None]:
    def hear(_connection: object, _process: int, _name: str, payload: object) -> None:
        channel.hear(payload)

    return hear


def packed(node: str, parts: list[str]) -> list[str]:
    """Notifications with these parts, as few as hold them. A part that is too long for one is left out.

    Each is a JSON list in ASCII: the name of the node, then parts.
    """
    most = LARGEST - len(node) - 8
    told: list[str] = []
    together: list[str] = []
    length = 0
    for part in parts:
        if len(part) >= most:
            continue
        if length + len(part) + 1 > most:
            told.append(_payload(node, together))
            together, length = [], 0
        together.append(part)
        length += len(part) + 1
    if together:
        told.append(_payload(node, together))
    return told


def _payload(node: str, parts: list[str]) -> str:
    return f'["{node}",{",".join(parts)}]'


def unpacked(payload: object) -> tuple[str, list[object]]:
    """The name of the node and the parts of a notification. Anybody may have sent it: without parts if it is none of ours."""
    if not isinstance(payload, str):
        return "", []
    try:
        told: object = json.loads(payload)
    except (ValueError, RecursionError):
        return "", []
    match told:
        case [str(node), *parts]:
            return node, parts
        case _:
            return "", []
