"""Bytes that are no message, sent by strangers again and again: refused in plain words, counted, and rarely logged."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final
from urllib.request import urlopen

import grpc
import pytest
from prometheus_client.parser import text_string_to_metric_families

from erqiwang_grpc import calls
from erqiwang_grpc.client import refusal_of
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.testing import seated
from erqiwang_grpc.testing.served import ServerProcess
from erqiwang_grpc.v1 import seat_service_pb2
from tests.edge.processes import gateway_key, taking
from tests.service.processes import serving
from tests.service.tables import eventually

BROKEN: Final = b"\xff\xff\xff\xff"
TIMES: Final = 200
SPANS: Final = 4
"""Spans of ten seconds that 200 calls may touch on a slow machine."""


@final
@dataclass(frozen=True, slots=True)
class Method:
    """A method that is sent what it cannot read."""

    path: str
    is_stream: bool = False
    """Whether the request is one of a stream."""
    needs: str = ""
    """The credential without which it would read nothing."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


METHODS: Final = (
    Method("/erqiwang.v1.RoomService/ListRooms"),
    Method("/erqiwang.v1.RoomService/WatchRooms"),
    Method("/erqiwang.v1.SeatService/GetView"),
    Method("/erqiwang.v1.SeatService/Watch"),
    Method("/erqiwang.v1.SeatService/Play", is_stream=True, needs="seat"),
    Method("/erqiwang.v1.GatewayService/Connect", is_stream=True, needs="gateway"),
    Method("/grpc.health.v1.Health/Check"),
    Method("/grpc.health.v1.Health/Watch"),
    Method("/grpc.channelz.v1.Channelz/GetServer"),
    Method("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", is_stream=True),
)


async def refused(channel: grpc.aio.Channel, method: Method, *sent: bytes, credential: str) -> grpc.aio.AioRpcError:
    """How a call that sends these bytes ends."""
    metadata = bearer(credential) if credential else None
    call: grpc.aio.StreamStreamCall[bytes, bytes] | grpc.aio.UnaryStreamCall[bytes, bytes]
    if method.is_stream:
        both: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(method.path)
        call = both(iter(sent), metadata=metadata)
    else:
        # A caller may take a call of one answer for a stream of one.
        one: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(method.path)
        call = one(sent[0], metadata=metadata)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        async for _ in call:
            pass
    return error.value


async def counted(port: int, name: str) -> dict[str, float]:
    """The calls of this method that have ended, by status."""

    def read() -> str:
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as response:
            text: bytes = response.read()
        return text.decode()

    return {
        sample.labels["code"]: sample.value
        for family in text_string_to_metric_families(await asyncio.to_thread(read))
        for sample in family.samples
        if sample.name == "erqiwang_calls_ended_total" and sample.labels["method"] == name
    }


async def credential(server: ServerProcess, channel: grpc.aio.Channel, method: Method) -> str:
    if method.needs == "gateway":
        key = gateway_key(server.folder)
        await taking(server, key)
        return key
    if method.needs == "seat":
        async with server.speaking(channel).platform as platform:
            return (await seated(platform)).tokens[0]
    return ""


@pytest.mark.parametrize("method", METHODS, ids=lambda method: str(method.path))
async def test_each_is_refused_and_counted_and_few_are_logged(method: Method, tmp_path: Path) -> None:
    flags = ("--in-memory", "--channelz", "--metrics-port", "0")
    async with serving(tmp_path, *flags) as server, grpc.aio.insecure_channel(server.address) as channel:
        key = await credential(server, channel, method)
        before = len(server.lines())
        told = [await refused(channel, method, BROKEN, credential=key) for _ in range(TIMES)]
        for error in told:
            refusal = refusal_of(error)
            assert (refusal.code, refusal.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED")
            assert "google" not in str(error.details())
        lines = [line for line in server.lines()[before:] if line["message"] == "request unreadable"]
        assert len(server.lines()) - before == len(lines), "nothing else was logged"
        assert 10 <= len(lines) <= 10 * SPANS
        ids = [dict(error.trailing_metadata() or ())[calls.REQUEST_ID] for error in told]
        assert len({*ids}) == TIMES
        assert [line["request"] for line in lines[:10]] == ids[:10]
        assert {(line["method"], line["level"]) for line in lines} == {(method.name, "warning")}
        assert all(str(line["address"]).startswith("ipv4:127.0.0.1:") for line in lines)
        (metrics,) = (str(line["address"]) for line in server.lines() if line["message"] == "metrics")
        assert await counted(int(metrics.rpartition(":")[2]), method.name) == {"INVALID_ARGUMENT": TIMES}


async def test_what_is_left_out_is_counted_and_later_messages_of_a_stream_are_named_too(tmp_path: Path) -> None:
    play = Method("/erqiwang.v1.SeatService/Play", is_stream=True, needs="seat")
    attach = seat_service_pb2.PlayRequest(attach=seat_service_pb2.Attach()).SerializeToString()
    async with serving(tmp_path, "--in-memory") as server, grpc.aio.insecure_channel(server.address) as channel:
        token = await credential(server, channel, play)
        for _ in range(15):
            error = await refused(channel, play, attach, BROKEN, credential=token)
            assert refusal_of(error).reason == "MALFORMED"
        (first, *_) = (line for line in server.lines() if line["message"] == "request unreadable")
        assert first["method"] == "Play"
        await eventually(lambda: server.said("more requests unreadable") == 1, 20)
        (rest,) = (line for line in server.lines() if line["message"] == "more requests unreadable")
        assert server.said("request unreadable") + int(str(rest["count"])) == 15


@pytest.mark.parametrize("path", ["/no.Service/At", "/erqiwang.v1.RoomService/Nothing", "/grpc.health.v1.Health/List"])
async def test_a_method_that_is_not_there_is_named_too_and_logs_nothing(path: str, tmp_path: Path) -> None:
    """The health service of the library declares `List`, and raises an error in its place."""
    async with serving(tmp_path, "--in-memory") as server, grpc.aio.insecure_channel(server.address) as channel:
        before = len(server.lines())
        for is_stream in (False, True):
            error = await refused(channel, Method(path, is_stream), BROKEN, credential="")
            assert error.code() is grpc.StatusCode.UNIMPLEMENTED
            assert len(dict(error.trailing_metadata() or ())[calls.REQUEST_ID]) == 16
        assert len(server.lines()) == before


async def test_health_and_channelz_name_their_calls(tmp_path: Path) -> None:
    named = ((calls.REQUEST_ID, "mine"),)
    flags = ("--in-memory", "--channelz")
    async with serving(tmp_path, *flags) as server, grpc.aio.insecure_channel(server.address) as channel:
        for path in ("/grpc.health.v1.Health/Check", "/grpc.channelz.v1.Channelz/GetServers"):
            ask: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(path)
            call = ask(b"", metadata=named)
            await call
            assert dict(await call.trailing_metadata())[calls.REQUEST_ID] == "mine"
