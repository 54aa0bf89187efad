"""What a server counts while it works. These are plain numbers, so that counting costs a command almost no time."""

from collections import Counter
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import final

from erqiwang_grpc.monitoring.histogram import Histogram
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.command import Accepted, Answer, Answered


@final
@dataclass(frozen=True, slots=True)
class Phases:
    """What commands spend their seconds on. One that is not refused goes through all but `follow`, in this order."""

    wait: Histogram = field(default_factory=Histogram)
    """From its arrival until its turn in its room."""
    decide: Histogram = field(default_factory=Histogram)
    """The rules, and making the batch that is stored."""
    append: Histogram = field(default_factory=Histogram)
    """Until the store has answered: waiting for a group, and the flush."""
    follow: Histogram = field(default_factory=Histogram)
    """Reading what other nodes have appended, between commands too. Only on a shared store, and after a failure."""
    tell: Histogram = field(default_factory=Histogram)
    """Taking the events in, and telling all who listen to the room."""

    def named(self) -> dict[str, Histogram]:
        """Each phase by its name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


class Kind(Enum):
    """The kinds of listeners that may be too slow."""

    SEAT = "seat"
    GATEWAY_SEAT = "gateway_seat"
    SPECTATOR = "spectator"


class Credential(Enum):
    """What a call has to show."""

    PLATFORM_KEY = "platform_key"
    GATEWAY_KEY = "gateway_key"
    SEAT_TOKEN = "seat_token"
    SEAT_OR_WATCH_TOKEN = "seat_or_watch_token"


class Wrong(Enum):
    """What is wrong with a credential."""

    MISSING = "missing"
    MALFORMED = "malformed"
    WRONG = "wrong"
    EXPIRED = "expired"
    UNSEATED = "unseated"
    """The token's player does not have the seat any more."""
    FOREIGN = "foreign"
    """The token is of another platform than the gateway that shows it."""


@final
class Counters:
    """The counts since the server started."""

    def __init__(self) -> None:
        self.accepted = 0
        """Commands accepted for the first time."""
        self.repeated = 0
        """Commands that were repeated: they had been accepted before."""
        self.answered = 0
        """Signals passed on and trumps shown."""
        self.refused_commands = 0
        """Commands that their rooms have refused."""
        self.refused: Counter[Reason] = Counter()
        """Calls, requests on streams, and seats of gateways that were refused, by reason. Each is counted when it is told."""
        self.ended: Counter[Reason] = Counter()
        """Streams, and seats of gateways, that were served and that the server has ended, by reason."""
        self.unauthenticated: Counter[tuple[Credential, Wrong]] = Counter()
        """Credentials that were refused: what was needed, and what was wrong."""
        self.resyncs: Counter[Kind] = Counter()
        """How often a slow client got one snapshot in place of the messages that it had not read."""
        self.command = Histogram()
        """The seconds of each command, from its arrival to its answer."""
        self.phases = Phases()

    def count(self, answer: Answer, seconds: float) -> None:
        """Count one answered command, which took that many seconds."""
        match answer:
            case Accepted(repeated=repeated):
                self.accepted += not repeated
                self.repeated += repeated
            case Answered():
                self.answered += 1
            case _:
                self.refused_commands += 1
        self.command.observe(seconds)
