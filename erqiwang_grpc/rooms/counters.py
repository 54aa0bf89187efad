"""What a server counts while it works. These are plain numbers, so that counting costs a command almost no time."""

from bisect import bisect_left
from collections import Counter
from typing import Final, final

from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.command import Accepted, Answer, Answered
from erqiwang_grpc.rooms.refusals import reason

BOUNDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""The upper bounds in seconds of the classes that durations are counted in. One more class holds all longer ones."""


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
        self.refused: Counter[Reason] = Counter()
        """Refused commands, by reason."""
        self.resyncs = 0
        """How often a slow client got one snapshot in place of the messages that it had not read."""
        self.seconds = 0.0
        """The seconds that all commands took together, from getting the room's lock to their answer."""
        self.durations = [0] * (len(BOUNDS) + 1)
        """The number of commands in each class of durations."""

    def count(self, answer: Answer, seconds: float) -> None:
        """Count one answered command, which took that many seconds."""
        match answer:
            case Accepted(repeated=repeated):
                self.accepted += not repeated
                self.repeated += repeated
            case Answered():
                self.answered += 1
            case _:
                self.refused[reason(answer)] += 1
        self.seconds += seconds
        self.durations[bisect_left(BOUNDS, seconds)] += 1
