"""Whatever comes in: bytes that are no message, and messages that make no sense. No crash, no leak, the room still playable."""

import asyncio
from pathlib import Path
from random import Random
from typing import Final

import grpc
import pytest
from erqiwang_core.players import RandomLegal
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb, room_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.gateways import gateway_of
from tests.service.tables import RawSeat, Service, Table, act, acting, policy, refused, seated, seen, served, step
from tests.service.test_access import GATEWAY_RPCS, ROOM_RPCS, RPCS, SEAT_RPCS, answer

EDGES: Final = (0, 1, 2, 3, 5, 7, 8, 53, 54, 69, 70, 91, 107, 108, 255, 2**31 - 1, 2**32 - 1)
TEXTS: Final = ("", "a", "alice", "bob", "one", "two", "\0", "王" * 50, "x" * 300, "'; drop table rooms", "../..")
FINE: Final = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}
"""What a caller may be answered that makes no sense; INTERNAL would be our own fault."""


def message(kind: Descriptor, chance: Random, room_ids: tuple[str, ...], depth: int = 0) -> Message:
    """Any message of that kind, of numbers and texts that are at the edge of something."""
    made = GetMessageClass(kind)()
    fields = list(kind.fields)
    chosen = [chance.choice(fields)] if kind.oneofs and fields and depth else fields
    for field in chosen:
        if not chance.randrange(4):
            continue
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            if depth < 4 and not field.is_repeated and field.message_type is not None:
                getattr(made, field.name).CopyFrom(message(field.message_type, chance, room_ids, depth + 1))
        elif field.is_repeated:
            getattr(made, field.name).extend(value(field, chance, room_ids) for _ in range(chance.randrange(12)))
        else:
            setattr(made, field.name, value(field, chance, room_ids))
    return made


def value(field: FieldDescriptor, chance: Random, room_ids: tuple[str, ...]) -> int | bool | str | bytes:
    if field.type == FieldDescriptor.TYPE_STRING:
        return chance.choice(room_ids if field.name == "room_id" else TEXTS)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return chance.randbytes(8)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return chance.random() < 0.5
    if field.type == FieldDescriptor.TYPE_ENUM:
        return chance.randrange(8)
    is_unsigned = field.type in (FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_UINT64)
    return chance.choice(EDGES) if is_unsigned else chance.choice((-(2**31), -1, *EDGES[:-1]))


async def code(service: Service, rpc: MethodDescriptor, table: Table, request: bytes, seat: int) -> grpc.StatusCode:
    """What a call ends with; OK for one that was answered."""
    metadata = table.metadata(seat) if rpc in SEAT_RPCS else bearer(service.key)
    if rpc in GATEWAY_RPCS:
        metadata = bearer(service.gateway_key())
    try:
        async with asyncio.timeout(0.5 if rpc.server_streaming else 20):
            await answer(service, rpc, metadata, request)
    except grpc.aio.AioRpcError as error:
        return refused(error).code
    except TimeoutError:
        assert rpc.server_streaming, "a stream may well have nothing to say"
    return grpc.StatusCode.OK


@pytest.mark.parametrize("rpc", RPCS.values(), ids=RPCS)
async def test_random_bytes(service: Service, rpc: MethodDescriptor) -> None:
    table = await seated(service.platform)
    before = [await seen(service, table, seat) for seat in range(3)]
    chance = Random(rpc.full_name)
    codes = {
        await code(service, rpc, table, chance.randbytes(size), 0) for size in (1, 2, 3, 5, 9, 40, 1000) for _ in "123"
    }
    assert codes <= FINE | {grpc.StatusCode.OK}
    assert [await seen(service, table, seat) for seat in range(3)] == before


@pytest.mark.parametrize("seed", range(3))
async def test_random_messages_in_random_order(tmp_path: Path, seed: int) -> None:
    """Streams and single calls of seats and of the platform, on rooms in every state; then the match is played on."""
    chance = Random(seed)
    async with served(tmp_path, shuffle=seeded(seed)) as service:
        tables = [await seated(service.platform) for _ in range(2)]
        ended = await seated(service.platform)
        await service.platform.disband_room(ended.room_id)
        half_full = (await service.platform.create_room("alice")).room_id
        fixed = (ended.room_id, half_full, "no room")
        choose = policy(RandomLegal(), chance)
        for _ in range(25):
            table = chance.choice(tables)
            seat = chance.randrange(3)
            for _ in range(8):
                rpc = chance.choice((*SEAT_RPCS, *ROOM_RPCS))
                if rpc.client_streaming or rpc.server_streaming:
                    continue
                request = message(rpc.input_type, chance, fixed).SerializeToString()
                assert await code(service, rpc, table, request, seat) in FINE | {grpc.StatusCode.OK}, (
                    rpc.name,
                    request,
                )
            await nonsense_on_a_stream(service, table, seat, chance)
            await nonsense_on_a_gateway(service, table, seat, chance)
            await step(service, table, choose)
        for table in tables:
            await assert_playable(service, table)


async def nonsense_on_a_gateway(service: Service, table: Table, seat: int, chance: Random) -> None:
    """A gateway says all sorts of things of an open seat; each command is answered, and seat and stream are open at the end."""
    async with gateway_of(service) as gateway:
        ear = gateway.seat(table.tokens[seat], 1)
        await ear.attach()
        said = []
        for _ in range(6):
            request = message(gateway_pb.SeatRequest.DESCRIPTOR, chance, ("no room",))
            assert isinstance(request, gateway_pb.SeatRequest)
            if request.WhichOneof("request") not in (None, "open", "close"):
                request.handle = chance.choice((1, 1, 5))
                said.append(request)
        await gateway.say(*said)
        await ear.say(pb.PlayRequest(command_id="the last", command=pb.Command()))
        while (await ear.hear("refused")).refused.command_id != "the last":
            pass


async def nonsense_on_a_stream(service: Service, table: Table, seat: int, chance: Random) -> None:
    """A stream says all sorts of things; each command is answered, and the stream is open at the end."""
    stream = RawSeat(service, table.tokens[seat])
    await stream.attach()
    for _ in range(6):
        request = message(pb.PlayRequest.DESCRIPTOR, chance, ("no room",))
        assert isinstance(request, pb.PlayRequest)
        if request.WhichOneof("request") not in ("detach", "attach"):
            await stream.say(request)
    await stream.say(pb.PlayRequest(command_id="the last", command=pb.Command()))
    while (await stream.hear("refused")).refused.command_id != "the last":
        pass
    await stream.say(pb.PlayRequest(detach=pb.Detach()))
    await stream.rest()
    assert stream.refused is None


async def assert_playable(service: Service, table: Table) -> None:
    room = await service.platform.room(table.room_id)
    assert not room.quarantined
    assert room.state == room_pb2.ROOM_STATE_PLAYING
    while (await seen(service, table, 0)).view.parts.progress.phase != view_pb2.PHASE_SETTLED:
        turn = await acting(service, table)
        assert turn is not None
        await act(service, table, *turn)


async def test_a_broken_frame_ends_its_stream_and_nothing_else(service: Service) -> None:
    table = await seated(service.platform)
    other = RawSeat(service, table.tokens[1])
    await other.attach()
    play: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = service.channel.stream_stream(
        "/erqiwang.v1.SeatService/Play"
    )
    attach = pb.PlayRequest(attach=pb.Attach()).SerializeToString()
    for said in ([b"\xff\xff\xff"], [attach, b"\xff\xff\xff"], [attach, attach, b"\x0a\xff"]):
        call = play(iter(said), metadata=table.metadata(0))
        with pytest.raises(grpc.aio.AioRpcError) as malformed:
            await to_the_end(call)
        assert malformed.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    accepted = await step(service, table)
    assert (await other.hear("notice")).notice.version == accepted.first_version
    assert service.server.seats.streams == 1


async def to_the_end(call: grpc.aio.StreamStreamCall[bytes, bytes]) -> None:
    async for _ in call:
        pass


async def test_names_may_be_any_printable_text(service: Service) -> None:
    players = ['"\\%{0}', "王" * 42, "\u200d\ud7ff\U0010fffd"]
    table = await seated(service.platform, players=players)
    assert list((await seen(service, table, 2)).view.parts.chairs.players) == players
    service.room(table.room_id).touched = float("-inf")
    service.kept.put_away()
    assert list((await seen(service, table, 0)).view.parts.chairs.players) == players
