"""What a server counts while it works: a few plain numbers, so that counting costs a command next to nothing."""

from bisect import bisect_left
from collections import Counter
from typing import Final, final

from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.command import Accepted, Answer, Answered
from erqiwang_grpc.rooms.refusals import reason

BOUNDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Seconds: the upper bounds of the classes that durations are counted in; one more class takes what is longer."""


@final
class Counters:
    """Everything since the server started."""

    def __init__(self) -> None:
        self.accepted = 0
        """Commands that brought something about, and are on disk."""
        self.repeated = 0
        """Commands that had been accepted before."""
        self.answered = 0
        """Signals passed on and trumps shown."""
        self.refused: Counter[Reason] = Counter()
        """Refused commands, by reason."""
        self.resyncs = 0
        """How often a client was too slow, and one snapshot took the place of what it had not read."""
        self.seconds = 0.0
        """How long all commands took together, from their turn in the room to their answer."""
        self.durations = [0] * (len(BOUNDS) + 1)
        """How many commands took so long, by class."""

    def count(self, answer: Answer, seconds: float) -> None:
        """One more command is answered, after so many seconds."""
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
