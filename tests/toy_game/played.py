"""Play one match of any game over real streams by its advice alone, restart the server, and read it back.

`python -m tests.toy_game.played --game toy --data FOLDER`: it knows no rule, and nothing of the game but its name. An
assertion fails where something is not as it was told; the folder is left with the log of the match.
"""

import asyncio
from argparse import ArgumentParser, Namespace
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from google.protobuf.json_format import MessageToJson

from erqiwang_grpc.client import Platform, SeatClient, deck_is_opened
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.tools.table_arguments import add_room_options, room_options
from erqiwang_grpc.v1 import record_pb2, room_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.processes import ServerProcess, serving
from tests.service.tables import PLAYERS, is_over, suggested


async def play(server: ServerProcess, tokens: list[str]) -> list[view_pb2.View]:
    """Play a match to its end; what its notices have made of every seat's view."""
    async with AsyncExitStack() as stack:
        seats = [await stack.enter_async_context(SeatClient([server.address], token)) for token in tokens]
        await asyncio.gather(*(_follow_advice(seat) for seat in seats))
        assert all(seat.connections == 1 for seat in seats), "a seat was told anew and not noticed"
    return [seat.view for seat in seats]


async def _follow_advice(seat: SeatClient) -> None:
    """Do what the view suggests, and nothing else, until the match is over."""
    settled = 0
    while not is_over(seat.view):
        command = suggested(seat.view)
        if command is None:
            await seat.until(lambda: is_over(seat.view) or suggested(seat.view) is not None)
        else:
            answer = await seat.act(command)
            assert isinstance(answer, pb.Accepted), f"{command} was answered with {answer}"
            await seat.until(partial(_has_heard_of, seat, answer.last_version))
        assert seat.ended is None, seat.ended
        if seat.view.parts.progress.deal > settled and seat.view.parts.settlement.HasField("settlement"):
            settled = seat.view.parts.progress.deal
            assert deck_is_opened(seat.view), f"the deck of deal {settled} is not the one that was committed to"


def _has_heard_of(seat: SeatClient, version: int) -> bool:
    return seat.version >= version


async def run(options: room_pb2.RoomOptions, folder: Path) -> record_pb2.MatchRecord:
    """The record of a match that was played on one server and read back from another on the same data."""
    async with serving(folder, "--commands-per-second", "100000") as server:
        async with Platform([server.address], server.key) as platform:
            room = await platform.create_room(PLAYERS[0], options)
            taken = [await platform.take_seat(room.room_id, player) for player in PLAYERS[: len(room.room.seats)]]
            tokens = [seat.token for seat in taken]
            told = await play(server, tokens)
            kept = await platform.record(room.room_id)
        assert await server.stop() == 0
    async with serving(folder) as server:
        async with Platform([server.address], server.key) as platform:
            assert not (await platform.room(room.room_id)).quarantined
            read_back = await platform.record(room.room_id)
        assert read_back == kept
        assert len(read_back.deals) == options.deals
        for token, view in zip(tokens, told, strict=True):
            async with SeatClient([server.address], token) as seat:
                assert seat.view == view, "what is read back is not what was told"
        assert await server.stop() == 0
    return read_back


def _arguments() -> Namespace:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="an empty folder for the server's data")
    add_room_options(parser)
    return parser.parse_args()


def main() -> None:
    """Play, and print the record."""
    arguments = _arguments()
    record = asyncio.run(run(encode.room_options(room_options(arguments)), arguments.data))
    print(MessageToJson(record, indent=None))


if __name__ == "__main__":
    main()
