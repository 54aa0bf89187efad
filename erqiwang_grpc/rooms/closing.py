"""Why a room ends a listener's stream."""

from enum import Enum


class Closing(Enum):
    """Why a stream ends. What a transport says of each stands in one table of its own."""

    DETACHED = "detached"
    """The client has left, or has nothing more to say."""
    DISPLACED = "displaced"
    """A newer stream of the same seat has taken over."""
    DRAINING = "draining"
    """The server is leaving."""
    UNSEATED = "unseated"
    """The seat was left or taken again: the token that opened the stream is void."""
    DELETED = "deleted"
    """Retention has deleted the match."""
    MALFORMED = "malformed"
    """The client has sent bytes that are no request."""
    TOO_FAST = "too fast"
    """The client has sent more than its allowance for too long."""
    FAILED = "failed"
    """An unexpected error in the server."""
