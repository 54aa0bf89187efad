"""A terminal for a test: a process on a pty, what it has written, and lines typed at it."""

import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

PATIENCE_SECONDS = 60.0
ESCAPE = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[78])")


class Terminal:
    """The screen side of a pty with a process on it."""

    def __init__(self, process: subprocess.Popen[bytes], screen: int) -> None:
        self.process = process
        self.raw = ""
        self._screen = screen
        self._read = 0

    @property
    def text(self) -> str:
        """Everything written so far, without escape sequences."""
        return ESCAPE.sub("", self.raw).replace("\r\n", "\n")

    def until(self, *words: str) -> str:
        """Wait until one of the words is written after the last that was waited for; which one it is."""
        deadline = monotonic() + PATIENCE_SECONDS
        while True:
            text = self.text
            found = [(place, word) for word in words if (place := text.find(word, self._read)) >= 0]
            if found:
                place, word = min(found)
                self._read = place + len(word)
                return word
            ready, _, _ = select.select([self._screen], [], [], max(0.0, deadline - monotonic()))
            assert ready, f"{words} not written within {PATIENCE_SECONDS} s; last: {text[-500:]!r}"
            self.raw += os.read(self._screen, 65_536).decode(errors="replace")

    def type(self, line: str) -> None:
        """Type a line and Enter."""
        os.write(self._screen, f"{line}\n".encode())


@contextmanager
def terminal(*arguments: str) -> Iterator[Terminal]:
    """`erqiwang` with those arguments on a terminal of its own, until the context is left."""
    screen, keyboard = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "200", "LINES": "50"}
    command = [sys.executable, "-m", "erqiwang_grpc", *arguments]
    process = subprocess.Popen(command, stdin=keyboard, stdout=keyboard, stderr=keyboard, env=environment)
    os.close(keyboard)
    try:
        yield Terminal(process, screen)
    finally:
        process.kill()
        process.wait()
        os.close(screen)
