"""The database answers as memory does, whatever is done to both. Each opening of it is another node's."""

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from erqiwang_grpc.store import Store
from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.testing.cluster import Cluster
from tests.store.postgres.conftest import opened
from tests.store.twins import Twins


async def empty(cluster: Cluster, database: Address) -> None:
    """Take every room out of the database."""
    await (await opened(database)).close()
    async with cluster.superuser(database.url.rpartition("/")[2]) as db:
        await db.execute("TRUNCATE erqiwang.rooms, erqiwang.batches, erqiwang.found")


def test_the_database_answers_as_memory_does(cluster: Cluster, database: Address) -> None:
    class DatabaseTwins(Twins):
        def __init__(self) -> None:
            self.is_empty = False
            super().__init__()

        async def opened(self) -> Store:
            if not self.is_empty:
                await empty(cluster, database)
                self.is_empty = True
            return await opened(database)

    run_state_machine_as_test(DatabaseTwins, settings=settings(max_examples=30, stateful_step_count=25))
