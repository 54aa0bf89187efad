"""The keyboard: reads lines as they are typed, without blocking the event loop."""

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
    """The lines of standard input: a terminal, which edits them itself, a pipe or a file."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        # Nothing can interrupt a read of standard input, so it is done in a daemon thread, which does not keep the
        # process alive. The thread does not read `sys.stdin`, because it would hold its lock while Python shuts down.
        Thread(target=self._read, daemon=True).start()

    async def line(self) -> str | None:
        """The next line, without its line end; None at the end of the input."""
        return await self._lines.get()

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        begun = ""
        # The match may end, and the loop be closed, while the input goes on.
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
