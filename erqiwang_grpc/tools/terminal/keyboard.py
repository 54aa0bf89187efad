"""The keyboard: lines as they are typed, while everything else goes on."""

import asyncio
import codecs
import contextlib
import os
from threading import Thread
from typing import Final, final

_STANDARD_INPUT: Final = 0
_BYTES: Final = 4096


@final
class Keyboard:
    """Lines of standard input. A terminal edits them itself; a pipe or a file serves as well."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        # A thread of its own that nobody waits for: nothing interrupts a read of standard input. It reads the file
        # itself, not `sys.stdin`, whose lock it would hold while Python closes.
        Thread(target=self._read, daemon=True).start()

    async def line(self) -> str | None:
        """The next line without its end; None once there are no more."""
        return await self._lines.get()

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        begun = ""
        # The loop may be closed before the last line is read.
        with contextlib.suppress(OSError, RuntimeError):
            while read := os.read(_STANDARD_INPUT, _BYTES):
                *lines, begun = (begun + decoder.decode(read)).split("\n")
                for line in lines:
                    self._put(line.rstrip("\r"))
        with contextlib.suppress(RuntimeError):
            if begun:
                self._put(begun)
            self._put(None)

    def _put(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
