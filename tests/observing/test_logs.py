"""Every line that a server or an edge writes to standard error is JSON, names its call, and holds no secret."""

import ast
import asyncio
import json
import os
import re
import ssl
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path

import aiohttp
import grpc
import pytest

from erqiwang_grpc import calls
from erqiwang_grpc.bounded import Bounded
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.logs import FIELDS
from erqiwang_grpc.native_lines import NativeLines
from erqiwang_grpc.testing import Served, ServerProcess, attached, seated
from erqiwang_grpc.v1 import room_service_pb2 as pb, seat_service_pb2
from tests.edge.processes import edge_apart, gateway_key, started, taking
from tests.service.certificates import Authority
from tests.service.processes import REPOSITORY, serving
from tests.service.tables import eventually


def fields_of_calls() -> Iterator[tuple[str, str]]:
    """Each field that is handed to the log as `extra`, and the file that does it."""
    for path in (REPOSITORY / "erqiwang_grpc").rglob("*.py"):
        tree = ast.parse(path.read_text())
        named = {
            each.id: node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for each in node.targets
            if isinstance(each, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "extra":
                parts = list(ast.walk(node.value))
                parts += [
                    at
                    for each in parts
                    if isinstance(each, ast.Name) and each.id in named
                    for at in ast.walk(named[each.id])
                ]
                for part in parts:
                    if isinstance(part, ast.Dict):
                        for key in part.keys:
                            assert isinstance(key, ast.Constant), f"{path}: a field must be named where it is logged"
                            yield str(key.value), path.name


def test_no_field_is_lost() -> None:
    given = set(fields_of_calls())
    assert given
    assert {field for field, _ in given} <= set(FIELDS), [each for each in given if each[0] not in FIELDS]


@pytest.mark.parametrize("taken", ["a", "5f0c0a8e-8d0c-4f0e-9d7e-6d3c4b2a1f00", "x" * 64, "req_1:2/3"])
def test_an_id_that_is_taken(taken: str) -> None:
    assert calls.is_request_id(taken)


@pytest.mark.parametrize(
    "other", ["", "x" * 65, "a b", "a\x1b[2J", "a\u202eb", "é", "erqk_abc", "erqg_abc", "Bearer abc"]
)
def test_an_id_that_is_not_taken(other: str) -> None:
    assert not calls.is_request_id(other)


def test_what_is_left_out_is_counted() -> None:
    bounded = Bounded(2, 10.0)
    assert [bounded.is_said(now) for now in (0, 1, 2, 3, 9.9, 10, 11, 12)] == [
        True,
        True,
        *[False] * 3,
        True,
        True,
        False,
    ]
    assert (bounded.take_left_out(), bounded.take_left_out()) == (4, 0)


async def garbage(port: int) -> None:
    """What no client of gRPC sends."""
    for said in (b"\0" * 100, b"GET / HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 200):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        with suppress(OSError, TimeoutError):
            await writer.drain()
            await asyncio.wait_for(reader.read(), 1)
        writer.close()


async def test_the_core_of_grpc_writes_json_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPC_VERBOSITY", "debug")
    monkeypatch.setenv("GRPC_TRACE", "http,server_channel,secure_endpoint,chttp2_hpack_parser,call,channel")
    async with serving(tmp_path, "--in-memory") as server:
        await garbage(server.port)
        async with grpc.aio.insecure_channel(server.address) as channel:
            await server.speaking(channel).rooms.GetServerInfo(pb.GetServerInfoRequest(), metadata=bearer(server.key))
        await eventually(lambda: server.said("native line") > 3)
        assert await server.stop() == 0
        assert server.said("stopped") == 1
        assert server.key not in server.log()


async def test_a_handshake_that_fails_is_a_line_of_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPC_VERBOSITY", "info")
    issued = Authority("authority").issue("localhost")
    (tmp_path / "chain.pem").write_bytes(issued.certificate)
    (tmp_path / "key.pem").write_bytes(issued.key)
    flags = ("--in-memory", "--tls-cert", str(tmp_path / "chain.pem"), "--tls-key", str(tmp_path / "key.pem"))
    async with serving(tmp_path, *flags) as server:
        await garbage(server.port)
        strict = ssl.create_default_context()
        with pytest.raises(ssl.SSLError):
            await asyncio.open_connection("127.0.0.1", server.port, ssl=strict, server_hostname="localhost")
        await eventually(lambda: server.said("native line") > 0)
        assert await server.stop() == 0
        assert server.said("stopped") == 1


async def test_a_port_in_use_is_told_in_a_sentence_beside_the_lines(tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory") as server:
        second = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "erqiwang_grpc", "serve", "--in-memory", "--data", str(tmp_path), "--port", str(server.port),
            stdout=PIPE, stderr=PIPE,
        )  # fmt: skip
        _, errors = await second.communicate()
    assert second.returncode == 2
    plain = [line for line in errors.decode().splitlines() if not line.startswith("{")]
    assert plain == [f"erqiwang serve: {server.address} cannot be listened on: choose another --host or --port"]
    lines = [json.loads(line) for line in errors.decode().splitlines() if line.startswith("{")]
    native = next(line for line in lines if line["message"] == "native line")
    assert native["level"] == "error"
    assert "already in use" in native["why"]


OUTSIDE_OF_LOGS = """
import asyncio, os, threading, warnings
from erqiwang_grpc.logs import write_to_standard_error

write_to_standard_error()
warnings.warn("a warning of 17 42 91\\nwith a second line")
os.write(2, b"from C\\x1b[2J\\nand no end")
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()

class Dying:
    def __del__(self):
        raise KeyError("17 42 91")

Dying()

async def lost():
    asyncio.get_running_loop().call_soon(lambda: [][17])
    await asyncio.sleep(0.01)

asyncio.run(lost())
raise ValueError("a hand of 17 42 91")
"""


async def test_what_nobody_catches_and_warnings_and_native_text_are_json() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", OUTSIDE_OF_LOGS, stderr=PIPE)
    _, errors = await process.communicate()
    assert process.returncode == 1
    lines = [json.loads(line) for line in errors.decode().splitlines()]
    assert [line["exception"] for line in lines if line["message"] == "error not caught"] == [
        "ZeroDivisionError",
        "KeyError",
        "ValueError",
    ]
    assert any(line.get("exception") == "IndexError" for line in lines), "asyncio tells what it has caught"
    assert {line["why"] for line in lines if line["message"] == "native line"} == {"from C\x1b[2J", "and no end"}
    assert any("a warning" in line["message"] for line in lines)
    assert b"\x1b" not in errors
    assert "a hand of" not in errors.decode()


TELLING = "http,call,metadata,channel,http2_stream_state,chttp2_hpack_parser,server_channel,flowctl,op_failure,api"
PLAIN = {"authorization": "PLAIN-SECRET", "x-api-key": "KEY-SECRET", "cookie": "a=COOKIE-SECRET; b=LAST-SECRET"}


async def test_a_server_whose_library_tells_everything_ends_and_tells_no_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines come faster than anybody can read them, some while the library holds the lock of the interpreter."""
    monkeypatch.setenv("GRPC_VERBOSITY", "debug")
    monkeypatch.setenv("GRPC_TRACE", TELLING)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(tmp_path, "--in-memory", "--grace", "1"))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(server.address))
        served = server.speaking(channel)
        with suppress(grpc.aio.AioRpcError):
            await served.rooms.GetServerInfo(pb.GetServerInfoRequest(), metadata=tuple(PLAIN.items()))
        for _ in range(4):
            await stack.enter_async_context(attached(served, await seated(served.platform)))
        assert await server.stop() == 0
        assert [line["streams"] for line in server.lines() if line["message"] == "draining"] == [12]
        assert server.said("native line") > 3
        assert "SECRET" not in server.log()


def _tells(server: ServerProcess, words: str) -> bool:
    return words in server.log()


async def test_a_server_tells_the_names_of_metadata_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPC_VERBOSITY", "debug")
    monkeypatch.setenv("GRPC_TRACE", "chttp2_hpack_parser")
    async with (
        serving(tmp_path, "--in-memory") as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        with suppress(grpc.aio.AioRpcError):
            rooms = server.speaking(channel).rooms
            await rooms.GetServerInfo(pb.GetServerInfoRequest(), metadata=tuple(PLAIN.items()))
        for name in PLAIN:
            await eventually(partial(_tells, server, f"HDR:SVR: {name} …"))
        assert "SECRET" not in server.log()


def test_only_metadata_on_the_list_is_told() -> None:
    told: list[str] = []
    reads, writes = os.pipe()
    lines = NativeLines(writes, lambda _, line: told.append(line))
    trace = "I1201 06:31:31.569476    7112 hpack_parser.cc:713] HTTP:1:HDR:SVR: "
    for name, value in PLAIN.items():
        os.write(writes, f"{trace}{name}: {value}\nkey={name} value=53 45 4b '{value}'\n".encode())
    os.write(writes, f"{trace}:path: /a\n{trace}te: trailers {trace}x-two: SECRET\n".encode())
    lines.close()
    os.close(reads)
    os.close(writes)
    assert len(told) == 2 * len(PLAIN) + 2
    assert not [line for line in told if "SECRET" in line or "53 45" in line]
    assert told[-2].endswith(":path: /a")
    assert "te: trailers" in told[-1]


FULL_PIPE = """
import ctypes
from erqiwang_grpc.logs import write_to_standard_error

write_to_standard_error("info")
text = b"authorization: PLAIN-SECRET\\n" + b"many words\\n" * 100_000
# A library that writes while it holds the lock of the interpreter, as the core of gRPC does inside a call from Python.
ctypes.PyDLL(None).write(2, text, len(text))
print("went on")
"""


async def test_a_library_that_writes_more_than_anybody_reads_holds_nothing_up() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", FULL_PIPE, stdout=PIPE, stderr=PIPE)
    try:
        said, errors = await asyncio.wait_for(process.communicate(), 20)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    assert said == b"went on\n"
    assert b"native line" in errors
    assert b"SECRET" not in errors


async def test_a_crash_of_the_interpreter_leaves_its_traceback() -> None:
    crash = "from erqiwang_grpc.logs import write_to_standard_error as w\nw()\nimport os\nos.abort()"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", crash, stderr=PIPE)
    _, errors = await process.communicate()
    assert process.returncode == -6
    assert b"Fatal Python error: Aborted" in errors
    assert b"line 4" in errors


async def test_the_level_is_a_flag(tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory", "--log-level", "error") as server:
        assert await server.stop() == 0
        assert server.lines() == []


async def refused(served: Served, key: str, **named: str) -> str:
    """The request id that the caller of a refused call is told."""
    metadata = (*bearer(key), *named.items())
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await served.rooms.ListRooms(pb.ListRoomsRequest(), metadata=metadata)
    return str(dict(error.value.trailing_metadata() or ())[calls.REQUEST_ID])


async def test_a_refused_credential_is_logged_under_the_callers_id(tmp_path: Path) -> None:
    wrong = "erqk_" + "A" * 43
    async with serving(tmp_path, "--in-memory") as server, grpc.aio.insecure_channel(server.address) as channel:
        served = server.speaking(channel)
        assert await refused(served, wrong, **{calls.REQUEST_ID: "mine-1"}) == "mine-1"
        made = await refused(served, wrong, **{calls.REQUEST_ID: "not taken"})
        assert re.fullmatch("[0-9a-f]{16}", made)
        failed = [line for line in server.lines() if line["message"] == "authentication failed"]
        assert [line["request"] for line in failed] == ["mine-1", made]
        assert {(line["why"], line["method"], line["level"]) for line in failed} == {
            ("CREDENTIAL_WRONG", "ListRooms", "warning")
        }
        assert all(str(line["address"]).startswith("ipv4:127.0.0.1:") for line in failed)
        for _ in range(30):
            await refused(served, wrong)
        assert server.said("authentication failed") == 10
        await eventually(lambda: server.said("more authentications failed") == 1, 20)
        (rest,) = (line for line in server.lines() if line["message"] == "more authentications failed")
        assert rest["count"] == 22
        assert wrong not in server.log()


async def test_a_call_and_a_stream_are_told_their_ids(tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory") as server, grpc.aio.insecure_channel(server.address) as channel:
        served = server.speaking(channel)
        info = served.rooms.GetServerInfo(pb.GetServerInfoRequest(), metadata=bearer(server.key))
        await info
        assert len(dict(await info.trailing_metadata())[calls.REQUEST_ID]) == 16
        async with served.platform as platform:
            table = await seated(platform)
        stream = served.seats.Play(metadata=(*bearer(table.tokens[0]), (calls.REQUEST_ID, "stream-7")))
        await stream.write(seat_service_pb2.PlayRequest(attach=seat_service_pb2.Attach()))
        assert dict(await stream.initial_metadata())[calls.REQUEST_ID] == "stream-7"
        stream.cancel()
        watch = served.rooms.WatchRooms(pb.WatchRoomsRequest(), metadata=bearer(server.key))
        assert len(dict(await watch.initial_metadata())[calls.REQUEST_ID]) == 16
        watch.cancel()


async def test_a_drain_is_logged(tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory", "--lame-duck", "0.2") as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            served = server.speaking(channel)
            async with served.platform as platform:
                table = await seated(platform)
            async with attached(served, table):
                assert await server.stop() == 0
        said = {line["message"]: line for line in server.lines()}
        assert said["leaving"]["seconds"] == 0.2
        assert said["draining"]["streams"] == 3
        assert (said["drained"]["streams"], said["drained"]["cut"]) == (3, 0)
        assert isinstance(said["drained"]["seconds"], float)


async def test_an_edge_names_its_sockets_and_writes_json(tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory") as server:
        key = gateway_key(tmp_path)
        await taking(server, key)
        log = tmp_path / "edge.txt"
        async with edge_apart([server.address], key=key, log=log) as edge, aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{edge.port}/v1/play"
            async with session.ws_connect(url, headers={calls.REQUEST_ID: "socket-1"}) as socket:
                assert socket._response.headers[calls.REQUEST_ID] == "socket-1"
                await garbage(edge.port)
                assert await edge.stop() == 0
            lines = edge.lines()
            assert [line["message"] for line in lines][-2:] == ["draining", "stopped"]
            assert lines[-2]["sockets"] == 1


async def test_a_key_that_is_no_key_is_told_in_a_sentence(tmp_path: Path) -> None:
    process = await started("--server", "127.0.0.1:1", key="", log=tmp_path / "log.txt")
    assert await process.wait() == 2
    assert (tmp_path / "log.txt").read_text().startswith("erqiwang edge: a gateway key is needed")
