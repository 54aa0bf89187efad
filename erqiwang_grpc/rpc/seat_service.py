"""`SeatService`: one stream a seat, and its unary twins. Decode, hand over, encode; no rule and no lock lives here."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from random import uniform
from typing import Final, TypeVar, final

import grpc
from erqiwang_core.units import Seat
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from erqiwang_grpc.archive.matches import Archive, Recorded
from erqiwang_grpc.auth.tokens import SeatClaims
from erqiwang_grpc.clocks import within
from erqiwang_grpc.rooms.bounds import id_fault
from erqiwang_grpc.rooms.command import Accepted, Answer, Answered, Asked, command_key
from erqiwang_grpc.rooms.costs import Work
from erqiwang_grpc.rooms.outbox import Closing
from erqiwang_grpc.rooms.quotas import Quotas
from erqiwang_grpc.rooms.rate_limit import AtOnce, Later, Pace, TooLong
from erqiwang_grpc.rooms.refusals import InvalidField, NoSuchRoom, Refused, TooManyCommands
from erqiwang_grpc.rooms.room import Attachment, Node, Room
from erqiwang_grpc.rpc.access import Access
from erqiwang_grpc.rpc.errors import contained, end, failed, reasoned, refuse
from erqiwang_grpc.rpc.places import Places
from erqiwang_grpc.rpc.wire import encode, requests as decode
from erqiwang_grpc.rpc.wire.rulings import ruling
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.v1 import seat_service_pb2 as pb, seat_service_pb2_grpc as rpc

log = logging.getLogger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")

_COSTS: Final = {"command": Work.COMMAND, "attach": Work.SNAPSHOT}
"""What a request on a stream costs; any other as much as a heartbeat."""


@final
class SeatServicer(rpc.SeatServiceServicer):
    """Seats play here."""

    def __init__(self, access: Access, archive: Archive, quotas: Quotas, around: Node) -> None:
        self._access = access
        self._archive = archive
        self._quotas = quotas
        self._limits = around.limits
        self._monotonic = around.monotonic
        self._counts = around.counts
        self._acting: set[asyncio.Task[Answer]] = set()
        self._listening: set[asyncio.Task[None]] = set()
        self.streams = 0
        """How many streams are open."""
        self._of_seat: Counter[tuple[RoomId, Seat]] = Counter()
        self._unattached = Places(self._limits.unattached, "streams that have not attached")

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
        reached = self._quotas.stream(claims.platform)
        if reached is not None:
            self._counts.refused[ruling(reached).reason] += 1
            await refuse(context, reached)
        self.streams += 1
        self._of_seat[seat] += 1
        try:
            with self._quotas.streaming(claims.platform):
                closing = await self._from_attach(claims, request_iterator, context)
        finally:
            self.streams -= 1
            self._of_seat[seat] -= 1
            if not self._of_seat[seat]:
                del self._of_seat[seat]
        await self._part(closing, context)

    async def _from_attach(
        self,
        claims: SeatClaims,
        requests: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, pb.PlayResponse],
    ) -> Closing:
        last_version = await self._attach_request(requests, context)
        # Found anew: while the client took its time, the room may have been put away or the seat given to another.
        room = await self._access.room(claims, context)
        await self._turn_away_if_draining(context)
        await self._pay(room, claims.seat, Work.SNAPSHOT, context)
        attachment = room.attach(claims.seat, last_version)
        try:
            return await self._converse(room, claims, attachment, requests, context)
        finally:
            room.detach(attachment)

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
                first = await within(self._monotonic, self._limits.attach_seconds, _next(requests))
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
                attachment.written = self._monotonic()
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
        number = 1  # of the `Attach` that came first
        pace = Pace(room.allowances.of(claims.seat, self._monotonic()), self._limits.slowed_seconds)
        async for request in requests:
            number += 1
            if attachment.outbox.closing is not None:
                # Displaced or unseated, though the client may not have read it: it has no say any more.
                return
            room.hear(attachment)
            if request.HasField("detach"):
                return
            if await self._is_paid(pace, room, attachment, request, number):
                await self._carry_out(room, claims, attachment, request, number)

    async def _is_paid(
        self, pace: Pace, room: Room, attachment: Attachment, request: pb.PlayRequest, number: int
    ) -> bool:
        """Whether the request is to be carried out, once it is paid for.

        Waiting here is what slows a stream: nothing more is read from it, and so its connection takes no more.
        """
        cost = _COSTS.get(request.WhichOneof("request") or "", Work.HEARTBEAT)
        match pace.spend(cost.units, self._monotonic()):
            case AtOnce():
                return True
            case Later(seconds, is_told):
                if is_told:
                    attachment.outbox.put(_refused(request.command_id, number, self._too_many(seconds), room))
                await self._monotonic.sleep(seconds)
                return not is_told and attachment.outbox.closing is None
            case TooLong():
                # Said as a message, too: the status may be hidden from a client that is just writing.
                delay = Duration()
                delay.FromMilliseconds(int(uniform(1_000, 5_000)))
                goodbye = pb.Goodbye(reason=pb.Goodbye.REASON_TOO_FAST, retry_delay=delay)
                attachment.outbox.close(Closing.TOO_FAST, pb.SeatMessage(goodbye=goodbye))
                return False

    async def _carry_out(
        self, room: Room, claims: SeatClaims, attachment: Attachment, request: pb.PlayRequest, number: int
    ) -> None:
        match request.WhichOneof("request"):
            case "command":
                await self._command(room, claims, attachment, request, number)
            case "attach":
                snapshot = room.snapshot(claims.seat, _last_version(request))
                attachment.outbox.put(pb.SeatMessage(snapshot=snapshot))
            case "heartbeat" | "detach" | None:
                pass

    async def _command(
        self, room: Room, claims: SeatClaims, attachment: Attachment, request: pb.PlayRequest, number: int
    ) -> None:
        asked = _asked(request)
        answer = asked if isinstance(asked, InvalidField) else await room.act(claims.seat, claims.player, asked)
        message = _answered(request.command_id, number, answer, room)
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
            case Closing.TOO_FAST:
                limits = self._limits
                why = (
                    f"more than {limits.commands_per_second} commands a second were sent for "
                    f"{limits.slowed_seconds:g} seconds: reconnect after the delay, and send less"
                )
                await end(context, reasoned(StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_COMMANDS", why, uniform(1, 5)))
            case Closing.FAILED:
                await end(context, failed())

    @contained
    async def Act(
        self, request: pb.ActRequest, context: grpc.aio.ServicerContext[pb.ActRequest, pb.ActResponse]
    ) -> pb.ActResponse:
        """One command, without a stream."""
        claims, room = await self._access.seat(context)
        await self._pay(room, claims.seat, Work.COMMAND, context)
        asked = _asked(request)
        if isinstance(asked, InvalidField):
            await refuse(context, asked)
        # A caller that gives up must not leave a command half carried out.
        acting = asyncio.create_task(room.act(claims.seat, claims.player, asked))
        self._acting.add(acting)
        acting.add_done_callback(self._acting.discard)
        answer = await asyncio.shield(acting)
        if isinstance(answer, Accepted):
            return pb.ActResponse(accepted=_accepted(request.command_id, 0, answer), notices=answer.notices)
        if isinstance(answer, Answered):
            shown = answer.shown
            return pb.ActResponse(trumps_shown=None if shown is None else encode.aside(shown).trumps_shown)
        return await refuse(context, answer)

    @contained
    async def GetView(
        self, request: pb.GetViewRequest, context: grpc.aio.ServicerContext[pb.GetViewRequest, pb.GetViewResponse]
    ) -> pb.GetViewResponse:
        """The seat's view now."""
        claims, room = await self._access.seat(context)
        await self._pay(room, claims.seat, Work.SNAPSHOT, context)
        last_version = request.last_version if request.HasField("last_version") else None
        return pb.GetViewResponse(snapshot=room.snapshot(claims.seat, last_version))

    @contained
    async def GetRecord(
        self, request: pb.GetRecordRequest, context: grpc.aio.ServicerContext[pb.GetRecordRequest, pb.GetRecordResponse]
    ) -> pb.GetRecordResponse:
        """What was played in the seat's own match, as far as its deals are settled."""
        claims, room = await self._access.seat(context)
        await self._pay(room, claims.seat, Work.RECORD, context)
        record = await self._archive.record(claims.platform, room.id)
        if not isinstance(record, Recorded):
            await refuse(context, record)
        now = self._monotonic()
        room.allowances.of(claims.seat, now).spend(record.read * Work.DEAL.units, now)
        return pb.GetRecordResponse(record=record.message)

    async def _pay(self, room: Room, seat: Seat, work: Work, context: grpc.aio.ServicerContext[Q, R]) -> None:
        """Take what the work costs from the seat's allowance. Ends the call with RESOURCE_EXHAUSTED where it is spent."""
        now = self._monotonic()
        wait = room.allowances.of(seat, now).take(work.units, now)
        if wait:
            await refuse(context, self._too_many(wait))

    def _too_many(self, wait: float) -> TooManyCommands:
        refused = TooManyCommands(self._limits.commands_per_second, wait)
        self._counts.refused[ruling(refused).reason] += 1
        return refused


def _malformed() -> Status:
    return reasoned(StatusCode.INVALID_ARGUMENT, "MALFORMED", "what was sent is no request of this protocol")


async def _next(requests: AsyncIterator[pb.PlayRequest]) -> pb.PlayRequest | None:
    return await anext(requests, None)


def _last_version(request: pb.PlayRequest) -> int | None:
    return request.attach.last_version if request.attach.HasField("last_version") else None


def _asked(request: pb.PlayRequest | pb.ActRequest) -> Asked | InvalidField:
    wrong = id_fault(request.command_id)
    if wrong is not None:
        return wrong
    key = command_key(request.command_id, request.command.SerializeToString(deterministic=True))
    expected = request.expected_version if request.HasField("expected_version") else None
    return Asked(decode.command(request.command), key, expected)


def _answered(command_id: str, number: int, answer: Answer | InvalidField, room: Room) -> pb.SeatMessage | None:
    """What the sender alone is told; nothing after a signal."""
    if isinstance(answer, Accepted):
        return pb.SeatMessage(accepted=_accepted(command_id, number, answer))
    if isinstance(answer, Answered):
        return None if answer.shown is None else encode.aside(answer.shown)
    return _refused(command_id, number, answer, room)


def _refused(command_id: str, number: int, refused: Refused, room: Room) -> pb.SeatMessage:
    refusal = encode.refusal(refused)
    told = pb.Refused(command_id=command_id, request=number, refusal=refusal, version=room.version)
    return pb.SeatMessage(refused=told)


def _accepted(command_id: str, number: int, answer: Accepted) -> pb.Accepted:
    return pb.Accepted(
        command_id=command_id,
        request=number,
        first_version=answer.first,
        last_version=answer.last,
        repeated_command=answer.repeated,
    )
