"""The chances of one run: how large it is, and how often each thing goes wrong. Drawn by the seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import final

from erqiwang_grpc.rooms.limits import Limits


@final
@dataclass(frozen=True, slots=True)
class Chances:
    """What one seed plays with. A probability is of one occasion: one hint, one append, one call."""

    nodes: int
    tables: int
    in_turn: bool
    """Whether each process runs its callbacks in the order they came, as asyncio does; else in any order."""
    lost_hint: float
    doubled_hint: float
    late_hint: float
    """How long a hint may be under way, in seconds."""
    unavailable: float
    unsure: float
    slow_store: float
    """How long a request to the store, or its answer, may be under way."""
    lost_call: float
    slow_call: float
    hedged: float
    """How often a command is sent to two nodes at once under one id."""
    foolish: float
    """How often a seat sends something that it may not."""
    crash: float
    stop: float
    cut: float
    """How often a second a node crashes, is stopped for a while, or a seat's stream is cut without a word."""
    limits: Limits
    is_watched: bool
    """Whether a platform watches the feed."""
    skew: float
    """How many seconds the wall clocks of the nodes may be apart."""


def drawn(luck: Random) -> Chances:
    """The chances of a seed: many are zero, so that each fault is also seen alone."""
    return Chances(
        nodes=luck.choice((2, 2, 3, 3, 4)),
        tables=luck.choice((1, 1, 1, 1, 2, 3)),
        in_turn=luck.random() < 0.5,
        lost_hint=luck.choice((0.0, 0.0, 0.3, 1.0)),
        doubled_hint=luck.choice((0.0, 0.2)),
        late_hint=luck.choice((0.0, 0.05, 3.0)),
        unavailable=luck.choice((0.0, 0.0, 0.05, 0.2)),
        unsure=luck.choice((0.0, 0.0, 0.05, 0.2)),
        slow_store=luck.choice((0.0, 0.01, 0.5)),
        lost_call=luck.choice((0.0, 0.0, 0.05)),
        slow_call=luck.choice((0.0, 0.01, 0.3)),
        hedged=luck.choice((0.0, 0.1, 0.5)),
        foolish=luck.choice((0.0, 0.1, 0.3)),
        crash=luck.choice((0.0, 0.0, 0.05, 0.3)),
        stop=luck.choice((0.0, 0.0, 0.05, 0.2)),
        cut=luck.choice((0.0, 0.0, 0.1, 0.5)),
        limits=Limits(
            fill_minutes=luck.choice((1, 30)),
            idle_minutes=luck.choice((0, 1, 1)),
            unfilled_seconds=luck.choice((0.5, 30.0)),
        ),
        is_watched=luck.random() < 0.5,
        skew=luck.choice((0.0, 0.5, 90.0)),
    )
