"""The keyboard: lines as they are typed, while everything else goes on."""

import asyncio
import sys
from threading import Thread
from typing import final


@final
class Keyboard:
    """Lines of standard input. A terminal edits them itself; a pipe or a file serves as well."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        # A thread of its own that nobody waits for: nothing interrupts a read of standard input.
        Thread(target=self._read, daemon=True).start()

    async def line(self) -> str | None:
        """The next line without its end; None once there are no more."""
        return await self._lines.get()

    def _read(self) -> None:
        for line in sys.stdin:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line.rstrip("\n"))
        self._loop.call_soon_threadsafe(self._lines.put_nowait, None)
