"""Reasons: every reason for which a client does not get what it asked for, in one table with a row for each.

`docs/errors.md` is generated from it. A reason needs a row to be a member of `Reason`, which the type checker enforces.
"""

from dataclasses import dataclass
from enum import Enum, IntEnum, unique
from typing import Final, final

from erqiwang_core.refusals import Code


class GrpcStatus(IntEnum):
    """The gRPC statuses in use. Names and numbers are those of `google.rpc.Code`."""

    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    UNAUTHENTICATED = 16


@final
@dataclass(frozen=True, slots=True)
class Retry:
    """When to try again: a random delay of `least` to `most` seconds, so that clients do not all come back at once."""

    least: float
    most: float


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The row of one reason. Its texts are whole sentences, for the developer of a client."""

    status: GrpcStatus
    """The status that a call ends with. A refused command on a stream does not end the stream."""
    when: str
    """What has happened."""
    then: str
    """What the client should do."""
    code: Code | None = None
    """The `errcode` of the packet protocol; None if no command is refused for this reason."""
    retry: Retry | None = None
    """The delay before trying again; None if none is given. A refusal that has its own delay gives that instead."""
    goodbye: bool = False
    """Whether a seat's stream that ends for this reason gets a `Goodbye` as its last message."""


_SOON: Final = Retry(2, 2)
_CROWDED: Final = Retry(1, 5)
_ADVICE: Final = "Send what the view's advice lists."
_ANOTHER: Final = "Send another command."
_LEGAL: Final = "Play other cards: `legal` is one play that stands."
_MEND: Final = "Mend the client."
_WHO_SITS_WHERE: Final = "Read the room again: it says who sits where."


@unique
class Reason(Enum):
    """Every reason, with its row as the value.

    The member of `Refusal.reason` has the same name in lower case. `ErrorInfo` has the name as it is here.
    """

    WRONG_PHASE = Row(
        GrpcStatus.FAILED_PRECONDITION, "The command does not belong to this phase.", "Wait for its phase.", Code.STEP
    )
    NO_SUCH_SEAT = Row(
        GrpcStatus.INVALID_ARGUMENT, "The table has no such seat.", "Name a seat from 0 to seats − 1.", Code.SEAT
    )
    NOT_YOUR_TURN = Row(
        GrpcStatus.FAILED_PRECONDITION,
        "It is another seat's turn.",
        "Wait until the view says that it is yours.",
        Code.SEAT,
    )
    SEAT_OCCUPIED = Row(
        GrpcStatus.FAILED_PRECONDITION, "Another player sits there.", "Take another seat, or name none.", Code.SEAT
    )
    SEAT_FREE = Row(GrpcStatus.FAILED_PRECONDITION, "Nobody sits there.", _WHO_SITS_WHERE, Code.SEAT)
    SEATED_ELSEWHERE = Row(
        GrpcStatus.FAILED_PRECONDITION,
        "The player sits at this table already.",
        "Use that seat, or leave it first.",
        Code.SEAT,
    )
    NOT_A_BID = Row(GrpcStatus.INVALID_ARGUMENT, "The game has no such bid.", _ADVICE, Code.PARAM)
    NOT_A_TRUMP = Row(GrpcStatus.INVALID_ARGUMENT, "The game has no such trump choice.", _ADVICE, Code.PARAM)
    NOT_A_SIGNAL = Row(GrpcStatus.INVALID_ARGUMENT, "There is no such signal.", _MEND, Code.PARAM)
    NOT_A_CARD = Row(GrpcStatus.INVALID_ARGUMENT, "No card has this id.", _MEND, Code.PARAM)
    REPEATED_CARD = Row(GrpcStatus.INVALID_ARGUMENT, "A card is given twice.", _MEND, Code.PARAM)
    CARD_NOT_HELD = Row(
        GrpcStatus.INVALID_ARGUMENT, "A card is not in the sender's hand.", "Send cards of the view's hand.", Code.PARAM
    )
    WRONG_NUMBER_OF_CARDS = Row(
        GrpcStatus.INVALID_ARGUMENT,
        "Another number of cards is called for.",
        "Send as many as `expected`; 0 means one at least.",
        Code.PARAM,
    )
    FIRST_BIDDER_MUST_BID = Row(
        GrpcStatus.FAILED_PRECONDITION, "The first bidder may not pass.", "Bid `opening` or lower.", Code.RULE
    )
    BID_NOT_LOWER = Row(
        GrpcStatus.FAILED_PRECONDITION,
        "A bid must be strictly lower than the standing one.",
        "Bid lower than `standing`, or pass.",
        Code.RULE,
    )
    SURRENDER_NOT_ALLOWED = Row(
        GrpcStatus.FAILED_PRECONDITION, "Surrender is not open at this bid.", "Name trump.", Code.RULE
    )
    SEVERAL_GROUPS = Row(
        GrpcStatus.FAILED_PRECONDITION, "Cards of several groups may not be led together.", _LEGAL, Code.RULE
    )
    SIDE_SUIT_THROW = Row(
        GrpcStatus.FAILED_PRECONDITION,
        "Of a side suit only a single, a pair or a tractor may be led.",
        _LEGAL,
        Code.RULE,
    )
    WHOLE_GROUP_NOT_PLAYED = Row(
        GrpcStatus.FAILED_PRECONDITION,
        "Every card of the led group must be played, since fewer are held than were led.",
        _LEGAL,
        Code.RULE,
    )
    GROUP_NOT_FOLLOWED = Row(
        GrpcStatus.FAILED_PRECONDITION,
        "Only cards of the led group may be played, since enough are held.",
        _LEGAL,
        Code.RULE,
    )
    TRACTOR_NOT_PLAYED = Row(
        GrpcStatus.FAILED_PRECONDITION, "A tractor that is held must be played.", _LEGAL, Code.RULE
    )
    PAIRS_NOT_PLAYED = Row(GrpcStatus.FAILED_PRECONDITION, "Pairs that are held must be played.", _LEGAL, Code.RULE)
    DECLARER_MAY_NOT_SIGNAL = Row(
        GrpcStatus.FAILED_PRECONDITION, "Signals pass between defenders alone.", _ANOTHER, Code.RULE
    )
    NOT_IN_THIS_ROOM = Row(GrpcStatus.FAILED_PRECONDITION, "The room's options do not offer it.", _ANOTHER, Code.RULE)
    NOBODY_IS_VOID = Row(
        GrpcStatus.FAILED_PRECONDITION,
        "Trumps are shown only once a seat holds none.",
        "Ask again once a seat holds no trump.",
        Code.RULE,
    )
    NO_SUCH_ROOM = Row(
        GrpcStatus.NOT_FOUND,
        "There is no such room.",
        "Forget it: it is not this platform's, or was deleted long after its match.",
        Code.NODESK,
    )
    COMMAND_ID_REUSED = Row(
        GrpcStatus.ALREADY_EXISTS,
        "The command_id was used for another command.",
        "Send each new command under a new id.",
        Code.PARAM,
    )
    STALE_VERSION = Row(
        GrpcStatus.ABORTED,
        "The room has moved on from the expected version.",
        "Look at the view of `version`, and decide again.",
        Code.STEP,
    )
    NO_COMMAND = Row(GrpcStatus.INVALID_ARGUMENT, "No command was given, or one of an unknown kind.", _MEND, Code.PARAM)
    ROOM_QUARANTINED = Row(
        GrpcStatus.INTERNAL,
        "The room is set apart because of an error, until it is mended.",
        "Tell the operator.",
        Code.STEP,
    )
    TOO_MANY_COMMANDS = Row(
        GrpcStatus.RESOURCE_EXHAUSTED,
        "Commands come faster than they are taken from one seat.",
        "Come back after the delay, and send less. A stream ends for this only after 10 seconds of it.",
        Code.RULE,
        _CROWDED,
        goodbye=True,
    )
    STORE_UNAVAILABLE = Row(
        GrpcStatus.UNAVAILABLE,
        "The store cannot be read or written now, and nothing was done.",
        "Send it again after the delay.",
        Code.STEP,
        _SOON,
    )
    WRITTEN_BY_NEWER = Row(
        GrpcStatus.UNAVAILABLE,
        "A newer version of the server has written the room, which this one does not understand.",
        "Send it again to another server, or after the delay.",
        Code.STEP,
        Retry(0.1, 2),
    )
    INVALID_FIELD = Row(
        GrpcStatus.INVALID_ARGUMENT,
        "A field of the request has a value that it cannot have: it and what it can have are named.",
        "Send a value that it can have.",
        Code.PARAM,
    )
    TOO_MANY_ROOMS = Row(
        GrpcStatus.RESOURCE_EXHAUSTED,
        "The server holds as many open rooms as it takes.",
        "Try again after the delay, or at another server.",
        Code.RULE,
        Retry(60, 60),
    )
    QUOTA_REACHED = Row(
        GrpcStatus.RESOURCE_EXHAUSTED,
        "The platform has as much of this server as one platform may have.",
        "Give up what is no longer needed, or try again after the delay.",
        Code.RULE,
        Retry(1, 1),
    )
    NO_SUCH_RECORD = Row(
        GrpcStatus.NOT_FOUND,
        "There is no such record, or its deal is not settled yet.",
        "Ask again once a deal is settled.",
        Code.NODESK,
    )
    INVALID_CURSOR = Row(
        GrpcStatus.INVALID_ARGUMENT,
        "A page token or cursor was not given by this server.",
        "Begin again with an empty one.",
        Code.PARAM,
    )
    ROOM_FULL = Row(GrpcStatus.FAILED_PRECONDITION, "Every seat of the room is taken.", _WHO_SITS_WHERE, Code.SEAT)
    SEAT_CHANGES_USED_UP = Row(
        GrpcStatus.FAILED_PRECONDITION,
        "The seats of the room were given and freed as often as a room allows.",
        "Let the match go on with the players who sit there, or open another room.",
        Code.SEAT,
    )
    HINTS_FORBIDDEN = Row(
        GrpcStatus.FAILED_PRECONDITION,
        "The options of the room forbid hints.",
        "Do not ask for hints in this room: the view's options say so.",
        Code.RULE,
    )
    NOTHING_TO_DECIDE = Row(
        GrpcStatus.FAILED_PRECONDITION,
        "The seat has nothing to decide now.",
        "Ask for a hint while the view's advice holds a choice.",
        Code.STEP,
    )
    TOO_MANY_HINTS = Row(
        GrpcStatus.RESOURCE_EXHAUSTED,
        "As many hints as the server takes are waiting to be worked out.",
        "Ask again after the delay.",
        Code.RULE,
        _CROWDED,
    )
    FOREIGN_CURSOR = Row(
        GrpcStatus.FAILED_PRECONDITION,
        "The page token or cursor is of another store, from before this one was restored or copied: list again from the "
        "first page, and watch again with an empty cursor.",
        "Begin again with an empty one.",
        Code.PARAM,
    )
    OUTCOME_UNKNOWN = Row(
        GrpcStatus.UNAVAILABLE,
        "The disk failed while the command was being stored: whether it stands is unknown. Send it again under its "
        "command_id.",
        "Do so after the delay.",
        Code.STEP,
        _SOON,
    )
    CREDENTIAL_MISSING = Row(
        GrpcStatus.UNAUTHENTICATED,
        "The call has no `authorization`.",
        "Send `authorization: Bearer <key or token>`.",
    )
    CREDENTIAL_MALFORMED = Row(
        GrpcStatus.UNAUTHENTICATED,
        "`authorization` holds no platform key, no gateway key, no seat token or no watch token, whichever the rpc takes.",
        "Look at what is sent: it is cut short, or of another kind.",
    )
    CREDENTIAL_WRONG = Row(
        GrpcStatus.UNAUTHENTICATED,
        "The key or token was never given out by this server, or is no longer taken.",
        "Get a new one.",
    )
    CREDENTIAL_EXPIRED = Row(
        GrpcStatus.UNAUTHENTICATED,
        "The seat token or watch token has come to its end.",
        "Ask the platform for a fresh one.",
    )
    UNSEATED = Row(
        GrpcStatus.UNAUTHENTICATED,
        "The seat was left or taken again.",
        "Ask the platform for a fresh token.",
        goodbye=True,
    )
    DISPLACED = Row(
        GrpcStatus.ABORTED,
        "A newer stream of this seat has taken over.",
        "Leave it: do not reconnect by yourself.",
        goodbye=True,
    )
    DRAINING = Row(
        GrpcStatus.UNAVAILABLE,
        "The server is leaving.",
        "Reconnect after the delay; watch rooms again from the last cursor.",
        retry=Retry(0.1, 2),
        goodbye=True,
    )
    NOT_ATTACHED = Row(GrpcStatus.INVALID_ARGUMENT, "The stream did not begin with `Attach`, or not in time.", _MEND)
    MALFORMED = Row(GrpcStatus.INVALID_ARGUMENT, "What was sent is no message of this protocol.", _MEND)
    TOO_MANY_STREAMS = Row(
        GrpcStatus.RESOURCE_EXHAUSTED,
        "The server holds as many streams of this kind as it takes, of all clients, of this seat or of this room.",
        "Reconnect after the delay.",
        retry=_CROWDED,
    )
    TOO_LONG = Row(
        GrpcStatus.DEADLINE_EXCEEDED,
        "The stream was held open longer than streams of its kind may be, as those of reflection.",
        "Open another if there is more to ask.",
    )
    NO_SUCH_SERVICE = Row(
        GrpcStatus.NOT_FOUND,
        "Health was asked for a service that is not served here.",
        "Ask for a service by its full name, or for the empty name.",
    )
    FAILED = Row(
        GrpcStatus.INTERNAL,
        "The server has failed outside of any command; nothing is lost.",
        "Try again, and tell the operator.",
    )


@final
@dataclass(frozen=True, slots=True)
class Bare:
    """A status that gRPC itself sends instead of the server. It has no reason and no details."""

    status: GrpcStatus
    when: str
    then: str


BARE: Final = (
    Bare(GrpcStatus.RESOURCE_EXHAUSTED, "A message is longer than the server takes.", _MEND),
    Bare(GrpcStatus.UNIMPLEMENTED, "The server has no such rpc.", "Look at the name, and at the server's version."),
    Bare(GrpcStatus.CANCELLED, "More calls wait to be taken than the server lets wait.", "Try again after a while."),
    Bare(GrpcStatus.UNAVAILABLE, "The server cannot be reached.", "Try again after a while, or at another server."),
)
