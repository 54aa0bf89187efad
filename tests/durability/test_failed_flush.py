"""A disk that fails to flush: the answer says that nobody knows, the server leaves, and sending it again tells."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.client import CallRefused, Platform, refusal_of
from erqiwang_grpc.commands import export
from erqiwang_grpc.commands.serve import FLUSH_FAILED
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.durability.failing_disk import CAN_FAIL
from tests.service.processes import LOG, REPOSITORY, ServerProcess, serving
from tests.service.tables import PATIENCE, act, acting, seated, seen, step

pytestmark = pytest.mark.skipif(not CAN_FAIL, reason="a disk is made to fail by a filter of Linux's system calls")


@asynccontextmanager
async def serving_on_a_failing_disk(folder: Path) -> AsyncIterator[ServerProcess]:
    with (folder / LOG).open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.durability.failing_disk", "serve", "--port", "0", "--data", str(folder),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log, cwd=REPOSITORY,
        )  # fmt: skip
    try:
        line = await said(process)
        yield ServerProcess(process, folder, int(line.rpartition(b":")[2]), folder / LOG)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def said(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    return await asyncio.wait_for(process.stdout.readline(), PATIENCE)


async def let_flushes_fail(server: ServerProcess) -> None:
    assert server.process.stdin is not None
    server.process.stdin.write(b"\n")
    assert await said(server.process) == b"flushes fail\n"


async def test_a_command_whose_flush_failed_is_unknown_and_the_server_leaves(tmp_path: Path) -> None:
    async with serving_on_a_failing_disk(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        table = await seated(service.platform)
        for _ in range(5):
            await step(service, table)
        before = await seen(service, table, 0)
        turn = await acting(service, table)
        assert turn is not None
        await let_flushes_fail(server)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await act(service, table, *turn, "once")
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        assert refusal_of(refused.value).reason == "OUTCOME_UNKNOWN"
        assert "command_id" in (refused.value.details() or "")
        assert await asyncio.wait_for(server.process.wait(), PATIENCE) == FLUSH_FAILED
        assert server.said("flush failed") == 1
    # The next opening finds the command or does not; sent again, it is there once.
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        accepted: pb.Accepted = (await act(service, table, *turn, "once")).accepted
        assert accepted.first_version == before.version + 1
        assert (await act(service, table, *turn, "once")).accepted.repeated_command
        for _ in range(5):
            await step(service, table)
    assert await asyncio.to_thread(main, ["export", "--verify", "--data", str(tmp_path)]) == export.DONE


async def test_a_room_whose_flush_failed_is_opened_once(tmp_path: Path) -> None:
    async with serving_on_a_failing_disk(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        await let_flushes_fail(server)
        with pytest.raises(CallRefused) as refused:
            await service.platform.create_room("alice", command_id="once")
        assert refused.value.reason == "OUTCOME_UNKNOWN"
        assert await asyncio.wait_for(server.process.wait(), PATIENCE) == FLUSH_FAILED
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        platform = server.speaking(channel).platform
        room = await platform.create_room("alice", command_id="once")
        assert [each.room_id for each in await platform.rooms()] == [room.room_id]


async def test_the_clients_find_out_by_themselves_whether_a_command_stands(tmp_path: Path) -> None:
    """What supervises the server starts it again, and nobody has lost a command or has to send one again."""
    async with serving_on_a_failing_disk(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        table = await seated(service.platform)
        turn = await acting(service, table)
        assert turn is not None
        async with (
            Platform([service.address], service.key, deadline=3 * PATIENCE) as platform,
            service.client(table.tokens[turn[0]]) as client,
        ):
            before = client.version
            await let_flushes_fail(server)
            acted = asyncio.create_task(client.act(turn[1]))
            opened = asyncio.create_task(platform.create_room("alice"))
            assert await asyncio.wait_for(server.process.wait(), PATIENCE) == FLUSH_FAILED
            async with serving(tmp_path, port=server.port) as again, asyncio.timeout(3 * PATIENCE):
                answer = await acted
                assert isinstance(answer, pb.Accepted), answer
                assert answer.first_version == before + 1
                here = {table.room_id, (await opened).room_id}
                assert {room.room_id for room in await again.speaking(channel).platform.rooms()} == here


async def test_several_commands_that_share_a_failed_flush_are_all_unknown(tmp_path: Path) -> None:
    """Not one of them is stored by a flush of its own afterwards: the system may call that a success."""
    async with serving_on_a_failing_disk(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        platform = server.speaking(channel).platform
        await platform.create_room("alice")
        await let_flushes_fail(server)
        calls = [platform.create_room("alice", command_id=f"{number}") for number in range(20)]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, CallRefused)]
        assert len(refused) == 20
        assert {each.reason for each in refused} <= {"OUTCOME_UNKNOWN", "DRAINING", ""}
        assert "OUTCOME_UNKNOWN" in {each.reason for each in refused}, "the others may be cut off by the server's end"
        assert await asyncio.wait_for(server.process.wait(), PATIENCE) == FLUSH_FAILED
