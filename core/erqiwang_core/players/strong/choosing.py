"""Choosing: which of several choices gains most chips over many worlds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from erqiwang_core.players.strong.budget import Budget

_FIRST_CUT: Final = 4
"""The number of worlds after which the worse half of the choices is left out for the first time."""
_LEFT: Final = 2
"""The number of choices that are compared to the end."""


@final
@dataclass(frozen=True, slots=True)
class Estimate:
    """What a choice is expected to bring."""

    choice: int
    """Which of the choices, counted from 0."""
    chips: float
    """The mean chips of the deal."""
    worlds: int
    """The number of worlds that it was played out in."""


def compared(priors: list[float], play_out: Callable[[list[int]], list[float]], budget: Budget) -> list[Estimate]:
    """The choices by what they gain, best first; those that were left out come after those that were not.

    `priors` are chips that each choice is worth beside what playouts tell. `play_out` plays some choices out in one new
    world, and gives the chips of each. In the same world luck is the same for all of them, so few worlds tell them
    apart. The worse half is left out again and again, and the time that it would take goes to the rest.
    """
    totals = [0.0] * len(priors)
    worlds = [0] * len(priors)
    left = list(range(len(priors)))
    drawn, cut = 0, _FIRST_CUT

    def worth(choice: int) -> float:
        return totals[choice] / worlds[choice] + priors[choice]

    while True:
        for choice, gained in zip(left, play_out(left), strict=True):
            totals[choice] += gained
            worlds[choice] += 1
        drawn += 1
        if budget(drawn):
            break
        if drawn >= cut and len(left) > _LEFT:
            left = sorted(left, key=worth, reverse=True)[: max(_LEFT, (len(left) + 1) // 2)]
            cut *= 2
    best_first = sorted(range(len(priors)), key=lambda choice: (worlds[choice], worth(choice)), reverse=True)
    return [Estimate(choice, totals[choice] / worlds[choice], worlds[choice]) for choice in best_first]
