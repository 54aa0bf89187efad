"""The conversation on one attached stream: requests are read, paid for, carried out and answered one by one."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from typing import Final, final

import grpc
from google.protobuf.message import DecodeError

from erqiwang_grpc.auth.tokens import SeatClaims
from erqiwang_grpc.clocks import Monotonic
from erqiwang_grpc.events.actor import SeatActor
from erqiwang_grpc.rooms.audience import Attachment
from erqiwang_grpc.rooms.bounds import id_fault
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.command import Accepted, Answer, Answered, SeatAsks
from erqiwang_grpc.rooms.costs import Work
from erqiwang_grpc.rooms.fingerprint import command_key
from erqiwang_grpc.rooms.hints import Hinted
from erqiwang_grpc.rooms.rate_limit import AtOnce, Later, Pace, TooLong
from erqiwang_grpc.rooms.refusals import InvalidField, NoCommand, Refused, RoomQuarantined, TooManyCommands, reason
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.own_records import OwnRecords
from erqiwang_grpc.rpc.seat_stream import SeatStream
from erqiwang_grpc.rpc.wire import encode, requests as decode
from erqiwang_grpc.rpc.wire.encode.commands import command as encode_command
from erqiwang_grpc.v1 import record_pb2, seat_service_pb2 as pb
from erqiwang_grpc.v1.gateway_service_pb2 import SeatRequest

log = logging.getLogger(__name__)

_COSTS: Final = {"command": Work.COMMAND, "attach": Work.SNAPSHOT, "record": Work.RECORD, "hint": Work.HINT}
"""The cost of each request on a stream. One that is not listed costs as much as a heartbeat."""


@final
class Conversation:
    """Handles what one client sends on its stream after its `Attach`."""

    def __init__(
        self,
        room: Room,
        claims: SeatClaims,
        attachment: Attachment,
        stream: SeatStream,
        records: OwnRecords,
        monotonic: Monotonic,
        pace: Pace,
        too_many: Callable[[float], TooManyCommands],
    ) -> None:
        """`pace` makes the client pay for requests. `too_many` makes a refusal from the seconds that it must wait."""
        self._room = room
        self._claims = claims
        self._attachment = attachment
        self._stream = stream
        self._records = records
        self._monotonic = monotonic
        self._pace = pace
        self._too_many = too_many

    async def listen(self, requests: AsyncIterator[pb.PlayRequest]) -> None:
        """Read requests until the client stops, then end its stream."""
        try:
            await self._hear_out(requests)
        except DecodeError:
            self._stream.end(Closing.MALFORMED)
        except grpc.aio.BaseError:
            # The server has ended the call, and its reason is recorded already.
            pass
        except Exception:
            log.exception("stream failed", extra={"room": self._room.id, "version": self._room.version})
            self._stream.end(Closing.FAILED)
        else:
            self._stream.end(Closing.DETACHED)

    async def _hear_out(self, requests: AsyncIterator[pb.PlayRequest]) -> None:
        number = 1  # the `Attach` that came first
        async for request in requests:
            number += 1
            if self._stream.outbox.closing is not None:
                # The stream is over (displaced, unseated …), which the client may not know. Carry out nothing more.
                return
            self._room.audience.hear(self._attachment)
            if request.HasField("detach"):
                return
            if request.attach.seat_token:
                self._stream.end(Closing.MALFORMED)
                return
            if await self._is_paid(request, number):
                await self._carry_out(request, number)

    async def _is_paid(self, request: pb.PlayRequest, number: int) -> bool:
        """Pay for the request; gives whether to carry it out.

        This may wait. Nothing is read from the stream meanwhile, so flow control slows the client down.
        """
        cost = _COSTS.get(request.WhichOneof("request") or "", Work.HEARTBEAT)
        match self._pace.spend(cost.units, self._monotonic()):
            case AtOnce():
                return True
            case Later(seconds, is_told):
                if is_told:
                    self._put(refused(request.command_id, number, self._too_many(seconds), self._room))
                await self._monotonic.sleep(seconds)
                return not is_told and self._stream.outbox.closing is None
            case TooLong():
                self._stream.end(Closing.TOO_FAST)
                return False

    async def _carry_out(self, request: pb.PlayRequest, number: int) -> None:
        match request.WhichOneof("request"):
            case "command":
                answer = await carried_out(self._claims, request, self._room)
                message = answered(request.command_id, number, answer, self._room)
                if message is not None:
                    self._put(message)
            case "attach":
                behind = await self._room.refresh()
                if behind is not None:
                    self._put(refused(request.command_id, number, behind, self._room))
                    return
                begun = self._room.audience.beginning(self._claims.seat, last_version(request))
                self._put(pb.SeatMessage(snapshot=encode.snapshot(begun)))
            case "record":
                record = await self._records.of(self._claims.platform, self._room, self._claims.seat)
                self._put(recorded(request.command_id, number, record, self._room))
            case "hint":
                hint = await self._room.hint(SeatActor(self._claims.seat, self._claims.player))
                self._put(hinted(request.command_id, number, hint, self._room))
            case "heartbeat" | "detach" | None:
                pass

    def _put(self, message: pb.SeatMessage) -> None:
        self._stream.put(message)


def last_version(request: pb.PlayRequest) -> int | None:
    """The version that an `Attach` names; None if it names none."""
    return request.attach.last_version if request.attach.HasField("last_version") else None


def asked_by(
    claims: SeatClaims, request: pb.PlayRequest | pb.ActRequest | SeatRequest, room: Room
) -> SeatAsks | InvalidField | NoCommand | RoomQuarantined:
    """The command of the seat, or why the request is refused. A fault of the room comes before one of the command."""
    wrong = id_fault(request.command_id)
    if wrong is not None:
        return wrong
    command = decode.command(request.command)
    if isinstance(command, NoCommand):
        return command if room.fault is None else RoomQuarantined(room.version)
    expected = request.expected_version if request.HasField("expected_version") else None
    actor = SeatActor(claims.seat, claims.player)
    return SeatAsks(actor, command, command_key(request.command_id, command), expected)


async def carried_out(claims: SeatClaims, request: pb.PlayRequest | pb.ActRequest | SeatRequest, room: Room) -> Answer:
    """Carry out the command of the seat, in a span of its own; gives its answer."""
    span = room.span(request.command.WhichOneof("command") or "none", claims.seat)
    asked = asked_by(claims, request, room)
    if isinstance(asked, SeatAsks):
        return await room.carry_out(asked, span)
    span.end(asked)
    return asked


def answered(command_id: str, number: int, answer: Answer, room: Room) -> pb.SeatMessage | None:
    """The message that only the sender gets as an answer; None after a signal."""
    match answer:
        case Accepted():
            return pb.SeatMessage(accepted=accepted(command_id, number, answer))
        case Answered(shown):
            return None if shown is None else encode.aside(shown)
        case _:
            return refused(command_id, number, answer, room)


def recorded(command_id: str, number: int, record: record_pb2.MatchRecord | Refused, room: Room) -> pb.SeatMessage:
    """The answer to a request for the match's record."""
    if isinstance(record, record_pb2.MatchRecord):
        return pb.SeatMessage(record_read=pb.RecordRead(request=number, record=record))
    return refused(command_id, number, record, room)


def hinted(command_id: str, number: int, hint: Hinted | Refused, room: Room) -> pb.SeatMessage:
    """The answer to a request for a hint."""
    if isinstance(hint, Hinted):
        return pb.SeatMessage(hint=hint_message(command_id, number, hint))
    return refused(command_id, number, hint, room)


def hint_message(command_id: str, number: int, hint: Hinted) -> pb.Hint:
    """The message of a hint. `number` counts the requests of a stream from 1; 0 for a unary call."""
    told = encode_command(hint.command)
    return pb.Hint(command_id=command_id, request=number, version=hint.version, command=told)


def refused(command_id: str, number: int, refusal: Refused, room: Room) -> pb.SeatMessage:
    """The message that refuses request number `number` of the stream. Making it counts the refusal."""
    room.counters.refused[reason(refusal)] += 1
    told = pb.Refused(command_id=command_id, request=number, refusal=encode.refusal(refusal), version=room.version)
    return pb.SeatMessage(refused=told)


def accepted(command_id: str, number: int, answer: Accepted) -> pb.Accepted:
    """The message for an accepted command. `number` counts the requests of a stream from 1; 0 for a unary call."""
    return pb.Accepted(
        command_id=command_id,
        request=number,
        first_version=answer.first,
        last_version=answer.last,
        repeated_command=answer.repeated,
    )
