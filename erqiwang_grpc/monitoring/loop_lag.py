"""The lag of the event loop: how much later than asked it comes back to work that is due.

Everything that a process does waits for it, so it is the first sign of a process that has too much to do.
"""

import asyncio
from typing import Final, final

from erqiwang_grpc.monitoring.histogram import Histogram

_EVERY_SECONDS: Final = 0.1


@final
class LoopLag:
    """Ten times a second it looks how late the loop is."""

    def __init__(self) -> None:
        self.seconds = Histogram()

    async def watch(self) -> None:
        """Look for ever."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _EVERY_SECONDS
            await asyncio.sleep(_EVERY_SECONDS)
            self.seconds.observe(max(0.0, loop.time() - due))
