"""An event loop that is wholly seeded: one random source decides what runs next, and time passes only when nothing can run.

Every callback belongs to a process: a node, the database, the clients. A process dies between two callbacks, which is between two
awaits of its tasks; then nothing of it runs ever again. One that is stopped goes on later, and finds everything late.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from heapq import heappop, heappush
from random import Random
from typing import Final, TypeVar, TypeVarTuple, Unpack, final

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_PROCESS: Final[ContextVar[Process]] = ContextVar("process")
"""The process that runs now. A task inherits it, and a callback brings it along."""


@final
class Process:
    """What lives and dies together."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready: deque[asyncio.Handle] = deque()
        self.is_dead = False
        self.is_stopped = False
        self.fuse: int | None = None
        """How many more callbacks it runs before it dies; None if it does not."""
        self.at_death: list[Callable[[], None]] = []
        self.context = copy_context()
        self.context.run(_PROCESS.set, self)


@final
class SeededLoop(asyncio.BaseEventLoop):
    """Runs the callbacks of several processes in an order that its random source decides.

    `in_turn`: each process runs its own callbacks in the order they came, as asyncio does; else in any order.
    """

    def __init__(self, luck: Random, *, in_turn: bool, broken: Callable[[str], None]) -> None:
        super().__init__()
        self.set_debug(False)
        self.steps = 0
        """The number of callbacks that were run."""
        self._luck = luck
        self._in_turn = in_turn
        self._broken = broken
        self._seconds = 0.0
        self._processes: list[Process] = []
        self._timers: list[tuple[float, int, Process, asyncio.TimerHandle]] = []
        self._count = 0
        self._made: list[asyncio.Task[object]] = []
        """All tasks, so that none is collected, and closed by that, before the end."""
        self._is_stopping = False
        self._is_over = False

    # Processes

    def process(self, name: str) -> Process:
        """A new process."""
        process = Process(name)
        self._processes.append(process)
        return process

    def kill(self, process: Process) -> None:
        """Let nothing of the process run any more."""
        process.is_dead = True
        process.ready.clear()
        self._processes.remove(process)
        for tell in process.at_death:
            tell()

    def start(self, process: Process, work: Coroutine[object, object, T]) -> asyncio.Task[T]:
        """Start a task of a process."""
        return self.create_task(work, context=process.context)

    def begin(self, process: Process, work: Coroutine[object, object, object]) -> None:
        """Start a task of a process that nobody waits for."""
        _ = self.start(process, work)

    def later(self, process: Process, seconds: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts) -> None:
        """Have a process call something after so many seconds."""
        self.call_at(self._seconds + seconds, callback, *args, context=process.context)

    @staticmethod
    def running() -> Process:
        """The process that runs now."""
        return _PROCESS.get()

    # What asyncio asks of a loop

    def time(self) -> float:
        return self._seconds

    def call_soon(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        if not self._is_over:
            process = _PROCESS.get() if context is None else context[_PROCESS]
            if not process.is_dead:
                process.ready.append(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        if not self._is_over:
            process = _PROCESS.get() if context is None else context[_PROCESS]
            if not process.is_dead:
                self._count += 1
                heappush(self._timers, (when, self._count, process, handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """It stays in the queue until its time, and is passed over then."""

    def create_task(
        self,
        coro: Generator[object, None, T] | Coroutine[object, object, T],
        *,
        name: object = None,
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        task = super().create_task(coro, name=name, context=context)
        self._made.append(task)
        return task

    def run_in_executor(
        self,
        executor: object,  # noqa: ARG002  # as asyncio calls it
        func: Callable[[Unpack[Ts]], T],
        *args: *Ts,
    ) -> asyncio.Future[T]:
        """Work beside the loop is done a little later, in the process that asked for it."""
        done: asyncio.Future[T] = self.create_future()

        def work() -> None:
            try:
                result = func(*args)
            except Exception as error:  # noqa: BLE001  # whoever waits for it gets it
                done.set_exception(error)
            else:
                done.set_result(result)

        self.later(self.running(), self._luck.random() / 10, work)
        return done

    def call_exception_handler(self, context: dict[str, object]) -> None:
        if not self._is_over:
            self._broken(f"{context.get('message')}: {context.get('exception')!r}")

    # Running

    def _run_once(self) -> None:
        self._is_stopping = False
        while not self._is_stopping:
            can_run = [process for process in self._processes if process.ready and not process.is_stopped]
            if can_run:
                self._run_one(can_run[0] if len(can_run) == 1 else self._luck.choice(can_run))
            elif self._timers:
                self._pass_time()
            else:
                self._broken("nothing is left to run")

    def stop(self) -> None:
        super().stop()
        self._is_stopping = True

    def _run_one(self, process: Process) -> None:
        ready = process.ready
        if not self._in_turn and len(ready) > 1:
            ready.rotate(self._luck.randrange(len(ready)))
        handle = ready.popleft()
        if handle.cancelled():
            return
        self.steps += 1
        handle._run()
        if process.fuse is not None and not process.is_dead:
            process.fuse -= 1
            if process.fuse <= 0:
                self.kill(process)

    def _pass_time(self) -> None:
        """Go on to the time of the next timers, which are ready then."""
        self._seconds = max(self._seconds, self._timers[0][0])
        while self._timers and self._timers[0][0] <= self._seconds:
            _, _, process, handle = heappop(self._timers)
            if not (process.is_dead or handle.cancelled()):
                process.ready.append(handle)

    def end(self) -> None:
        """Close everything that is still under way, and the loop. What failed unnoticed in a task is found here."""
        for task in self._made:
            if task.done() and not task.cancelled() and task.exception() is not None:
                self._broken(f"a task failed: {task.exception()!r}")
        self._is_over = True
        self.close()
        for task in self._made:
            if not task.done():
                with suppress(RuntimeError):  # one that wants to wait once more
                    task.get_coro().close()
        self._made.clear()
        self._timers.clear()
