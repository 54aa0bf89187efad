"""How many steps a second of one core's time the environment takes with an agent that chooses by chance among what its mask allows.

python -m bench.environment_bench [--seconds N] [--seed S] [--json]
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from random import Random
from time import process_time
from typing import Final, final

import numpy as np
from erqiwang_core import FourPlayer, RoomOptions
from erqiwang_core.options import Deck
from erqiwang_environment import Erqiwang

from erqiwang_grpc.commands.version import core_build

GAMES: Final = {"three-player": RoomOptions(), "four-player, full deck": RoomOptions(FourPlayer(Deck.FULL))}


@final
@dataclass(frozen=True, slots=True)
class Speed:
    """How fast deals were played, each to its end."""

    steps: int
    deals: int
    seconds: float
    choosing: float
    """Seconds of these that the agent took to choose."""

    @property
    def steps_a_second(self) -> float:
        """Steps a second of the environment, with the observation and the mask of each, without the agent's choice."""
        return self.steps / (self.seconds - self.choosing)


def measured(options: RoomOptions, seconds: float, seed: int) -> Speed:
    """The speed of whole deals, one after another, for that time."""
    environment, chance = Erqiwang(options), Random(seed)
    steps = deals = 0
    choosing = 0.0
    began = process_time()
    environment.reset(seed=seed)
    while process_time() < began + seconds:
        while not environment.terminations[environment.agent_selection]:
            seen, *_ = environment.last()
            assert seen is not None
            before = process_time()
            action = int(chance.choice(np.flatnonzero(seen["action_mask"])))
            choosing += process_time() - before
            environment.step(action)
            steps += 1
        deals += 1
        environment.reset()
    return Speed(steps, deals, process_time() - began, choosing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=5, help="how long each game is played (default: 5)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed brings the same deals (default: 1)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    speeds = {game: measured(table, options.seconds, options.seed) for game, table in GAMES.items()}
    if options.json:
        json.dump(
            {"core": core_build(), **{game: asdict(speed) for game, speed in speeds.items()}}, sys.stdout, indent=2
        )
        print()
        return
    for game, speed in speeds.items():
        print(
            f"{game}, {core_build()}: {speed.steps_a_second:,.0f} steps a second of one core, "
            f"{speed.steps / speed.deals:.0f} steps a deal, {speed.deals / speed.seconds:.1f} deals a second"
        )


if __name__ == "__main__":
    main()
