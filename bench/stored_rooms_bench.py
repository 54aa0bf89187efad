"""Whether the start of a server, its memory, its lists and its turns depend on the number of stored rooms.

python -m bench.stored_rooms_bench [--most N] [--active N] [--turns N] [--folder DIR]   (DIR on the disk to measure)
"""

import argparse
import asyncio
import gc
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import final

import psutil
from erqiwang_core.match import Command, Match, Player
from erqiwang_core.units import Seat
from erqiwang_core.view import advice

from erqiwang_grpc.auth.files import Opened, open_key_files
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.actor import SeatActor
from erqiwang_grpc.events.history import RoomHistory, read
from erqiwang_grpc.events.index import in_state, of_platform, played, terms, with_player
from erqiwang_grpc.events.standing import RoomState, Standing, latest
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.rooms.command import Accepted, SeatAsks
from erqiwang_grpc.rooms.fingerprint import command_key
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.rpc.server import Server, Settings
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.store import (
    NOTHING,
    START,
    Appended,
    Batch,
    Entry,
    Moment,
    Page,
    Period,
    RoomId,
    Search,
    Store,
    Summary,
    TimeNs,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import SqliteStore, open_store
from erqiwang_grpc.store.wakeup import ProcessWakeup
from tests.deals.suggestions import suggested
from tests.durability.played import PLAYERS, seated

LOCAL = PlatformId("local")
ROUNDS = 5  # of turns for each figure
REOPENED = 3  # times that the rooms in memory are put away and opened again
WRITTEN_AT_ONCE = 500  # rooms, while a store is filled
ASKED = 20  # times for each list
STARTED = 3  # times for each number of stored rooms


def rooms_on(store: Store, idle_minutes: int = 10) -> Rooms:
    """The rooms of a server on this store, without gRPC. Its limits do not slow the bench down."""
    limits = Limits(commands_per_second=1_000_000, rooms=1_000_000, idle_minutes=idle_minutes)
    return Rooms(Node(store, ProcessWakeup(), lambda: TimeNs(time.time_ns()), seeded(1), limits))


def next_command(match: Match) -> tuple[Seat, Command]:
    """The seat whose turn it is, and what its advice suggests: it costs little, and it plays every match to its end."""
    advised = ((seat, advice(match, seat).choice) for seat in match.chairs.seats())
    acting, choice = next((seat, choice) for seat, choice in advised if choice is not None)
    return acting, suggested(choice)


async def one_turn(room: Room) -> float:
    """Decide, store and tell one command; gives the seconds that it took."""
    seat, command = next_command(room.match)
    asked = SeatAsks(SeatActor(seat, Player(PLAYERS[seat])), command, command_key(f"{room.version}", command), None)
    start = time.perf_counter()
    answer = await room.carry_out(asked)
    assert isinstance(answer, Accepted), answer
    return time.perf_counter() - start


async def template(turns: int) -> tuple[Entry, ...]:
    """The events of a room in which `turns` turns were played."""
    store = MemoryStore()
    room = await seated(rooms_on(store), "template")
    for _ in range(turns):
        await one_turn(room)
    return await store.read(room.id)


async def write(store: Store, room: RoomId, entries: tuple[Entry, ...], *, ended: bool) -> None:
    """Store a room with these events, in their batches.

    If `ended`, its summary says that the match is finished, so that a server does not keep the room open.
    """
    head, standing = NOTHING, standing_after(entries)
    summary = SummaryWriter().write(standing)
    if ended:
        players = [chair.player for chair in standing.match.chairs]
        found_by = terms(standing.opened, RoomState.FINISHED, players, was_played=True)
        summary = Summary(found_by, standing.created, standing.time, summary.body)
    batches = groupby(entries, key=lambda entry: (entry.time, entry.actor, entry.command))
    for (time_ns, actor, command), group in batches:
        bodies = tuple(entry.body for entry in group)
        batch = Batch(time_ns, actor, command, 1, bodies, summary, "local" if head == NOTHING else None)
        answer = await store.append(room, head, batch)
        assert isinstance(answer, Appended), answer
        head = answer.version


@cache
def standing_after(entries: tuple[Entry, ...]) -> Standing:
    """The standing of a room after these events."""
    history = read(entries)
    assert isinstance(history, RoomHistory), history
    standing = latest(history)
    assert isinstance(standing, Standing), standing
    return standing


async def fill(store: Store, first: int, last: int, entries: tuple[Entry, ...], *, ended: bool = True) -> None:
    """Store rooms with these events, under the numbers from `first` to `last` - 1."""
    for start in range(first, last, WRITTEN_AT_ONCE):
        names = (RoomId(f"room{number:07}") for number in range(start, min(start + WRITTEN_AT_ONCE, last)))
        await asyncio.gather(*(write(store, name, entries, ended=ended) for name in names))


async def opened(folder: Path) -> SqliteStore:
    store = await open_store(folder / "rooms.sqlite")
    assert isinstance(store, SqliteStore), store
    return store


def resident() -> int:
    """The resident memory of this process, in bytes."""
    gc.collect()
    return psutil.Process().memory_info().rss


@final
@dataclass(frozen=True, slots=True)
class Turns:
    """The time of a turn, in milliseconds."""

    median: float
    ninety_fifth: float
    """The 95th percentile."""
    cpu: float
    """The mean CPU time."""


async def turns(rooms: list[Room], number: int) -> Turns:
    """Play `number` turns one after the other, each in the next of the rooms, and repeat that ROUNDS times.

    Each figure is the lowest of the rounds, because other programs slow some rounds down.
    """
    rounds = list[Turns]()
    for _ in range(ROUNDS):
        times, cpu = list[float](), time.process_time()
        for index in range(number):
            times.append(1000 * await one_turn(rooms[index % len(rooms)]))
        spent = 1000 * (time.process_time() - cpu) / number
        rounds.append(Turns(statistics.median(times), statistics.quantiles(times, n=20)[-1], spent))
    return Turns(
        min(one.median for one in rounds), min(one.ninety_fifth for one in rounds), min(one.cpu for one in rounds)
    )


def print_turns(rooms: str, cost: Turns) -> None:
    print(f"{rooms:<42} {cost.median:>8.2f} {cost.ninety_fifth:>8.2f} {cost.cpu:>8.2f}", flush=True)


async def start_time(folder: Path) -> float:
    """The seconds until a server on this folder serves."""
    keys = open_key_files(folder, None, None)
    assert isinstance(keys, Opened), keys
    start = time.perf_counter()
    store = await opened(folder)
    server = Server(Settings(store, keys.files))
    await server.start()
    seconds = time.perf_counter() - start
    await server.stop(0)
    await store.close()
    return seconds


async def watch_time(folder: Path) -> float:
    """The seconds that a server needs, once it serves, to find the rooms whose seats are not all taken."""
    store = await opened(folder)
    start = time.perf_counter()
    await Housekeeping(rooms_on(store)).watch_stored()
    seconds = time.perf_counter() - start
    await store.close()
    return seconds


async def measure(folder: Path, most: int, active: int, number: int) -> None:
    entries = await template(40)
    print(f"stored rooms of {len(entries)} events; one turn after the other, each flushed to the disk")
    print(f"{'milliseconds per turn':<42} {'median':>8} {'95th':>8} {'CPU':>8}")
    store, filled = await opened(folder), 0
    for stored in (10, 100, 1_000, 10_000):
        if stored > most:
            break
        await fill(store, filled, stored, entries)
        filled = stored
        room = await seated(rooms_on(store), f"at {stored}")
        print_turns(f"{stored:,} stored, 1 in memory", await turns([room], number))
    await store.close()
    await with_active(folder, filled, active, number, entries)
    await starts(folder, filled, most)


async def with_active(folder: Path, filled: int, active: int, number: int, entries: tuple[Entry, ...]) -> None:
    """Measure turns with many rooms in memory, the memory that these rooms take, and whether it is given back."""
    store = await opened(folder)
    names = [RoomId(f"room{number:07}") for number in range(1_000_000, 1_000_000 + active)]
    await fill(store, 1_000_000, 1_000_000 + active, entries, ended=False)
    # Without idle minutes, `put_away` drops each room that nobody uses.
    rooms, before, start = rooms_on(store, idle_minutes=0), resident(), time.perf_counter()
    kept = [room for name in names if isinstance(room := await rooms.find(name), Room)]
    seconds = time.perf_counter() - start
    held = resident() - before
    print_turns(f"{filled + active:,} stored, {active:,} in memory, one plays", await turns(kept[:1], number))
    print_turns(f"{filled + active:,} stored, {active:,} in memory, all play", await turns(kept, number))
    print(f"{active:,} rooms opened in {seconds:.2f} s, {1000 * seconds / active:.2f} ms per room")
    print(f"memory: {held / active / 1024:.0f} KiB per room in play", end="")
    kept.clear()
    rooms.put_away()
    after = resident()
    for _ in range(REOPENED):
        for name in names:
            await rooms.find(name)
        rooms.put_away()
    grown = (resident() - after) / 1e6
    print(
        f"; {len(rooms.live)} rooms left after putting all away; after {REOPENED} more times {grown:+.1f} MB",
        flush=True,
    )
    await store.close()


FOREVER = Period(TimeNs(0), TimeNs(2**62))
LISTS = {
    "all": Search((of_platform(LOCAL),), Moment.CREATED, FOREVER),
    "in a state": Search((in_state(LOCAL, RoomState.FINISHED), of_platform(LOCAL)), Moment.CREATED, FOREVER),
    "of a player": Search((with_player(LOCAL, "alice"), of_platform(LOCAL)), Moment.CREATED, FOREVER),
    "ended": Search((played(LOCAL),), Moment.ENDED, FOREVER),
}


async def lists(folder: Path) -> str:
    """The milliseconds for the first page of each list, a page inside the list of all, and 100 batches of the feed."""
    store = await opened(folder)
    costs = [await fastest(partial(store.summaries, search, 200)) for search in LISTS.values()]
    page = await store.summaries(LISTS["all"], 5_000)
    assert isinstance(page, Page), page
    costs.append(await fastest(partial(store.summaries, LISTS["all"], 200, page.next or START)))
    costs.append(await fastest(partial(store.feed, "local", START, 100)))
    await store.close()
    return " ".join(f"{cost:>11.2f}" for cost in costs)


async def fastest(ask: Callable[[], Awaitable[object]]) -> float:
    """The milliseconds of the fastest of several calls, because other programs slow some of them down."""
    times = list[float]()
    for _ in range(ASKED):
        start = time.perf_counter()
        await ask()
        times.append(1000 * (time.perf_counter() - start))
    return min(times)


async def starts(folder: Path, filled: int, most: int) -> None:
    """Measure starts and lists, by the number of stored rooms."""
    # The opening and three taken seats: a longer room would make the filling slow, and a start does not read it.
    short = (await template(0))[:4]
    print(f"{'stored rooms':>12} {'start, ms':>10} {'unfilled rooms found after, s':>29} {'file, MB':>9}")
    for stored in (10_000, 100_000):
        if stored > most:
            break
        store = await opened(folder)
        await fill(store, filled, stored, short)
        await store.close()
        filled = max(filled, stored)
        best = min([await start_time(folder) for _ in range(STARTED)])
        found = await watch_time(folder)
        size = (folder / "rooms.sqlite").stat().st_size / 1e6
        print(f"{stored:>12,} {1000 * best:>10.1f} {found:>29.2f} {size:>9.0f}", flush=True)
        print(f"  a page of 200, ms: {' '.join(f'{name:>11}' for name in (*LISTS, 'inside all', 'feed of 100'))}")
        print(f"                     {await lists(folder)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--most", type=int, default=100_000, help="most rooms to store, up to 100,000 (default: 100,000)"
    )
    parser.add_argument("--active", type=int, default=1_000, help="rooms in memory at the same time (default: 1,000)")
    parser.add_argument(
        "--turns", type=int, default=80, help=f"turns in each of the {ROUNDS} rounds of a figure (default: 80)"
    )
    parser.add_argument("--folder", type=Path, default=None, help="folder to write to (default: a temporary one)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        asyncio.run(measure(Path(folder), options.most, options.active, options.turns))


if __name__ == "__main__":
    main()
