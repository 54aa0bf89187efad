"""Endings: what the end of a stream means for its client, which reconnects or stays away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import grpc

from erqiwang_grpc.client.commands import Ended
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.v1 import seat_service_pb2 as pb

FOR_GOOD: Final = (
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.UNIMPLEMENTED,
)
"""Reasons for which reconnecting would not help: displaced by a newer stream, a bad token, or a faulty client."""

REFUSED_KEY: Final = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
"""Those of them that refuse the credential itself."""


@final
@dataclass(frozen=True, slots=True)
class Lost:
    """The connection was lost, and the client must begin again."""

    elsewhere: bool
    """Whether to try the next server, because this one cannot be reached or is shutting down."""
    retry_delay: float | None
    """Seconds that the server asks the client to wait."""


def parted(goodbye: pb.Goodbye) -> Ended | Lost:
    """What a goodbye means for the client. It takes precedence over the status of the call."""
    match goodbye.reason:
        case pb.Goodbye.REASON_DISPLACED:
            return _ended(Reason.DISPLACED)
        case pb.Goodbye.REASON_UNSEATED:
            return _ended(Reason.UNSEATED)
        case pb.Goodbye.REASON_DRAINING:
            return Lost(elsewhere=True, retry_delay=_asked_delay(goodbye))
        case pb.Goodbye.REASON_TOO_MANY_COMMANDS:
            return Lost(elsewhere=False, retry_delay=_asked_delay(goodbye))
        case unknown:  # from a newer server: reconnect if it names a delay
            delay = _asked_delay(goodbye)
            if delay is None:
                why = f"the server ended the stream for a reason that this client does not know ({unknown}), and named no delay"
                return Ended(grpc.StatusCode.ABORTED, why)
            return Lost(elsewhere=True, retry_delay=delay)


def _ended(why: Reason) -> Ended:
    row = why.value
    return Ended(grpc.StatusCode[row.status.name], f"{row.when} {row.then}", reason=why.name)


def _asked_delay(goodbye: pb.Goodbye) -> float | None:
    """Seconds that the server asks the client to wait before it reconnects; None if it names no delay."""
    return goodbye.retry_delay.ToMilliseconds() / 1000 if goodbye.HasField("retry_delay") else None
