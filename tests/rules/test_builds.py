"""The values of the core behave alike interpreted and compiled: they are equal by value, frozen, copied and pickled.

Compiled, their methods must be compiled too: a value whose class the compiler's preparation has missed is built slowly.
"""

import importlib
import pickle
import pkgutil
from copy import deepcopy
from dataclasses import FrozenInstanceError, is_dataclass
from random import Random
from types import FunctionType

import erqiwang_core
import pytest
from erqiwang_core.match import decide
from erqiwang_core.options import RoomOptions
from erqiwang_core.players import RandomLegal, contest, shuffles
from erqiwang_core.seats import BySeat
from erqiwang_core.units import Seat
from erqiwang_core.view import view

INTERPRETED = isinstance(decide, FunctionType)

VALUES = sorted(
    {
        kind
        for found in pkgutil.walk_packages(erqiwang_core.__path__, "erqiwang_core.")
        for kind in vars(importlib.import_module(found.name)).values()
        if isinstance(kind, type) and is_dataclass(kind) and kind.__module__.startswith("erqiwang_core.")
    },
    key=lambda kind: (kind.__module__, kind.__qualname__),
)


def test_there_are_many_kinds_of_values() -> None:
    assert len(VALUES) > 80


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__qualname__)
@pytest.mark.parametrize("method", ["__init__", "__eq__", "__hash__"])
def test_a_value_is_built_and_compared_by_the_build_that_runs(kind: type, method: str) -> None:
    assert isinstance(getattr(kind, method), FunctionType) == INTERPRETED


def test_values_are_copied_and_pickled_by_value() -> None:
    chance = Random(1)
    policy = RandomLegal()
    steps = list(contest(RoomOptions(), BySeat((policy,) * 3), chance, shuffles(RoomOptions(), chance)))
    for step in steps[::40]:
        for value in (step.after, step.events, view(step.after, Seat(0))):
            for copied in (deepcopy(value), pickle.loads(pickle.dumps(value))):
                assert copied == value
                assert copied is not value


def test_values_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(RoomOptions(), "review", False)  # noqa: B010 (the type checker refuses the assignment)
