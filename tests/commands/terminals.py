"""A terminal for a test: a process on a pty, what it has written, and lines typed at it."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

PATIENCE_SECONDS = 60.0
ESCAPE = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[78])")
CTRL_C = b"\x03"


class Terminal:
    """The screen side of a pty with a process on it."""

    def __init__(self, process: subprocess.Popen[bytes], screen: int, keyboard: int) -> None:
        self.process = process
        self.raw = ""
        self._screen = screen
        self._keyboard = keyboard
        # What is read may end in the middle of a character.
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")
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
            self._take()

    def _take(self) -> None:
        """Read what is written now."""
        self.raw += self._decoder.decode(os.read(self._screen, 65_536))

    def since(self) -> str:
        """What was written after the last word that was waited for, as far as it was read."""
        return self.text[self._read :]

    def type(self, line: str) -> None:
        """Type a line and Enter."""
        self.press(f"{line}\n".encode())

    def press(self, keys: bytes) -> None:
        """Press keys: Ctrl-C interrupts whatever is in the foreground."""
        os.write(self._screen, keys)

    def unread(self) -> int:
        """The bytes that were typed and that the process has not read yet."""
        (waiting,) = struct.unpack("i", fcntl.ioctl(self._keyboard, termios.FIONREAD, bytes(4)))
        assert isinstance(waiting, int)
        return waiting

    def end(self, patience: float = PATIENCE_SECONDS) -> int:
        """Wait for the process to end, reading what it still writes; its exit status."""
        deadline = monotonic() + patience
        while True:
            ended = self.process.poll()
            ready, _, _ = select.select([self._screen], [], [], 0.0 if ended is not None else 0.1)
            if ready:
                self._take()
            elif ended is not None:
                return ended
            assert monotonic() < deadline, f"not ended within {patience} s; last: {self.text[-500:]!r}"


@contextmanager
def terminal(
    *arguments: str | bytes, columns: int = 200, python: tuple[str, ...] = (), module: str = "erqiwang_grpc"
) -> Iterator[Terminal]:
    """`erqiwang` with those arguments on a terminal of its own, which sends it Ctrl-C, until the context is left."""
    screen, keyboard = pty.openpty()
    termios.tcsetwinsize(keyboard, (50, columns))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    # The first terminal that the leader of a session opens becomes its own.
    opening = ("/bin/sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(keyboard))
    process = subprocess.Popen(
        [*opening, sys.executable, *python, "-m", module, *arguments],
        env=environment | {"TERM": "xterm"},
        start_new_session=True,
    )
    try:
        yield Terminal(process, screen, keyboard)
    finally:
        process.kill()
        process.wait()
        os.close(screen)
        os.close(keyboard)
