"""Runs a coroutine so that Ctrl-C ends it without a traceback."""

import asyncio
import atexit
import os
import signal
import threading
from asyncio import AbstractEventLoop
from collections.abc import Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")


def run(work: Coroutine[object, object, T], loop: Callable[[], AbstractEventLoop] | None = None) -> T:
    """Run `work` as `asyncio.run` does, on the loop that `loop` makes. Raises `KeyboardInterrupt` after Ctrl-C.

    The first Ctrl-C cancels the work, so that it cleans up. A second one ends the process at once; Python would raise
    it in the middle of the loop, and print errors. After Ctrl-C other errors are not raised, because they are its
    result: for example, a child process may have been ended by the same Ctrl-C.
    """
    pass_while_python_exits()
    interrupted = False

    async def interruptible() -> T:
        task = asyncio.current_task()
        assert task is not None, "a coroutine that a loop runs is a task"

        def interrupt() -> None:
            nonlocal interrupted
            if interrupted:
                os._exit(128 + signal.SIGINT)
            interrupted = True
            task.cancel()

        if _takes_signals():
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt)
        return await work

    try:
        with asyncio.Runner(loop_factory=loop) as runner:
            result = runner.run(interruptible())
    except (Exception, asyncio.CancelledError) as error:
        if interrupted:
            raise KeyboardInterrupt from error
        raise
    finally:
        work.close()
    if interrupted:
        raise KeyboardInterrupt
    return result


def pass_while_python_exits() -> None:
    """Let Ctrl-C do nothing once Python exits, and the status be what it is by then.

    Python gives signals back to the system as it exits. So a second Ctrl-C would end the process by the signal, which is
    not the status of the first one.
    """
    if _takes_signals():
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def _takes_signals() -> bool:
    """Whether this thread handles signals and Ctrl-C is not ignored, as it is for a background job of a shell."""
    return threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) != signal.SIG_IGN
