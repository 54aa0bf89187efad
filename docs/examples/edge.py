"""A platform's edge: players connect to it over TCP, and all of them share one gateway stream to the server.

    ERQIWANG_ADDRESS=127.0.0.1:50051 ERQIWANG_GATEWAY_KEY=erqg_… python edge.py

It speaks lines of JSON, for the sake of the example; a real edge would speak WebSocket. A player's first line is
`{"token": …, "last_version": …}`. Every further line is a `PlayRequest` with a command, as proto JSON. Each line that comes
back is a `SeatMessage`. When the seat has ended, the last line is `{"ended": …}` with the reason.
"""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable

from google.protobuf import json_format

from erqiwang_grpc.client import Gateway, GatewaySeat
from erqiwang_grpc.v1 import seat_service_pb2 as pb

MOST_WAITING = 64
"""Messages that wait for one player. What a slow player does not take is dropped here, and asked for again later."""


class Player:
    """A player's socket, and what waits for it."""

    def __init__(self, seat: GatewaySeat, writer: asyncio.StreamWriter) -> None:
        self.seat = seat
        self.writer = writer
        self.waiting: asyncio.Queue[pb.SeatMessage] = asyncio.Queue()
        self.behind = False

    def put(self, message: pb.SeatMessage) -> None:
        """Add a message. A player who is behind gets nothing until the snapshot that it asks for."""
        if self.behind and not message.HasField("snapshot"):
            return
        self.behind = self.waiting.qsize() >= MOST_WAITING
        if not self.behind:
            self.waiting.put_nowait(message)

    async def write(self) -> None:
        """Write what waits, as fast as the player takes it."""
        while True:
            message = await self.waiting.get()
            self.say(json_format.MessageToDict(message))
            await self.writer.drain()
            if self.behind and self.waiting.empty():
                self.seat.resync(self.seat.version)

    def say(self, line: object) -> None:
        """Write one line."""
        self.writer.write(json.dumps(line).encode() + b"\n")


async def read(reader: asyncio.StreamReader, player: Player) -> None:
    """Send each command to the server. Its answer comes among the messages of the seat."""
    asked: set[asyncio.Task[object]] = set()
    async for line in reader:
        request = json_format.Parse(line, pb.PlayRequest())
        expected = request.expected_version if request.HasField("expected_version") else None
        acting: asyncio.Task[object] = asyncio.create_task(
            player.seat.act(request.command, expected, request.command_id or None)
        )
        asked.add(acting)
        acting.add_done_callback(asked.discard)


def serving(
    gateway: Gateway, players: dict[int, Player]
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """What is done for each player who connects."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello = json.loads(await reader.readline())
        player = Player(gateway.open(hello["token"], hello.get("last_version")), writer)
        players[player.seat.number] = player
        ended = asyncio.create_task(player.seat.until(lambda: False))
        work = [asyncio.create_task(read(reader, player)), asyncio.create_task(player.write())]
        try:
            await asyncio.wait([ended, *work], return_when=asyncio.FIRST_COMPLETED)
            if player.seat.ended is None:
                await player.seat.close()
            else:
                while not player.waiting.empty():
                    player.say(json_format.MessageToDict(player.waiting.get_nowait()))
                player.say({"ended": player.seat.ended.why})
        finally:
            del players[player.seat.number]
            for each in (ended, *work):
                each.cancel()
            writer.close()

    return serve


async def main() -> None:
    """Serve players until the stream to the server ends for good."""
    address, key = os.environ["ERQIWANG_ADDRESS"], os.environ["ERQIWANG_GATEWAY_KEY"]
    players: dict[int, Player] = {}
    async with Gateway(address.split(","), key) as gateway:
        server = await asyncio.start_server(serving(gateway, players), "127.0.0.1", int(os.environ.get("PORT", "0")))
        print(f"the edge serves on 127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        async with server:
            async for number, message in gateway.messages():
                if number in players:
                    players[number].put(message)
        print(f"the stream has ended: {gateway.ended}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
