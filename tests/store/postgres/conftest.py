"""One cluster for the tests of a process, and a fresh database for each test."""

from collections.abc import AsyncIterator, Iterator

import pytest

from erqiwang_grpc.store.postgres import Address, PostgresStore, open_store
from erqiwang_grpc.testing.cluster import Cluster, running
from tests.store.postgres.programs import needed


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A server for all tests. A test that ends it starts it again."""
    with running(needed()) as made:
        yield made


@pytest.fixture
async def database(cluster: Cluster, request: pytest.FixtureRequest) -> AsyncIterator[Address]:
    """An empty database."""
    name = f"test_{abs(hash(request.node.nodeid))}"
    async with cluster.superuser() as db:
        await db.execute(f"CREATE DATABASE {name}")
    yield cluster.address(name)
    async with cluster.superuser() as db:
        await db.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def store(database: Address) -> AsyncIterator[PostgresStore]:
    """A node's store."""
    node = await opened(database)
    yield node
    await node.close()


async def opened(database: Address) -> PostgresStore:
    """Another node's store. The test closes it."""
    node = await open_store(database)
    assert isinstance(node, PostgresStore), node
    return node
