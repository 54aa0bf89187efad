"""Why the stream of a listener ends."""

from enum import Enum, unique

from erqiwang_grpc.reasons import Reason


@unique
class Closing(Enum):
    """Why a stream ends. The value is the reason that its client is told; None if it is told none."""

    DETACHED = None
    """The client has detached, or has closed its side of the stream; or a spectator was told the match's end."""
    DISPLACED = Reason.DISPLACED
    """A newer stream of the same seat has taken over."""
    DRAINING = Reason.DRAINING
    """The server is shutting down."""
    UNSEATED = Reason.UNSEATED
    """The seat was left or taken again, so the token that opened the stream is no longer valid."""
    LEFT_TO_NEWER = Reason.WRITTEN_BY_NEWER
    """A newer version of the server, which shares the store, has written the room."""
    QUARANTINED = Reason.ROOM_QUARANTINED
    """The room's log cannot be followed any further, so that a spectator cannot be told the rest."""
    DELETED = Reason.NO_SUCH_ROOM
    """Retention has deleted the match."""
    EXPIRED = Reason.CREDENTIAL_EXPIRED
    """The watch token that opened the stream has expired."""
    MALFORMED = Reason.MALFORMED
    """The client has sent bytes that cannot be decoded as a request."""
    TOO_FAST = Reason.TOO_MANY_COMMANDS
    """The client has stayed beyond its allowance for too long."""
    FAILED = Reason.FAILED
    """An unexpected error in the server."""
