"""`erqiwang torture`: kills a server again and again under load, and checks that nothing it told clients was lost."""

import asyncio
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final, final

from erqiwang_grpc.auth.files import FIRST_KEY
from erqiwang_grpc.client.servers import Options
from erqiwang_grpc.commands import data_folder, folding, interrupts
from erqiwang_grpc.store import RoomId, StoreReader
from erqiwang_grpc.tools.torture.checking import faults
from erqiwang_grpc.tools.torture.tables import Load, keep_playing
from erqiwang_grpc.tools.torture.transcript import RoomTranscript
from erqiwang_grpc.tools.torture.victim import Victim, VictimFailed

PROVEN: Final = 0
FAULTY: Final = 1
NOT_STARTED: Final = 2

_SHORTEST_LIFE: Final = 0.2
_LONGEST_LIFE: Final = 3.0
"""Seconds between a start and the next kill."""
_IN_A_COMMIT: Final = 0.5
"""The share of the kills that wait until the server writes, so that they fall into a commit."""
_MOST_ROOMS: Final = 10_000_000
"""More rooms than any run opens: the store gives them all in one page."""
_RECONNECTING: Final[Options] = (  # by default a client waits up to two minutes, longer than a server lives here
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `torture`."""
    parser.epilog = "Status 1: something that clients were told was lost, repeated or invented."
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default: 1)")
    parser.add_argument("--tables", type=int, default=200, help="rooms played at once (default: 200)")
    parser.add_argument("--seed", type=int, help="of the kills and the plays (default: another one each time)")
    parser.add_argument(
        "--keep", type=Path, help="folder for the store, which is left there (default: a temporary one)"
    )
    parser.set_defaults(run=run)


@final
@dataclass(slots=True)
class Report:
    """What the torture did, and how much was compared."""

    seed: int
    kills: int = 0
    in_a_commit: int = 0
    """The kills that met the server while it wrote."""
    slowest_start: float = 0.0
    """Seconds until the server served again, at worst."""
    rooms: int = 0
    events: int = 0
    commands: int = 0
    """The commands of seats that were accepted."""
    found_in_store: int = 0
    """Those of them whose first answer was lost, and which the server recognised when they were sent again."""
    connections: int = 0
    notices: int = 0
    faults: int = 0

    def __str__(self) -> str:
        return (
            f"seed {self.seed}: {self.kills} kills, {self.in_a_commit} of them in a commit; "
            f"slowest start {self.slowest_start:.2f} s\n"
            f"{self.rooms:,} rooms, {self.events:,} events, {self.commands:,} commands answered, "
            f"{self.found_in_store:,} of them found in the store when they were sent again\n"
            f"{self.connections:,} connections, {self.notices:,} notices compared; {self.faults} faults"
        )


def run(arguments: Namespace) -> int:
    """Torture and check, and print the report. Gives 1 if anything is wrong, 2 if the server cannot be started."""
    seed = Random().getrandbits(32) if arguments.seed is None else arguments.seed
    with tempfile.TemporaryDirectory(prefix="erqiwang-") as temporary:
        folder = arguments.keep or Path(temporary)
        try:
            report = interrupts.run(torture(folder, 60 * arguments.minutes, arguments.tables, seed))
        except VictimFailed as failed:
            print(f"erqiwang torture: {failed}", file=sys.stderr)
            return NOT_STARTED
    folding.say(str(report).splitlines())
    return FAULTY if report.faults else PROVEN


async def torture(folder: Path, seconds: float, tables: int, seed: int) -> Report:
    """Play on a server for `seconds` and kill it meanwhile, then check every room. Faults go to standard error.

    `seed` decides when the server is killed and what is played. Raises `VictimFailed` if the server does not start.
    """
    luck, report, rooms = Random(seed), Report(seed), list[RoomTranscript]()
    victim = Victim(folder)
    await victim.start()
    key = (folder / FIRST_KEY).read_text().strip()
    load = Load(f"127.0.0.1:{victim.port}", _RECONNECTING, key, asyncio.Event(), rooms)
    async with asyncio.TaskGroup() as playing:
        for _ in range(tables):
            playing.create_task(keep_playing(load, Random(luck.random())))
        await _kill_for(seconds, victim, luck, report)
        load.stopping.set()
    await victim.stop()
    await _check(folder, rooms, report)
    return report


async def _kill_for(seconds: float, victim: Victim, luck: Random, report: Report) -> None:
    """Kill the server and start it again, for `seconds`. It runs at the end."""
    deadline = monotonic() + seconds
    while True:
        life = luck.uniform(_SHORTEST_LIFE, _LONGEST_LIFE)
        await asyncio.sleep(min(life, max(0.0, deadline - monotonic())))
        if monotonic() >= deadline:
            return
        if luck.random() < _IN_A_COMMIT:
            report.in_a_commit += await victim.kill_in_a_commit(_LONGEST_LIFE)
        else:
            await victim.kill()
        report.kills += 1
        report.slowest_start = max(report.slowest_start, await victim.start())


async def _check(folder: Path, rooms: list[RoomTranscript], report: Report) -> None:
    """Compare the stored events of every room with what its clients were told."""
    store = await data_folder.reader(folder)
    try:
        known = {transcript.room for transcript in rooms}
        for room in await _stored_rooms(store):
            if room not in known:
                _blame(report, f"room {room}: no client opened it")
        for transcript in rooms:
            entries = await store.read(transcript.room)
            for fault in faults(transcript, entries):
                _blame(report, f"room {transcript.room}: {fault}")
            report.events += len(entries) if isinstance(entries, tuple) else 0
            _count(transcript, report)
    finally:
        await store.close()


async def _stored_rooms(store: StoreReader) -> tuple[RoomId, ...]:
    rooms = await store.rooms(RoomId(""), _MOST_ROOMS)
    assert isinstance(rooms, tuple), rooms
    return rooms


def _blame(report: Report, fault: str) -> None:
    report.faults += 1
    print(fault, file=sys.stderr)


def _count(transcript: RoomTranscript, report: Report) -> None:
    answers = [answer for sent in transcript.answers.values() for answer in sent]
    report.rooms += 1
    report.commands += len(answers)
    report.found_in_store += sum(answer.repeated for answer in answers)
    report.connections += sum(seat.connections for seat in transcript.seats)
    report.notices += sum(len(seat.notices) for seat in transcript.seats)
