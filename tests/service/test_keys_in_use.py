"""Keys of a running server: made at the first start, rotated, exchanged with SIGHUP; and a log that tells none of it."""

import signal
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.auth.files import (
    FIRST_KEY,
    PLATFORM_KEYS,
    SIGNING_KEYS,
    add_platform_key,
    rotate_signing_key,
)
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.client import CallRefused, Platform
from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2
from tests.service.processes import ServerProcess, serving
from tests.service.tables import PATIENCE, Table, act, attached, eventually, in_phase, play_all, seated, seen


async def to_the_end(call: grpc.aio.StreamStreamCall[bytes, bytes]) -> None:
    async for _ in call:
        pass


async def reloaded(server: ServerProcess) -> None:
    """Tell the server to read its key files again, and wait until it has."""
    before = server.said("key files reloaded")
    server.process.send_signal(signal.SIGHUP)
    await eventually(lambda: server.said("key files reloaded") > before)


async def test_keys_are_made_once_and_survive_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        served = server.speaking(channel)
        table = await seated(served.platform)
        before = await seen(served, table, 0)
        made = {line["path"] for line in server.lines() if line["message"] == "key file made"}
        assert made == {str(tmp_path / name) for name in (PLATFORM_KEYS, SIGNING_KEYS, FIRST_KEY)}
        assert all((tmp_path / name).stat().st_mode & 0o077 == 0 for name in (PLATFORM_KEYS, SIGNING_KEYS, FIRST_KEY))
        assert await server.stop() == 0
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        assert await seen(server.speaking(channel), table, 0) == before
        assert server.said("key file made") == 3, "none was made anew"


async def test_signing_keys_are_rotated_while_seats_play(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        served = server.speaking(channel)
        old = await seated(served.platform)
        async with attached(served, old) as seats:
            assert rotate_signing_key(tmp_path / SIGNING_KEYS, keep=1) is None
            await reloaded(server)
            new = await seated(served.platform)
            assert old.tokens[0].split(".")[0] != new.tokens[0].split(".")[0], "the newest key signs"
            await seen(served, new, 0)
            await seen(served, old, 0)
            assert rotate_signing_key(tmp_path / SIGNING_KEYS, keep=1) is None
            await reloaded(server)
            await seen(served, new, 0)
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await seen(served, old, 0)
            assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED
            await play_all(seats, until=in_phase(view_pb2.PHASE_BURYING))


async def test_a_platform_is_added_and_a_broken_file_changes_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        key = add_platform_key(tmp_path / PLATFORM_KEYS, PlatformId("late"))
        assert isinstance(key, str)
        with pytest.raises(CallRefused):
            await Platform([server.address], key).rooms()
        await reloaded(server)
        assert await Platform([server.address], key).rooms() == []
        (tmp_path / PLATFORM_KEYS).write_text("{")
        server.process.send_signal(signal.SIGHUP)
        await eventually(lambda: server.said("key file refused") == 1)
        assert await Platform([server.address], key).rooms() == []


async def test_the_log_is_lines_of_json_without_a_secret(tmp_path: Path) -> None:
    """Through a deal, refusals, forged tokens, broken frames, and requests that make no sense."""
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        served = server.speaking(channel)
        table = await seated(served.platform)
        hands: list[str] = []
        async with attached(served, table) as seats:
            hands = [str(list(seat.view.parts.hand.cards)) for seat in seats]
            for forged in (table.tokens[0][:-3] + "AAA", served.key):
                with pytest.raises(grpc.aio.AioRpcError):
                    await seen(served, Table(table.room_id, (forged,)), 0)
            with pytest.raises(grpc.aio.AioRpcError):
                await act(served, table, 2, pb.Command())
            for path in ("/erqiwang.v1.SeatService/Act", "/erqiwang.v1.SeatService/GetView"):
                garbage: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(path)
                with pytest.raises(grpc.aio.AioRpcError):
                    await garbage(b"\xff" * 9, metadata=table.metadata(0))
            seats[0].drop()
            await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
            play: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(
                "/erqiwang.v1.SeatService/Play"
            )
            displacing = play(metadata=table.metadata(0), timeout=PATIENCE)
            await displacing.write(pb.PlayRequest(attach=pb.Attach()).SerializeToString())
            await seats[0].until(lambda: False)
            await displacing.write(b"\xff" * 9)
            with pytest.raises(grpc.aio.AioRpcError) as malformed:
                await to_the_end(displacing)
            assert malformed.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert await server.stop() == 0
        log = server.log()
        assert {"serving", "stopped"} <= {line["message"] for line in server.lines()}, "every line is JSON"
        signing = (tmp_path / SIGNING_KEYS).read_text().split('"')
        secrets = [served.key, *table.tokens, *(token.split(".")[2] for token in table.tokens), *hands]
        secrets += [text for text in signing if len(text) > 40]
        assert len(secrets) > 8
        for secret in secrets:
            assert secret not in log
