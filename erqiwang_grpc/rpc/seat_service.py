"""`SeatService`: one stream a seat, and its unary twins. Decode, hand over, encode; no rule and no lock lives here."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from random import uniform
from time import monotonic
from typing import TypeVar, final

import grpc
from erqiwang_core.units import Seat
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from erqiwang_grpc.archive.matches import Archive
from erqiwang_grpc.archive.records import MatchRecord
from erqiwang_grpc.auth.tokens import SeatClaims
from erqiwang_grpc.rooms.command import LONGEST_ID, Accepted, Answer, Answered, Asked, command_key
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.outbox import Closing
from erqiwang_grpc.rooms.refusals import InvalidOption, NoSuchRoom
from erqiwang_grpc.rooms.room import Attachment, Room
from erqiwang_grpc.rpc.access import Access
from erqiwang_grpc.rpc.errors import contained, end, failed, reasoned, refuse
from erqiwang_grpc.rpc.places import Places
from erqiwang_grpc.rpc.wire import encode, requests as decode
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.v1 import seat_service_pb2 as pb, seat_service_pb2_grpc as rpc

log = logging.getLogger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")


@final
class SeatServicer(rpc.SeatServiceServicer):
    """Seats play here."""

    def __init__(self, access: Access, archive: Archive, limits: Limits) -> None:
        self._access = access
        self._archive = archive
        self._limits = limits
        self._acting: set[asyncio.Task[Answer]] = set()
        self._listening: set[asyncio.Task[None]] = set()
        self.streams = 0
        """How many streams are open."""
        self._of_seat: Counter[tuple[RoomId, Seat]] = Counter()
        self._unattached = Places(limits.unattached, "streams that have not attached", limits.attach_seconds)

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
            # Found anew: while the client took its time, the room may have been put away or the seat given to another.
            room = await self._access.room(claims, context)
            await self._turn_away_if_draining(context)
            attachment = room.attach(claims.seat, last_version)
            try:
                closing = await self._converse(room, claims, attachment, request_iterator, context)
            finally:
                room.detach(attachment)
        finally:
            self.streams -= 1
            self._of_seat[seat] -= 1
            if not self._of_seat[seat]:
                del self._of_seat[seat]
        await self._part(closing, context)

    def drain(self) -> None:
        """The server is leaving: take no more streams, and end those that have not attached."""
        self._unattached.close()

    async def _admit(
        self, seat: tuple[RoomId, Seat], context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse]
    ) -> None:
        await self._turn_away_if_draining(context)
        limits = self._limits
        if self.streams >= limits.streams or self._of_seat[seat] >= limits.streams_per_seat:
            why = f"the server takes {limits.streams} streams, and {limits.streams_per_seat} of one seat"
            await end(context, reasoned(StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_STREAMS", why, uniform(1, 5)))

    async def _turn_away_if_draining(self, context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse]) -> None:
        """Whoever attaches once the others were told to go would not be told."""
        if self._unattached.closed:
            await self._part(Closing.DRAINING, context)

    async def _attach_request(
        self,
        requests: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse],
    ) -> int | None:
        """The `last_version` of the `Attach` that every stream begins with."""
        try:
            async with self._unattached.place(context):
                first = await anext(requests, None)
        except TimeoutError:
            await self._turn_away_if_draining(context)
            first = None
        except DecodeError:
            await end(context, _malformed())
        if first is None or first.WhichOneof("request") != "attach":
            await end(context, reasoned(StatusCode.INVALID_ARGUMENT, "NOT_ATTACHED", "a stream begins with Attach"))
        return first.attach.last_version if first.attach.HasField("last_version") else None

    async def _converse(
        self,
        room: Room,
        claims: SeatClaims,
        attachment: Attachment,
        requests: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse],
    ) -> Closing:
        """Listen in a task of its own, and write here: one writer a stream, never cancelled by us."""
        listener = asyncio.create_task(self._listen(room, claims, attachment, requests))
        # The listener ends with the stream by itself: cancelling it could lose a command that is half carried out.
        self._listening.add(listener)
        listener.add_done_callback(self._listening.discard)
        outbox = attachment.outbox
        while True:
            response = await outbox.take()
            if response.messages:
                attachment.written = monotonic()
                await context.write(response)
            elif outbox.closing is not None:
                return outbox.closing

    async def _listen(
        self, room: Room, claims: SeatClaims, attachment: Attachment, requests: AsyncIterator[pb.PlayRequest]
    ) -> None:
        """Hear the seat out; then the stream ends. Whatever it says, no stream stays open that nobody listens to."""
        try:
            await self._hear_out(room, claims, attachment, requests)
        except DecodeError:
            attachment.outbox.close(Closing.MALFORMED)
        except grpc.aio.BaseError:
            # The call has ended on our side, and the reason is known already.
            pass
        except Exception:
            log.exception("stream failed", extra={"room": room.id, "version": room.version})
            attachment.outbox.close(Closing.FAILED)
        else:
            attachment.outbox.close(Closing.DETACHED)

    async def _hear_out(
        self, room: Room, claims: SeatClaims, attachment: Attachment, requests: AsyncIterator[pb.PlayRequest]
    ) -> None:
        """Carry out what the seat says, one after the other, until it has nothing more to say."""
        async for request in requests:
            if attachment.outbox.closing is not None:
                # Displaced or unseated, though the client may not have read it: it has no say any more.
                return
            room.hear(attachment)
            match request.WhichOneof("request"):
                case "command":
                    await self._command(room, claims, attachment, request)
                case "detach":
                    return
                case "attach":
                    attachment.outbox.put(_snapshot_again(room, claims.seat, request))
                case "heartbeat" | None:
                    pass

    async def _command(self, room: Room, claims: SeatClaims, attachment: Attachment, request: pb.PlayRequest) -> None:
        asked = _asked(request)
        answer = asked if isinstance(asked, InvalidOption) else await room.act(claims.seat, claims.player, asked)
        message = _answered(request.command_id, answer, room)
        if message is not None:
            attachment.outbox.put(message)

    async def _part(self, closing: Closing, context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse]) -> None:
        """End a stream with the status that its closing has: OK where the client has nothing more to say."""
        match closing:
            case Closing.DETACHED:
                return
            case Closing.DISPLACED:
                why = "a newer stream of this seat has taken over: do not reconnect by yourself"
                await end(context, reasoned(StatusCode.ABORTED, "DISPLACED", why))
            case Closing.DRAINING:
                why = "the server is leaving: reconnect after the delay"
                await end(context, reasoned(StatusCode.UNAVAILABLE, "DRAINING", why, uniform(0.1, 2)))
            case Closing.UNSEATED:
                why = "the seat was left or taken anew: ask the platform for a fresh token"
                await end(context, reasoned(StatusCode.UNAUTHENTICATED, "UNSEATED", why))
            case Closing.DELETED:
                await refuse(context, NoSuchRoom())
            case Closing.MALFORMED:
                await end(context, _malformed())
            case Closing.FAILED:
                await end(context, failed())

    @contained
    async def Act(
        self, request: pb.ActRequest, context: grpc.aio.ServicerContext[pb.ActRequest, pb.ActResponse]
    ) -> pb.ActResponse:
        """One command, without a stream."""
        claims, room = await self._access.seat(context)
        asked = _asked(request)
        if isinstance(asked, InvalidOption):
            await refuse(context, asked)
        # A caller that gives up must not leave a command half carried out.
        acting = asyncio.create_task(room.act(claims.seat, claims.player, asked))
        self._acting.add(acting)
        acting.add_done_callback(self._acting.discard)
        answer = await asyncio.shield(acting)
        if isinstance(answer, Accepted):
            return pb.ActResponse(accepted=_accepted(request.command_id, answer), notices=answer.notices)
        if isinstance(answer, Answered):
            shown = answer.shown
            return pb.ActResponse(trumps_shown=None if shown is None else encode.aside(shown).trumps_shown)
        return await refuse(context, answer)

    @contained
    async def GetView(
        self, request: pb.GetViewRequest, context: grpc.aio.ServicerContext[pb.GetViewRequest, pb.GetViewResponse]
    ) -> pb.GetViewResponse:
        """The seat's view now."""
        claims, room = await self._looking(context)
        last_version = request.last_version if request.HasField("last_version") else None
        return pb.GetViewResponse(snapshot=room.snapshot(claims.seat, last_version))

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


def _malformed() -> Status:
    return reasoned(StatusCode.INVALID_ARGUMENT, "MALFORMED", "what was sent is no request of this protocol")


def _snapshot_again(room: Room, seat: Seat, request: pb.PlayRequest) -> pb.SeatMessage:
    """The answer to an `Attach` on a stream that is attached already: it costs as much as a command, so it counts as one."""
    refused = room.spend(seat)
    if refused is None:
        return pb.SeatMessage(snapshot=room.snapshot(seat, _last_version(request)))
    refusal = encode.refusal(refused)
    return pb.SeatMessage(refused=pb.Refused(command_id=request.command_id, refusal=refusal, version=room.version))


def _last_version(request: pb.PlayRequest) -> int | None:
    return request.attach.last_version if request.attach.HasField("last_version") else None


def _asked(request: pb.PlayRequest | pb.ActRequest) -> Asked | InvalidOption:
    if len(request.command_id.encode()) > LONGEST_ID:
        return InvalidOption("command_id")
    key = command_key(request.command_id, request.command.SerializeToString(deterministic=True))
    expected = request.expected_version if request.HasField("expected_version") else None
    return Asked(decode.command(request.command), key, expected)


def _answered(command_id: str, answer: Answer | InvalidOption, room: Room) -> pb.SeatMessage | None:
    """What the sender alone is told; nothing after a signal."""
    if isinstance(answer, Accepted):
        return pb.SeatMessage(accepted=_accepted(command_id, answer))
    if isinstance(answer, Answered):
        return None if answer.shown is None else encode.aside(answer.shown)
    refusal = encode.refusal(answer)
    return pb.SeatMessage(refused=pb.Refused(command_id=command_id, refusal=refusal, version=room.version))


def _accepted(command_id: str, answer: Accepted) -> pb.Accepted:
    return pb.Accepted(
        command_id=command_id,
        first_version=answer.first,
        last_version=answer.last,
        repeated_command=answer.repeated,
    )
