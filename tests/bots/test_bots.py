"""`erqiwang bots` as an operator starts it: it fills seats, plays matches to their end, and comes back after a restart."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from erqiwang_grpc.client import Platform, SeatClient
from erqiwang_grpc.testing import is_over, play
from erqiwang_grpc.v1 import room_pb2
from tests.edge.processes import gateway_key, taking
from tests.service.processes import ServerProcess, serving
from tests.service.tables import seated

QUICK = ("--commands-per-second", "100000")
SECONDS = 120.0
"""How long a match may take on a busy machine."""


class Bots:
    """A running `erqiwang bots`."""

    def __init__(self, process: Process, file: Path) -> None:
        self.process = process
        self.file = file
        self.said = ""
        self._heard = 0

    async def until(self, what: str) -> None:
        """Wait until it says this, after what was waited for before."""
        assert self.process.stdout is not None
        async with asyncio.timeout(SECONDS):
            while what not in self.said[self._heard :]:
                line = await self.process.stdout.readline()
                assert line, f"it ended: {self.said}"
                self.said += line.decode()
        self._heard = self.said.index(what, self._heard) + len(what)

    async def end(self) -> int:
        """Its exit status, once it has ended. What it says until then is read."""
        out, err = await asyncio.wait_for(self.process.communicate(), SECONDS)
        self.said += out.decode()
        assert err == b""
        assert self.process.returncode is not None
        return self.process.returncode

    def order(self, lines: Sequence[dict[str, object]]) -> None:
        """Write the file anew, and have it read."""
        self.file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        self.process.send_signal(signal.SIGHUP)


@asynccontextmanager
async def bots(
    server: ServerProcess, lines: Sequence[dict[str, object]], *flags: str, folder: Path
) -> AsyncIterator[Bots]:
    """Bots for these seats, on a server that takes their gateway key."""
    key = gateway_key(server.folder)
    await taking(server, key)
    file = folder / "seats.jsonl"
    file.write_text("# who sits where\n" + "".join(f"{json.dumps(line)}\n" for line in lines))
    keys = {"ERQIWANG_GATEWAY_KEY": key, "ERQIWANG_KEY": server.key}
    command = (sys.executable, "-m", "erqiwang_grpc", "bots", str(file), "--server", server.address, *flags)
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE, env=os.environ | keys)
    try:
        yield Bots(process, file)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("no_review", [False, True], ids=["review", "no review"])
async def test_two_bots_and_a_person_play_a_match(tmp_path: Path, no_review: bool) -> None:
    async with serving(tmp_path, "--in-memory", *QUICK) as server, Platform([server.address], server.key) as platform:
        room = (await platform.create_room("alice", room_pb2.RoomOptions(no_review=no_review))).room_id
        seat = await platform.take_seat(room, "alice")
        lines: list[dict[str, object]] = [
            {"room": room, "player": "Bao", "level": "sensible"},
            {"room": room, "player": "Chen", "level": "easy", "pace": [0, 0.001]},
        ]
        async with (
            SeatClient([server.address], seat.token, last_version=seat.last_version) as person,
            bots(server, lines, "--pace", "0", "0", "--once", folder=tmp_path) as running,
        ):
            await asyncio.wait_for(play(person), SECONDS)
            assert await running.end() == 0
        assert "line 2 (Bao): plays seat " in running.said
        assert running.said.count("the match is over") == 2
        assert is_over(person.view)


async def test_strong_bots_in_both_styles_play_a_match_of_four(tmp_path: Path) -> None:
    """They think in threads of their own, hear what partners signal, and are never refused."""
    async with serving(tmp_path, "--in-memory", *QUICK) as server, Platform([server.address], server.key) as platform:
        room = (
            await platform.create_room("alice", room_pb2.RoomOptions(four_player=room_pb2.FourPlayerGame()))
        ).room_id
        lines: list[dict[str, object]] = [
            {"room": room, "player": f"bot {seat}", "level": "strong", "style": style}
            for seat, style in enumerate(("careful", "bold", "careful", "bold"))
        ]
        flags = ("--pace", "0", "0", "--once", "--worlds", "2")
        async with bots(server, lines, *flags, folder=tmp_path) as running:
            assert await running.end() == 0
        assert running.said.count("the match is over") == 4


async def test_a_match_goes_on_after_the_server_was_killed_and_started_again(tmp_path: Path) -> None:
    async with serving(tmp_path, *QUICK) as server:
        async with Platform([server.address], server.key) as platform:
            table = await seated(platform)
        lines: list[dict[str, object]] = [{"token": token} for token in table.tokens[1:]]
        async with (
            SeatClient([server.address], table.tokens[0]) as person,
            bots(server, lines, "--pace", "0", "0.01", "--once", folder=tmp_path) as running,
        ):
            playing = asyncio.create_task(play(person))
            await person.until(lambda: person.view.parts.progress.deal == 2)
            server.process.kill()
            await server.process.wait()
            async with serving(tmp_path, *QUICK, port=server.port):
                await asyncio.wait_for(playing, SECONDS)
                assert await running.end() == 0
        assert running.said.count("the match is over") == 2


async def test_many_tables_are_played_over_one_stream(tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory", *QUICK) as server, Platform([server.address], server.key) as platform:
        rooms = [(await platform.create_room("owner")).room_id for _ in range(6)]
        lines: list[dict[str, object]] = [
            {"room": room, "player": f"bot {seat}", "level": "easy"} for room in rooms for seat in range(3)
        ]
        async with bots(server, lines, "--pace", "0", "0", "--once", folder=tmp_path) as running:
            assert await running.end() == 0
        assert running.said.count("the match is over") == len(lines)
        for room in rooms:
            assert (await platform.room(room)).state == room_pb2.ROOM_STATE_FINISHED


async def test_a_refused_token_and_a_full_room_are_named_and_stop_no_other(tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory", *QUICK) as server, Platform([server.address], server.key) as platform:
        table = await seated(platform)
        lines: list[dict[str, object]] = [
            {"token": "nobody.signed.this"},
            {"room": table.room_id, "player": "one too many"},
            {"room": "no such room", "player": "lost"},
        ]
        lines += [{"token": token} for token in table.tokens]
        async with bots(server, lines, "--pace", "0", "0", "--once", folder=tmp_path) as running:
            assert await running.end() == 0
        assert "line 2: let go of the seat: " in running.said
        assert "line 3 (one too many): no seat: " in running.said
        assert "line 4 (lost): no seat: " in running.said
        assert running.said.count("the match is over") == 3
        assert not any(token in running.said for token in ("nobody.signed", *table.tokens))


async def test_the_file_is_read_again_and_a_stop_leaves_the_seats(tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory", *QUICK) as server, Platform([server.address], server.key) as platform:
        room = (await platform.create_room("owner")).room_id
        bao: dict[str, object] = {"room": room, "player": "Bao"}
        chen: dict[str, object] = {"room": room, "player": "Chen"}
        async with bots(server, [bao], folder=tmp_path) as running:
            await running.until("(Bao): plays seat 0")
            running.order([bao, chen])
            await running.until("(Chen): plays seat 1")
            running.order([chen])
            await running.until("(Bao): the seat is free again")
            assert [seat.player for seat in (await platform.room(room)).seats] == ["", "Chen", ""]
            running.file.write_text('{"level": "genius"}')
            running.process.send_signal(signal.SIGHUP)
            await running.until("the seats stay as they are: ")
            await platform.leave_seat(room, 1)
            await running.until("(Chen): let go of the seat: ")
            running.order([bao])
            await running.until("(Bao): plays seat 0")
            running.process.send_signal(signal.SIGTERM)
            assert await running.end() == 0
        assert [seat.player for seat in (await platform.room(room)).seats] == ["Bao", "", ""]
        again = await platform.take_seat(room, "owner")
        async with SeatClient([server.address], again.token) as person:
            await person.until(lambda: len(person.present) > 0)
            assert person.present == (False, True, False)


async def test_a_wrong_gateway_key_ends_it(tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory") as server:
        file = tmp_path / "seats.jsonl"
        file.write_text('{"token": "x"}\n')
        command = (sys.executable, "-m", "erqiwang_grpc", "bots", str(file), "--server", server.address)
        process = await asyncio.create_subprocess_exec(
            *command, stdout=PIPE, stderr=PIPE, env=os.environ | {"ERQIWANG_GATEWAY_KEY": "erqg_wrong"}
        )
        _, err = await asyncio.wait_for(process.communicate(), SECONDS)
        assert process.returncode == 1
        assert b"erqiwang bots: " in err
        assert b"Traceback" not in err
