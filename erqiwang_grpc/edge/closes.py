"""Close codes: why the edge closes a WebSocket.

Where `Play` would end with a gRPC status, the code is 4000 and the number of that status, and the close's reason is the
reason as in docs/errors.md, such as `DISPLACED`. docs/edge.md has the table.
"""

from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb

_PRIVATE: Final = 4000
"""The first close code that RFC 6455 leaves to applications."""


@final
@dataclass(frozen=True, slots=True)
class Close:
    """A close code, and a reason of at most 123 bytes."""

    code: int
    reason: str = ""


def of_reason(reason: Reason) -> Close:
    """The close for a reason of the table of reasons."""
    return Close(_PRIVATE + reason.value.status, reason.name)


def of_ended(ended: gateway_pb.SeatEnded) -> Close:
    """The close for the end of a seat."""
    return Close(_PRIVATE + ended.code, ended.reason) if ended.code else NORMAL


NORMAL: Final = Close(1000)
"""The player has left, or has closed the socket."""
WRONG_KIND: Final = Close(1003, "the frame is of the other kind than the subprotocol")
UNREADABLE: Final = Close(1007, "the message is not JSON")
TOO_BIG: Final = Close(1009, "the message is too big")
DRAINING: Final = of_reason(Reason.DRAINING)
MALFORMED: Final = of_reason(Reason.MALFORMED)
NOT_ATTACHED: Final = of_reason(Reason.NOT_ATTACHED)
TOO_FAST: Final = of_reason(Reason.TOO_MANY_COMMANDS)
NO_TOKEN: Final = of_reason(Reason.CREDENTIAL_MISSING)
BAD_TOKEN: Final = of_reason(Reason.CREDENTIAL_MALFORMED)
FAILED: Final = of_reason(Reason.FAILED)
NO_SERVER: Final = Close(_PRIVATE + 14, "NO_SERVER")
"""No server is reached now. It has no row among the reasons, because no server gives it."""
