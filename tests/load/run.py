"""Load a server with ghz: `python -m tests.load.run`. It starts the server, seeds it, and writes what ghz measured."""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, final

import grpc

from erqiwang_grpc.client import Platform
from erqiwang_grpc.testing import seated
from erqiwang_grpc.v1 import bidding_pb2, seat_service_pb2 as pb, seat_service_pb2_grpc as rpc
from tests.documents import REPOSITORY
from tests.load.ghz import Report, Schemas, install, load
from tests.service.processes import serving

FIRST_BID: Final = pb.ActRequest(command_id="first bid", command=pb.Command(bid=bidding_pb2.Bid(points=70)))
"""What the seats of the configurations say again and again; once accepted, it changes nothing."""


@final
@dataclass(frozen=True, slots=True)
class Seed:
    """A full room whose first bidder has bid."""

    room_id: str
    token: str
    """The first bidder's."""
    version: int


async def seed(channel: grpc.aio.Channel, address: str, key: str, rooms: int) -> list[Seed]:
    """Rooms to load."""
    platform = Platform([address], key)
    return [await _seed_room(platform, rpc.SeatServiceStub(channel)) for _ in range(rooms)]


async def _seed_room(platform: Platform, seats: rpc.SeatServiceStub) -> Seed:
    table = await seated(platform)
    answer = await seats.Act(FIRST_BID, metadata=table.metadata(0))
    again = await seats.Act(FIRST_BID, metadata=table.metadata(0))
    assert again.accepted.repeated_command, again
    return Seed(table.room_id, table.tokens[0], answer.accepted.last_version)


async def changed(address: str, key: str, seeds: Sequence[Seed]) -> list[str]:
    """The rooms that do not stand where they stood."""
    platform = Platform([address], key)
    return [seed.room_id for seed in seeds if (await platform.room(seed.room_id)).version != seed.version]


def credentials(tokens: Sequence[str]) -> str:
    """Metadata for ghz, by the call's number: each credential in its turn."""
    listed = " ".join(f"`{token}`" for token in tokens)
    return json.dumps(
        {"authorization": f"Bearer {{{{ index (list {listed}) (int (mod .RequestNumber {len(tokens)})) }}}}"}
    )


async def run(folder: Path, calls: int, rooms: int, schemas: Schemas = "reflection", *flags: str) -> list[Report]:
    """Load a fresh server whose data is in `folder`: so many calls of each kind, one stream a room.

    Nothing but CreateRoom may change anything; where a room has moved an assertion fails.
    """
    ghz = await install()
    async with (
        serving(folder, "--commands-per-second", "1000000", "--platform-calls-per-second", "1000000", *flags) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        seeds = await seed(channel, server.address, server.key, rooms)
        platform, seats = folder / "platform.json", folder / "seats.json"
        platform.write_text(credentials([server.key]))
        seats.write_text(credentials([seed.token for seed in seeds]))
        reports = [
            await load(ghz, "create_room", server.address, platform, calls, schemas),
            await load(ghz, "get_view", server.address, seats, calls, schemas),
            await load(ghz, "act", server.address, seats, calls, schemas),
            # A seat holds one stream: a second one would displace the first.
            await load(ghz, "play", server.address, seats, rooms, schemas),
        ]
        moved = await changed(server.address, server.key, seeds)
    assert not moved, f"rooms that a repeated command has changed: {moved}"
    return reports


def table(reports: Sequence[Report]) -> str:
    """The summaries, a line a call; latencies in milliseconds."""
    lines = [f"{'call':<24}{'calls':>8}{'a second':>10}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}  statuses"]
    for report in reports:
        p50, p95, p99 = (report.latencies[percentile] for percentile in (50, 95, 99))
        numbers = f"{report.count:>8}{report.per_second:>10.0f}{p50:>9.2f}{p95:>9.2f}{p99:>9.2f}"
        statuses = ", ".join(f"{status} {count}" for status, count in report.statuses.items())
        lines.append(f"{report.call:<24}{numbers}  {statuses}")
    return "\n".join(lines)


def main() -> None:
    """Load, print and write the summaries; exit status 1 where an answer was not OK."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=5_000, help="calls of each unary method (default: 5000)")
    parser.add_argument("--rooms", type=int, default=200, help="rooms, and streams of 100 messages (default: 200)")
    parser.add_argument("--schemas", choices=["reflection", "proto"], default="reflection")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "build" / "load", help="folder for the summaries")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        reports = asyncio.run(run(Path(folder), arguments.calls, arguments.rooms, arguments.schemas))
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "summary.json").write_text(json.dumps([asdict(report) for report in reports], indent=2))
    (arguments.out / "summary.txt").write_text(table(reports) + "\n")
    print(table(reports))
    sys.exit(not all(report.all_ok for report in reports))


if __name__ == "__main__":
    main()
