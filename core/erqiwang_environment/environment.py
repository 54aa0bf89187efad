"""The environment: matches of Erqiwang behind the interface of PettingZoo's turn-based environments (AEC)."""

from random import Random
from typing import Any, Final, TypeAlias, final

import numpy as np
from erqiwang_core import (
    Bid,
    Bury,
    Command,
    Event,
    Match,
    NameTrump,
    Pass,
    Play,
    Player,
    Ready,
    Refusal,
    RoomOptions,
    Seat,
    Shuffled,
    Start,
    StartMatch,
    Surrender,
    TakeSeat,
    View,
    administer,
    begin,
    decide,
    evolve,
    game_rules,
    view,
)
from erqiwang_core.kernel.hand import EMPTY, ids, union, without
from erqiwang_core.match import phase, scores, to_act
from erqiwang_core.refusals import Phase
from gymnasium.spaces import Box, Dict, Discrete, Space
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from erqiwang_environment.actions import ACTIONS, Action, Choose, Done, copy_of
from erqiwang_environment.masks import Mask, mask
from erqiwang_environment.observations import SIZE, Row, observation, with_chosen
from erqiwang_environment.rendering import rendered

Observation: TypeAlias = dict[str, Any]
"""`observation`, a row of numbers from 0 to 1 (see `observations`), and `action_mask`, 1 for each allowed action."""

Step: TypeAlias = int | np.int64 | None
"""The number of an action (see `actions`); None for an agent whose episode is over."""


@final
class Erqiwang(AECEnv[str, Observation, Step]):
    """Deals of a match, step by step. `player_0` sits on seat 0, and so on.

    An episode is `deals` deals of a match, one if nothing else is said: chips are settled at the end of each deal, and
    one deal changes nothing in the next but who bids first. With as many deals as the match has (6 or 12), an episode
    is a whole match. Rewards are chips; they come when a deal is settled, and sum to 0 over the players.

    Nobody says ready: after a settlement the next deal begins at once. No signals are sent and no trumps are asked for.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - the interface has it so
        "name": "erqiwang_v1",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
    }

    def __init__(self, options: RoomOptions | None = None, deals: int = 1, render_mode: str | None = None) -> None:
        """An environment at a table with these options, by default those of a new three-player room."""
        self.options: Final = RoomOptions() if options is None else options
        if not 1 <= deals <= self.options.deals:
            raise ValueError(f"an episode has 1 to {self.options.deals} deals, not {deals}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"no render mode is named {render_mode}")
        self.deals: Final = deals
        self.render_mode = render_mode
        rules = game_rules(self.options.game, self.options.review)
        self._deck: Final = rules.deck
        self._random = Random()
        self.possible_agents = [f"player_{seat}" for seat in range(rules.seats)]
        self.agents = []
        self.action_spaces = {agent: Discrete(len(ACTIONS)) for agent in self.possible_agents}
        self.observation_spaces = {
            agent: Dict(
                {
                    "observation": Box(0, 1, (SIZE,), np.float32),
                    "action_mask": Box(0, 1, (len(ACTIONS),), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._match: Match = begin(self.options)
        self._chosen = EMPTY
        self._seen: dict[Seat, tuple[View, Row]] = {}
        self._mask: Mask | None = None

    def observation_space(self, agent: str) -> Space[Observation]:
        """The space of an agent's observations; it is the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Step]:
        """The space of an agent's actions; it is the same object each time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002 - the interface has it
        """Begin an episode. With a `seed` all its decks are those of the seed; without one they go on from the last.

        `options` are not read: the table is chosen when the environment is made.
        """
        if seed is not None:
            self._random = Random(seed)
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        # PettingZoo keeps it while it takes agents away one by one, which may have stopped half-way.
        self.__dict__.pop("_skip_agent_selection", None)
        self._match = begin(self.options)
        for seat, agent in enumerate(self.agents):
            self._take(administer(self._match, TakeSeat(seat, Player(agent)), self._shuffle))
        if self.options.start is Start.PLATFORM:
            self._take(administer(self._match, StartMatch(), self._shuffle))
        self._select()

    def observe(self, agent: str) -> Observation:
        """What an agent sees now. Its mask is empty while another is to act, and at the end."""
        _, row = self._sight(self._seat(agent))
        if agent != self.agent_selection:
            return {"observation": row.copy(), "action_mask": np.zeros(len(ACTIONS), np.int8)}
        return {"observation": with_chosen(row, self._chosen), "action_mask": self._allowed().copy()}

    @property
    def match(self) -> Match:
        """The match as it is, with everything that is hidden: for tests and for search, not for agents."""
        return self._match

    def view(self, agent: str) -> View:
        """The view of an agent's seat: all that it may see, as the core's players see it."""
        return self._sight(self._seat(agent))[0]

    def step(self, action: Step) -> None:
        """Take an action for the agent that is to act; an action that its mask forbids is a `ValueError`."""
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        assert action is not None, "only an agent whose episode is over has no action"
        if not self.action_spaces[self.agent_selection].contains(action) or not self._allowed()[action]:
            raise ValueError(f"{self.agent_selection} may not take action {action} now")
        self._cumulative_rewards[self.agent_selection] = 0
        self._clear_rewards()
        self._do(ACTIONS[action])

    def render(self) -> str | None:
        """What the agent that is to act sees, as text, in the render mode `ansi`; None in no mode."""
        return None if self.render_mode is None else rendered(self.view(self.agent_selection), self._chosen)

    def close(self) -> None:
        """Nothing is held open."""

    def _do(self, action: Action) -> None:
        match action:
            case Choose(kind):
                hand = self.view(self.agent_selection).hand.cards
                self._chosen = union(self._chosen, copy_of(kind, without(hand, self._chosen)))
                self._mask = None
            case Done():
                cards = ids(self._chosen)
                self._carry_out(Bury(cards) if phase(self._match) is Phase.BURYING else Play(cards))
            case Pass() | Bid() | NameTrump() | Surrender():
                self._carry_out(action)

    def _carry_out(self, command: Command) -> None:
        """Let the seat that is to act give a command, and everybody be ready if that ends a deal."""
        settled = len(scores(self._match))
        self._take(decide(self._match, self._seat(self.agent_selection), command, self._shuffle))
        by_deal = scores(self._match)
        if len(by_deal) > settled:
            self.rewards = {agent: float(chips) for agent, chips in zip(self.agents, by_deal[-1], strict=True)}
            self._accumulate_rewards()
        if len(by_deal) == self.deals:
            self.terminations = dict.fromkeys(self.agents, True)
            return
        if len(by_deal) > settled:
            for seat in to_act(self._match):
                self._take(decide(self._match, seat, Ready(), self._shuffle))
        self._select()

    def _select(self) -> None:
        """Let the seat act whose turn it is."""
        (seat,) = to_act(self._match)
        self.agent_selection = self.possible_agents[seat]

    def _take(self, decided: tuple[Event, ...] | Refusal) -> None:
        """The match after these events. What was seen and chosen before them is forgotten."""
        assert isinstance(decided, tuple), f"what the mask allows was refused: {decided}"
        for event in decided:
            self._match = evolve(self._match, event)
        self._seen.clear()
        self._chosen, self._mask = EMPTY, None

    def _seat(self, agent: str) -> Seat:
        return Seat(self.possible_agents.index(agent))

    def _sight(self, seat: Seat) -> tuple[View, Row]:
        """The view of a seat, and its observation with no card chosen. While cards are chosen both stay the same."""
        seen = self._seen.get(seat)
        if seen is None:
            shown = view.view(self._match, seat)
            seen = self._seen[seat] = shown, observation(shown, EMPTY)
        return seen

    def _allowed(self) -> Mask:
        """The mask of the agent that is to act."""
        if self._mask is None:
            self._mask = mask(self.view(self.agent_selection), self._chosen)
        return self._mask

    def _shuffle(self) -> Shuffled:
        return Shuffled(tuple(self._random.sample(self._deck, len(self._deck))))


def env(
    options: RoomOptions | None = None, deals: int = 1, render_mode: str | None = None
) -> OrderEnforcingWrapper[str, Observation, Step]:
    """The environment, wrapped so that it says what was called before `reset`."""
    return OrderEnforcingWrapper(Erqiwang(options, deals, render_mode))
