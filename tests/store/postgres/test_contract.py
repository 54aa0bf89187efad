"""The database passes the contract of every store, and its wakeups that of every wakeup."""

from collections.abc import AsyncIterator

import pytest

from erqiwang_grpc.store import Wakeup
from erqiwang_grpc.store.postgres import Address
from tests.store.contract import StoreContract, WakeupContract
from tests.store.postgres.conftest import opened


class TestPostgresStore(StoreContract):
    """`store` comes from the fixtures of this folder."""


class TestPostgresWakeup(WakeupContract):
    @pytest.fixture
    async def wakeup(self, database: Address) -> AsyncIterator[Wakeup]:
        node = await opened(database)
        await node.wakeup.is_connected.wait()
        yield node.wakeup
        await node.close()
