"""The environment keeps to PettingZoo's interface, plays whole matches of both games, and pays the core's chips."""

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

import numpy as np
import pytest
from erqiwang_core import Bid, FourPlayer, NameTrump, Pass, RoomOptions, ThreePlayer
from erqiwang_core.match import Over, scores
from erqiwang_core.options import Deck, Length, Start
from erqiwang_core.players import RandomLegal, Sensible
from erqiwang_environment import ACTIONS, DONE, Choose, Erqiwang, Observation, env, number_of, numbers_of, write
from pettingzoo.test.api_test import api_test
from pettingzoo.test.seed_test import seed_test

Chooser: TypeAlias = Callable[[Erqiwang, Observation], int]

TABLES: Final = {
    "three": RoomOptions(),
    "three, all options": RoomOptions(ThreePlayer(joker_bonus=True, climb=True), Length.TWELVE, review=False),
    "four": RoomOptions(FourPlayer(Deck.SHORT), review=False, start=Start.PLATFORM),
    "four, full deck": RoomOptions(FourPlayer(Deck.FULL)),
}
at_every_table = pytest.mark.parametrize("options", TABLES.values(), ids=TABLES)

WARNINGS: Final = (
    # A row and a mask in a dictionary are what PettingZoo's own classic games give too; it knows those by their names.
    "ignore:Observation space for each agent probably should be:UserWarning",
    "ignore:Observation is not a NumPy array:UserWarning",
    # Nothing is allowed to an agent whose episode is over.
    "ignore:Action mask numpy array is all zeros:UserWarning",
)


def by_chance(seed: int) -> Chooser:
    """Takes some allowed action."""
    chance = Random(seed)
    return lambda _, seen: int(chance.choice(np.flatnonzero(seen["action_mask"])))


def played(environment: Erqiwang, choose: Chooser) -> Counter[str]:
    """An episode, from after a reset to its end; the chips of each agent."""
    chips: Counter[str] = Counter()
    for agent in environment.agent_iter():
        seen, reward, is_over, _, _ = environment.last()
        chips[agent] += int(reward)
        assert seen is not None
        assert environment.observation_space(agent).contains(seen)
        environment.step(None if is_over else choose(environment, seen))
    return chips


@at_every_table
@pytest.mark.parametrize("deals", [1, 6])
@pytest.mark.filterwarnings(*WARNINGS)
def test_it_passes_pettingzoos_own_test(options: RoomOptions, deals: int) -> None:
    api_test(env(options, deals, "ansi"), num_cycles=500)  # type: ignore[no-untyped-call] # it has no types


@at_every_table
def test_a_seed_decides_everything(options: RoomOptions) -> None:
    seed_test(lambda: env(options, deals=2), num_cycles=200)  # type: ignore[no-untyped-call] # it has no types


@at_every_table
def test_a_whole_match_by_chance_pays_the_chips_of_the_core(options: RoomOptions) -> None:
    environment = Erqiwang(options, options.deals)
    environment.reset(seed=7)
    chips = played(environment, by_chance(7))
    assert sum(chips.values()) == 0
    match = environment.match
    assert isinstance(match, Over)
    assert [chips[agent] for agent in environment.possible_agents] == list(match.account.totals)
    assert environment.agents == []


@at_every_table
def test_rewards_come_with_each_settlement_and_sum_to_nothing(options: RoomOptions) -> None:
    environment, choose = Erqiwang(options, deals=3), by_chance(3)
    environment.reset(seed=3)
    paid = []
    while not any(environment.terminations.values()):
        settled = len(scores(environment.match))
        environment.step(choose(environment, environment.observe(environment.agent_selection)))
        if len(scores(environment.match)) > settled:
            paid.append(tuple(environment.rewards.values()))
        else:
            assert not any(environment.rewards.values())
    assert paid == [tuple(map(float, chips)) for chips in scores(environment.match)]
    assert [sum(each) for each in paid] == [0, 0, 0]


@at_every_table
@pytest.mark.parametrize("policy", [Sensible(), RandomLegal()], ids=["sensible", "random"])
def test_whatever_a_player_of_the_core_does_the_masks_allow(
    options: RoomOptions, policy: Sensible | RandomLegal
) -> None:
    environment, chance = Erqiwang(options, deals=2), Random(5)
    for seed in range(4):
        environment.reset(seed=seed)
        while not any(environment.terminations.values()):
            agent = environment.agent_selection
            command = policy.act(environment.view(agent), chance)
            assert command is not None
            for action in numbers_of(command):
                assert environment.agent_selection == agent
                environment.step(action)


def test_an_episode_that_stopped_anywhere_is_begun_anew() -> None:
    environment, choose = Erqiwang(), by_chance(6)
    for dead in range(4):
        environment.reset(seed=6)
        while not any(environment.terminations.values()):
            environment.step(choose(environment, environment.observe(environment.agent_selection)))
        for _ in range(dead):
            environment.step(None)
        environment.reset()
        played(environment, choose)
        assert environment.agents == []


def test_a_burial_is_eight_cards_and_done() -> None:
    environment = Erqiwang()
    environment.reset(seed=1)
    for action in (number_of(NameTrump(1)), DONE):
        with pytest.raises(ValueError, match="player_0 may not take action"):
            environment.step(action)
    with pytest.raises(ValueError, match="may not take action 87 now"):
        environment.step(len(ACTIONS))
    environment.step(number_of(Bid(70)))
    environment.step(number_of(Pass()))
    environment.step(number_of(Pass()))
    environment.step(number_of(NameTrump(1)))
    for _ in range(8):
        assert environment.agent_selection == "player_0"
        mask = environment.observe("player_0")["action_mask"]
        assert not mask[DONE]
        environment.step(int(np.flatnonzero(mask)[0]))
    assert list(np.flatnonzero(environment.observe("player_0")["action_mask"])) == [DONE]
    environment.step(DONE)
    assert environment.view("player_0").buried.cards.bit_count() == 8


def test_only_the_agent_that_is_to_act_sees_what_it_has_chosen_and_may_do_anything() -> None:
    environment = Erqiwang()
    environment.reset(seed=1)
    choose = by_chance(1)
    while not (environment.view("player_0").is_to_play or environment.view("player_1").is_to_play):
        environment.step(choose(environment, environment.observe(environment.agent_selection)))
    acting = environment.agent_selection
    before = {agent: environment.observe(agent) for agent in environment.agents}
    environment.step(choose(environment, before[acting]))
    after = {agent: environment.observe(agent) for agent in environment.agents}
    for agent in environment.agents:
        assert np.array_equal(before[agent]["observation"], after[agent]["observation"]) == (agent != acting)
        assert any(before[agent]["action_mask"]) == (agent == acting)


def test_actions_are_in_words() -> None:
    words = [write(number) for number in range(len(ACTIONS))]
    assert len(set(words)) == len(words) == 87
    assert words[:2] + words[52:58] + words[80:] == [
        *("♦A", "♦2", "🃟", "🃏", "done", "pass", "bid 0", "bid 5", "bid 120"),
        *("trump ♦", "trump ♣", "trump ♥", "trump ♠", "trump no trump", "surrender"),
    ]
    assert [number_of(action) for action in ACTIONS] == list(range(87))
    assert isinstance(ACTIONS[53], Choose)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))], ids=["copied", "pickled"])
def test_a_copy_goes_on_alike(clone: Callable[[Erqiwang], Erqiwang]) -> None:
    environment, choose = Erqiwang(deals=2), by_chance(2)
    environment.reset(seed=2)
    for _ in range(150):
        environment.step(choose(environment, environment.observe(environment.agent_selection)))
    assert played(clone(environment), by_chance(4)) == played(environment, by_chance(4))


def test_it_is_made_for_a_table_and_a_number_of_deals_that_there_are() -> None:
    for deals in (0, 7):
        with pytest.raises(ValueError, match="1 to 6 deals"):
            Erqiwang(deals=deals)
    with pytest.raises(ValueError, match="render mode"):
        Erqiwang(render_mode="human")


def test_it_is_seen_as_text() -> None:
    environment = Erqiwang(render_mode="ansi")
    environment.reset(seed=1)
    choose, seen = by_chance(1), []
    while not any(environment.terminations.values()):
        seen.append(environment.render())
        environment.step(choose(environment, environment.observe(environment.agent_selection)))
    text = "\n".join(each for each in seen if each)
    for part in ("deal 1, bidding, seen by player_0", "lowest bid: ", "declarer: ", "trick 2: ", "hand: ", "chosen: "):
        assert part in text
    assert Erqiwang().render() is None
