"""Metrics: what a dashboard is told, scraped over HTTP while a match is played."""

import asyncio
from pathlib import Path
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from erqiwang_grpc.v1 import bidding_pb2, playing_pb2, seat_service_pb2 as pb
from tests.service.tables import RawSeat, act, attached, play_all, seated, served

PASS = pb.Command(pass_bid=bidding_pb2.PassBid())


async def scraped(port: int) -> dict[tuple[str, str], float]:
    """Every sample, by its name and the value of its label."""

    def read() -> str:
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as response:
            text: bytes = response.read()
        return text.decode()

    families = text_string_to_metric_families(await asyncio.to_thread(read))
    return {
        (sample.name, "".join(sample.labels.values())): sample.value for family in families for sample in family.samples
    }


async def test_a_whole_match_is_counted(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service:
        assert service.server.metrics is not None
        port = service.server.metrics.port
        assert (await scraped(port))["erqiwang_commands_total", "accepted"] == 0
        table = await seated(service.platform)
        async with attached(service, table) as seats:
            assert (await scraped(port))["erqiwang_streams", "seat"] == 3
            await play_all(seats)
            told = await scraped(port)
        commands = len(service.room(table.room_id).state.accepted.brought)
        assert told["erqiwang_commands_total", "accepted"] == commands - 1, "all but the room's opening"
        assert told["erqiwang_command_seconds_count", ""] == told["erqiwang_command_seconds_bucket", "+Inf"]
        assert told["erqiwang_command_seconds_count", ""] >= told["erqiwang_commands_total", "accepted"]
        assert 0 < told["erqiwang_command_seconds_sum", ""] < 60
        assert told["erqiwang_rooms", ""] == 1
        assert told["erqiwang_rooms_open", ""] == 1
        assert told["erqiwang_rooms_quarantined", ""] == 0


async def test_refusals_are_counted_by_reason_and_repeated_commands_apart(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service:
        assert service.server.metrics is not None
        table = await seated(service.platform)
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        for _ in range(2):
            await stream.say(pb.PlayRequest(command=PASS))
            await stream.hear("refused")
        signal = pb.Command(signal=playing_pb2.Signal(signal=playing_pb2.SIGNAL_KIND_CAN_BEAT))
        await stream.say(pb.PlayRequest(command=signal))
        await stream.hear("refused")
        bid = pb.Command(bid=bidding_pb2.Bid(points=70))
        for _ in range(3):
            await act(service, table, 0, bid, command_id="one")
        told = await scraped(service.server.metrics.port)
        assert told["erqiwang_refusals_total", "first_bidder_must_bid"] == 2
        assert told["erqiwang_refusals_total", "wrong_phase"] == 1
        assert told["erqiwang_commands_total", "refused"] == 3
        assert told["erqiwang_commands_total", "repeated"] == 2
        assert told["erqiwang_commands_total", "accepted"] == 3 + 1, "the seats and the bid, each counted once"
        await service.platform.take_seat(table.room_id, "alice", command_id="sit")
        await service.platform.take_seat(table.room_id, "alice", command_id="sit")
        again = await scraped(service.server.metrics.port)
        assert again["erqiwang_commands_total", "repeated"] == 3
        assert again["erqiwang_commands_total", "accepted"] == 5
        assert again["erqiwang_commands_total", "refused"] == 3
        assert again["erqiwang_command_seconds_count", ""] == told["erqiwang_command_seconds_count", ""] + 2
