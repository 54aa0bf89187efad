"""The CPU time to tell, store and read a play, and the bytes that it takes.

python bench/wire_bench.py [--matches N] [--seed S]
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from time import process_time_ns
from typing import Final, TypeVar

from erqiwang_core import match as matches
from erqiwang_core.match import DealStarted, Event, Match, Running, Shuffle
from erqiwang_core.notices import Telling, telling
from erqiwang_core.options import RoomOptions
from erqiwang_core.players import RandomLegal, contest, shuffles
from erqiwang_core.playing import CardsFollowed, CardsLed
from erqiwang_core.rules import RULES_VERSION, game_rules
from erqiwang_core.seats import by_seat

from erqiwang_grpc import events as stored
from erqiwang_grpc.rooms import listener
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import TimeNs, Version

T = TypeVar("T")

REPEATS: Final = 9
NOW: Final = TimeNs(1_700_000_000_000_000_000)
VERSION: Final = Version(100)


@dataclass(frozen=True)
class Told:
    """An event and what all seats are told of it; None for the start of the first deal, which is not followed here."""

    event: Event
    telling: Telling | None


def main() -> None:
    options = _arguments()
    told = [each for index in range(options.matches) for each in _match(options.seed + index)]
    plays = [each for each in told if isinstance(each.event, CardsLed | CardsFollowed)]
    messages = [message for each in plays for message in _packed(each)]
    bodies = [stored.write(each.event) for each in told]
    deals = sum(isinstance(each.event, DealStarted) for each in told)
    of_a_seat = sum(len(message.response) for each in told for message in _packed(each)) / len(_packed(told[-1]))
    print(f"{len(plays)} plays of {deals} deals, three players, review room; each time is the least of {REPEATS} runs")
    print(f"make the notices of three seats  {_microseconds(_packed, plays):6.1f} µs")
    print(f"bytes of such a notice           {sum(len(message.response) for message in messages) / len(messages):6.0f}")
    print(f"bytes of a deal's notices, a seat{of_a_seat / deals:7,.0f}")
    print(f"write an event for the store     {_microseconds(_written, told):6.1f} µs")
    print(f"read a stored event              {_microseconds(_read, bodies):6.1f} µs")
    print(f"stored bytes of a deal           {sum(map(len, bodies)) / deals:6.0f}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--matches", type=int, default=3, help="matches of 6 deals to take plays from (default: 3)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed brings the same matches (default: 1)")
    return parser.parse_args()


def _match(seed: int) -> Iterator[Told]:
    options, random = RoomOptions(), Random(seed)
    seats = game_rules(options.game, options.review).seats
    steps = list(contest(options, by_seat(seats, lambda _: RandomLegal()), random, _sealed(shuffles(options, random))))
    # As in a room, each event evolves the same match, so that all events of a deal share the objects kept with it.
    match: Match = steps[0].before
    assert isinstance(match, Running), "the first deal is dealt before the first step"
    dealt = match.deal.dealt
    yield Told(
        DealStarted(
            dealt.number, dealt.first_bidder, options.game, options.review, dealt.rules.version, dealt.shuffled
        ),
        None,
    )
    for step in steps:
        for event in step.events:
            before, match = match, matches.evolve(match, event)
            yield Told(event, telling(before, event, match, match.chairs.seats()))


def _sealed(shuffle: Shuffle) -> Shuffle:
    """The same decks, with a salt and a commitment as long as a server's. The core's own are empty."""
    return lambda: replace(shuffle(), salt=bytes(32), commitment=bytes(32))


def _packed(told: Told) -> list[encode.Packed]:
    if told.telling is None:
        return []
    heard = listener.Told(VERSION, NOW, NOW, told.telling)
    return [encode.packed_notice(heard, seat) for seat in told.telling.own]


def _written(told: Told) -> bytes:
    return stored.write(told.event)


def _read(body: bytes) -> object:
    return stored.read(body, RULES_VERSION)


def _microseconds(work: Callable[[T], object], items: list[T]) -> float:
    """The CPU time per item: the least of several runs, because other programs slow some of them down."""
    return min(_once(work, items) for _ in range(REPEATS)) / len(items) / 1e3


def _once(work: Callable[[T], object], items: list[T]) -> int:
    start = process_time_ns()
    for item in items:
        work(item)
    return process_time_ns() - start


if __name__ == "__main__":
    main()
