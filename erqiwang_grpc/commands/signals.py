"""What a service is told by signals, from its first moment on: to stop, and to read its files again."""

from __future__ import annotations

import asyncio
import logging
import signal
from asyncio import AbstractEventLoop
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Final, TypeVar, final

from erqiwang_grpc import held_signals
from erqiwang_grpc.commands import interrupts

log = logging.getLogger(__name__)

T = TypeVar("T")

_STOP: Final = (signal.SIGTERM, signal.SIGINT)


@final
class Signals:
    """The signals of a service. Make it first of all in its loop: what has come before is known to it."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._stopping: asyncio.Future[signal.Signals] = loop.create_future()
        self.hurry: Final = asyncio.Event()
        """Set by the second signal that tells the service to stop."""
        self._reload: Callable[[], None] | None = None
        self._is_reload_due = False
        held = held_signals.held()
        for stop in _STOP:
            loop.add_signal_handler(stop, self._stop, stop)
        loop.add_signal_handler(signal.SIGHUP, self._hang_up)
        for number in () if held is None else held.numbers:
            if number == signal.SIGHUP:
                self._hang_up()
            else:
                self._stop(signal.Signals(number))

    @property
    def stopping(self) -> asyncio.Future[signal.Signals]:
        """Done with the signal that tells the service to stop."""
        return self._stopping

    @property
    def status(self) -> int:
        """The exit status of a service that has stopped because it was told to."""
        stopped_by = self._stopping.result()
        return 128 + stopped_by if stopped_by is signal.SIGINT else 0

    def stopped_while_starting(self) -> int:
        """Log that the service was told to stop before it served; gives the exit status."""
        log.info("stopped while starting", extra={"why": self._stopping.result().name})
        return self.status

    def on_reload(self, reload: Callable[[], None]) -> None:
        """Call `reload` at each SIGHUP from now on, and once now if one came while the service started."""
        self._reload = reload
        if self._is_reload_due:
            reload()

    async def unless_stopped(self, work: Coroutine[object, object, T]) -> T | None:
        """The result of the work; None if the service is told to stop before, and the work is cancelled."""
        working = asyncio.create_task(work)
        await asyncio.wait((working, self._stopping), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        working.cancel()
        with suppress(asyncio.CancelledError):
            return await working
        return None

    def _stop(self, number: signal.Signals) -> None:
        if self._stopping.done():
            self.hurry.set()
        else:
            self._stopping.set_result(number)

    def _hang_up(self) -> None:
        if self._reload is None:
            self._is_reload_due = True
        else:
            self._reload()


def run(service: Coroutine[object, object, int], loop: Callable[[], AbstractEventLoop]) -> int:
    """Run a service to its end, as `interrupts.run` does. A signal that comes after that changes its status no more."""
    held = held_signals.held()
    try:
        return interrupts.run(service, loop)
    finally:
        if held is not None:
            # The loop has set them back to what they do by default, which is to end the process.
            for number in held_signals.HELD:
                signal.signal(number, held)
