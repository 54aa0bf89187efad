"""Signals that come while a service is being loaded. They are kept until it can follow them.

Without this a SIGHUP, by which an operator has files read again, would end a service that starts, and so would SIGTERM
without a word. It imports nothing that Python has not loaded by itself, because it is in use before anything else is loaded.
"""

# The module `signal` is made of this one, and loads others for that, which takes 4 ms.
import _signal  # type: ignore[import-not-found]  # typeshed has no stub of it

HELD = (_signal.SIGHUP, _signal.SIGTERM)


class Held:
    """A handler that keeps the numbers of the signals that have come."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def __call__(self, number: int, _: object) -> None:
        """Keep a signal."""
        self.numbers.append(number)


def hold() -> None:
    """Keep the signals from now on. One that is ignored, as after `nohup`, stays so."""
    held = Held()
    for number in HELD:
        if _signal.getsignal(number) == _signal.SIG_DFL:
            _signal.signal(number, held)


def held() -> Held | None:
    """The handler that keeps the signals now; None if none does."""
    found: object = _signal.getsignal(_signal.SIGTERM)
    return found if isinstance(found, Held) else None
