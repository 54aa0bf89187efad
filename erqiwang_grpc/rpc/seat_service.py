"""`SeatService`: one stream a seat, and its unary twins. Decode, hand over, encode; no rule and no lock lives here."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from random import uniform
from time import monotonic
from typing import TypeVar, final

import grpc
from erqiwang_core.units import Seat
from google.protobuf.message import DecodeError
from grpc import StatusCode

from erqiwang_grpc.archive.matches import Archive
from erqiwang_grpc.archive.records import MatchRecord
from erqiwang_grpc.auth.tokens import SeatClaims
from erqiwang_grpc.events.actor import SeatActor
from erqiwang_grpc.rooms.audience import Attachment
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.command import LONGEST_ID, Accepted, Answer, Answered, SeatAsks
from erqiwang_grpc.rooms.counters import Counters
from erqiwang_grpc.rooms.fingerprint import command_key
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.listener import Beginning
from erqiwang_grpc.rooms.refusals import InvalidOption, NoCommand
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.access import Access
from erqiwang_grpc.rpc.closings import status
from erqiwang_grpc.rpc.errors import contained, end, reasoned, refuse
from erqiwang_grpc.rpc.seat_stream import SeatStream
from erqiwang_grpc.rpc.wire import encode, requests as decode
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.v1 import seat_service_pb2 as pb, seat_service_pb2_grpc as rpc

log = logging.getLogger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")


@final
class SeatServicer(rpc.SeatServiceServicer):
    """Seats play here."""

    def __init__(self, access: Access, archive: Archive, counters: Counters, limits: Limits) -> None:
        self._access = access
        self._archive = archive
        self._counters = counters
        self._limits = limits
        self._acting: set[asyncio.Task[Answer]] = set()
        self._listening: set[asyncio.Task[None]] = set()
        self.streams = 0
        """How many streams are open."""
        self._of_seat: Counter[tuple[RoomId, Seat]] = Counter()
        self.draining = False
        """Whether the server is leaving and takes no more."""

    @contained
    async def Play(
        self,
        request_iterator: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse],
    ) -> None:
        """One seat's stream, from `Attach` to its end."""
        claims, _ = await self._access.seat(context)
        seat = (claims.room, claims.seat)
        await self._admit(seat, context)
        self.streams += 1
        self._of_seat[seat] += 1
        try:
            last_version = await self._attach_request(request_iterator, context)
            # Found again: while the client took its time, the room may have been put away or the seat given to another.
            room = await self._access.room(claims, context)
            await self._turn_away_if_draining(context)
            stream = SeatStream(claims.seat, self._limits.outbox, partial(self._begin_again, room, claims.seat))
            attachment = room.attach(claims.seat, stream, last_version)
            try:
                closing = await self._converse(room, claims, attachment, stream, request_iterator, context)
            finally:
                room.detach(attachment)
        finally:
            self.streams -= 1
            self._of_seat[seat] -= 1
            if not self._of_seat[seat]:
                del self._of_seat[seat]
        await self._part(closing, context)

    def _begin_again(self, room: Room, seat: Seat, last_version: int) -> Beginning:
        self._counters.resyncs += 1
        return room.audience.beginning(seat, last_version)

    async def _admit(
        self, seat: tuple[RoomId, Seat], context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse]
    ) -> None:
        await self._turn_away_if_draining(context)
        limits = self._limits
        if self.streams >= limits.streams or self._of_seat[seat] >= limits.streams_per_seat:
            why = f"the server takes {limits.streams} streams, and {limits.streams_per_seat} of one seat"
            await end(context, reasoned(StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_STREAMS", why, uniform(1, 5)))

    async def _turn_away_if_draining(self, context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse]) -> None:
        """Refuse new streams while draining: they would miss the goodbye."""
        if self.draining:
            await self._part(Closing.DRAINING, context)

    async def _attach_request(
        self,
        requests: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse],
    ) -> int | None:
        """The `last_version` of the `Attach` that every stream begins with."""
        try:
            async with asyncio.timeout(self._limits.attach_seconds):
                first = await anext(requests, None)
        except TimeoutError:
            first = None
        except DecodeError:
            await self._part(Closing.MALFORMED, context)
            raise
        if first is None or first.WhichOneof("request") != "attach":
            await end(context, reasoned(StatusCode.INVALID_ARGUMENT, "NOT_ATTACHED", "a stream begins with Attach"))
        return first.attach.last_version if first.attach.HasField("last_version") else None

    async def _converse(
        self,
        room: Room,
        claims: SeatClaims,
        attachment: Attachment,
        stream: SeatStream,
        requests: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse],
    ) -> Closing:
        """Listen in a task of its own, and write here: one writer a stream, never cancelled by us."""
        listening = asyncio.create_task(self._listen(room, claims, attachment, stream, requests))
        # The task ends with the stream by itself: cancelling it could lose a command that is half carried out.
        self._listening.add(listening)
        listening.add_done_callback(self._listening.discard)
        while True:
            response = await stream.take()
            if response.messages:
                attachment.written = monotonic()
                await context.write(response)
            elif stream.outbox.closing is not None:
                return stream.outbox.closing

    async def _listen(
        self,
        room: Room,
        claims: SeatClaims,
        attachment: Attachment,
        stream: SeatStream,
        requests: AsyncIterator[pb.PlayRequest],
    ) -> None:
        """Hear the seat out; then its stream ends. No stream stays open that nobody listens to."""
        try:
            await self._hear_out(room, claims, attachment, stream, requests)
        except DecodeError:
            stream.end(Closing.MALFORMED)
        except grpc.aio.BaseError:
            # The call has ended on our side, and the reason is known already.
            pass
        except Exception:
            log.exception("stream failed", extra={"room": room.id, "version": room.version})
            stream.end(Closing.FAILED)
        else:
            stream.end(Closing.DETACHED)

    async def _hear_out(
        self,
        room: Room,
        claims: SeatClaims,
        attachment: Attachment,
        stream: SeatStream,
        requests: AsyncIterator[pb.PlayRequest],
    ) -> None:
        """Carry out what the seat says, one after the other, until it has nothing more to say."""
        async for request in requests:
            if stream.outbox.closing is not None:
                # Displaced or unseated, though the client may not have read it: it has no say any more.
                return
            room.audience.hear(attachment)
            match request.WhichOneof("request"):
                case "command":
                    message = await self._command(room, claims, request)
                    if message is not None:
                        stream.outbox.put(message)
                case "detach":
                    return
                case "attach":
                    stream.outbox.put(_snapshot_again(room, claims.seat, request))
                case "heartbeat" | None:
                    pass

    async def _command(self, room: Room, claims: SeatClaims, request: pb.PlayRequest) -> pb.SeatMessage | None:
        asked = room.spend(claims.seat) or _asked(claims, request)
        answer = await room.carry_out(asked) if isinstance(asked, SeatAsks) else asked
        return _answered(request.command_id, answer, room)

    async def _part(self, closing: Closing, context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse]) -> None:
        """End a stream with the status that its closing has: OK where the client has nothing more to say."""
        ended = status(closing)
        if ended is not None:
            await end(context, ended)

    @contained
    async def Act(
        self, request: pb.ActRequest, context: grpc.aio.ServicerContext[pb.ActRequest, pb.ActResponse]
    ) -> pb.ActResponse:
        """One command, without a stream."""
        claims, room = await self._looking(context)
        asked = _asked(claims, request)
        if isinstance(asked, InvalidOption | NoCommand):
            await refuse(context, asked)
        # A caller that gives up must not leave a command half carried out.
        acting = asyncio.create_task(room.carry_out(asked))
        self._acting.add(acting)
        acting.add_done_callback(self._acting.discard)
        answer = await asyncio.shield(acting)
        match answer:
            case Accepted():
                return pb.ActResponse(
                    accepted=_accepted(request.command_id, answer), notices=_own_notices(answer, claims.seat)
                )
            case Answered(shown):
                return pb.ActResponse(trumps_shown=None if shown is None else encode.trumps_shown(shown))
            case _:
                return await refuse(context, answer)

    @contained
    async def GetView(
        self, request: pb.GetViewRequest, context: grpc.aio.ServicerContext[pb.GetViewRequest, pb.GetViewResponse]
    ) -> pb.GetViewResponse:
        """The seat's view now."""
        claims, room = await self._looking(context)
        last_version = request.last_version if request.HasField("last_version") else None
        return pb.GetViewResponse(snapshot=encode.snapshot(room.audience.beginning(claims.seat, last_version)))

    @contained
    async def GetRecord(
        self, request: pb.GetRecordRequest, context: grpc.aio.ServicerContext[pb.GetRecordRequest, pb.GetRecordResponse]
    ) -> pb.GetRecordResponse:
        """What was played in the seat's own match, as far as its deals are settled."""
        claims, room = await self._looking(context)
        record = await self._archive.record(claims.platform, room.id)
        if not isinstance(record, MatchRecord):
            await refuse(context, record)
        return pb.GetRecordResponse(record=encode.match_record(record))

    async def _looking(self, context: grpc.aio.ServicerContext[Q, R]) -> tuple[SeatClaims, Room]:
        """The seat that wants to see something: it costs as much as a command, so it counts as one."""
        claims, room = await self._access.seat(context)
        refused = room.spend(claims.seat)
        if refused is not None:
            await refuse(context, refused)
        return claims, room


def _snapshot_again(room: Room, seat: Seat, request: pb.PlayRequest) -> pb.SeatMessage:
    """The answer to an `Attach` on a stream that is attached already: it costs as much as a command, so it counts as one."""
    refused = room.spend(seat)
    if refused is None:
        return pb.SeatMessage(snapshot=encode.snapshot(room.audience.beginning(seat, _last_version(request))))
    refusal = encode.refusal(refused)
    return pb.SeatMessage(refused=pb.Refused(command_id=request.command_id, refusal=refusal, version=room.version))


def _last_version(request: pb.PlayRequest) -> int | None:
    return request.attach.last_version if request.attach.HasField("last_version") else None


def _asked(claims: SeatClaims, request: pb.PlayRequest | pb.ActRequest) -> SeatAsks | InvalidOption | NoCommand:
    if len(request.command_id.encode()) > LONGEST_ID:
        return InvalidOption("command_id")
    command = decode.command(request.command)
    if isinstance(command, NoCommand):
        return command
    expected = request.expected_version if request.HasField("expected_version") else None
    actor = SeatActor(claims.seat, claims.player)
    return SeatAsks(actor, command, command_key(request.command_id, command), expected)


def _answered(command_id: str, answer: Answer, room: Room) -> pb.SeatMessage | None:
    """What the sender alone is told; nothing after a signal."""
    match answer:
        case Accepted():
            return pb.SeatMessage(accepted=_accepted(command_id, answer))
        case Answered(shown):
            return None if shown is None else encode.aside(shown)
        case _:
            refusal = encode.refusal(answer)
            return pb.SeatMessage(refused=pb.Refused(command_id=command_id, refusal=refusal, version=room.version))


def _own_notices(answer: Accepted, seat: Seat) -> list[pb.Notice]:
    """What the sender is told of what it brought about."""
    return [encode.notice(told.notice(seat), told.version, told.time, told.turn_began) for told in answer.told]


def _accepted(command_id: str, answer: Accepted) -> pb.Accepted:
    return pb.Accepted(
        command_id=command_id,
        first_version=answer.first,
        last_version=answer.last,
        repeated_command=answer.repeated,
    )
