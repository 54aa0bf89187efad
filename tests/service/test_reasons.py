"""Every reason of the table that is no refusal is brought about on a running server; and nothing else says a reason."""

import ast
import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import time, time_ns
from typing import Final, TypeAlias

import grpc
import pytest
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2

import erqiwang_grpc
from erqiwang_grpc.client.calls import DETAILS, bearer
from erqiwang_grpc.clocks import SystemMonotonic
from erqiwang_grpc.reasons import BARE, Bare, GrpcStatus, Reason, Row
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rpc.places import Places
from erqiwang_grpc.rpc.reflection import add_reflection
from erqiwang_grpc.rpc.wire.status import DOMAIN
from erqiwang_grpc.store import Damaged, Entry, RoomId, TimeNs
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import refusal_pb2, seat_service_pb2 as pb
from tests.service.clocks import HandMonotonic
from tests.service.newer import KINDS, write
from tests.service.spectating import Watch, watch_token
from tests.service.tables import PATIENCE, ROOMY, RawSeat, Service, Table, seated, served
from tests.service.test_access import claims, signed
from tests.service.test_allowance import PASS, next_moving
from tests.service.test_places import reflect
from tests.spectators.scene import store_nonsense
from tests.store.passing_on import PassingOn

PACKAGE: Final = Path(erqiwang_grpc.__file__).parent
GENERATED: Final = ("v1", "stored")
ENDINGS: Final = tuple(why for why in Reason if why.value.code is None)
"""Those that are no refusal of a command."""

Call: TypeAlias = "grpc.aio.Call"
Ended: TypeAlias = tuple[Call, pb.Goodbye | None]
"""A call that has ended, and the goodbye that came before."""


async def over(stream: RawSeat) -> Ended:
    """The stream, read to its end."""
    rest = await stream.rest()
    return stream.call, rest[-1].goodbye if rest and rest[-1].HasField("goodbye") else None


async def unary(channel: grpc.aio.Channel, path: str, request: bytes = b"", credential: str | None = None) -> Ended:
    """A unary call in bytes that is not answered."""
    method: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(path)
    call = method(request, metadata=None if credential is None else bearer(credential), timeout=PATIENCE)
    with pytest.raises(grpc.aio.AioRpcError):
        await call
    return call, None


async def view_with(service: Service, credential: str | None) -> Ended:
    return await unary(service.channel, "/erqiwang.v1.SeatService/GetView", credential=credential)


async def attached(service: Service) -> tuple[Table, RawSeat]:
    table = await seated(service.platform)
    stream = RawSeat(service, table.tokens[0])
    await stream.attach()
    return table, stream


async def displaced(folder: Path) -> Ended:
    async with served(folder) as service:
        table, first = await attached(service)
        await RawSeat(service, table.tokens[0]).attach()
        return await over(first)


async def draining(folder: Path) -> Ended:
    async with served(folder) as service:
        _, stream = await attached(service)
        stopping = asyncio.create_task(service.server.stop(grace=PATIENCE))
        ended = await over(stream)
        await stopping
        return ended


async def unseated(folder: Path) -> Ended:
    async with served(folder) as service:
        table, stream = await attached(service)
        await service.platform.take_seat(table.room_id, "alice")
        return await over(stream)


async def not_attached(folder: Path) -> Ended:
    async with served(folder) as service:
        table = await seated(service.platform)
        stream = RawSeat(service, table.tokens[0])
        await stream.say(pb.PlayRequest(command=PASS))
        return await over(stream)


async def malformed(folder: Path) -> Ended:
    async with served(folder) as service:
        table = await seated(service.platform)
        method: grpc.aio.StreamStreamMultiCallable[bytes, bytes]
        method = service.channel.stream_stream("/erqiwang.v1.SeatService/Play")
        call = method(iter([b"\xff"]), metadata=table.metadata(0))
        with pytest.raises(grpc.aio.AioRpcError):
            await call.read()
        return call, None


async def too_many_streams(folder: Path) -> Ended:
    async with served(folder, limits=replace(ROOMY, streams_per_seat=1)) as service:
        table, _ = await attached(service)
        return await over(RawSeat(service, table.tokens[0]))


async def too_many_commands(folder: Path) -> Ended:
    clock = HandMonotonic()
    async with served(folder, limits=Limits(commands_per_second=4), monotonic=clock) as service:
        table = await seated(service.platform)
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        for _ in range(60):
            await stream.say(pb.PlayRequest(command=PASS))
        last = pb.SeatMessage()
        while (message := await next_moving(stream, clock)) is not None:
            last = message
        return stream.call, last.goodbye


async def deleted(folder: Path) -> Ended:
    async with served(folder) as service:
        table, stream = await attached(service)
        service.kept.forget([RoomId(table.room_id)])
        return await over(stream)


async def quarantined(folder: Path) -> Ended:
    async with served(folder) as service:
        table = await seated(service.platform)
        watch = Watch(service, await watch_token(service, table.room_id))
        await watch.hear("snapshot")
        await store_nonsense(service.store, RoomId(table.room_id), TimeNs(time_ns()))
        await watch.rest()
        return watch.call, None


async def too_long(_: Path) -> Ended:
    server = grpc.aio.server()
    add_reflection((), server, Places(1, "streams", 0.05), SystemMonotonic())
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            call = reflect(channel)
            with pytest.raises(grpc.aio.AioRpcError):
                await call.read()
            return call, None
    finally:
        await server.stop(0)


async def no_such_service(folder: Path) -> Ended:
    async with served(folder) as service:
        request = health_pb2.HealthCheckRequest(service="nothing").SerializeToString()
        return await unary(service.channel, "/grpc.health.v1.Health/Check", request)


class ErringStore(PassingOn):
    """A store that raises what no store should."""

    async def first(self, room: RoomId) -> Entry | Damaged | None:
        raise ArithmeticError(room)


async def failed(folder: Path) -> Ended:
    async with served(folder, store=ErringStore(MemoryStore())) as service:
        said: dict[str, object] = {
            "platform": "x",
            "room": "x",
            "sub": "x",
            "seat": 0,
            "epoch": 1,
            "exp": int(time()) + 60,
        }
        return await view_with(service, signed(service, said))


async def left_to_newer(folder: Path) -> Ended:
    async with served(folder, store=MemoryStore(shared=True)) as service:
        table = await seated(service.platform)
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        await write(service.store, RoomId(table.room_id), KINDS["a new kind of event"])
        service.kept.poll()
        return await over(stream)


def credential(said: Callable[[Service, Table], str | None]) -> Callable[[Path], Awaitable[Ended]]:
    async def provoke(folder: Path) -> Ended:
        async with served(folder) as service:
            return await view_with(service, said(service, await seated(service.platform)))

    return provoke


PROVOKED: Final[dict[Reason, Callable[[Path], Awaitable[Ended]]]] = {
    Reason.CREDENTIAL_MISSING: credential(lambda _, __: None),
    Reason.CREDENTIAL_MALFORMED: credential(lambda service, _: service.key),
    Reason.CREDENTIAL_WRONG: credential(lambda _, table: table.tokens[0][:-2] + "AA"),
    Reason.CREDENTIAL_EXPIRED: credential(lambda service, table: signed(service, claims(table, exp=int(time()) - 1))),
    Reason.UNSEATED: unseated,
    Reason.DISPLACED: displaced,
    Reason.DRAINING: draining,
    Reason.NOT_ATTACHED: not_attached,
    Reason.MALFORMED: malformed,
    Reason.TOO_MANY_STREAMS: too_many_streams,
    Reason.TOO_LONG: too_long,
    Reason.NO_SUCH_SERVICE: no_such_service,
    Reason.FAILED: failed,
    # These four are refusals as well; here they end an attached stream.
    Reason.TOO_MANY_COMMANDS: too_many_commands,
    Reason.NO_SUCH_ROOM: deleted,
    Reason.WRITTEN_BY_NEWER: left_to_newer,
    Reason.ROOM_QUARANTINED: quarantined,
}


def test_every_row_that_ends_a_call_is_brought_about_below() -> None:
    assert set(PROVOKED) == {*ENDINGS, *(closing.value for closing in Closing if closing.value is not None)}


@pytest.mark.parametrize("why", PROVOKED, ids=lambda why: why.name)
async def test_what_a_client_is_told_is_the_row(tmp_path: Path, why: Reason) -> None:
    call, goodbye = await PROVOKED[why](tmp_path)
    row = why.value
    packed = dict(await call.trailing_metadata() or ())[DETAILS]
    assert isinstance(packed, bytes)
    rich = Status.FromString(packed)
    assert (await call.code()).name == row.status.name
    assert (rich.code, rich.message) == (row.status, await call.details())
    assert rich.message.endswith(f" {row.then}")
    info, *more = rich.details
    told, retry = ErrorInfo(), RetryInfo()
    assert info.Unpack(told)
    assert (told.reason, told.domain, dict(told.metadata)) == (why.name, DOMAIN, {})
    assert [detail.Unpack(retry) for detail in more] == [True] * (row.retry is not None)
    in_time(row, retry.retry_delay.ToMilliseconds() if more else None)
    assert (goodbye is not None) == row.goodbye
    if goodbye is not None:
        assert pb.Goodbye.Reason.Name(goodbye.reason) == f"REASON_{why.name}"
        in_time(row, goodbye.retry_delay.ToMilliseconds() if goodbye.HasField("retry_delay") else None)


def in_time(row: Row, milliseconds: int | None) -> None:
    """A delay is within the row's bounds, and there is one where the row has some."""
    assert (milliseconds is None) == (row.retry is None)
    if milliseconds is not None and row.retry is not None:
        assert 1000 * row.retry.least <= milliseconds <= 1000 * row.retry.most + 1


def test_every_goodbye_has_a_row() -> None:
    names = {name.removeprefix("REASON_") for name in pb.Goodbye.Reason.keys()} - {"UNSPECIFIED"}  # noqa: SIM118  # an enum's wrapper is no mapping
    assert names == {why.name for why in Reason if why.value.goodbye}


def test_the_names_and_numbers_of_statuses_are_grpcs() -> None:
    for status in GrpcStatus:
        assert grpc.StatusCode[status.name].value[0] == status


# What has no reason


@asynccontextmanager
async def small(folder: Path) -> AsyncIterator[Service]:
    async with served(folder, limits=replace(ROOMY, message_bytes=1024)) as service:
        yield service


BARELY: Final[dict[GrpcStatus, tuple[str, bytes]]] = {
    GrpcStatus.RESOURCE_EXHAUSTED: ("/erqiwang.v1.SeatService/GetView", b"x" * 2000),
    GrpcStatus.UNIMPLEMENTED: ("/erqiwang.v1.SeatService/Nothing", b""),
}


@pytest.mark.parametrize("status", BARELY, ids=lambda status: status.name)
async def test_what_grpc_says_in_the_servers_place_has_no_details(tmp_path: Path, status: GrpcStatus) -> None:
    async with small(tmp_path) as service:
        call, _ = await unary(service.channel, *BARELY[status])
        assert (await call.code()).name == status.name
        assert DETAILS not in dict(await call.trailing_metadata() or ())


async def test_a_server_that_is_not_there_is_told_by_grpc(tmp_path: Path) -> None:
    async with small(tmp_path) as service:
        address = service.address
    async with grpc.aio.insecure_channel(address) as channel:
        call, _ = await unary(channel, "/erqiwang.v1.SeatService/GetView")
        assert await call.code() is grpc.StatusCode.UNAVAILABLE
        assert DETAILS not in dict(await call.trailing_metadata() or ())


def test_what_has_no_reason_is_listed() -> None:
    listed: tuple[Bare, ...] = BARE
    assert {row.status for row in listed} >= {*BARELY, GrpcStatus.UNAVAILABLE}


# The source


def sources() -> dict[str, ast.Module]:
    files = (path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in GENERATED)
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def places(called: str) -> list[tuple[str, ast.Call]]:
    """Where a function or method of that name is called."""
    return [
        (file, node)
        for file, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")) == called
    ]


def test_one_line_of_the_source_ends_a_call_and_one_names_a_reason() -> None:
    # The proxy of the tests, the edge and the port for metrics abort connections, and no calls.
    connections = {"testing/proxy.py", "edge/web_socket.py", "monitoring/port.py"}
    assert {file for file, _ in places("abort")} == {"rpc/errors.py", *connections}
    assert [file for file, _ in places("abort")].count("rpc/errors.py") == 1
    assert not [*places("abort_with_status"), *places("set_code"), *places("set_details")]
    naming = [(file, node) for file, node in places("ErrorInfo") if node.keywords]
    ((file, node),) = naming
    assert file == "rpc/wire/status.py"
    (said,) = (keyword.value for keyword in node.keywords if keyword.arg == "reason")
    assert ast.unparse(said) == "why.name", "the name of a row, and no string"


def test_no_text_of_the_service_is_a_reason() -> None:
    """A reason is named as a member of `Reason`, in the clients and tools too."""
    names = {why.name for why in Reason}
    written = {
        (file, node.value)
        for file, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names
    }
    assert written == set()


def test_every_refusal_of_the_schema_has_a_row() -> None:
    members = {field.name.upper() for field in refusal_pb2.Refusal.DESCRIPTOR.oneofs_by_name["reason"].fields}
    assert members == {why.name for why in Reason if why.value.code is not None}
