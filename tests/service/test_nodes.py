"""Two nodes on one store, whose wakeups are lost: a node that is behind answers at the head of the store all the same."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import final

import pytest

from erqiwang_grpc.rooms import housekeeping
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.service.tables import RawSeat, Service, Table, seated, seen, served, step


@final
class Nodes:
    """A node that acts, and one that is not told of it. Each has a wakeup of its own, so that no hint comes across."""

    def __init__(self, ahead: Service, behind: Service, table: Table) -> None:
        self.ahead = ahead
        self.behind = behind
        self.table = table

    async def act(self) -> int:
        """Act on the one node. The version that this brought, which the other node has not heard of."""
        version = (await step(self.ahead, self.table)).last_version
        assert self.behind.room(self.table.room_id).version < version
        return version


@pytest.fixture
async def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Nodes]:
    """Both have the room in memory, and neither polls."""
    monkeypatch.setattr(housekeeping, "_POLL_TICKS", 1_000_000)
    store = MemoryStore(shared=True)
    async with AsyncExitStack() as stack:
        ahead, behind = [await stack.enter_async_context(served(tmp_path, store=store)) for _ in range(2)]
        table = await seated(ahead.platform)
        await seen(behind, table, 0)
        yield Nodes(ahead, behind, table)


async def test_a_view_is_that_of_the_head(nodes: Nodes) -> None:
    version = await nodes.act()
    behind, ahead = [await seen(node, nodes.table, 1) for node in (nodes.behind, nodes.ahead)]
    assert behind.version == version
    assert behind == ahead


async def test_a_room_is_told_as_it_is_at_the_head(nodes: Nodes) -> None:
    version = await nodes.act()
    room = await nodes.behind.platform.room(nodes.table.room_id)
    assert room.version == version
    assert room == await nodes.ahead.platform.room(nodes.table.room_id)


async def test_a_stream_that_attaches_begins_at_the_head_and_brings_the_others_there(nodes: Nodes) -> None:
    first = RawSeat(nodes.behind, nodes.table.tokens[0])
    begun = (await first.attach()).version
    version = await nodes.act()
    assert (await RawSeat(nodes.behind, nodes.table.tokens[1]).attach()).version == version
    assert [(await first.hear("notice")).notice.version for _ in range(begun, version)] == [
        *range(begun + 1, version + 1)
    ]


async def test_a_stream_that_attaches_again_begins_again_at_the_head(nodes: Nodes) -> None:
    stream = RawSeat(nodes.behind, nodes.table.tokens[0])
    begun = (await stream.attach()).version
    version = await nodes.act()
    await stream.say(pb.PlayRequest(attach=pb.Attach(last_version=begun)))
    again = (await stream.hear("snapshot")).snapshot
    assert again.version == version
    assert again.view == (await seen(nodes.ahead, nodes.table, 0)).view
