"""Who an old client is: a file of players, or a callback of the platform."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from erqiwang_grpc.edge.packets.players import Asked, Callback, Place, PlayerFile, Players, Unavailable
from tests.edge.packets.old_client import group
from tests.edge.packets.old_socket import enter, failure, hear, say, url
from tests.edge.packets.stage import AGENT, GAME_ID, ROOM_CODE, packet
from tests.edge.sockets import edge_of
from tests.service.tables import PATIENCE, Service, Table, seated


@pytest.mark.parametrize(
    "content",
    [
        "", "{}", "[1]", '[{"agentid": "a"}]', '[{"agentid": "a", "playerid": 1, "roomcode": 1}]', "[" * 20_000,
        '[{"agentid": "a", "playerid": 1, "playerid": 2, "roomcode": 1, "seat_token": "a"}]',
        '[{"agentid": "a", "playerid": 1, "roomcode": 1, "seat_token": "\\ud800"}]',
    ],
)  # fmt: skip
async def test_a_file_of_players_that_is_wrong_is_of_no_use(tmp_path: Path, content: str) -> None:
    path = tmp_path / "players.json"
    path.write_text(content)
    known = PlayerFile(path)
    asked = Asked("a", 1, 1, {})
    with pytest.raises(Unavailable):
        known.check()
    with pytest.raises(Unavailable):
        await known.place(asked)
    path.write_text(json.dumps([{"agentid": "a", "playerid": 1, "roomcode": 1, "seat_token": "secret"}]))
    place = await known.place(asked)
    assert place is not None
    assert place.seat_token == "secret"
    assert "secret" not in repr(place)
    path.write_text(
        json.dumps([{"agentid": "a", "playerid": 1, "roomcode": 1, "seat_token": "other", "last_version": -1}])
    )
    assert await known.place(asked) == Place("other")
    assert await known.place(Asked("a", 2, 1, {})) is None


@asynccontextmanager
async def posted(answer: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """A service that answers like this; gives its address."""
    app = web.Application()
    app.router.add_post("/seat", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/seat"
    finally:
        await runner.cleanup()


@pytest.fixture(params=["file", "callback"])
async def players(
    request: pytest.FixtureRequest, service: Service, tmp_path: Path
) -> AsyncIterator[tuple[Players, Table]]:
    """The players of a table, in a file or behind a callback."""
    table = await seated(service.platform)
    rows = [
        {
            "agentid": AGENT, "playerid": 100_001 + seat, "roomcode": ROOM_CODE, "gameid": GAME_ID,
            "seat_token": taken.token, "last_version": taken.last_version,
        }
        for seat, taken in enumerate(table.seats)
    ]  # fmt: skip
    if request.param == "file":
        path = tmp_path / "players.json"
        path.write_text(json.dumps(rows))
        yield PlayerFile(path), table
        return

    async def answer(asking: web.Request) -> web.Response:
        asked = await asking.json()
        if asked.get("ticket") != "good":
            return web.json_response({}, status=404)
        found = [row for row in rows if all(row[key] == asked[key] for key in ("agentid", "playerid", "roomcode"))]
        return web.json_response(found[0]) if found else web.json_response({}, status=404)

    async with posted(answer) as address:
        yield Callback(address), table


async def test_the_platform_says_who_it_is(service: Service, players: tuple[Players, Table]) -> None:
    known, _ = players
    async with edge_of(service, players=known) as edge, edge.session.ws_connect(url(edge)) as socket:
        for wrong in ({"playerid": 5}, {"agentid": "x"}, {"roomcode": 1}, {"gameid": "other"}):
            await say(socket, enter(2, ticket="good", **wrong))
            assert await hear(socket) == failure("enter_room", 1, "room"), wrong
        if isinstance(known, Callback):
            await say(socket, enter(2, ticket="bad"))
            assert await hear(socket) == failure("enter_room", 1, "room")
        await say(socket, enter(2, ticket="good"))
        told = await hear(socket)
        assert told is not None
        # This seat filled the room: it is told of the deal as the others were.
        assert told["data"] == {"success": True}
        dealt = await hear(socket)
        assert dealt is not None
        assert dealt["rpc"] == "fapai"
        await say(socket, packet(2, "jiaofen", call=70, gameid="other"))
        assert await hear(socket) == failure("jiaofen", 1)


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (500, b"{}", "answered 500"),
        (302, b"{}", "answered 302"),
        (200, b"{", "failed"),
        (200, b"[]", "no JSON object"),
        (200, b"{}", "no seat_token"),
        (200, b'{"seat_token": "\\ud800"}', "no seat_token"),
        (200, b" " * 20_000, "too much"),
        (200, b"[" * 15_000, "failed"),
    ],
)
async def test_a_callback_that_answers_nonsense_is_of_no_use(status: int, body: bytes, why: str) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, body=body, headers={"Location": "/other"})

    async with posted(answer) as address:
        with pytest.raises(Unavailable, match=why):
            await Callback(address).place(Asked("a", 1, 1, {"agentid": "a"}))


async def test_an_answer_in_pieces_is_read_whole() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in (b'{"seat_to', b'ken": "a token"', b', "last_version": 3}'):
            await response.write(piece)
        return response

    async with posted(answer) as address:
        assert await Callback(address).place(Asked("a", 1, 1, {})) == Place("a token", 3)


async def test_players_that_cannot_be_looked_up_close_the_socket(service: Service, tmp_path: Path) -> None:
    broken: list[Players] = [PlayerFile(tmp_path / "missing.json"), Callback("http://127.0.0.1:1/")]
    for players_ in broken:
        async with edge_of(service, players=players_) as edge, edge.session.ws_connect(url(edge)) as socket:
            await say(socket, enter(0))
            assert await hear(socket) is None
            assert socket.close_code == 4014


async def test_the_command_takes_the_players(service: Service, tmp_path: Path) -> None:
    table = await seated(service.platform)
    path = tmp_path / "players.json"
    path.write_text(
        json.dumps([{"agentid": AGENT, "playerid": 100_001, "roomcode": ROOM_CODE, "seat_token": table.tokens[0]}])
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "erqiwang_grpc", "edge", "--server", service.address, "--port", "0", "--status-port", "0",
        "--packet-players", str(path),
        env=os.environ | {"ERQIWANG_GATEWAY_KEY": service.gateway_key()}, stdout=PIPE, stderr=DEVNULL,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
        async with ClientSession() as session:
            port = int(line.rpartition(b":")[2])
            async with session.ws_connect(f"ws://127.0.0.1:{port}/v1/packets") as socket:
                await say(socket, enter(0))
                told = await hear(socket)
                assert told is not None
                assert "deskinfo" in group(told["data"])
    finally:
        process.kill()
        await process.wait()
