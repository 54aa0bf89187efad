"""Metrics: what a dashboard is told, scraped over HTTP while a match is played."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias
from urllib.request import urlopen

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2
from prometheus_client.parser import text_string_to_metric_families

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.v1 import (
    bidding_pb2,
    playing_pb2,
    room_service_pb2 as room_pb,
    seat_service_pb2 as pb,
)
from tests.service.gateways import gateway_of
from tests.service.spectating import Watch, watch_token
from tests.service.tables import (
    ROOMY,
    RawSeat,
    Service,
    act,
    attached,
    eventually,
    play_all,
    seated,
    served,
)

PASS = pb.Command(pass_bid=bidding_pb2.PassBid())
Raw: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]"
Streams: TypeAlias = "grpc.aio.StreamStreamMultiCallable[bytes, bytes]"
ROOMS = "erqiwang.v1.RoomService"
SEATS = "erqiwang.v1.SeatService"


def port_of(service: Service) -> int:
    assert service.metrics is not None
    return service.metrics.port


async def text_of(port: int) -> str:
    """What Prometheus would be told."""

    def read() -> str:
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as response:
            text: bytes = response.read()
        return text.decode()

    return await asyncio.to_thread(read)


async def scraped(port: int) -> dict[tuple[str, ...], float]:
    """Every sample, by its name and the values of its labels in the order of the labels' names."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(await text_of(port))
        for sample in family.samples
    }


async def status_of(call: Awaitable[object]) -> grpc.StatusCode:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    code: grpc.StatusCode = error.value.code()
    return code


def counted(told: dict[tuple[str, ...], float], name: str) -> dict[tuple[str, ...], float]:
    """The samples of a counter that are not 0, by their labels."""
    return {labels: value for (found, *rest), value in told.items() if found == name and value for labels in [(*rest,)]}


async def test_a_whole_match_is_counted(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service:
        port = port_of(service)
        assert (await scraped(port))["erqiwang_commands_total", "accepted"] == 0
        table = await seated(service.platform)
        async with attached(service, table) as seats:
            assert (await scraped(port))["erqiwang_streams", "seat"] == 3
            await play_all(seats)
            told = await scraped(port)
        commands = len(service.room(table.room_id).state.accepted.brought)
        assert told["erqiwang_commands_total", "accepted"] == commands - 1, "all but the room's opening"
        assert told["erqiwang_command_seconds_count",] == told["erqiwang_command_seconds_bucket", "+Inf"]
        assert told["erqiwang_command_seconds_count",] >= told["erqiwang_commands_total", "accepted"]
        assert 0 < told["erqiwang_command_seconds_sum",] < 60
        assert told["erqiwang_rooms",] == 1
        assert told["erqiwang_rooms_open",] == 1
        assert told["erqiwang_rooms_quarantined",] == 0
        assert counted(told, "erqiwang_refusals_total") == {}
        await eventually(lambda: service.server.seats.streams == 0)
        after = await scraped(port)
        assert after["erqiwang_calls_started_total", "Play", SEATS] == 3
        assert after["erqiwang_calls_ended_total", "OK", "Play", SEATS] == 3


async def test_the_phases_of_a_command_make_up_its_time(tmp_path: Path) -> None:
    store = await open_store(tmp_path / STORE_FILE)
    assert isinstance(store, SqliteStore)
    async with served(tmp_path, store=store, metrics_port=0) as service:
        table = await seated(service.platform)
        async with attached(service, table) as seats:
            await play_all(seats)
        told = await scraped(port_of(service))
        commands = told["erqiwang_command_seconds_count",]
        spent = {
            phase: told["erqiwang_command_phase_seconds_sum", phase] for phase in ("wait", "decide", "append", "tell")
        }
        assert all(told["erqiwang_command_phase_seconds_count", phase] == commands for phase in spent)
        assert told["erqiwang_command_phase_seconds_count", "follow"] == 0, "nobody else writes the file"
        assert all(spent.values())
        whole = told["erqiwang_command_seconds_sum",]
        assert 0.8 * whole < sum(spent.values()) <= whole, "what is left is idempotency and the locks"
        # The room's opening is stored too, and it is no command.
        assert told["erqiwang_store_commit_appends_sum",] == told["erqiwang_commands_total", "accepted"] + 1
        assert 0 < told["erqiwang_store_commit_seconds_sum",] < spent["append"] + 1
        assert told["erqiwang_store_file_bytes",] == (tmp_path / STORE_FILE).stat().st_size
        assert told["erqiwang_store_log_bytes",] > 0
        assert told["erqiwang_store_outage",] == 0
    await store.close()


async def test_refusals_are_counted_by_reason_and_repeated_commands_apart(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service:
        table = await seated(service.platform)
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        for _ in range(2):
            await stream.say(pb.PlayRequest(command=PASS))
            await stream.hear("refused")
        signal = pb.Command(signal=playing_pb2.Signal(signal=playing_pb2.SIGNAL_KIND_CAN_BEAT))
        await stream.say(pb.PlayRequest(command=signal))
        await stream.hear("refused")
        assert await status_of(act(service, table, 1, PASS)) == grpc.StatusCode.FAILED_PRECONDITION
        bid = pb.Command(bid=bidding_pb2.Bid(points=70))
        for _ in range(3):
            await act(service, table, 0, bid, command_id="one")
        told = await scraped(port_of(service))
        assert counted(told, "erqiwang_refusals_total") == {
            ("first_bidder_must_bid",): 2,
            ("wrong_phase",): 1,
            ("not_your_turn",): 1,
        }, "each once, also where a call was refused by its room"
        assert told["erqiwang_commands_total", "refused"] == 4
        assert told["erqiwang_commands_total", "repeated"] == 2
        assert told["erqiwang_commands_total", "accepted"] == 3 + 1, "the seats and the bid, each counted once"
        assert told["erqiwang_calls_ended_total", "FAILED_PRECONDITION", "Act", SEATS] == 1
        assert told["erqiwang_calls_ended_total", "OK", "Act", SEATS] == 3
        assert told["erqiwang_call_seconds_count", "Act", SEATS] == 3, "only those that succeeded"
        await service.platform.take_seat(table.room_id, "alice", command_id="sit")
        await service.platform.take_seat(table.room_id, "alice", command_id="sit")
        again = await scraped(port_of(service))
        assert again["erqiwang_commands_total", "repeated"] == 3
        assert again["erqiwang_commands_total", "accepted"] == 5
        assert again["erqiwang_commands_total", "refused"] == 4
        assert again["erqiwang_command_seconds_count",] == told["erqiwang_command_seconds_count",] + 2


async def test_two_refused_rooms_and_a_wrong_key_are_counted(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service:
        for _ in range(2):
            asked = room_pb.CreateRoomRequest(command_id="c")
            assert await status_of(service.rooms.CreateRoom(asked, metadata=bearer(service.key))) == (
                grpc.StatusCode.INVALID_ARGUMENT
            )
        wrong = bearer("erqi_" + "A" * 43)
        assert await status_of(service.rooms.ListRooms(room_pb.ListRoomsRequest(), metadata=wrong)) == (
            grpc.StatusCode.UNAUTHENTICATED
        )
        told = await scraped(port_of(service))
        assert told["erqiwang_calls_started_total", "CreateRoom", ROOMS] == 2
        assert told["erqiwang_calls_ended_total", "INVALID_ARGUMENT", "CreateRoom", ROOMS] == 2
        assert told["erqiwang_calls_ended_total", "UNAUTHENTICATED", "ListRooms", ROOMS] == 1
        refusals = counted(told, "erqiwang_refusals_total")
        assert refusals.pop(("invalid_field",)) == 2
        assert sum(refusals.values()) == 1
        failures = counted(told, "erqiwang_authentication_failures_total")
        assert sum(failures.values()) == 1
        assert {credential for credential, _ in failures} == {"platform_key"}


async def test_what_is_wrong_with_a_credential_is_told_apart(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service:
        table = await seated(service.platform)
        listing = room_pb.ListRoomsRequest()
        await status_of(service.rooms.ListRooms(listing))
        await status_of(service.rooms.ListRooms(listing, metadata=(("authorization", "Basic x"),)))
        await status_of(service.rooms.ListRooms(listing, metadata=bearer(table.tokens[0])))
        await status_of(service.rooms.ListRooms(listing, metadata=bearer(service.tenant("other")[:-1] + "_")))
        await status_of(service.seats.GetView(pb.GetViewRequest(), metadata=bearer("nonsense")))
        watching = service.seats.Watch(pb.WatchRequest(), metadata=bearer("nonsense"))
        assert await watching.code() == grpc.StatusCode.UNAUTHENTICATED
        assert await service.gateways.Connect(metadata=bearer(service.key)).code() == grpc.StatusCode.UNAUTHENTICATED
        told = counted(await scraped(port_of(service)), "erqiwang_authentication_failures_total")
        assert told == {
            ("platform_key", "missing"): 1,
            ("platform_key", "malformed"): 2,
            ("platform_key", "wrong"): 1,
            ("seat_token", "malformed"): 1,
            ("seat_or_watch_token", "malformed"): 1,
            ("gateway_key", "malformed"): 1,
        }


async def test_calls_that_never_reach_a_method_have_no_names_of_their_own(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service:
        for name in ("/erqiwang.v1.RoomService/Nothing", "/no.Service/At", "/" + "x" * 200 + "/y"):
            call: Raw = service.channel.unary_unary(name)
            assert await status_of(call(b"")) == grpc.StatusCode.UNIMPLEMENTED
        garbled: Raw = service.channel.unary_unary("/erqiwang.v1.RoomService/ListRooms")
        assert await status_of(garbled(b"\xff\xff", metadata=bearer(service.key))) == grpc.StatusCode.INVALID_ARGUMENT
        told = await scraped(port_of(service))
        assert counted(told, "erqiwang_calls_ended_total") == {
            ("UNIMPLEMENTED", "", ""): 3,
            ("INVALID_ARGUMENT", "ListRooms", ROOMS): 1,
        }
        assert sum(counted(told, "erqiwang_calls_started_total").values()) == 4
        assert counted(told, "erqiwang_refusals_total") == {("malformed",): 1}


async def test_streams_are_counted_when_they_begin_and_when_they_end(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0, limits=replace(ROOMY, streams_per_seat=1)) as service:
        table = await seated(service.platform)
        first = RawSeat(service, table.tokens[0])
        await first.attach()
        told = await scraped(port_of(service))
        assert told["erqiwang_calls_started_total", "Play", SEATS] == 1
        assert counted(told, "erqiwang_calls_ended_total").keys() & {("OK", "Play", SEATS)} == set()
        crowded = service.seats.Play(metadata=bearer(table.tokens[0]))
        assert await crowded.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        watching = service.seats.Watch(pb.WatchRequest(), metadata=bearer(table.tokens[1]))
        assert await watching.read() is not grpc.aio.EOF
        watching.cancel()
        await eventually(lambda: service.server.seats.streams == 1)
        told = await scraped(port_of(service))
        assert told["erqiwang_refusals_total", "too_many_streams"] == 1
        assert told["erqiwang_calls_ended_total", "RESOURCE_EXHAUSTED", "Play", SEATS] == 1
        assert told["erqiwang_calls_ended_total", "CANCELLED", "Watch", SEATS] == 1
        assert told["erqiwang_streams", "seat"] == 1
        assert told["erqiwang_streams_limit", "seat"] == ROOMY.streams


async def test_a_displaced_stream_is_no_refusal(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service:
        table = await seated(service.platform)
        older, newer = RawSeat(service, table.tokens[0]), RawSeat(service, table.tokens[0])
        await older.attach()
        await newer.attach()
        await older.rest()
        await eventually(lambda: service.server.seats.streams == 1)
        told = await scraped(port_of(service))
        assert counted(told, "erqiwang_stream_ends_total") == {("displaced",): 1}
        assert counted(told, "erqiwang_refusals_total") == {}
        assert told["erqiwang_calls_ended_total", "ABORTED", "Play", SEATS] == 1


async def test_seats_of_gateways_that_are_not_opened_are_counted(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service, gateway_of(service) as gateway:
        table = await seated(service.platform)
        seat, wrong = gateway.seat(table.tokens[0]), gateway.seat("nonsense")
        await seat.attach()
        await wrong.say(pb.PlayRequest(attach=pb.Attach()))
        await wrong.rest()
        told = await scraped(port_of(service))
        assert told["erqiwang_streams", "gateway"] == 1
        assert told["erqiwang_gateway_seats",] == 1
        assert counted(told, "erqiwang_refusals_total") == {("no_such_room",): 1}
        assert counted(told, "erqiwang_authentication_failures_total") == {("seat_token", "malformed"): 1}
        await seat.say(pb.PlayRequest(command=PASS))
        await seat.hear("refused")
        told = await scraped(port_of(service))
        assert told["erqiwang_refusals_total", "first_bidder_must_bid"] == 1
        assert told["erqiwang_commands_total", "refused"] == 1


async def test_refused_spectators_and_quotas_are_counted(tmp_path: Path) -> None:
    limits = replace(ROOMY, spectators=2, platform_rooms=1)
    async with served(tmp_path, metrics_port=0, limits=limits) as service:
        table = await seated(service.platform)
        token = await watch_token(service, table.room_id)
        first = Watch(service, token)
        await first.hear("snapshot")
        second = service.seats.Watch(pb.WatchRequest(), metadata=bearer(token))
        assert await second.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        told = await scraped(port_of(service))
        assert told["erqiwang_streams", "spectator"] == 1
        assert told["erqiwang_broadcasts",] == 1
        assert counted(told, "erqiwang_refusals_total") == {("quota_reached",): 1}
        choice = room_pb.CreateRoomRequest(command_id="more", owner="alice")
        assert await status_of(service.rooms.CreateRoom(choice, metadata=bearer(service.key))) == (
            grpc.StatusCode.RESOURCE_EXHAUSTED
        )
        told = await scraped(port_of(service))
        assert counted(told, "erqiwang_refusals_total") == {("quota_reached",): 2}


async def test_the_process_is_described(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service:
        before = (await scraped(port_of(service)))["erqiwang_event_loop_lag_seconds_count",]
        async with asyncio.timeout(30):
            while (await scraped(port_of(service)))["erqiwang_event_loop_lag_seconds_count",] == before:
                pass
        told = await scraped(port_of(service))
        assert told["process_resident_memory_bytes",] > 10_000_000
        assert told["process_open_fds",] > 5
        assert told["erqiwang_process_threads",] >= 2
        assert told["process_cpu_seconds_total",] > 0
        assert [labels for name, *labels in told if name == "erqiwang_build_info"]


async def test_calls_of_health_channelz_and_reflection_are_counted_too(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0, channelz=True) as service:
        check: Raw = service.channel.unary_unary("/grpc.health.v1.Health/Check")
        await check(b"")
        servers: Raw = service.channel.unary_unary("/grpc.channelz.v1.Channelz/GetServers")
        await servers(b"")
        reflect: Streams = service.channel.stream_stream("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
        asking = reflect()
        await asking.write(reflection_pb2.ServerReflectionRequest(list_services="").SerializeToString())
        assert await asking.read() is not grpc.aio.EOF
        told = await scraped(port_of(service))
        assert told["erqiwang_streams", "reflection"] == 1
        assert told["erqiwang_calls_ended_total", "OK", "Check", "grpc.health.v1.Health"] == 1
        assert told["erqiwang_calls_ended_total", "OK", "GetServers", "grpc.channelz.v1.Channelz"] == 1
        await asking.done_writing()
        assert await asking.code() == grpc.StatusCode.OK
        told = await scraped(port_of(service))
        assert (
            told["erqiwang_calls_ended_total", "OK", "ServerReflectionInfo", "grpc.reflection.v1.ServerReflection"] == 1
        )


async def test_a_call_that_takes_too_long_for_its_caller_is_told_from_one_that_is_given_up(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service:
        table = await seated(service.platform)
        late = service.seats.Watch(pb.WatchRequest(), metadata=bearer(table.tokens[0]), timeout=0.3)
        assert await late.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        given_up = RawSeat(service, table.tokens[1])
        await given_up.attach()
        given_up.call.cancel()
        await eventually(lambda: service.server.seats.streams == 0)
        told = counted(await scraped(port_of(service)), "erqiwang_calls_ended_total")
        assert told["DEADLINE_EXCEEDED", "Watch", SEATS] == 1
        assert told["CANCELLED", "Play", SEATS] == 1
