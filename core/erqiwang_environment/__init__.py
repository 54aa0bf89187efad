"""An environment to study the game in, with the interface of PettingZoo. It needs the extra `environment`.

`env()` gives the environment. Read the modules in this order:

1. `actions`: what an agent may do, as numbers. A burial or a play is one step for each card, and one for `done`.
2. `completion`, `masks`: which steps some legal whole action goes on with.
3. `observations`: what a seat sees, as numbers. `rendering`: the same as text.
4. `environment`: the episode.
"""

from erqiwang_environment.actions import ACTIONS, DONE, Action, Choose, Done, number_of, numbers_of, write
from erqiwang_environment.environment import Erqiwang, Observation, env
from erqiwang_environment.masks import mask
from erqiwang_environment.observations import LAYOUT, SECTIONS, observation

__all__ = [
    "ACTIONS",
    "DONE",
    "LAYOUT",
    "SECTIONS",
    "Action",
    "Choose",
    "Done",
    "Erqiwang",
    "Observation",
    "env",
    "mask",
    "number_of",
    "numbers_of",
    "observation",
    "write",
]
