"""How a stream is ended: of each `Closing`, the goodbye that is said last and the status of the call. One table."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import uniform
from typing import Final, final

from google.protobuf.duration_pb2 import Duration
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rpc.errors import reasoned
from erqiwang_grpc.v1 import seat_service_pb2 as pb


@final
@dataclass(frozen=True, slots=True)
class Ending:
    """The last words of a stream."""

    status: StatusCode
    reason: str
    """As in `ErrorInfo`."""
    sentence: str
    """For a developer: what happened, and what to do."""
    goodbye: pb.Goodbye.Reason.ValueType | None = None
    """What the last message says; None for a stream that ends without a goodbye: its status says all."""
    retry_seconds: tuple[float, float] | None = None
    """Between which delays a client comes back; None where it is not to come back by itself."""


ENDINGS: Final[Mapping[Closing, Ending]] = {
    Closing.DETACHED: Ending(StatusCode.OK, "", ""),
    Closing.DISPLACED: Ending(
        StatusCode.ABORTED,
        "DISPLACED",
        "a newer stream of this seat has taken over: do not reconnect by yourself",
        pb.Goodbye.REASON_DISPLACED,
    ),
    Closing.DRAINING: Ending(
        StatusCode.UNAVAILABLE,
        "DRAINING",
        "the server is leaving: reconnect after the delay",
        pb.Goodbye.REASON_DRAINING,
        (0.1, 2.0),
    ),
    Closing.UNSEATED: Ending(
        StatusCode.UNAUTHENTICATED,
        "UNSEATED",
        "the seat was left or taken again: ask the platform for a fresh token",
        pb.Goodbye.REASON_UNSEATED,
    ),
    Closing.DELETED: Ending(StatusCode.NOT_FOUND, "NO_SUCH_ROOM", "the match ended long ago and is deleted"),
    Closing.MALFORMED: Ending(StatusCode.INVALID_ARGUMENT, "MALFORMED", "what was sent is no request of this protocol"),
    Closing.TOO_FAST: Ending(
        StatusCode.RESOURCE_EXHAUSTED,
        "TOO_MANY_COMMANDS",
        "the stream asked for more than its allowance for too long: reconnect after the delay, and send less",
        pb.Goodbye.REASON_TOO_FAST,
        (1.0, 5.0),
    ),
    Closing.FAILED: Ending(StatusCode.INTERNAL, "FAILED", "the server has failed: try again, and tell the operator"),
}


def goodbye(closing: Closing) -> pb.SeatMessage | None:
    """The last message of a stream; None where the client needs none. Each call draws a delay of its own."""
    ending = ENDINGS[closing]
    if ending.goodbye is None:
        return None
    message = pb.Goodbye(reason=ending.goodbye)
    if ending.retry_seconds is not None:
        message.retry_delay.CopyFrom(_delay(ending.retry_seconds))
    return pb.SeatMessage(goodbye=message)


def status(closing: Closing) -> Status | None:
    """The status a stream ends with; None for OK."""
    ending = ENDINGS[closing]
    if ending.status is StatusCode.OK:
        return None
    retry = None if ending.retry_seconds is None else uniform(*ending.retry_seconds)
    return reasoned(ending.status, ending.reason, ending.sentence, retry)


def _delay(seconds: tuple[float, float]) -> Duration:
    delay = Duration()
    delay.FromMilliseconds(int(1000 * uniform(*seconds)))
    return delay
