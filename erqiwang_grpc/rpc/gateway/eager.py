"""Eager: work is begun at once, and becomes a task only if it has to wait.

A task costs a turn of the event loop and some tens of microseconds, and most commands never wait: the room's lock is
free, and a store in memory answers at once.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator


def begin(work: Coroutine[object, object, None]) -> asyncio.Task[None] | None:
    """Run `work` until it waits; gives the task that carries on with it, or None if it is done. Raises what it raises.

    Until it first waits, it runs in the caller's task. So it must not begin with what is bound to its task, such as
    `asyncio.timeout`.
    """
    try:
        awaited = work.send(None)
    except StopIteration:
        return None
    return asyncio.create_task(_carry_on(work, awaited))


async def _carry_on(work: Coroutine[object, object, None], awaited: object) -> None:
    await _rest(work, awaited)


@types.coroutine
def _rest(work: Coroutine[object, object, None], awaited: object) -> Generator[object, object, None]:
    """Wait for what `work` waits for, on its behalf, until it is done."""
    thrown: BaseException | None = None
    while True:
        try:
            sent = yield awaited
        except BaseException as error:  # noqa: BLE001  # the work must see all that is thrown in, a cancellation too
            thrown, sent = error, None
        try:
            awaited = work.send(sent) if thrown is None else work.throw(thrown)
        except StopIteration:
            return
        thrown = None
