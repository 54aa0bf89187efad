"""Structured logs: one JSON object for each line, on standard error.

They name rooms, versions and reasons. They never hold a card, a token or a key.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Final, final

from erqiwang_grpc.names import printable_json

FIELDS: Final = ("room", "version", "why", "address", "path", "count", "store")
"""The only fields that a line may have beside its message, so that no secret gets in by mistake."""

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
        line |= {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
            line["at"] = _places(record)
        return printable_json(json.dumps(line, ensure_ascii=False, default=str))


def _message(record: logging.LogRecord) -> str:
    """The message. Of a library's only the first line, since the rest may hold the text of an exception."""
    return record.getMessage() if record.name.startswith(_OURS) else record.getMessage().partition("\n")[0]


def _places(record: logging.LogRecord) -> list[str]:
    places: list[str] = []
    trace = record.exc_info[2] if record.exc_info else None
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return places


def write_to_standard_error(level: int = logging.INFO) -> None:
    """Write this package's logs to standard error as lines of JSON, and those of libraries from WARNING up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.root.handlers = [handler]
    logging.root.setLevel(logging.WARNING)
    logging.getLogger(_OURS).setLevel(level)
