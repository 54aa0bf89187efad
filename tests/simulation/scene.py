"""What all parts of one run share: the loop, the random source, the trace, the chances, and whether the faults are over."""

from __future__ import annotations

from random import Random
from typing import final

from tests.simulation.chances import drawn
from tests.simulation.ledger import Ledger
from tests.simulation.loop import SeededLoop
from tests.simulation.trace import Trace


@final
class Scene:
    """One run of one seed."""

    def __init__(self, seed: int) -> None:
        self.luck = Random(seed)
        self.chances = drawn(self.luck)
        self.trace = Trace()
        self.loop = SeededLoop(self.luck, in_turn=self.chances.in_turn, broken=self.trace.fail)
        self.trace.clock = lambda: (self.loop.time(), self.loop.steps)
        self.trace.at_fault = self.loop.stop
        self.ledger = Ledger(self.trace)
        self.database = self.loop.process("database")
        self.clients = self.loop.process("clients")
        self.is_calm = False
        """Whether no more faults happen: what went wrong before must heal from here on."""
        self.keepers: frozenset[str] = frozenset()
        """The nodes that take themselves for the one that keeps house: for a while none, or several."""

    def happens(self, chance: float) -> bool:
        """Whether something of that chance happens now. In the calm nothing does."""
        return chance > 0 and not self.is_calm and self.luck.random() < chance

    def delay(self, most: float) -> float:
        """How long something is under way: often no time at all, so that much happens at the same moment."""
        return self.luck.choice((0.0, most * self.luck.random())) if most else 0.0
