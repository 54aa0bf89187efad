"""The call that is being served: its id for logs, its method, and the trace that its caller works in.

It is kept in a context variable, so that what is called far below a handler, and each task that it begins, knows it
without being told.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, final

REQUEST_ID: Final = "x-request-id"
"""The metadata, or the HTTP header, in which a caller names its call, and in which it is told the name."""
TRACE_PARENT: Final = "traceparent"
"""The metadata, or the HTTP header, in which a caller names its span, as W3C Trace Context says."""
LONGEST_REQUEST_ID: Final = 64
_LONGEST_TRACE_PARENT: Final = 128
_CREDENTIALS: Final = ("erqk_", "erqg_", "bearer")
"""How a credential begins. One that is given for an id by mistake is not written to the log."""


@final
@dataclass(frozen=True, slots=True)
class Call:
    """A call, a stream, or a socket of an edge."""

    id: str
    """What the lines of the log name it by: the caller's own `x-request-id`, or a random one."""
    method: str
    is_stream: bool = False
    trace_parent: str = ""
    """The span of the caller; empty if it named none."""


_CURRENT: Final[ContextVar[Call | None]] = ContextVar("call", default=None)


def current() -> Call | None:
    """The call that is being served here; None in the server's own work."""
    return _CURRENT.get()


def begin(method: str, request_id: str, trace_parent: str, *, is_stream: bool) -> Call:
    """Begin to serve a call in this task, and in every task that it begins from now on."""
    taken = request_id if is_request_id(request_id) else secrets.token_hex(8)
    parent = trace_parent if len(trace_parent) <= _LONGEST_TRACE_PARENT else ""
    call = Call(taken, method, is_stream, parent)
    _CURRENT.set(call)
    return call


@contextmanager
def within(call: Call | None) -> Iterator[None]:
    """Work for this call in a task that serves many."""
    before = _CURRENT.set(call)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def is_request_id(text: str) -> bool:
    """Whether a caller's id is taken: 1 to 64 printable ASCII characters without a space, and no credential."""
    return (
        0 < len(text) <= LONGEST_REQUEST_ID
        and text.isascii()
        and text.isprintable()
        and " " not in text
        and not text.lower().startswith(_CREDENTIALS)
    )
