"""Play a match over generated code alone: every seat of a new room, or one seat by its token.

It knows no rule: it acts on the suggestion in its view, and checks what it is told.
"""

import argparse
import asyncio
import contextlib
import hashlib
import os
import uuid
from collections.abc import AsyncIterator

import grpc
from erqiwang.v1.room_pb2 import FourPlayerGame, RoomOptions
from erqiwang.v1.room_service_pb2 import CreateRoomRequest, RoomChoice, TakeSeatRequest, TakeSeatResponse
from erqiwang.v1.room_service_pb2_grpc import RoomServiceStub
from erqiwang.v1.seat_service_pb2 import (
    Attach,
    Command,
    GetViewRequest,
    Goodbye,
    Notice,
    PlayRequest,
    PlayResponse,
    SeatMessage,
    Snapshot,
)
from erqiwang.v1.seat_service_pb2_grpc import SeatServiceStub
from erqiwang.v1.settlement_pb2 import Account
from erqiwang.v1.view_pb2 import PHASE_OVER, PHASE_PLAYING, View

DEADLINE = 10.0  # seconds that a call may take; a stream has none
MOST_MOVES = 20  # how often a lost server is put up with

Stream = grpc.aio.StreamStreamCall[PlayRequest, PlayResponse]


class Player:
    """One seat, from its first snapshot to the end of the match."""

    def __init__(self, channels: list[grpc.aio.Channel], seat: TakeSeatResponse) -> None:
        self.servers = [SeatServiceStub(channel) for channel in channels]
        self.metadata = (("authorization", f"Bearer {seat.seat_token}"),)
        self.view = View()
        self.version = seat.last_version  # the last one seen: at first the one before the seat was taken
        self.awaiting: PlayRequest | None = None  # the command that is not answered yet
        self.streams = 0
        self.moves = 0  # how often the server was lost
        self.started = 0  # deals whose beginning was told
        self.opened = 0  # decks that were what their commitments said

    async def play(self) -> Account:
        """Play to the end; what the match came to."""
        while not self.over:
            await self.converse()
        answer = await self.seats.GetView(GetViewRequest(), metadata=self.metadata, timeout=DEADLINE)
        self.check(answer.snapshot)
        account = self.view.parts.account.account
        assert all(sum(deal.scores) == 0 for deal in account.deals), account
        assert self.started == len(account.deals), f"{self.started} of {len(account.deals)} beginnings told"
        assert self.opened == len(account.deals), f"{self.opened} of {len(account.deals)} decks opened"
        assert self.streams == 2 + self.moves, f"{self.streams} streams"
        return account

    @property
    def seats(self) -> SeatServiceStub:
        """The server in use: after each loss the next one."""
        return self.servers[self.moves % len(self.servers)]

    @property
    def over(self) -> bool:
        """Whether the match is over."""
        return self.view.parts.progress.phase == PHASE_OVER

    @property
    def in_the_middle(self) -> bool:
        """Whether cards are played in the second half of the match."""
        progress = self.view.parts.progress
        return progress.phase == PHASE_PLAYING and progress.deal > progress.deals // 2

    async def converse(self) -> None:
        """One stream, until the match is over or, in its middle and on our turn, the first connection is dropped."""
        self.streams += 1
        stream = self.seats.Play(metadata=self.metadata)
        await self.say(stream, PlayRequest(attach=Attach(last_version=self.version)))
        if self.awaiting:  # its answer may be lost; under the same id it stands once
            await self.say(stream, self.awaiting)
        async for response in self.responses(stream):
            for message in response.messages:
                self.hear(message)
            command = None if self.awaiting else self.command()
            if self.over or (command and self.streams == 1 + self.moves and self.in_the_middle):
                stream.cancel()
                return
            if command:
                self.awaiting = PlayRequest(command_id=uuid.uuid4().hex, command=command)
                await self.say(stream, self.awaiting)

    async def say(self, stream: Stream, request: PlayRequest) -> None:
        """Send. Where the stream has ended meanwhile, what there is to read says why, and not the write that failed."""
        with contextlib.suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):
            await stream.write(request)

    async def responses(self, stream: Stream) -> AsyncIterator[PlayResponse]:
        """All that the server says. Ends if it is gone or leaving and there is another; raises any other status."""
        with contextlib.suppress(grpc.aio.AioRpcError):
            async for response in stream:
                yield response
        if stream.cancelled():
            return
        if await stream.code() is grpc.StatusCode.UNAVAILABLE and self.moves < MOST_MOVES * (len(self.servers) - 1):
            self.moves += 1
            await asyncio.sleep(0.2)
            return
        if await stream.code() is grpc.StatusCode.INTERNAL:
            # grpcio puts this in the place of the status where a write met the end. A call without a stream says what is wrong.
            await self.seats.GetView(GetViewRequest(), metadata=self.metadata, timeout=DEADLINE)
        raise ConnectionError(f"the stream has ended: {await stream.code()}, {await stream.details()}")

    def hear(self, message: SeatMessage) -> None:
        """Keep the view up to date."""
        match message.WhichOneof("message"):
            case "snapshot":
                self.check(message.snapshot)
            case "notice":
                self.fold(message.notice)
            case "accepted" if self.awaiting and message.accepted.command_id == self.awaiting.command_id:
                self.awaiting = None
            case "refused":
                raise AssertionError(message.refused)
            case "goodbye":
                # It decides, whatever status follows. After DISPLACED or UNSEATED a client does not come back by itself. A
                # server that is leaving says DRAINING, and ends the stream with UNAVAILABLE.
                if message.goodbye.reason == Goodbye.REASON_DRAINING:
                    return
                raise ConnectionAbortedError(f"goodbye: {Goodbye.Reason.Name(message.goodbye.reason)}")

    def check(self, snapshot: Snapshot) -> None:
        """Take a snapshot. One of the version that we are at must be what the notices have made of the first."""
        assert snapshot.version >= self.version, f"{snapshot.version} after {self.version}"
        if self.view.HasField("parts") and snapshot.version == self.version:
            assert snapshot.view == self.view, "fold and snapshot differ"
        # What happened while we were away: the first deal may have begun before we came.
        self.started += sum(missed.HasField("deal_started") for missed in snapshot.missed)
        self.opened += sum(missed.HasField("deal_ended") for missed in snapshot.missed)
        self.view, self.version = snapshot.view, snapshot.version

    def fold(self, notice: Notice) -> None:
        """Put the parts that changed in the place of the old ones; finished tricks are added to those that are kept."""
        assert notice.version == self.version + 1, f"{notice.version} after {self.version}"
        self.version = notice.version
        for field, part in notice.changed.ListFields():
            if field.name != "history":
                getattr(self.view.parts, field.name).CopyFrom(part)
        if notice.changed.HasField("history"):
            tricks = self.view.parts.history.tricks
            del tricks[notice.changed.history.kept :]
            tricks.extend(notice.changed.history.tricks)
        self.started += notice.HasField("deal_started")
        if notice.HasField("deal_ended"):
            settled = self.view.parts.settlement
            committed = hashlib.sha256(settled.salt + bytes(settled.deck)).digest()
            assert committed == self.view.parts.progress.commitment, "the deck is not what was committed to"
            self.opened += 1

    def command(self) -> Command | None:
        """What the view suggests; None where we are to wait."""
        advice = self.view.parts.advice
        match advice.WhichOneof("choice"):
            case "call" if advice.call.HasField("bid"):
                return Command(bid=advice.call.bid)
            case "call":
                return Command(pass_bid=advice.call.pass_bid)
            case "name":
                return Command(name_trump=advice.name.suggestion)
            case "bury":
                return Command(bury=advice.bury.suggestion)
            case "lead":
                return Command(play_cards=advice.lead.suggestion)
            case "follow":
                return Command(play_cards=advice.follow.suggestion)
            case "ready":
                return Command(ready=advice.ready.suggestion)
        return None


async def open_table(channel: grpc.aio.Channel, key: str, game: str) -> list[TakeSeatResponse]:
    """Create a room and take its seats: of each its token, and the version to attach with."""
    rooms = RoomServiceStub(channel)
    metadata = (("authorization", f"Bearer {key}"),)
    four = FourPlayerGame() if game == "four" else None
    options = RoomOptions(four_player=four)  # without a game it is the three-player one
    request = CreateRoomRequest(command_id=uuid.uuid4().hex, owner="player 0", choice=RoomChoice(options=options))
    room = (await rooms.CreateRoom(request, metadata=metadata, timeout=DEADLINE)).room
    taken = [
        TakeSeatRequest(room_id=room.room_id, player=f"player {seat.seat}", seat=seat.seat, command_id=uuid.uuid4().hex)
        for seat in room.seats
    ]
    return [await rooms.TakeSeat(each, metadata=metadata, timeout=DEADLINE) for each in taken]


async def main() -> None:
    """Play, and print one line."""
    parser = argparse.ArgumentParser()
    default = os.environ.get("ERQIWANG_ADDRESS", "127.0.0.1:50051")
    parser.add_argument("--address", default=default, help="the server's, or several of one store, with commas")
    parser.add_argument("--key", default=os.environ.get("ERQIWANG_KEY", ""), help="platform key: play every seat")
    parser.add_argument("--token", help="seat token: play this seat alone")
    parser.add_argument("--last-version", type=int, default=0, help="the version that came with the token")
    parser.add_argument("--game", choices=["three", "four"], default="three")
    flags = parser.parse_args()
    async with contextlib.AsyncExitStack() as stack:
        channels = [
            await stack.enter_async_context(grpc.aio.insecure_channel(address)) for address in flags.address.split(",")
        ]
        if flags.token:
            taken = [TakeSeatResponse(seat_token=flags.token, last_version=flags.last_version)]
        else:
            taken = await open_table(channels[0], flags.key, flags.game)
        players = [Player(channels, seat) for seat in taken]
        accounts = await asyncio.gather(*(player.play() for player in players))
    assert all(account == accounts[0] for account in accounts), accounts
    deals, totals = len(accounts[0].deals), " ".join(map(str, accounts[0].totals))
    print(f"python: seats played {len(players)}, deals {deals}, totals [{totals}], all checks hold")


if __name__ == "__main__":
    asyncio.run(main())
