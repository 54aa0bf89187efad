"""Structured logs: one JSON object for each line, on standard error.

They name rooms, versions and reasons. They never hold a card, a token or a key.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import logging
import os
import sys
import threading
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Final, TextIO, final

from erqiwang_grpc import calls
from erqiwang_grpc.names import printable_json
from erqiwang_grpc.native_lines import NativeLines

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

FIELDS: Final = (
    "room",
    "version",
    "why",
    "code",
    "address",
    "path",
    "count",
    "seconds",
    "store",
    "waits_for_standby",
    "streams",
    "sockets",
    "cut",
)
"""The only fields that a line may have beside its message, so that no secret gets in by mistake. A test finds others."""
LEVELS: Final = ("debug", "info", "warning", "error", "critical")
"""The levels of lines, and the choices of `--log-level`."""

_OURS: Final = "erqiwang_grpc"


@final
class JsonLines(logging.Formatter):
    """Formats a log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record. An exception is logged as type and traceback without its text, which may hold cards."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": _message(record),
        }
        call = calls.current()
        if call is not None:
            line |= {"request": call.id, "method": call.method}
        line |= {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
            line["at"] = _places(record.exc_info[2])
        return printable_json(json.dumps(line, ensure_ascii=False, default=str))


def _message(record: logging.LogRecord) -> str:
    """The message. Of a library's only the first line, since the rest may hold the text of an exception."""
    return record.getMessage() if record.name.startswith(_OURS) else record.getMessage().partition("\n")[0]


def _places(trace: TracebackType | None) -> list[str]:
    places: list[str] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return places


@final
class _ToStandardError(logging.StreamHandler[TextIO]):
    """Writes to what was standard error at the start. What a library of C++ writes there comes through a pipe."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._native = NativeLines(2, self._tell_native)

    def _tell_native(self, level: int, line: str) -> None:
        """Write what a library said, past this handler's lock: while Python ends, it is held to wait for these lines."""
        if log.isEnabledFor(level):
            record = log.makeRecord(log.name, level, "", 0, "native line", (), None, extra={"why": line})
            with contextlib.suppress(OSError):
                os.write(self.stream.fileno(), (self.format(record) + "\n").encode())

    def handleError(self, record: logging.LogRecord) -> None:
        """Say in JSON that a line could not be made. By default a traceback would be printed, with the line's values."""
        with contextlib.suppress(OSError):
            self.stream.write(json.dumps({"level": "error", "message": "log line failed", "at": record.name}) + "\n")
            self.stream.flush()

    def close(self) -> None:
        """Write what libraries have said up to now. Python calls this when it ends."""
        self._native.close()
        super().close()


def write_to_standard_error(level: int | str = logging.INFO) -> None:
    """Write to standard error as lines of JSON what would be written there as anything else.

    That is this package's logs from `level` up, those of libraries from WARNING up, Python's warnings, errors that nobody
    catches, and what gRPC's core writes by itself. `print` to `sys.stderr` stays plain: it is for people, at a start that
    fails. A crash of the interpreter is told in plain text too: nothing else can be done then.
    """
    number = int(logging.getLevelNamesMapping()[level.upper()]) if isinstance(level, str) else level
    handler = _handler()
    handler.setFormatter(JsonLines())
    logging.root.handlers = [handler]
    logging.root.setLevel(max(logging.WARNING, number))
    logging.getLogger(_OURS).setLevel(number)
    logging.captureWarnings(True)


def _handler() -> logging.Handler:
    if sys.stderr is not sys.__stderr__:
        # Something else stands in its place, such as a test's, and hears all of Python. Leave the process's own alone.
        return logging.StreamHandler(sys.stderr)
    # Python's own stream goes past the pipe, so that its last words are not lost when the process is ended at once.
    real = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    sys.stderr = sys.__stderr__ = real  # type: ignore[misc]  # typeshed calls it final, but it is what Python falls back on
    faulthandler.enable(real)
    _log_uncaught()
    return _ToStandardError(real)


def _log_uncaught() -> None:
    """Log what nobody catches, in the main thread, in other threads, and in finalizers."""
    ended_by: Callable[[type[BaseException], BaseException, TracebackType | None], None] = sys.excepthook

    def uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, Exception):
            log.critical("error not caught", exc_info=(kind, error, trace))
        else:
            ended_by(kind, error, trace)

    def in_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            log.error("error not caught", exc_info=(args.exc_type, args.exc_value, args.exc_traceback))

    def unraisable(args: sys.UnraisableHookArgs) -> None:
        if args.exc_value is not None:
            log.error("error not caught", exc_info=(args.exc_type, args.exc_value, args.exc_traceback))

    sys.excepthook = uncaught
    threading.excepthook = in_thread
    sys.unraisablehook = unraisable
