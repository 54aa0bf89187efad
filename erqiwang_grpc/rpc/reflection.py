"""Reflection, as v1 and v1alpha: tools ask the server for its services, methods and messages."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Final, TypeVar, final

import grpc
from google.protobuf import descriptor_pool, text_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection, reflection_pb2

from erqiwang_grpc.clocks import Monotonic
from erqiwang_grpc.rooms.rate_limit import Allowance
from erqiwang_grpc.rpc.places import Places

R = TypeVar("R")

_ANSWERS_OF_STREAM: Final = 20
"""Answers a second of one stream, twice as many in a burst. An answer takes about 0.7 ms of CPU; tools ask a few dozen."""
_ANSWERS_OF_ALL: Final = 200
"""Answers a second of all streams together: about a seventh of a core."""

V1ALPHA: Final = reflection.SERVICE_NAME
V1: Final = V1ALPHA.replace("v1alpha", "v1")


@final
class Symbols:
    """The descriptors of this process. It finds methods too, as the protocol asks; protobuf's own pool does not."""

    def __init__(self) -> None:
        self._pool = descriptor_pool.Default()

    def FindFileByName(self, name: str) -> FileDescriptor:
        return self._pool.FindFileByName(name)

    def FindFileContainingSymbol(self, symbol: str) -> FileDescriptor:
        """The file that declares a message, enum, field, service or method. Raises `KeyError` if no file does."""
        try:
            return self._pool.FindFileContainingSymbol(symbol)
        except KeyError:
            return self._pool.FindMethodByName(symbol).containing_service.file

    def FindMessageTypeByName(self, name: str) -> Descriptor:
        return self._pool.FindMessageTypeByName(name)

    def FindExtensionByNumber(self, extended: Descriptor, number: int) -> FieldDescriptor:
        return self._pool.FindExtensionByNumber(extended, number)

    def FindAllExtensions(self, extended: Descriptor) -> list[FieldDescriptor]:
        return self._pool.FindAllExtensions(extended)


@final
class Paces:
    """How fast streams of reflection are answered: each one at its own pace, and all together at another."""

    def __init__(self, monotonic: Monotonic) -> None:
        self._monotonic = monotonic
        self._of_all = Allowance(_ANSWERS_OF_ALL, monotonic())
        self._turn = asyncio.Lock()

    async def paced(self, requests: AsyncIterator[R]) -> AsyncIterator[R]:
        """The requests of one stream, each at the time when it may be answered."""
        of_stream = Allowance(_ANSWERS_OF_STREAM, self._monotonic())
        async for request in requests:
            await self._pay(of_stream)
            # In turns: a stream that leaves while it waits owes nothing, and no other one waits for it.
            async with self._turn:
                await self._pay(self._of_all)
            yield request

    async def _pay(self, allowance: Allowance) -> None:
        wait = allowance.spend(1, self._monotonic())
        if wait:
            await self._monotonic.sleep(wait)


def add_reflection(services: Iterable[str], server: grpc.aio.Server, places: Places, monotonic: Monotonic) -> None:
    """Add reflection to `server`, for `services` by full name and for itself. Its streams take `places`."""
    _declare_v1()
    paces = Paces(monotonic)
    servicer = reflection.aio.ReflectionServicer((*services, V1, V1ALPHA), pool=Symbols())

    async def reflect(
        requests: AsyncIterator[reflection_pb2.ServerReflectionRequest],
        context: grpc.aio.ServicerContext[
            reflection_pb2.ServerReflectionRequest, reflection_pb2.ServerReflectionResponse
        ],
    ) -> None:
        try:
            async with places.place(context):
                answers: AsyncIterator[reflection_pb2.ServerReflectionResponse]
                answers = servicer.ServerReflectionInfo(paces.paced(requests), context)  # type: ignore[assignment]  # the stub declares a coroutine, and it is an async generator
                async for response in answers:
                    await context.write(response)
        except TimeoutError:
            await places.send_away(context)

    handler = grpc.stream_stream_rpc_method_handler(
        reflect,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    methods = {"ServerReflectionInfo": handler}
    server.add_generic_rpc_handlers(
        tuple(grpc.method_handlers_generic_handler(name, methods) for name in (V1, V1ALPHA))
    )


def _declare_v1() -> None:
    """Add v1 to the pool. The library has only v1alpha, which has the same messages under another name."""
    alpha = FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(alpha)
    declared = text_format.Parse(text_format.MessageToString(alpha).replace("v1alpha", "v1"), FileDescriptorProto())
    descriptor_pool.Default().AddSerializedFile(declared.SerializeToString())
