"""What docs/gateway.md shows runs: its program, and the edge in docs/examples/edge.py, where three players play a deal."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from google.protobuf import json_format

from erqiwang_grpc.client import suggested
from erqiwang_grpc.client.fold import Folded
from erqiwang_grpc.v1 import room_pb2, seat_service_pb2 as pb, view_pb2
from tests.documents import REPOSITORY
from tests.service.tables import PATIENCE, Service, in_phase, seated, seen

Play: TypeAlias = Callable[[list[str], str, list[str]], Awaitable[None]]
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SETTLED = in_phase(view_pb2.PHASE_SETTLED)


@asynccontextmanager
async def edge(service: Service) -> AsyncIterator[int]:
    """The edge in a process of its own; gives its port."""
    environment = os.environ | {"ERQIWANG_ADDRESS": service.address, "ERQIWANG_GATEWAY_KEY": service.gateway_key()}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(REPOSITORY / "docs" / "examples" / "edge.py"),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
        yield int(line.decode().rpartition(":")[2])
    finally:
        process.kill()
        await process.wait()


async def play(port: int, token: str, last_version: int) -> Folded:
    """A player's own client: it folds what comes, and sends what its view suggests, to the end of the deal."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    writer.write(json.dumps({"token": token, "last_version": last_version}).encode() + b"\n")
    folded, awaiting = Folded(), False
    async for line in reader:
        message = json_format.Parse(line, pb.SeatMessage())
        assert not message.HasField("refused"), message
        folded.take(message)
        awaiting = awaiting and not message.HasField("accepted")
        if SETTLED(folded.view):
            break
        command = suggested(folded.view)
        if command is not None and not awaiting:
            awaiting = True
            writer.write(json.dumps({"command": json_format.MessageToDict(command)}).encode() + b"\n")
    writer.close()
    return folded


async def test_players_behind_the_example_play_a_deal(service: Service) -> None:
    table = await seated(service.platform)
    async with edge(service) as port, asyncio.timeout(PATIENCE):
        told = await asyncio.gather(*(play(port, seat.token, seat.last_version) for seat in table.seats))
        for number, folded in enumerate(told):
            now = await seen(service, table, number)
            assert (folded.view, folded.version) == (now.view, now.version)


async def test_a_player_whose_token_is_refused_is_told_why(service: Service) -> None:
    async with edge(service) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b'{"token": "nonsense"}\n')
        said = json.loads(await asyncio.wait_for(reader.readline(), PATIENCE))
        assert "no such room" in said["ended"]
        writer.close()


async def test_the_program_of_the_page_plays_a_match(service: Service) -> None:
    (program,) = PROGRAM.findall((REPOSITORY / "docs" / "gateway.md").read_text("utf-8"))
    table = await seated(service.platform)
    defined: dict[str, Play] = {}
    exec(program, defined)  # it is our own page
    async with asyncio.timeout(PATIENCE):
        await defined["play"]([service.address], service.gateway_key(), list(table.tokens))
    assert (await service.platform.room(table.room_id)).state == room_pb2.ROOM_STATE_FINISHED
