"""The trace of one run: what happened, a line each, and the first thing that must not. Two runs of one seed give the same lines."""

import hashlib
from collections.abc import Callable
from typing import final


@final
class Trace:
    """The lines of one run."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.fault: str | None = None
        """The first law that was broken; None if none was."""
        self.clock: Callable[[], tuple[float, int]] = lambda: (0.0, 0)
        self.at_fault: Callable[[], None] = lambda: None

    def note(self, text: str) -> None:
        """Something has happened."""
        seconds, steps = self.clock()
        self.lines.append(f"{seconds:.4f} {steps} {text}")

    def fail(self, why: str) -> None:
        """A law is broken. The run stops: what comes after follows from the first fault."""
        self.note(f"BROKEN {why}")
        if self.fault is None:
            self.fault = why
            self.at_fault()

    @property
    def digest(self) -> str:
        """A hash of all lines."""
        return hashlib.blake2b("\n".join(self.lines).encode(), digest_size=8).hexdigest()
