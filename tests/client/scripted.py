"""Servers that do as a test says: real ones, on 127.0.0.1 and a free port, behind the generated code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeAlias, TypeVar, final

import grpc

from erqiwang_grpc.rooms.refusals import Refused
from erqiwang_grpc.rpc.errors import refuse
from erqiwang_grpc.v1 import (
    room_service_pb2,
    seat_service_pb2 as pb,
)

Q = TypeVar("Q")
R = TypeVar("R")
Context: TypeAlias = "grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse]"
Watching: TypeAlias = (
    "grpc.aio.ServicerContext[room_service_pb2.WatchRoomsRequest, room_service_pb2.WatchRoomsResponse]"
)
Play: TypeAlias = Callable[[AsyncIterator[pb.PlayRequest], Context], Awaitable[None]]


@final
class ScriptedSeats:
    """The first stream goes by the first script, the next by the next; the last script is for all that follow."""

    def __init__(self, scripts: Sequence[Play]) -> None:
        self._scripts = scripts
        self.streams = 0
        """How many streams were opened."""

    async def play(self, request_iterator: AsyncIterator[pb.PlayRequest], context: Context) -> None:
        script = self._scripts[min(self.streams, len(self._scripts) - 1)]
        self.streams += 1
        await script(request_iterator, context)


@final
class ScriptedRooms:
    """A stream of events that is lost again and again."""

    def __init__(self, parts: Sequence[Sequence[str]], code: grpc.StatusCode) -> None:
        self._parts = parts
        self._code = code
        self.asked: list[str] = []
        """The cursor of every call."""

    async def watch_rooms(self, request: room_service_pb2.WatchRoomsRequest, context: Watching) -> None:
        part = self._parts[len(self.asked)]
        self.asked.append(request.cursor)
        for cursor in part:
            event = room_service_pb2.RoomEvent(cursor=cursor, room_id="room")
            await context.write(room_service_pb2.WatchRoomsResponse(events=[event]))
        await context.abort(self._code, "lost")


@asynccontextmanager
async def playing(*scripts: Play) -> AsyncIterator[tuple[str, ScriptedSeats]]:
    """A server whose streams go by scripts, and where it listens."""
    servicer = ScriptedSeats(scripts)
    play = grpc.stream_stream_rpc_method_handler(
        servicer.play, pb.PlayRequest.FromString, pb.PlayResponse.SerializeToString
    )
    async with _serving("erqiwang.v1.SeatService", {"Play": play}) as address:
        yield address, servicer


@asynccontextmanager
async def watched(
    *parts: Sequence[str], code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
) -> AsyncIterator[tuple[str, ScriptedRooms]]:
    """A server that tells of events with these cursors, each part on a stream of its own, and where it listens."""
    servicer = ScriptedRooms(parts, code)
    watch = grpc.unary_stream_rpc_method_handler(
        servicer.watch_rooms,
        room_service_pb2.WatchRoomsRequest.FromString,
        room_service_pb2.WatchRoomsResponse.SerializeToString,
    )
    async with _serving("erqiwang.v1.RoomService", {"WatchRooms": watch}) as address:
        yield address, servicer


@asynccontextmanager
async def answering(handler: Callable[[str, bytes], bytes | grpc.StatusCode | Refused | None]) -> AsyncIterator[str]:
    """A server of unary calls: told the method and the request, it says what to answer or how to refuse; None never to answer."""

    def handling(method: str) -> grpc.RpcMethodHandler[bytes, bytes]:
        async def answer(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            answered = handler(method, request)
            if answered is None:
                await asyncio.Event().wait()
            assert answered is not None
            if isinstance(answered, bytes):
                return answered
            if not isinstance(answered, grpc.StatusCode):
                return await refuse(context, answered)
            await context.abort(answered, "as the test says")
            raise AssertionError("aborted")

        return grpc.unary_unary_rpc_method_handler(answer)

    service = room_service_pb2.DESCRIPTOR.services_by_name["RoomService"]
    handlers = {method.name: handling(method.name) for method in service.methods}
    async with _serving(service.full_name, handlers) as address:
        yield address


@asynccontextmanager
async def _serving(service: str, handlers: dict[str, grpc.RpcMethodHandler[Q, R]]) -> AsyncIterator[str]:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(grace=None)


def said(*messages: pb.SeatMessage) -> pb.PlayResponse:
    """One response."""
    return pb.PlayResponse(messages=messages)


def snapshot(version: int) -> pb.SeatMessage:
    """A snapshot of nothing but its version."""
    return pb.SeatMessage(snapshot=pb.Snapshot(version=version))


def goodbye(reason: pb.Goodbye.Reason.ValueType) -> pb.SeatMessage:
    """A goodbye that names no delay."""
    return pb.SeatMessage(goodbye=pb.Goodbye(reason=reason))


async def silent(requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:  # noqa: ARG001  # a script is handed both
    """A server that never answers."""
    await asyncio.Event().wait()


async def attached(requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:
    """A server that answers `Attach`, and listens to the end."""
    await anext(requests)
    await context.write(said(snapshot(1)))
    async for request in requests:
        if request.HasField("detach"):
            return
