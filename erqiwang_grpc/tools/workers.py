"""Work that is shared out among processes. Ctrl-C is nothing to them, and they end as soon as their parent is gone.

A worker is this module run as a program. It is told the work on its standard input, then one part after another, and
answers each part on its standard output, all pickled. Python's own pools do not do that: their workers print tracebacks
at Ctrl-C while they start, and go on for a while after their parent was killed.
"""

import os
import pickle
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import IO, Final, Generic, TypeVar, final

Part = TypeVar("Part")
Result = TypeVar("Result")

_ORPHANED: Final = 1
"""The exit status of a worker whose parent is gone. Nobody is there to see it."""


class WorkerEnded(Exception):
    """A process ended before its work was done. If the work raised an error, the process has printed it."""


def shared_out(work: Callable[[Part], Result], parts: Sequence[Part], processes: int) -> Generator[Result, None, None]:
    """Do the work on each part, in that number of processes at most; gives the results in the order of the parts.

    `work`, the parts and the results are pickled. In one process, the work is done in this one. Raises `WorkerEnded`.
    """
    number = min(processes, len(parts))
    if number <= 1:
        yield from map(work, parts)
        return
    with _started(work, number) as workers:
        yield from _results(workers, parts)


@final
class _Worker(Generic[Part, Result]):
    """A process, and the number of the part that it has."""

    def __init__(self, work: Callable[[Part], Result]) -> None:
        # What is blocked as a process starts stays blocked in it. So Ctrl-C, which a terminal sends to all of them, ends
        # this process alone, and this process ends the others.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.part = 0
        self._tell(work)

    @property
    def results(self) -> IO[bytes]:
        """Where a result can be read. While the worker works, nothing is there."""
        return _pipe(self._process.stdout)

    def give(self, number: int, part: Part) -> None:
        """Let it work on the part of that number. Raises `WorkerEnded`."""
        self.part = number
        self._tell(part)

    def result(self) -> Result:
        """Its result. Raises `WorkerEnded`."""
        try:
            result: Result = pickle.load(self.results)
        except (EOFError, pickle.UnpicklingError):
            raise self._ended() from None
        return result

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def close(self) -> None:
        """Wait until it has ended."""
        self._process.wait()
        self.results.close()
        with suppress(BrokenPipeError):  # where something could not be written
            _pipe(self._process.stdin).close()

    def _tell(self, told: object) -> None:
        written = pickle.dumps(told)
        try:
            _pipe(self._process.stdin).write(written)
            _pipe(self._process.stdin).flush()
        except BrokenPipeError:
            raise self._ended() from None

    def _ended(self) -> WorkerEnded:
        return WorkerEnded(f"a process ended before its work was done, with status {self._process.wait()}")


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    assert end is not None, "it was asked for"
    return end


@contextmanager
def _started(work: Callable[[Part], Result], number: int) -> Iterator[list[_Worker[Part, Result]]]:
    workers: list[_Worker[Part, Result]] = []
    try:
        while len(workers) < number:
            workers.append(_Worker(work))
        yield workers
    finally:
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.close()


def _results(workers: list[_Worker[Part, Result]], parts: Sequence[Part]) -> Iterator[Result]:
    """The results in order. Each worker has one part at a time."""
    waiting = iter(enumerate(parts))
    found: dict[int, Result] = {}
    with selectors.DefaultSelector() as selector:
        for worker, (number, part) in zip(workers, waiting, strict=False):
            worker.give(number, part)
            selector.register(worker.results, selectors.EVENT_READ, worker)
        for number in range(len(parts)):
            while number not in found:
                for key, _ in selector.select():
                    ready: _Worker[Part, Result] = key.data
                    found[ready.part] = ready.result()
                    for its_next in waiting:
                        ready.give(*its_next)
                        break
            yield found.pop(number)


def _work() -> None:
    """Work on what the parent tells until it is gone."""
    told: SimpleQueue[object] = SimpleQueue()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the work prints is no answer
    threading.Thread(target=_listen, args=(told,), daemon=True).start()
    work = told.get()
    assert callable(work)
    while True:
        answer = pickle.dumps(work(told.get()))
        try:
            answers.write(answer)
            answers.flush()
        except BrokenPipeError:
            os._exit(_ORPHANED)


def _listen(told: SimpleQueue[object]) -> None:
    """Pass on what the parent tells. Its end is noticed here, also in the middle of a long work."""
    # Not `sys.stdin`, which Python closes as it exits, and cannot while this thread reads it.
    orders = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    try:
        while True:
            told.put(pickle.load(orders))
    except EOFError:
        os._exit(_ORPHANED)


if __name__ == "__main__":
    _work()
