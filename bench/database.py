"""The database that a bench measures: one that is named, or a server of its own that flushes, beside this program."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import psutil

from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.testing.cluster import programs, running

OWN = "own"


class Times(NamedTuple):
    """The CPU time of a process, in seconds."""

    user: float
    system: float


_SETTINGS = {
    "fsync": "on",
    "autovacuum": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "4GB",
    "max_connections": "100",
}


@asynccontextmanager
async def database(named: str) -> AsyncIterator[Address]:
    """The database of this URL; for `own` a new one on a new server, from the PostgreSQL on this machine."""
    async with measured(named) as (address, _):
        yield address


@asynccontextmanager
async def measured(named: str) -> AsyncIterator[tuple[Address, psutil.Process | None]]:
    """The same, and the process that its server began with; None for a server that may be on another machine."""
    if named != OWN:
        yield Address(named), None
        return
    found = programs()
    if found is None:
        raise SystemExit("PostgreSQL is not installed: apt-get install postgresql, or name a database")
    with running(found) as cluster:
        cluster.stop()
        cluster.start(_SETTINGS)
        async with cluster.superuser() as db:
            await db.execute("CREATE DATABASE rooms")
        number = int((cluster.data / "postmaster.pid").read_text().split()[0])
        yield cluster.address("rooms"), psutil.Process(number)


def cpu_seconds(server: psutil.Process) -> float:
    """The CPU time of a database server until now: of the processes that live, and of those that have ended."""
    own = server.cpu_times()
    living = sum(each.user + each.system for each in map(_times, server.children()))
    return living + own.user + own.system + own.children_user + own.children_system


def _times(process: psutil.Process) -> Times:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return Times(0, 0)  # its time is among its parent's now
    return Times(times.user, times.system)
