"""Budgets: how long a strong player thinks about one decision."""

from collections.abc import Callable
from typing import TypeAlias

Budget: TypeAlias = Callable[[int], bool]
"""Whether a decision is over, after that number of worlds."""

Budgets: TypeAlias = Callable[[], Budget]
"""Gives a budget for the next decision. The core knows no clock, so a budget of time comes from outside."""


def worlds_each(number: int) -> Budgets:
    """Budgets of `number` worlds a decision, 1 or more. They make the same decisions every time."""

    def budget() -> Budget:
        return lambda drawn: drawn >= number

    return budget
