"""What libraries of C and C++ write to standard error by themselves, such as the core of gRPC, line by line."""

from __future__ import annotations

import logging
import os
import re
import select
import threading
import time
from collections.abc import Callable
from typing import Final, final

from erqiwang_grpc.bounded import Bounded

Tell = Callable[[int, str], None]
"""Is told the level of a line, as of `logging`, and the line."""

_MOST: Final = 50
_SECONDS: Final = 10.0
"""Strangers can make the core of gRPC complain, so only so many lines are told in so many seconds."""
_LONGEST: Final = 2_000
"""Characters of a line that are told."""
_JOIN_SECONDS: Final = 2.0

_LEVELS: Final = {"I": logging.INFO, "W": logging.WARNING, "E": logging.ERROR, "F": logging.CRITICAL}
_PREFIX: Final = re.compile(r"([IWEF])\d{4} ")
"""How the library that gRPC logs with (Abseil) begins a line."""
_CREDENTIAL: Final = re.compile(r"(?i)(authorization\W{1,4}(?:bearer\s+)?|bearer\s+|erq[kg]_)[^\s'\",;\]]+")
_METADATA: Final = re.compile(r"(?:HDR:\w+: |\bkey=)(:?[^\s:]*)")
"""How the core of gRPC begins to write a piece of metadata with GRPC_TRACE: `HDR:SVR: te: trailers`, `key=te value=…`."""
_TOLD_METADATA: Final = frozenset(
    {":authority", ":method", ":path", ":scheme", ":status", "content-type", "te", "user-agent"}
    | {"grpc-accept-encoding", "grpc-encoding", "grpc-status", "grpc-timeout"}
)
"""Metadata whose values are told. Any other may be a credential, whatever its name is."""


@final
class NativeLines:
    """Puts a pipe in the place of a file descriptor, and tells each line that is written into it."""

    def __init__(self, descriptor: int, tell: Tell) -> None:
        self._descriptor = descriptor
        self._tell = tell
        self._reads, writes = os.pipe()
        # Whoever writes may hold the lock that the reading thread needs, so nobody ever waits for room: lines that find
        # the pipe full are lost.
        os.set_blocking(writes, False)
        os.dup2(writes, descriptor)
        os.close(writes)
        self._bound = Bounded(_MOST, _SECONDS)
        self._is_closing = threading.Event()
        # Daemonic, so that it cannot keep a process alive that is ending.
        self._thread = threading.Thread(target=self._read, name="native lines", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Tell what was written up to now. What is written later is lost. Does nothing the second time.

        While a process ends, the core of gRPC writes on: past this pipe it would be plain text, with credentials in it.
        """
        if self._is_closing.is_set():
            return
        self._is_closing.set()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._descriptor)
        os.close(nowhere)
        # A child may have inherited the pipe's other end, which is then not closed.
        self._thread.join(_JOIN_SECONDS)

    def _read(self) -> None:
        rest = b""
        while True:
            ready, _, _ = select.select([self._reads], [], [], 0.2)
            chunk = os.read(self._reads, 64 * 1024) if ready else b""
            if chunk:
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._take(line)
                rest = rest[: 4 * _LONGEST]
            if self._is_closing.is_set() and not chunk:
                self._take(rest)
                self._tell_left_out()
                return
            if not ready:
                self._tell_left_out()

    def _take(self, line: bytes) -> None:
        text = line.decode(errors="backslashreplace").rstrip()
        if text and self._bound.is_said(time.monotonic()):
            known = _PREFIX.match(text)
            level = _LEVELS[known[1]] if known else logging.WARNING
            self._tell(level, _masked(text)[:_LONGEST])

    def _tell_left_out(self) -> None:
        number = self._bound.take_left_out()
        if number:
            self._tell(logging.WARNING, f"{number} more lines were left out")


def _masked(text: str) -> str:
    """The line without credentials. Nothing is told after the name of metadata that is not on the list."""
    for found in _METADATA.finditer(text):
        if found[1] not in _TOLD_METADATA:
            text = f"{text[: found.end()]} …"
            break
    return _CREDENTIAL.sub(r"\1…", text)
