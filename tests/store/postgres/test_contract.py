"""The database passes the contract of every store, and its wakeups and side messages those of theirs."""

from collections.abc import AsyncIterator

import pytest

from erqiwang_grpc.store import SideMessages, Wakeup
from erqiwang_grpc.store.postgres import Address
from tests.store.contract import SideMessagesContract, StoreContract, WakeupContract
from tests.store.postgres.conftest import opened


class TestPostgresStore(StoreContract):
    """`store` comes from the fixtures of this folder."""


class TestPostgresWakeup(WakeupContract):
    @pytest.fixture
    async def wakeup(self, database: Address) -> AsyncIterator[Wakeup]:
        node = await opened(database)
        await node.notifications.is_connected.wait()
        yield node.wakeup
        await node.close()


class TestPostgresSideMessages(SideMessagesContract):
    @pytest.fixture
    async def nodes(self, database: Address) -> AsyncIterator[tuple[SideMessages, SideMessages]]:
        here, there = await opened(database), await opened(database)
        for node in (here, there):
            await node.notifications.is_connected.wait()
        yield here.side_messages, there.side_messages
        for node in (here, there):
            await node.close()
