"""How fast the rules core is on positions from random play, interpreted or compiled: the times beside their targets.

python bench/core_bench.py [--matches N] [--seed S] [--json]
"""

import argparse
import json
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from random import Random
from statistics import median, quantiles
from time import perf_counter_ns, process_time_ns
from typing import Final, TypeAlias

from erqiwang_core import match as matches
from erqiwang_core.dealing import Shuffled
from erqiwang_core.kernel.following import follow, is_legal
from erqiwang_core.kernel.hand import cards_of
from erqiwang_core.kernel.shapes import Lead, all_components, classify
from erqiwang_core.match import Running
from erqiwang_core.notices import notice, telling
from erqiwang_core.options import Deck, FourPlayer, RoomOptions, ThreePlayer
from erqiwang_core.players import Policy, RandomLegal, Step, contest, shuffles
from erqiwang_core.playing import Play, Playing
from erqiwang_core.rules import game_rules
from erqiwang_core.seats import by_seat, next_seat
from erqiwang_core.units import CardId
from erqiwang_core.valuation import cheapness
from rich.console import Console
from rich.table import Column, Table

from erqiwang_grpc.commands.version import core_build

REPEATS: Final = 7

Work: TypeAlias = Callable[[], object]

GAMES: Final = {
    "three-player": RoomOptions(ThreePlayer()),
    "four-player, full deck": RoomOptions(FourPlayer(Deck.FULL)),
}


@dataclass(frozen=True)
class Measure:
    """The times of one kind of work on many positions, in microseconds."""

    game: str
    name: str
    median: float
    ninetieth: float
    """The 90th percentile."""
    positions: int
    target: float
    """The aim for the median."""


_COLUMNS: Final = ("median", "p90", "target", "÷ target", "positions")


def main() -> None:
    options = _arguments()
    measures = [measure for game in GAMES for measure in _measures(game, options.matches, options.seed)]
    decisions = {game: _decisions_a_second(GAMES[game], options.matches, options.seed) for game in GAMES}
    if options.json:
        json.dump(
            {"core": core_build(), "times": [asdict(measure) for measure in measures], "decisions": decisions},
            sys.stdout,
            indent=2,
        )
        print()
        return
    console = Console(width=120)
    console.print(_table(measures))
    for game, number in decisions.items():
        console.print(f"{game}, {core_build()}: {number:,.0f} random-legal decisions a second of one core's time")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--matches", type=int, default=20, help="matches of 6 deals to take positions from, at least 2 (default: 20)"
    )
    parser.add_argument("--seed", type=int, default=1, help="the same seed brings the same matches (default: 1)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser.parse_args()


def _measures(game: str, number: int, seed: int) -> Iterator[Measure]:
    options = GAMES[game]
    steps = [step for index in range(number) for step in _match(options, seed + index)]
    notices = len(steps[0].before.chairs)
    yield _measure(game, "legality, full hand, as played", list(_legality_checks(steps)), 5)
    yield _measure(game, "legality, full hand, every pair and tractor led", list(_harder_checks(steps)), 5)
    yield _measure(game, f"a play: decide, evolve, {notices} notices", list(_plays(steps)), 60)
    yield _measure(game, "of these: decide", list(_parts(steps, _decide)), 15)
    yield _measure(game, "of these: evolve", list(_parts(steps, _evolve)), 10)
    yield _measure(game, f"a play told to all {notices} seats, as a room tells it", list(_parts(steps, _tell)), 35)
    yield _deals(game, "a whole random-legal deal, must and may included", options, number, seed)


def _match(options: RoomOptions, seed: int) -> Iterator[Step]:
    random = Random(seed)
    policy: Policy = RandomLegal()
    policies = by_seat(game_rules(options.game, options.review).seats, lambda _: policy)
    return contest(options, policies, random, shuffles(options, random))


def _in_play(step: Step) -> Playing | None:
    return step.before.deal if isinstance(step.before, Running) and isinstance(step.before.deal, Playing) else None


def _legality_checks(steps: list[Step]) -> Iterator[Work]:
    """For each answer to the first lead of a deal, the check that it is legal."""
    for step in steps:
        deal = _in_play(step)
        if deal is not None and not deal.finished and deal.to_follow is not None and isinstance(step.command, Play):
            play = cards_of(CardId(card) for card in step.command.cards)
            yield partial(is_legal, deal.order, deal.to_follow, deal.hands[step.seat], play)


def _harder_checks(steps: list[Step]) -> Iterator[Work]:
    """For each pair and tractor that a deal could have been opened with, the check of the next seat's answer.

    The answer is what `follow` suggests.
    """
    for step in steps:
        deal = _in_play(step)
        if deal is None or deal.trick is not None:
            continue
        hand = deal.hands[next_seat(step.seat, len(deal.hands))]
        for cards in all_components(deal.order, deal.hands[step.seat]):
            lead = classify(deal.order, cards)
            if isinstance(lead, Lead) and lead.count > 1:
                play = follow(deal.order, lead, hand, cheapness(deal.order, hand))
                yield partial(is_legal, deal.order, lead, hand, play)


def _plays(steps: list[Step]) -> Iterator[Work]:
    """For each play, deciding and telling it. A play that ends a deal is left out: its settlement is more work."""
    return _parts(steps, _decide_and_tell)


def _parts(steps: list[Step], part: Callable[[Step], object]) -> Iterator[Work]:
    return (partial(part, step) for step in steps if _in_play(step) is not None and len(step.events) == 1)


def _decide(step: Step) -> None:
    matches.decide(step.before, step.seat, step.command, _no_deal)


def _evolve(step: Step) -> None:
    matches.evolve(step.before, step.events[0])


def _tell(step: Step) -> None:
    telling(step.before, step.events[0], step.after, step.before.chairs.seats())


def _decide_and_tell(step: Step) -> None:
    events = matches.decide(step.before, step.seat, step.command, _no_deal)
    assert isinstance(events, tuple)
    after = matches.evolve(step.before, events[0])
    for seat in step.before.chairs.seats():
        notice(step.before, events[0], after, seat)


def _no_deal() -> Shuffled:
    raise AssertionError("a play starts no deal")


def _measure(game: str, name: str, positions: list[Work], target: float) -> Measure:
    """Time each position REPEATS times and take its median; then measure how these medians are spread."""
    times = [median(_microseconds(work) for _ in range(REPEATS)) for work in positions]
    return Measure(game, name, median(times), quantiles(times, n=10)[-1], len(times), target)


def _deals(game: str, name: str, options: RoomOptions, number: int, seed: int) -> Measure:
    """Time whole matches, and divide by their deals. Each view of a player has its `must` and `may`."""
    times = [
        # A match takes long enough for other programs to interrupt it. Therefore the clock is the process's CPU time.
        _microseconds(partial(deque, _match(options, seed + index), maxlen=0), process_time_ns) / options.deals
        for index in range(number)
    ]
    return Measure(game, name, median(times), quantiles(times, n=10)[-1], number * options.deals, 10_000)


def _decisions_a_second(options: RoomOptions, number: int, seed: int) -> float:
    """Random-legal decisions a second of CPU time: choosing with `must` and `may`, deciding and evolving. A median."""

    def of_match(index: int) -> float:
        start = process_time_ns()
        decisions = sum(1 for _ in _match(options, seed + index))
        return decisions / (process_time_ns() - start) * 1e9

    return median(of_match(index) for index in range(number))


def _microseconds(work: Work, clock: Callable[[], int] = perf_counter_ns) -> float:
    """How long the work takes by this clock, which gives nanoseconds."""
    start = clock()
    work()
    return (clock() - start) / 1e3


def _table(measures: list[Measure]) -> Table:
    table = Table(
        f"times in µs, {core_build()}", "", *(Column(name, justify="right", no_wrap=True) for name in _COLUMNS)
    )
    for measure in measures:
        table.add_row(
            measure.game,
            measure.name,
            f"{measure.median:,.1f}",
            f"{measure.ninetieth:,.1f}",
            f"{measure.target:,.0f}",
            f"{measure.median / measure.target:.2f}",
            f"{measure.positions:,}",
        )
    return table


if __name__ == "__main__":
    main()
