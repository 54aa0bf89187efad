"""Why a room ends a listener's stream."""

from enum import Enum

from erqiwang_grpc.reasons import Reason


class Closing(Enum):
    """Why a stream ends; the value is the reason that its client is told, None where there is nothing to tell."""

    DETACHED = None
    """The client has left, or has nothing more to say."""
    DISPLACED = Reason.DISPLACED
    """A newer stream of the same seat has taken over."""
    DRAINING = Reason.DRAINING
    """The server is leaving."""
    UNSEATED = Reason.UNSEATED
    """The seat was left or taken again: the token that opened the stream is void."""
    DELETED = Reason.NO_SUCH_ROOM
    """Retention has deleted the match."""
    MALFORMED = Reason.MALFORMED
    """The client has sent bytes that are no request."""
    TOO_FAST = Reason.TOO_MANY_COMMANDS
    """The client has sent more than its allowance for too long."""
    FAILED = Reason.FAILED
    """An unexpected error in the server."""
