"""A match by the steps that the documents write down, over generated code alone, without a rule: and it comes to its end."""

import asyncio
from typing import Final
from uuid import uuid4

import pytest

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.v1 import room_pb2, room_service_pb2, seat_service_pb2 as pb, settlement_pb2, view_pb2
from tests.service.tables import FOUR_PLAYERS, PATIENCE, Service

GAMES: Final = {"three": room_pb2.RoomOptions(), "four": FOUR_PLAYERS}
WORDS: Final = {field.message_type: field.name for field in pb.Command.DESCRIPTOR.fields}
"""The command that a message is, by its type."""


def suggested(advice: view_pb2.AdvicePart) -> pb.Command | None:
    """The suggestion, whatever it is: the one field of the choice that is a command."""
    choice = advice.WhichOneof("choice")
    if choice is None:
        return None
    (said,) = (value for field, value in getattr(advice, choice).ListFields() if field.message_type in WORDS)
    return pb.Command(**{WORDS[said.DESCRIPTOR]: said})


def put(parts: view_pb2.Parts, changed: view_pb2.Parts) -> None:
    """Put each part that is set in the place of the old one; keep the tricks that are to be kept, and add the others."""
    kept = parts.history.tricks[: changed.history.kept]
    for field, part in changed.ListFields():
        getattr(parts, field.name).CopyFrom(part)
    if changed.HasField("history"):
        parts.history.CopyFrom(view_pb2.HistoryPart(tricks=[*kept, *changed.history.tricks]))


async def play(service: Service, seat: room_service_pb2.TakeSeatResponse) -> settlement_pb2.Account:
    """Attach with what the seat was given; put parts in the place of old ones; send each suggestion once, after every single message."""
    stream = service.seats.Play(metadata=bearer(seat.seat_token))
    await stream.write(pb.PlayRequest(attach=pb.Attach(last_version=seat.last_version)))
    view, awaiting = view_pb2.View(), ""
    begun: list[int] = []
    async for response in stream:
        for message in response.messages:
            match message.WhichOneof("message"):
                case "snapshot":
                    view.CopyFrom(message.snapshot.view)
                    begun += [
                        told.deal_started.deal for told in message.snapshot.missed if told.HasField("deal_started")
                    ]
                case "notice":
                    begun += [message.notice.deal_started.deal] if message.notice.HasField("deal_started") else []
                    put(view.parts, message.notice.changed)
                case "accepted":
                    assert message.accepted.command_id == awaiting
                    awaiting = ""
                case "refused":
                    raise AssertionError(message.refused)
                case (
                    "presence"
                    | "signal_received"
                    | "trumps_shown"
                    | "heartbeat"
                    | "record_read"
                    | "hint"
                    | "goodbye"
                    | None
                ):
                    pass
            if view.parts.account.HasField("account"):
                told = await service.seats.GetView(pb.GetViewRequest(), metadata=bearer(seat.seat_token))
                assert view == told.snapshot.view
                stream.cancel()
                assert begun == list(range(1, view.parts.progress.deals + 1)), "every deal was heard to begin, once"
                return view.parts.account.account
            command = None if awaiting else suggested(view.parts.advice)
            if command is not None:
                awaiting = uuid4().hex
                await stream.write(pb.PlayRequest(command_id=awaiting, command=command))
    raise AssertionError("the server has ended the stream")


@pytest.mark.parametrize("game", GAMES)
async def test_what_is_suggested_and_nothing_else_plays_six_deals_to_the_account(service: Service, game: str) -> None:
    key = bearer(service.key)
    choice = room_service_pb2.RoomChoice(options=GAMES[game])
    create = room_service_pb2.CreateRoomRequest(command_id=uuid4().hex, owner="player 0", choice=choice)
    room = (await service.rooms.CreateRoom(create, metadata=key)).room
    taken = []
    for seat in room.seats:
        take = room_service_pb2.TakeSeatRequest(room_id=room.room_id, player=f"player {seat.seat}")
        taken.append(await service.rooms.TakeSeat(take, metadata=key))
    async with asyncio.timeout(6 * PATIENCE):
        accounts = await asyncio.gather(*(play(service, each) for each in taken))
    assert all(account == accounts[0] for account in accounts)
    assert (len(accounts[0].deals), accounts[0].HasField("disbanding")) == (6, False)
    assert sum(accounts[0].totals) == 0


async def test_a_ready_that_crosses_the_last_one_is_accepted(service: Service) -> None:
    """A client that is not sure that its `Ready` has arrived says it again, and by then the deal has begun."""
    choice = room_service_pb2.RoomChoice(options=room_pb2.RoomOptions())
    create = room_service_pb2.CreateRoomRequest(command_id=uuid4().hex, owner="player 0", choice=choice)
    room = (await service.rooms.CreateRoom(create, metadata=bearer(service.key))).room
    async with service.platform as platform:
        tokens = [(await platform.take_seat(room.room_id, f"player {seat}")).token for seat in range(3)]
    progress = view_pb2.ProgressPart()
    while progress.deal < 2:
        for token in tokens:
            view = (await service.seats.GetView(pb.GetViewRequest(), metadata=bearer(token))).snapshot.view
            progress = view.parts.progress
            command = suggested(view.parts.advice)
            if command is not None:
                await service.seats.Act(pb.ActRequest(command=command), metadata=bearer(token))
    late = pb.ActRequest(command=pb.Command(ready=settlement_pb2.Ready()))
    for token in tokens:
        answer = await service.seats.Act(late, metadata=bearer(token))
        assert (answer.accepted.first_version, answer.accepted.last_version) == (0, 0)
        assert list(answer.notices) == []
