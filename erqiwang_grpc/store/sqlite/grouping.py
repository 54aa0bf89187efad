"""Groups of appends on their way to the writing thread: one crossing and one flush a group.

Each crossing of threads and each flush costs more than writing one more batch. So appends that come during a flush are
the next group. Where many rooms append, a group also waits a moment before it goes, so that more come along.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeAlias, final

from erqiwang_grpc.store.batches import Prepared
from erqiwang_grpc.store.port import AppendAnswer

_MOMENT: Final = 0.004
"""Seconds between two groups that go while appends come together. At 500 appends a second a group has about
two, and writing two together costs each a tenth less than writing it alone, beside the crossing that is saved."""
_STILL_TOGETHER: Final = 16
"""For how many appends the store gathers after one that came while another waited. One seat that waits for each answer
before it appends again never makes another wait, so it is never delayed."""

Waiting: TypeAlias = tuple[Prepared, asyncio.Future[AppendAnswer]]


@final
class Groups:
    """The appends that wait. Use it only in the event loop that it is given."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        writer: ThreadPoolExecutor,
        commit: Callable[[Sequence[Prepared]], list[AppendAnswer]],
        committed: Callable[[], None],
    ) -> None:
        """`commit` writes a group; the writing thread calls it. `committed` is called in the event loop after that."""
        self._loop = loop
        self._writer = writer
        self._commit = commit
        self._committed = committed
        self._waiting: list[Waiting] = []
        self._is_under_way = False
        """Whether a group is being written, or waits for its moment."""
        self._last_went = 0.0
        self._together = 0
        self._all_done = asyncio.Event()
        self._all_done.set()

    def add(self, prepared: Prepared) -> asyncio.Future[AppendAnswer]:
        """Add an append to the next group; gives the answer to come."""
        answer: asyncio.Future[AppendAnswer] = self._loop.create_future()
        self._together = _STILL_TOGETHER if self._is_under_way else max(0, self._together - 1)
        self._waiting.append((prepared, answer))
        if not self._is_under_way:
            self._is_under_way = True
            self._all_done.clear()
            self._go_in_a_moment()
        return answer

    async def done(self) -> None:
        """Return when no append waits or is being written."""
        await self._all_done.wait()

    def _go_in_a_moment(self) -> None:
        due = self._last_went + _MOMENT
        if self._together and due > self._loop.time():
            self._loop.call_at(due, self._go)
        else:
            self._go()

    def _go(self) -> None:
        group, self._waiting = self._waiting, []
        self._last_went = self._loop.time()
        written = self._writer.submit(self._commit, [prepared for prepared, _ in group])
        written.add_done_callback(lambda done: self._loop.call_soon_threadsafe(self._answer, group, done))

    def _answer(self, group: list[Waiting], written: Future[list[AppendAnswer]]) -> None:
        # Every caller is told of a bug, because an append without an answer would be worse.
        error = written.exception()
        for index, (_, waiter) in enumerate(group):
            if waiter.done():
                continue  # its caller was cancelled
            if error is None:
                waiter.set_result(written.result()[index])
            else:
                waiter.set_exception(error)
        self._go_on()

    def _go_on(self) -> None:
        self._committed()
        if self._waiting:
            self._go_in_a_moment()
        else:
            self._is_under_way = False
            self._all_done.set()
