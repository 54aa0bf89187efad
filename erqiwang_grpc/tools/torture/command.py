"""`erqiwang torture`: kills a server again and again under load, and checks that nothing it told clients was lost."""

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final, final

from erqiwang_grpc.auth.files import FIRST_KEY
from erqiwang_grpc.commands import data_folder, folding, interrupts
from erqiwang_grpc.commands.stores import POSTGRES_EXTRA
from erqiwang_grpc.testing.folder import guarded_folder
from erqiwang_grpc.tools.torture.comparing import Compared, compare
from erqiwang_grpc.tools.torture.tables import RECONNECTING, Load, keep_playing
from erqiwang_grpc.tools.torture.transcript import RoomTranscript
from erqiwang_grpc.tools.torture.victim import Victim, VictimFailed

PROVEN: Final = 0
FAULTY: Final = 1
NOT_STARTED: Final = 2

_SQLITE: Final = "sqlite"
_POSTGRESQL: Final = "postgresql"

_SHORTEST_LIFE: Final = 0.2
_LONGEST_LIFE: Final = 3.0
"""Seconds between a start and the next kill."""
_IN_A_COMMIT: Final = 0.5
"""The share of the kills that wait until the server writes, so that they fall into a commit."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `torture`."""
    parser.epilog = "Status 1: something that clients were told was lost, repeated or invented."
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default: 1)")
    parser.add_argument("--tables", type=int, default=200, help="rooms played at once (default: 200)")
    parser.add_argument("--seed", type=int, help="of the kills and the plays (default: another one each time)")
    parser.add_argument(
        "--store",
        choices=(_SQLITE, _POSTGRESQL),
        default=_SQLITE,
        help="what is tortured: one server on a folder, or nodes on a database with a standby, which it makes from the "
        "PostgreSQL on this machine (default: sqlite)",
    )
    parser.add_argument("--nodes", type=int, default=3, help="servers on the database (default: 3)")
    parser.add_argument(
        "--keep",
        type=Path,
        help="folder for the store, or for the logs of the nodes, which is left there (default: a temporary one)",
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
    compared: Compared = field(default_factory=Compared)

    def __str__(self) -> str:
        return (
            f"seed {self.seed}: {self.kills} kills, {self.in_a_commit} of them in a commit; "
            f"slowest start {self.slowest_start:.2f} s\n{self.compared}"
        )


def run(arguments: Namespace) -> int:
    """Torture and check, and print the report. Gives 1 if anything is wrong, 2 if the server cannot be started."""
    seed = Random().getrandbits(32) if arguments.seed is None else arguments.seed
    tortured = _many_nodes if arguments.store == _POSTGRESQL else _one_server
    try:
        text, compared = tortured(arguments, seed)
    except VictimFailed as failed:
        print(f"erqiwang torture: {failed}", file=sys.stderr)
        return NOT_STARTED
    folding.say(text.splitlines())
    return FAULTY if compared.faults else PROVEN


def _one_server(arguments: Namespace, seed: int) -> tuple[str, Compared]:
    with guarded_folder("erqiwang-") as temporary:
        folder = arguments.keep or temporary
        report = interrupts.run(torture(folder, 60 * arguments.minutes, arguments.tables, seed))
    return str(report), report.compared


def _many_nodes(arguments: Namespace, seed: int) -> tuple[str, Compared]:
    try:
        # Imported here, because the driver of the database is installed only where it is needed.
        from erqiwang_grpc.tools.torture import many_nodes  # noqa: PLC0415  # see above
    except ModuleNotFoundError as missing:
        if missing.name != "asyncpg":
            raise
        raise VictimFailed(
            f"a database needs asyncpg, which is not installed: pip install '{POSTGRES_EXTRA}'"
        ) from missing
    if arguments.keep is not None:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    work = many_nodes.torture(arguments.nodes, 60 * arguments.minutes, arguments.tables, seed, arguments.keep)
    report = interrupts.run(work)
    return str(report), report.compared


async def torture(folder: Path, seconds: float, tables: int, seed: int) -> Report:
    """Play on a server for `seconds` and kill it meanwhile, then check every room. Faults go to standard error.

    `seed` decides when the server is killed and what is played. Raises `VictimFailed` if the server does not start.
    """
    luck, report, rooms = Random(seed), Report(seed), list[RoomTranscript]()
    victim = Victim(folder)
    await victim.start()
    key = (folder / FIRST_KEY).read_text().strip()
    load = Load((f"127.0.0.1:{victim.port}",), RECONNECTING, key, asyncio.Event(), rooms)
    async with asyncio.TaskGroup() as playing:
        for _ in range(tables):
            playing.create_task(keep_playing(load, Random(luck.random())))
        await _kill_for(seconds, victim, luck, report)
        load.stopping.set()
    await victim.stop()
    store = await data_folder.reader(folder)
    try:
        await compare(store, rooms, report.compared)
    finally:
        await store.close()
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
