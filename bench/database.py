"""The database that a bench measures: one that is named, or a server of its own that flushes, beside this program."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from erqiwang_grpc.store.postgres import Address
from tests.store.postgres.cluster import programs, running

OWN = "own"
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
    if named != OWN:
        yield Address(named)
        return
    found = programs()
    if found is None:
        raise SystemExit("PostgreSQL is not installed: apt-get install postgresql, or name a database")
    with running(found) as cluster:
        cluster.stop()
        cluster.start(fsync="on", autovacuum="on", shared_buffers="512MB", max_wal_size="4GB", max_connections="100")
        async with cluster.superuser() as db:
            await db.execute("CREATE DATABASE rooms")
        yield cluster.address("rooms")
