"""What a tool finds by asking the server, under both names of reflection."""

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection_pb2 as pb

from erqiwang_grpc.v1 import room_service_pb2, seat_service_pb2
from tests.service.tables import Service

NAMES = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")


class Asking:
    """One question at a time, as a tool asks it."""

    def __init__(self, channel: grpc.aio.Channel, name: str) -> None:
        self._call = channel.stream_stream(
            f"/{name}/ServerReflectionInfo",
            request_serializer=pb.ServerReflectionRequest.SerializeToString,
            response_deserializer=pb.ServerReflectionResponse.FromString,
        )

    async def __call__(self, request: pb.ServerReflectionRequest) -> pb.ServerReflectionResponse:
        async for response in self._call(iter([request])):
            return response
        raise AssertionError("no answer")

    async def file_of(self, symbol: str) -> str:
        """The file that declares it."""
        response = await self(pb.ServerReflectionRequest(file_containing_symbol=symbol))
        files = response.file_descriptor_response.file_descriptor_proto
        return FileDescriptorProto.FromString(files[0]).name


@pytest.fixture(params=NAMES)
def ask(request: pytest.FixtureRequest, service: Service) -> Asking:
    return Asking(service.channel, request.param)


async def test_every_service_is_listed(ask: Asking) -> None:
    response = await ask(pb.ServerReflectionRequest(list_services=""))
    listed = {service.name for service in response.list_services_response.service}
    services = {f"erqiwang.v1.{name}Service" for name in ("Gateway", "Room", "Seat")}
    assert listed == {*services, "grpc.health.v1.Health", *NAMES}


METHODS = [
    f"/{service.full_name}/{method.name}"
    for file in (room_service_pb2.DESCRIPTOR, seat_service_pb2.DESCRIPTOR)
    for service in file.services_by_name.values()
    for method in service.methods
]


@pytest.mark.parametrize("method", METHODS)
async def test_every_method_of_every_service_is_served(service: Service, method: str) -> None:
    ask: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = service.channel.stream_stream(method)
    assert await ask(iter([b""])).code() is grpc.StatusCode.UNAUTHENTICATED, "it asks for a credential first"


@pytest.mark.parametrize(
    ("symbol", "file"),
    [
        pytest.param("erqiwang.v1.SeatService", "erqiwang/v1/seat_service.proto", id="service"),
        pytest.param("erqiwang.v1.SeatService.Play", "erqiwang/v1/seat_service.proto", id="method"),
        pytest.param("erqiwang.v1.Snapshot", "erqiwang/v1/seat_service.proto", id="message"),
        pytest.param("erqiwang.v1.View.parts", "erqiwang/v1/view.proto", id="field"),
        pytest.param("erqiwang.v1.Suit", "erqiwang/v1/card.proto", id="enum"),
        pytest.param(NAMES[0], "grpc_reflection/v1/reflection.proto", id="reflection v1"),
        pytest.param(NAMES[1], "grpc_reflection/v1alpha/reflection.proto", id="reflection v1alpha"),
    ],
)
async def test_a_symbol_leads_to_its_file(ask: Asking, symbol: str, file: str) -> None:
    assert await ask.file_of(symbol) == file


@pytest.mark.parametrize("symbol", ["erqiwang.v1.Nothing", "erqiwang.v1.SeatService.Nothing"])
async def test_an_unknown_symbol_is_not_found(ask: Asking, symbol: str) -> None:
    response = await ask(pb.ServerReflectionRequest(file_containing_symbol=symbol))
    assert response.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]
