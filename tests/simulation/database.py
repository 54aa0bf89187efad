"""The store as a node reaches it: a memory store behind a network. Requests and answers take time, and some are lost.

A request that is on its way is carried out even if its node dies meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Final, TypeVar, final

from erqiwang_grpc.store import (
    NOTHING,
    START,
    AppendAnswer,
    Appended,
    BadCursor,
    Batch,
    Cursor,
    Damaged,
    Entry,
    Fed,
    Page,
    RoomId,
    Search,
    Store,
    Unavailable,
    Unsure,
    Version,
)
from tests.simulation.scene import Scene
from tests.store.passing_on import PassingOn

T = TypeVar("T")

_LATEST: Final = 4.0
"""Most seconds that an append which the node has given up may still be under way."""


@final
class Database(PassingOn):
    """`Store` of one node, on the memory store that all nodes share."""

    def __init__(self, scene: Scene, below: Store, node: str) -> None:
        super().__init__(below)
        self._scene = scene
        self._node = node

    @property
    def keeps_house(self) -> bool:
        return self._node in self._scene.keepers

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        scene, chances = self._scene, self._scene.chances

        def carried_out() -> AppendAnswer:
            answer = at_once(self._below.append(room, expected, batch))
            scene.trace.note(f"append {room[:4]} {expected}+{len(batch.bodies)} {batch.actor}: {answer}")
            if isinstance(answer, Appended):
                scene.ledger.take(room, expected, batch)
            return answer

        if scene.happens(chances.unavailable):
            await asyncio.sleep(scene.delay(chances.slow_store))
            return Unavailable("the database cannot be reached")
        if scene.happens(chances.unsure):
            # The connection is lost: before the request arrived, after it was carried out, or while it is still under way.
            fate = scene.luck.choice(("lost", "done", "late"))
            scene.trace.note(f"unanswered {room[:4]} {expected} {fate}")
            if fate == "done":
                await self._asked(carried_out)
            elif fate == "late":
                scene.loop.later(scene.database, scene.luck.random() * _LATEST, carried_out)
            return Unsure("the connection was lost")
        return await self._asked(carried_out)

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        return await self._asked(lambda: at_once(self._below.read(room, after)))

    async def feed(self, feed: str, after: Cursor, limit: int) -> tuple[Fed, ...] | BadCursor | Unavailable:
        if self._scene.happens(self._scene.chances.unavailable):
            return Unavailable("the database cannot be reached")
        return await self._asked(lambda: at_once(self._below.feed(feed, after, limit)))

    async def summaries(self, search: Search, limit: int, after: Cursor = START) -> Page | BadCursor | Unavailable:
        return await self._asked(lambda: at_once(self._below.summaries(search, limit, after)))

    async def _asked(self, work: Callable[[], T]) -> T:
        """The answer of the database, which takes its time to ask and to hear of."""
        scene, most = self._scene, self._scene.chances.slow_store
        process = scene.loop.running()
        answer: asyncio.Future[T] = scene.loop.create_future()

        def hear(given: T) -> None:
            if not answer.done():
                answer.set_result(given)

        def ask() -> None:
            scene.loop.later(process, scene.delay(most), hear, work())

        scene.loop.later(scene.database, scene.delay(most), ask)
        return await answer


def at_once(work: Coroutine[object, object, T]) -> T:
    """The result of a call of the memory store, which never waits."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("a memory store does not wait")
