"""What it costs to tell, store and read back a play, in processor time, and how many bytes it takes.

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
from erqiwang_core.notices import Notice, notice
from erqiwang_core.options import RoomOptions
from erqiwang_core.players import RandomLegal, contest, shuffles
from erqiwang_core.playing import CardsFollowed, CardsLed
from erqiwang_core.rules import RULES_VERSION, game_rules
from erqiwang_core.seats import by_seat

from erqiwang_grpc import events as stored
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import TimeNs, Version
from erqiwang_grpc.v1 import seat_service_pb2

T = TypeVar("T")

REPEATS: Final = 9
NOW: Final = TimeNs(1_700_000_000_000_000_000)
VERSION: Final = Version(100)


@dataclass(frozen=True)
class Told:
    """An event and what it is told as, seat 0 first."""

    event: Event
    notices: tuple[Notice, ...]


def main() -> None:
    options = _arguments()
    told = [each for place in range(options.matches) for each in _match(options.seed + place)]
    plays = [each for each in told if isinstance(each.event, CardsLed | CardsFollowed)]
    messages = [message for each in plays for message in _encoded(each)]
    bodies = [stored.write(each.event) for each in told]
    deals = sum(isinstance(each.event, DealStarted) for each in told)
    of_a_seat = sum(message.ByteSize() for each in told for message in _encoded(each)) / len(told[-1].notices)
    print(f"{len(plays)} plays of {deals} deals, three players, review room; the least of {REPEATS} runs")
    print(f"notices of a play, three seats   {_microseconds(_encoded, plays):6.1f} µs")
    print(f"bytes of a play's notice         {sum(message.ByteSize() for message in messages) / len(messages):6.0f}")
    print(f"bytes of a deal's notices, a seat{of_a_seat / deals:7,.0f}")
    print(f"write an event to be stored      {_microseconds(_written, told):6.1f} µs")
    print(f"read a stored event              {_microseconds(_read, bodies):6.1f} µs")
    print(f"stored bytes of a deal           {sum(map(len, bodies)) / deals:6.0f}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--matches", type=int, default=3, help="matches of 6 deals to take plays from")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _match(seed: int) -> Iterator[Told]:
    options, random = RoomOptions(), Random(seed)
    seats = game_rules(options.game, options.review).seats
    steps = list(contest(options, by_seat(seats, lambda _: RandomLegal()), random, _sealed(shuffles(options, random))))
    # Followed by one match from end to end, as a room does: what is kept of a deal must be met again to be of use.
    match: Match = steps[0].before
    assert isinstance(match, Running), "the first deal is dealt before the first step"
    dealt = match.deal.dealt
    yield Told(
        DealStarted(
            dealt.number, dealt.first_bidder, options.game, options.review, dealt.rules.version, dealt.shuffled
        ),
        (),
    )
    for step in steps:
        for event in step.events:
            before, match = match, matches.evolve(match, event)
            yield Told(event, tuple(notice(before, event, match, seat) for seat in match.chairs.seats()))


def _sealed(shuffle: Shuffle) -> Shuffle:
    """The same decks, with a salt and a commitment of the size they have in service."""
    return lambda: replace(shuffle(), salt=bytes(32), commitment=bytes(32))


def _encoded(told: Told) -> list[seat_service_pb2.Notice]:
    return [encode.notice(each, VERSION, NOW, NOW) for each in told.notices]


def _written(told: Told) -> bytes:
    return stored.write(told.event)


def _read(body: bytes) -> object:
    return stored.read(body, RULES_VERSION)


def _microseconds(work: Callable[[T], object], items: list[T]) -> float:
    """What one item costs: others use the machine too, so by processor time, and the least of several runs."""
    return min(_once(work, items) for _ in range(REPEATS)) / len(items) / 1e3


def _once(work: Callable[[T], object], items: list[T]) -> int:
    start = process_time_ns()
    for item in items:
        work(item)
    return process_time_ns() - start


if __name__ == "__main__":
    main()
