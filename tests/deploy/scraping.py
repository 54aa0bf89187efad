"""What a real server on a file, one on a database with a standby, and a real edge tell Prometheus."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from erqiwang_grpc.store.postgres import PostgresStore, open_store as open_database
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.testing.pair import paired
from tests.edge.sockets import edge_of
from tests.service.tables import Service, attached, seated, served, step
from tests.service.test_metrics import port_of, text_of
from tests.store.postgres.programs import needed

_TYPE: Final = re.compile(r"^# TYPE (\S+) (\S+)$", re.MULTILINE)


@final
@dataclass(frozen=True, slots=True)
class Scrapes:
    """One scrape of each, as text."""

    file: str
    database: str
    edge: str

    @property
    def texts(self) -> tuple[str, str, str]:
        return self.file, self.database, self.edge


def families(text: str) -> dict[str, str]:
    """The families of a scrape with their types, by the names of the table in docs/metrics.md."""
    return dict(_TYPE.findall(text))


def samples(text: str) -> set[str]:
    """All names that an expression may ask for, also of families that have no sample yet."""
    names: set[str] = set()
    for name, kind in families(text).items():
        names |= {f"{name}_bucket", f"{name}_sum", f"{name}_count"} if kind == "histogram" else {name}
    return names


async def scrape(folder: Path) -> Scrapes:
    """Scrape all three, after something was played."""
    store = await open_store(folder / STORE_FILE)
    assert isinstance(store, SqliteStore)
    (folder / "file").mkdir()
    (folder / "database").mkdir()
    async with served(folder / "file", store=store, metrics_port=0) as service, edge_of(service) as edge:
        await played(service)
        file = await text_of(port_of(service))
        edges = await text_of(edge.status_port)
    await store.close()
    async with paired(needed()) as pair:
        async with pair.primary.superuser() as db:
            await db.execute("CREATE DATABASE rooms")
        shared = await open_database(pair.address("rooms"))
        assert isinstance(shared, PostgresStore)
        async with served(folder / "database", store=shared, metrics_port=0) as service:
            await played(service)
            async with asyncio.timeout(60):
                while "erqiwang_database_replication_lag_bytes" not in (text := await text_of(port_of(service))):  # noqa: ASYNC110  # the database rings no bell
                    await asyncio.sleep(0.1)
        await shared.close()
    return Scrapes(file, text, edges)


async def played(service: Service) -> None:
    table = await seated(service.platform)
    async with attached(service, table):
        await step(service, table)
