"""`SeatService`: the stream of a seat, and unary calls for clients without one. It decodes, calls the room, and encodes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeVar, final

import grpc
from erqiwang_core.units import Seat
from google.protobuf.message import DecodeError

from erqiwang_grpc.archive.matches import Archive
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.auth.tokens import SeatClaims
from erqiwang_grpc.clocks import within
from erqiwang_grpc.events.actor import SeatActor
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.audience import Attachment
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.command import Accepted, Answer, Answered
from erqiwang_grpc.rooms.costs import Work
from erqiwang_grpc.rooms.counters import Kind
from erqiwang_grpc.rooms.hints import Hinted
from erqiwang_grpc.rooms.listener import Beginning
from erqiwang_grpc.rooms.quotas import Quotas
from erqiwang_grpc.rooms.rate_limit import Pace
from erqiwang_grpc.rooms.refusals import QuotaReached, TooManyCommands
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.rpc.access import Access
from erqiwang_grpc.rpc.conversation import Conversation, accepted, carried_out, hint_message, last_version
from erqiwang_grpc.rpc.errors import end, end_served, refuse
from erqiwang_grpc.rpc.own_records import OwnRecords
from erqiwang_grpc.rpc.places import Places
from erqiwang_grpc.rpc.seat_stream import SeatStream
from erqiwang_grpc.rpc.spectating import Spectating
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.v1 import record_pb2, seat_service_pb2 as pb

Q = TypeVar("Q")
R = TypeVar("R")

SEAT_SERVICE: Final = pb.DESCRIPTOR.services_by_name["SeatService"].full_name


@final
class SeatServicer:
    """The servicer of `SeatService`. The proto file documents each method for callers."""

    def __init__(self, access: Access, archive: Archive, quotas: Quotas, node: Node, spectating: Spectating) -> None:
        self._access = access
        self._spectating = spectating
        self._records = OwnRecords(archive, node.monotonic)
        self._quotas = quotas
        self._limits = node.limits
        self._monotonic = node.monotonic
        self._counters = node.counters
        self._acting: set[asyncio.Task[Answer]] = set()
        self._listening: set[asyncio.Task[None]] = set()
        self.streams = 0
        """The number of open streams."""
        self._of_seat: Counter[tuple[RoomId, Seat]] = Counter()
        self._unattached = Places(self._limits.unattached, "streams that have not attached")

    def handler(self) -> grpc.GenericRpcHandler:
        """What the server hands the calls of the service to. Streams write bytes, which are sent as they are."""
        play: grpc.RpcMethodHandler[pb.PlayRequest, bytes] = grpc.stream_stream_rpc_method_handler(
            self.Play, pb.PlayRequest.FromString
        )
        watch: grpc.RpcMethodHandler[pb.WatchRequest, bytes] = grpc.unary_stream_rpc_method_handler(
            self.Watch, pb.WatchRequest.FromString
        )
        unary = grpc.unary_unary_rpc_method_handler
        return grpc.method_handlers_generic_handler(
            SEAT_SERVICE,
            {
                "Play": play,
                "Watch": watch,
                "Act": unary(self.Act, pb.ActRequest.FromString, pb.ActResponse.SerializeToString),
                "GetView": unary(self.GetView, pb.GetViewRequest.FromString, pb.GetViewResponse.SerializeToString),
                "GetHint": unary(self.GetHint, pb.GetHintRequest.FromString, pb.GetHintResponse.SerializeToString),
                "GetRecord": unary(
                    self.GetRecord, pb.GetRecordRequest.FromString, pb.GetRecordResponse.SerializeToString
                ),
            },
        )

    async def Play(
        self,
        request_iterator: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, bytes],
    ) -> None:
        """The stream of one seat, from `Attach` to its end."""
        claims, _ = await self._access.seat(context)
        async with self._place(claims, context):
            closing = await self._from_attach(claims, request_iterator, context)
        if closing.value is not None:
            await end_served(context, closing.value)

    async def Watch(self, request: pb.WatchRequest, context: grpc.aio.ServicerContext[pb.WatchRequest, bytes]) -> None:
        """The stream of one seat or spectator that sends nothing."""
        claims = await self._access.viewer(context)
        await self._turn_away_if_draining(context)
        last_version = request.last_version if request.HasField("last_version") else None
        if isinstance(claims, SeatClaims):
            async with self._place(claims, context):
                closing = await self._watch_seat(claims, last_version, context)
        else:
            closing = await self._spectating.watch(claims, last_version, context)
        if closing.value is not None:
            await end_served(context, closing.value)

    async def _watch_seat(
        self,
        claims: SeatClaims,
        last_version: int | None,
        context: grpc.aio.ServicerContext[pb.WatchRequest, bytes],
    ) -> Closing:
        room, stream, attachment = await self._attached(claims, last_version, context)
        try:
            # It sends nothing that could be heard. What it takes shows that it is there.
            return await self._write(stream, attachment, context, partial(room.audience.hear, attachment))
        finally:
            room.detach(attachment)

    async def _attached(
        self, claims: SeatClaims, last_version: int | None, context: grpc.aio.ServicerContext[Q, bytes]
    ) -> tuple[Room, SeatStream, Attachment]:
        """Attach a stream of the seat. Ends the call if that is not possible."""
        # Look the room up again: since the call began it may have left memory, or the seat may have a new player.
        room = await self._access.room(claims, context)
        await self._turn_away_if_draining(context)
        await self._pay(room, claims.seat, Work.SNAPSHOT, context)
        begin_again = partial(self._begin_again, room, claims.seat)
        stream = SeatStream(claims.seat, self._limits.outbox, begin_again, last_version)
        return room, stream, room.attach(claims.seat, stream, last_version)

    @asynccontextmanager
    async def _place(self, claims: SeatClaims, context: grpc.aio.ServicerContext[Q, bytes]) -> AsyncIterator[None]:
        """Count a stream of the seat while in the context. Ends the call if there are too many."""
        seat = (claims.room, claims.seat)
        await self._admit(seat, context)
        await self._refuse_beyond(self._quotas.stream(claims.platform), context)
        self.streams += 1
        self._of_seat[seat] += 1
        try:
            with self._quotas.streaming(claims.platform):
                yield
        finally:
            self.streams -= 1
            self._of_seat[seat] -= 1
            if not self._of_seat[seat]:
                del self._of_seat[seat]

    async def _from_attach(
        self,
        claims: SeatClaims,
        requests: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, bytes],
    ) -> Closing:
        last_version = await self._attach_request(claims.platform, requests, context)
        room, stream, attachment = await self._attached(claims, last_version, context)
        pace = Pace(room.allowances.of(claims.seat, self._monotonic()), self._limits.slowed_seconds)
        talk = Conversation(room, claims, attachment, stream, self._records, self._monotonic, pace, self._too_many)
        try:
            return await self._converse(talk, attachment, stream, requests, context)
        finally:
            room.detach(attachment)

    def _begin_again(self, room: Room, seat: Seat, last_version: int | None) -> Beginning:
        self._counters.resyncs[Kind.SEAT] += 1
        return room.audience.beginning(seat, last_version)

    def drain(self) -> None:
        """The server is shutting down: refuse new streams, and end those that have not attached."""
        self._unattached.close()

    async def _admit(self, seat: tuple[RoomId, Seat], context: grpc.aio.ServicerContext[Q, bytes]) -> None:
        await self._turn_away_if_draining(context)
        limits = self._limits
        if self.streams >= limits.streams or self._of_seat[seat] >= limits.streams_per_seat:
            said = f"The server takes {limits.streams} streams, and {limits.streams_per_seat} of one seat."
            await end(context, Reason.TOO_MANY_STREAMS, said)

    async def _refuse_beyond(self, reached: QuotaReached | None, context: grpc.aio.ServicerContext[Q, bytes]) -> None:
        """End the call if its platform has reached a quota."""
        if reached is not None:
            await refuse(context, reached)

    async def _turn_away_if_draining(self, context: grpc.aio.ServicerContext[Q, bytes]) -> None:
        """Refuse new streams while draining: they would miss the goodbye."""
        if self._unattached.closed:
            await end(context, Reason.DRAINING)

    async def _attach_request(
        self,
        platform: PlatformId,
        requests: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, bytes],
    ) -> int | None:
        """The `last_version` of the `Attach` that begins every stream. Ends the call if it does not come in time."""
        try:
            async with self._unattached.place(context):
                await self._refuse_beyond(self._quotas.unattached(platform), context)
                with self._quotas.attaching(platform):
                    first = await within(self._monotonic, self._limits.attach_seconds, _next(requests))
        except TimeoutError:
            await self._turn_away_if_draining(context)
            first = None
        except DecodeError:
            await end(context, Reason.MALFORMED)
        if first is None or first.WhichOneof("request") != "attach":
            await end(context, Reason.NOT_ATTACHED)
        if first.attach.seat_token:
            await end(context, Reason.MALFORMED, "`Attach.seat_token` is for transports without metadata.")
        return last_version(first)

    async def _converse(
        self,
        conversation: Conversation,
        attachment: Attachment,
        stream: SeatStream,
        requests: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, bytes],
    ) -> Closing:
        """Read in a separate task and write in this one, so that a stream has one writer, which is never cancelled."""
        listening = asyncio.create_task(conversation.listen(requests))
        # The task ends by itself when the stream ends. Cancelling it could lose a command that is half carried out.
        self._listening.add(listening)
        listening.add_done_callback(self._listening.discard)
        return await self._write(stream, attachment, context)

    async def _write(
        self,
        stream: SeatStream,
        attachment: Attachment,
        context: grpc.aio.ServicerContext[Q, bytes],
        taken: Callable[[], None] = lambda: None,
    ) -> Closing:
        """Write what the outbox holds, to its end. `taken` is called whenever the client has taken something."""
        while True:
            response = await stream.outbox.take()
            if response:
                attachment.pulse.written = self._monotonic()
                await context.write(response)
                taken()
            elif stream.outbox.closing is not None:
                return stream.outbox.closing

    async def Act(
        self, request: pb.ActRequest, context: grpc.aio.ServicerContext[pb.ActRequest, pb.ActResponse]
    ) -> pb.ActResponse:
        """Carry out one command without a stream."""
        claims, room = await self._access.seat(context)
        await self._pay(room, claims.seat, Work.COMMAND, context)
        # If the caller gives up, the command must still be carried out to its end.
        acting = asyncio.create_task(carried_out(claims, request, room))
        self._acting.add(acting)
        acting.add_done_callback(self._acting.discard)
        answer = await asyncio.shield(acting)
        match answer:
            case Accepted():
                return pb.ActResponse(
                    accepted=accepted(request.command_id, 0, answer), notices=_own_notices(answer, claims.seat)
                )
            case Answered(shown):
                return pb.ActResponse(trumps_shown=None if shown is None else encode.trumps_shown(shown))
            case _:
                return await refuse(context, answer)

    async def GetView(
        self, request: pb.GetViewRequest, context: grpc.aio.ServicerContext[pb.GetViewRequest, pb.GetViewResponse]
    ) -> pb.GetViewResponse:
        """The view of the seat now."""
        claims, room = await self._access.seat(context)
        await self._pay(room, claims.seat, Work.SNAPSHOT, context)
        last_version = request.last_version if request.HasField("last_version") else None
        return pb.GetViewResponse(snapshot=encode.snapshot(room.audience.beginning(claims.seat, last_version)))

    async def GetHint(
        self, request: pb.GetHintRequest, context: grpc.aio.ServicerContext[pb.GetHintRequest, pb.GetHintResponse]
    ) -> pb.GetHintResponse:
        """What a sensible player would do in the seat's place."""
        claims, room = await self._access.seat(context)
        await self._pay(room, claims.seat, Work.HINT, context)
        hint = await room.hint(SeatActor(claims.seat, claims.player))
        if not isinstance(hint, Hinted):
            await refuse(context, hint)
        return pb.GetHintResponse(hint=hint_message("", 0, hint))

    async def GetRecord(
        self, request: pb.GetRecordRequest, context: grpc.aio.ServicerContext[pb.GetRecordRequest, pb.GetRecordResponse]
    ) -> pb.GetRecordResponse:
        """The record of the seat's own match, as far as its deals are settled."""
        claims, room = await self._access.seat(context)
        await self._pay(room, claims.seat, Work.RECORD, context)
        record = await self._records.of(claims.platform, room, claims.seat)
        if not isinstance(record, record_pb2.MatchRecord):
            await refuse(context, record)
        return pb.GetRecordResponse(record=record)

    async def _pay(self, room: Room, seat: Seat, work: Work, context: grpc.aio.ServicerContext[Q, R]) -> None:
        """Pay for work from the seat's allowance. Ends the call with RESOURCE_EXHAUSTED if it is used up."""
        now = self._monotonic()
        wait = room.allowances.of(seat, now).take(work.units, now)
        if wait:
            await refuse(context, self._too_many(wait))

    def _too_many(self, wait: float) -> TooManyCommands:
        return TooManyCommands(self._limits.commands_per_second, wait)


async def _next(requests: AsyncIterator[pb.PlayRequest]) -> pb.PlayRequest | None:
    return await anext(requests, None)


def _own_notices(answer: Accepted, seat: Seat) -> list[pb.Notice]:
    """The sender's notices of the events that its command brought about."""
    return [encode.notice(told.notice(seat), told.version, told.time, told.turn_began) for told in answer.told]
