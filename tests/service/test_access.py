"""Who may call what: every rpc of each service asks for its own kind of credential, and says nothing without one."""

import asyncio
import base64
import json
from collections.abc import Callable
from time import time
from typing import Final

import grpc
import pytest
from erqiwang_core.match import Player
from erqiwang_core.units import Seat
from google.protobuf.descriptor import MethodDescriptor

from erqiwang_grpc.auth.files import Opened, open_key_files
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.auth.tokens import Epoch, SeatClaims, UnixSeconds
from erqiwang_grpc.client import CallRefused, Platform
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.v1 import gateway_service_pb2, room_service_pb2, seat_service_pb2
from tests.service.gateways import gateway_of
from tests.service.tables import RawSeat, Service, Table, eventually, refused, seated, seen, step

ROOM_RPCS: Final = tuple(room_service_pb2.DESCRIPTOR.services_by_name["RoomService"].methods)
SEAT_RPCS: Final = tuple(seat_service_pb2.DESCRIPTOR.services_by_name["SeatService"].methods)
GATEWAY_RPCS: Final = tuple(gateway_service_pb2.DESCRIPTOR.services_by_name["GatewayService"].methods)
RPCS: Final = {f"{rpc.containing_service.name}.{rpc.name}": rpc for rpc in (*ROOM_RPCS, *SEAT_RPCS, *GATEWAY_RPCS)}


async def called(service: Service, rpc: MethodDescriptor, credential: str | None, request: bytes = b"") -> CallRefused:
    """How a call with that credential is refused, whatever else is wrong with it."""
    metadata = None if credential is None else (("authorization", credential),)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await answer(service, rpc, metadata, request)
    return refused(error.value)


async def answer(
    service: Service, rpc: MethodDescriptor, metadata: tuple[tuple[str, str], ...] | None, request: bytes
) -> object:
    """The first answer to a call in bytes, of whatever kind it is."""
    path = f"/{rpc.containing_service.full_name}/{rpc.name}"
    if rpc.client_streaming:
        both: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = service.channel.stream_stream(path)
        for _ in range(10):
            try:
                return await both(iter([request]), metadata=metadata).read()
            except grpc.aio.AioRpcError as error:
                # A write that meets the end of a call hides the server's status from grpcio's client: ask again.
                if error.details() != "Internal error from Core":
                    raise
        raise AssertionError("no status can be read")
    if rpc.server_streaming:
        stream: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = service.channel.unary_stream(path)
        return await stream(request, metadata=metadata).read()
    unary: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = service.channel.unary_unary(path)
    return await unary(request, metadata=metadata)


def unauthenticated(refused: CallRefused, reason: str) -> bool:
    return (refused.code, refused.reason) == (grpc.StatusCode.UNAUTHENTICATED, reason)


def claims(table: Table, **changed: object) -> dict[str, object]:
    """What a good token of seat 0 says, with something changed."""
    payload = table.tokens[0].split(".")[1]
    said: dict[str, object] = json.loads(base64.urlsafe_b64decode(payload + "=="))
    return said | changed


def signed(service: Service, said: dict[str, object]) -> str:
    """A token with our own signature: only what it says may be wrong with it."""
    return service.keys.current.tokens.issue(
        SeatClaims(
            platform=PlatformId(str(said["platform"])),
            room=RoomId(str(said["room"])),
            seat=Seat(int(str(said["seat"]))),
            player=Player(str(said["sub"])),
            epoch=Epoch(int(str(said["epoch"]))),
            expires=UnixSeconds(int(str(said["exp"]))),
        )
    )


def another_servers(service: Service, said: dict[str, object]) -> str:
    folder = service.folder / "another"
    folder.mkdir(exist_ok=True)
    opened = open_key_files(folder, None, None)
    assert isinstance(opened, Opened)
    stranger = Service(
        service.channel, service.address, service.key, service.server, service.store, opened.files, folder
    )
    return signed(stranger, said)


def with_another_payload(token: str, said: dict[str, object]) -> str:
    header, _, signature = token.split(".")
    payload = base64.urlsafe_b64encode(json.dumps(said, separators=(",", ":")).encode()).rstrip(b"=").decode()
    return f"{header}.{payload}.{signature}"


def unsigned(token: str) -> str:
    header = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').rstrip(b"=").decode()
    return f"{header}.{token.split('.')[1]}."


MISSING: Final = "CREDENTIAL_MISSING"
MALFORMED: Final = "CREDENTIAL_MALFORMED"
WRONG: Final = "CREDENTIAL_WRONG"
UNSEATED: Final = "UNSEATED"

FORGERIES: Final[dict[str, tuple[Callable[[Service, Table], str | None], str, str]]] = {
    # (the forgery, what an rpc of a platform calls it, what an rpc of a seat calls it). An rpc of a gateway calls everything
    # as one of a platform does, but for a key of the other scope.
    "no credential": (lambda _, __: None, MISSING, MISSING),
    "an empty one": (lambda _, __: "Bearer ", MALFORMED, MALFORMED),
    "another scheme": (lambda _, table: f"Basic {table.tokens[0]}", MALFORMED, MALFORMED),
    "the token alone": (lambda _, table: table.tokens[0], MALFORMED, MALFORMED),
    "nonsense": (lambda _, __: "Bearer nonsense", MALFORMED, MALFORMED),
    "a key of nobody": (lambda _, __: "Bearer erqk_" + "A" * 43, WRONG, MALFORMED),
    "a gateway key of nobody": (lambda _, __: "Bearer erqg_" + "A" * 43, MALFORMED, MALFORMED),
    "a platform key cut short": (lambda service, _: f"Bearer {service.key[:-1]}", MALFORMED, MALFORMED),
    "a signature changed": (lambda _, table: f"Bearer {table.tokens[0][:-2]}AA", MALFORMED, WRONG),
    "another seat said": (
        lambda _, table: f"Bearer {with_another_payload(table.tokens[0], claims(table, seat=1))}",
        MALFORMED,
        WRONG,
    ),
    "no signature": (lambda _, table: f"Bearer {unsigned(table.tokens[0])}", MALFORMED, MALFORMED),
    "expired": (
        lambda service, table: f"Bearer {signed(service, claims(table, exp=int(time()) - 1))}",
        MALFORMED,
        "CREDENTIAL_EXPIRED",
    ),
    "another server's": (
        lambda service, table: f"Bearer {another_servers(service, claims(table))}",
        MALFORMED,
        WRONG,
    ),
    "an older epoch": (lambda service, table: f"Bearer {signed(service, claims(table, epoch=0))}", MALFORMED, UNSEATED),
    "an epoch to come": (
        lambda service, table: f"Bearer {signed(service, claims(table, epoch=2))}",
        MALFORMED,
        UNSEATED,
    ),
    "another player's": (
        lambda service, table: f"Bearer {signed(service, claims(table, sub='mallory'))}",
        MALFORMED,
        UNSEATED,
    ),
    "another player's seat": (
        lambda service, table: f"Bearer {signed(service, claims(table, seat=1))}",
        MALFORMED,
        UNSEATED,
    ),
    "a seat there is not": (
        lambda service, table: f"Bearer {signed(service, claims(table, seat=7))}",
        MALFORMED,
        UNSEATED,
    ),
    "far too long a one": (lambda _, __: "Bearer " + "a" * 6_000, MALFORMED, MALFORMED),
}


@pytest.mark.parametrize(("forge", "of_platform", "of_seat"), FORGERIES.values(), ids=FORGERIES)
async def test_what_is_no_good_credential_opens_nothing(
    service: Service, forge: Callable[[Service, Table], str | None], of_platform: str, of_seat: str
) -> None:
    table = await seated(service.platform)
    before = await service.platform.room(table.room_id)
    credential = forge(service, table)
    of_gateway = {"Bearer erqk_" + "A" * 43: MALFORMED, "Bearer erqg_" + "A" * 43: WRONG}.get(
        str(credential), of_platform
    )
    for rpcs, reason in ((ROOM_RPCS, of_platform), (SEAT_RPCS, of_seat), (GATEWAY_RPCS, of_gateway)):
        refusals = await asyncio.gather(*(called(service, rpc, credential) for rpc in rpcs))
        assert all(unauthenticated(refused, reason) for refused in refusals), refusals
    assert await service.platform.room(table.room_id) == before


@pytest.mark.parametrize("rpc", [*ROOM_RPCS, *SEAT_RPCS], ids=lambda rpc: rpc.name)
async def test_a_gateway_key_opens_connect_and_nothing_else(service: Service, rpc: MethodDescriptor) -> None:
    key = service.gateway_key()
    assert unauthenticated(await called(service, rpc, f"Bearer {key}"), MALFORMED)
    async with gateway_of(service, key) as gateway:
        await gateway.call.done_writing()
        await gateway.end()
        assert gateway.refused is None


@pytest.mark.parametrize("rpc", GATEWAY_RPCS, ids=lambda rpc: rpc.name)
async def test_neither_a_platform_key_nor_a_seat_token_is_a_gateway_key(
    service: Service, rpc: MethodDescriptor
) -> None:
    table = await seated(service.platform)
    for credential in (service.key, table.tokens[0]):
        assert unauthenticated(await called(service, rpc, f"Bearer {credential}"), MALFORMED)


@pytest.mark.parametrize("rpc", ROOM_RPCS, ids=lambda rpc: rpc.name)
async def test_a_seat_token_is_no_platform_key(service: Service, rpc: MethodDescriptor) -> None:
    table = await seated(service.platform)
    assert unauthenticated(await called(service, rpc, f"Bearer {table.tokens[0]}"), MALFORMED)


@pytest.mark.parametrize("rpc", SEAT_RPCS, ids=lambda rpc: rpc.name)
async def test_a_platform_key_is_no_seat_token(service: Service, rpc: MethodDescriptor) -> None:
    await seated(service.platform)
    assert unauthenticated(await called(service, rpc, f"Bearer {service.key}"), MALFORMED)


async def test_a_token_of_a_room_that_is_not_there_says_nothing_of_others(service: Service) -> None:
    table = await seated(service.platform)
    nowhere = signed(service, claims(table, room="nowhere"))
    of_another_platform = signed(service, claims(table, platform="rival"))
    for rpc in SEAT_RPCS:
        refusals = [await called(service, rpc, f"Bearer {token}") for token in (nowhere, of_another_platform)]
        assert {(each.code, each.reason) for each in refusals} == {(grpc.StatusCode.NOT_FOUND, "NO_SUCH_ROOM")}


async def test_a_token_opens_its_own_seat_and_no_other(service: Service) -> None:
    here, there = await seated(service.platform), await seated(service.platform)
    for table in (here, there):
        for seat in range(3):
            view = (await seen(service, table, seat)).view
            assert (view.room_id, view.seat) == (table.room_id, seat)


async def test_tenants_do_not_see_each_others_rooms(service: Service) -> None:
    table = await seated(service.platform)
    half_full = await service.platform.create_room("alice")
    rival = Platform([service.address], service.tenant("rival"))
    own = await rival.create_room("alice")
    for refused_call in (
        rival.room(table.room_id),
        rival.take_seat(half_full.room_id, "mallory"),
        rival.take_seat(table.room_id, "alice"),
        rival.leave_seat(half_full.room_id, 0),
        rival.disband_room(table.room_id),
    ):
        with pytest.raises(CallRefused) as refused:
            await refused_call
        with pytest.raises(CallRefused) as nowhere:
            await rival.room("there is no such room")
        assert (refused.value.code, str(refused.value)) == (grpc.StatusCode.NOT_FOUND, str(nowhere.value))
    assert [room.room_id for room in await rival.rooms()] == [own.room_id]
    assert {room.room_id for room in await service.platform.rooms()} == {table.room_id, half_full.room_id}
    assert (await anext(rival.watch())).room_id == own.room_id


async def test_an_open_stream_outlives_its_token(service: Service) -> None:
    table = await seated(service.platform)
    end = int(time()) + 2
    short = Table(table.room_id, (signed(service, claims(table, exp=end)),))
    stream = RawSeat(service, short.tokens[0])
    await stream.attach()
    await eventually(lambda: time() > end)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await seen(service, short, 0)
    assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED
    accepted = await step(service, table)
    assert (await stream.hear("notice")).notice.version == accepted.first_version


@pytest.mark.parametrize("is_first", [True, False], ids=["the first", "a later one"])
async def test_a_token_in_attach_ends_a_stream_which_has_metadata_for_it(service: Service, is_first: bool) -> None:
    table = await seated(service.platform)
    seat = RawSeat(service, table.tokens[0])
    if not is_first:
        await seat.attach()
    await seat.say(seat_service_pb2.PlayRequest(attach=seat_service_pb2.Attach(seat_token=table.tokens[0])))
    assert all(message.WhichOneof("message") == "presence" for message in await seat.rest())
    assert seat.refused is not None
    assert (seat.refused.code, seat.refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED")
