"""What nobody reads is bounded, and who reads gets each message once, up to the end."""

import asyncio
from collections.abc import AsyncIterator

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.client.unread import KEPT, Unread
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.client.scripted import Context, playing, said, snapshot
from tests.service.tables import PATIENCE


async def read(unread: Unread) -> list[int]:
    return [message.snapshot.version async for message in unread.messages()]


async def test_of_what_nobody_reads_the_last_messages_are_kept() -> None:
    unread = Unread()
    for version in range(1, 3 * KEPT + 1):
        unread.put(snapshot(version))
    unread.end()
    assert await read(unread) == list(range(2 * KEPT + 1, 3 * KEPT + 1))
    assert await read(unread) == [], "after the end there is nothing to wait for"


async def test_who_reads_gets_what_was_kept_and_then_what_comes() -> None:
    unread = Unread()
    unread.put(snapshot(1))
    reading = asyncio.create_task(read(unread))
    for version in range(2, 3 * KEPT):
        await asyncio.sleep(0)
        unread.put(snapshot(version))
    unread.end()
    assert await reading == list(range(1, 3 * KEPT))


async def test_a_client_whose_view_alone_is_looked_at_keeps_the_newest() -> None:
    last = KEPT + 500

    async def telling(requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:
        await anext(requests)
        for version in range(1, last + 1):
            await context.write(said(snapshot(version)))
        await anext(requests)

    async with playing(telling) as (address, _), SeatClient([address], "token") as client:
        async with asyncio.timeout(PATIENCE):
            await client.until(lambda: client.version == last)
    assert [message.snapshot.version async for message in client.messages()] == list(range(501, last + 1))
