"""Clients in every language, made and run as docs/languages.md says, against a server as an operator starts it."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from erqiwang_grpc.auth.files import FIRST_PLATFORM, PLATFORM_KEYS, add_platform_key
from erqiwang_grpc.auth.keys import Scope
from erqiwang_grpc.client import Platform, SeatClient
from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.v1 import room_pb2
from tests.documents import sections
from tests.languages.workshop import TOOLS, Client, Workshop
from tests.service.processes import ServerProcess, serving
from tests.service.tables import seated
from tests.store.postgres.processes import serving as serving_nodes

pytestmark = pytest.mark.languages

PATIENCE: Final = 120.0
"""Seconds that a match may take on a busy machine."""
RESULT: Final = re.compile(r"(\w+): seats played (\d), deals (\d), totals \[(.+)\], all checks hold")


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    async with serving(tmp_path, "--in-memory", "--commands-per-second", "100000") as process:
        yield process


@dataclass(frozen=True, slots=True)
class Played:
    """What a client says of the match it played."""

    language: str
    seats: int
    deals: int
    totals: tuple[int, ...]


async def played(client: Client, server: ServerProcess, *flags: str) -> Played:
    """Run a client to its end."""
    environment = os.environ | {"ERQIWANG_ADDRESS": server.address, "ERQIWANG_KEY": server.key}
    process = await asyncio.create_subprocess_exec(
        *client.arguments(*flags),
        cwd=client.folder, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        output, errors = await asyncio.wait_for(process.communicate(), PATIENCE)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, errors.decode()
    found = RESULT.fullmatch(output.decode().strip())
    assert found, output.decode()
    language, seats, deals, totals = found.groups()
    return Played(language, int(seats), int(deals), tuple(map(int, totals.split())))


def test_every_section_with_commands_is_run() -> None:
    assert sections("languages.md").keys() == TOOLS.keys()


@pytest.mark.parametrize("language", TOOLS)
async def test_a_client_plays_three_players(workshop: Workshop, server: ServerProcess, language: str) -> None:
    result = await played(workshop.client(language), server)
    assert (result.language, result.seats, result.deals) == (language.lower(), 3, 6)
    assert sum(result.totals) == 0


@pytest.mark.parametrize("language", TOOLS)
async def test_a_client_plays_four_players(workshop: Workshop, server: ServerProcess, language: str) -> None:
    result = await played(workshop.client(language), server, "--game four")
    assert (result.seats, result.deals, len(result.totals)) == (4, 6, 4)
    assert sum(result.totals) == 0


@pytest.mark.parametrize("language", ["Go", "TypeScript"])
async def test_a_client_plays_a_match_over_one_stream_for_all_its_seats(
    workshop: Workshop, server: ServerProcess, language: str
) -> None:
    key = add_platform_key(server.folder / PLATFORM_KEYS, FIRST_PLATFORM, Scope.GATEWAY)
    assert isinstance(key, str)
    server.process.send_signal(signal.SIGHUP)
    await asyncio.sleep(1)  # nothing tells that the keys were read
    for game, seats in (("three", 3), ("four", 4)):
        result = await played(workshop.client(language), server, f"--gateway-key {key} --game {game}")
        assert (result.language, result.seats, result.deals) == (language.lower(), seats, 6)
        assert sum(result.totals) == 0


@pytest.mark.parametrize("language", ["Go", "TypeScript"])
async def test_a_client_plays_without_streams_both_ways_and_a_spectator_sees_it(
    workshop: Workshop, server: ServerProcess, language: str
) -> None:
    for game, seats in (("three", 3), ("four", 4)):
        result = await played(workshop.client(language), server, f"--one-way --game {game}")
        assert (result.language, result.seats, result.deals) == (language.lower(), seats, 6)
        assert sum(result.totals) == 0


async def test_go_typescript_and_java_sit_at_one_table(workshop: Workshop, server: ServerProcess) -> None:
    clients = [workshop.client(language) for language in ("Go", "TypeScript", "Java")]
    async with Platform([server.address], server.key) as platform:
        table = await seated(platform)
        results = await asyncio.gather(
            *(
                played(client, server, f"--token {seat.token} --last-version {seat.last_version}")
                for client, seat in zip(clients, table.seats, strict=True)
            )
        )
        finished = await platform.room(table.room_id)
    assert [result.language for result in results] == ["go", "typescript", "java"]
    assert {result.totals for result in results} == {tuple(finished.totals)}
    assert finished.state == room_pb2.ROOM_STATE_FINISHED


@pytest.mark.parametrize("language", TOOLS)
async def test_a_client_that_is_displaced_says_so_and_stays_away(
    workshop: Workshop, server: ServerProcess, language: str
) -> None:
    """The goodbye decides: the client ends, and the newer stream of its seat is not thrown out."""
    async with Platform([server.address], server.key) as platform:
        room = (await platform.create_room("player 0")).room
        token = (await platform.take_seat(room.room_id, "player 0")).token
        failing = asyncio.create_task(failed(workshop.client(language), server, f"--token {token}"))
        async with asyncio.timeout(PATIENCE):
            while not (await platform.room(room.room_id)).seats[0].present:  # noqa: ASYNC110  # nothing rings
                await asyncio.sleep(0.1)
        async with SeatClient([server.address], token) as newer:
            assert "DISPLACED" in await failing
            assert (newer.connections, newer.ended) == (1, None)


@pytest.mark.parametrize("language", TOOLS)
async def test_a_client_whose_token_is_refused_says_so(
    workshop: Workshop, server: ServerProcess, language: str
) -> None:
    """Its `Attach` may meet the end of the call: what it says is the server's status all the same."""
    said = await failed(workshop.client(language), server, "--token nonsense")
    assert "UNAUTHENTICATED" in said.upper()


async def failed(client: Client, server: ServerProcess, *flags: str) -> str:
    """Run a client that is to fail; what it says then."""
    environment = os.environ | {"ERQIWANG_ADDRESS": server.address}
    process = await asyncio.create_subprocess_exec(
        *client.arguments(*flags),
        cwd=client.folder, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        output, errors = await asyncio.wait_for(process.communicate(), PATIENCE)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode != 0, output.decode()
    return errors.decode()


def test_buf_and_maven_generate_the_same_java_classes(workshop: Workshop) -> None:
    folder = workshop.client("Java").folder
    by_buf, by_maven = (
        sorted(path.relative_to(made) for path in made.rglob("*.java"))
        for made in (folder / "gen", folder / "target" / "generated-sources" / "protobuf")
    )
    assert by_buf
    assert by_buf == by_maven


@pytest.mark.parametrize("language", TOOLS)
async def test_a_client_whose_server_is_killed_goes_on_at_the_next_address(
    workshop: Workshop, database: Address, tmp_path: Path, language: str
) -> None:
    client = workshop.client(language)
    async with serving_nodes(database, tmp_path, 2) as nodes, Platform([nodes[1].address], nodes[0].key) as platform:
        addresses = ",".join(node.address for node in nodes)
        playing = asyncio.create_task(played(client, nodes[0], f"--address {addresses}"))
        async with asyncio.timeout(PATIENCE):
            while not any(room.deal > 1 for room in await platform.rooms()):  # noqa: ASYNC110  # nothing rings
                await asyncio.sleep(0.05)
        await nodes[0].kill()
        result = await playing
        assert (result.seats, result.deals) == (3, 6)
        (room,) = await platform.rooms()
        assert result.totals == tuple(room.totals)
