"""Reflection and channelz: what tools may ask a server for, and the flags that say whether they may."""

from pathlib import Path

import grpc
import pytest
from grpc_channelz.v1 import channelz_pb2
from grpc_reflection.v1alpha import reflection_pb2

from tests.service.processes import ServerProcess, serving
from tests.service.tables import seated


async def reflects(server: ServerProcess, version: str) -> bool:
    """Whether the server lists its services."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        reflect: grpc.aio.StreamStreamMultiCallable[
            reflection_pb2.ServerReflectionRequest, reflection_pb2.ServerReflectionResponse
        ]
        reflect = channel.stream_stream(
            f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )
        try:
            (answer,) = [
                each async for each in reflect(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
            ]
        except grpc.aio.AioRpcError as error:
            # A write that meets the end of a call hides its status.
            if error.code() not in (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.INTERNAL):
                raise
            return False
        return len(answer.list_services_response.service) > 0


async def servers(server: ServerProcess) -> list[channelz_pb2.Server] | None:
    """The servers that channelz tells of; None if it is off."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        ask: grpc.aio.UnaryUnaryMultiCallable[channelz_pb2.GetServersRequest, channelz_pb2.GetServersResponse]
        ask = channel.unary_unary(
            "/grpc.channelz.v1.Channelz/GetServers",
            request_serializer=channelz_pb2.GetServersRequest.SerializeToString,
            response_deserializer=channelz_pb2.GetServersResponse.FromString,
        )
        try:
            return list((await ask(channelz_pb2.GetServersRequest())).server)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
                raise
            return None


@pytest.mark.parametrize("flag", ["--reflection", "--no-reflection", None])
async def test_reflection_is_on_unless_a_flag_says_otherwise(flag: str | None, tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory", *([flag] if flag else [])) as server:
        for version in ("v1", "v1alpha"):
            assert await reflects(server, version) is (flag != "--no-reflection")


@pytest.mark.parametrize("flag", ["--channelz", "--no-channelz", None])
async def test_channelz_is_off_unless_a_flag_says_otherwise(flag: str | None, tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory", *([flag] if flag else [])) as server:
        assert (await servers(server) is not None) is (flag == "--channelz")


async def test_channelz_counts_calls(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, "--in-memory", "--channelz") as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        await seated(server.speaking(channel).platform)
        found = await servers(server)
        assert found is not None
        (listed,) = found
        assert listed.data.calls_started == 5, "a room, three seats, and this"
        assert [socket.name for socket in listed.listen_socket] != []
