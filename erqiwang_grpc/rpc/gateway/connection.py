"""The connection of a gateway: it reads requests, and each open seat carries out its own, one after another.

A request is begun in the task that reads, and only becomes a task of its own if it has to wait, for the disk or for
another command of its room. Seats do not wait for each other.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final, final

import grpc
from google.protobuf.message import DecodeError

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.auth.tokens import Fault, SeatClaims, TokenRefused
from erqiwang_grpc.events.actor import SeatActor
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.audience import Pulse
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.costs import Work
from erqiwang_grpc.rooms.counters import Credential, Wrong
from erqiwang_grpc.rooms.rate_limit import Allowance
from erqiwang_grpc.rooms.refusals import NoSuchRoom, Refused, TooManyCommands, reason
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.rpc.access import Access, holds
from erqiwang_grpc.rpc.conversation import answered, carried_out, hinted, recorded, refused
from erqiwang_grpc.rpc.gateway.eager import begin
from erqiwang_grpc.rpc.gateway.open_seat import OpenSeat, Sitting
from erqiwang_grpc.rpc.gateway.outbox import Outbox
from erqiwang_grpc.rpc.goodbyes import goodbye
from erqiwang_grpc.rpc.own_records import OwnRecords
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.status import ended_status, refused_status, seat_ended
from erqiwang_grpc.v1 import gateway_service_pb2 as pb, seat_service_pb2

log = logging.getLogger(__name__)

_COSTS: Final = {
    "open": Work.SNAPSHOT,
    "command": Work.COMMAND,
    "resync": Work.SNAPSHOT,
    "record": Work.RECORD,
    "hint": Work.HINT,
}
"""The cost of each request. Closing a seat costs as much as a heartbeat."""
_SLICE: Final = 16
"""Requests that are carried out before others get a turn: some milliseconds of work."""
_WAITING: Final = 1_024
"""Requests that may wait, for the disk or for each other, before nothing more is read. What waits for one flush goes on
all at once, and delays others meanwhile."""
_HELD: Final = 4 * 1024 * 1024
"""Bytes of messages that may be held for such requests. A request holds its whole message, with all other requests in it."""

_OWN: Final = (Closing.DETACHED, Closing.FAILED)
"""Reasons to end a seat that are none of its room's: the room still knows the seat then."""


class Broken(Exception):
    """What was sent cannot be understood. The text says which message, which request, and what is wrong."""


@final
@dataclass(frozen=True, slots=True)
class Services:
    """What connections need of their node."""

    access: Access
    records: OwnRecords
    node: Node


@final
class Connection:
    """One gateway's stream. Its one writer sends what `outbox` holds."""

    def __init__(self, platform: PlatformId, services: Services) -> None:
        limits, monotonic = services.node.limits, services.node.monotonic
        self._platform = platform
        self._services = services
        self._monotonic = monotonic
        self._limits = limits
        self._counters = services.node.counters
        self.outbox = Outbox(limits.gateway_bytes, limits.outbox)
        self.pulse = Pulse(monotonic())
        self.said = ""
        """The sentence that ends the stream, if it says more than its reason."""
        self._allowance = Allowance(limits.commands_per_gateway, monotonic())
        self._seats: dict[int, OpenSeat] = {}
        self._messages = 0
        self._reading = False
        self._underway = 0
        """Requests that are being carried out, or wait for an earlier one of their seat."""
        self._held = 0
        """The bytes of the messages that were read since no request was under way."""
        self._fewer = asyncio.Event()
        self._leaving: Closing | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def seats(self) -> int:
        """The number of open seats."""
        return len(self._seats)

    # The stream

    async def listen(self, messages: AsyncIterator[pb.ConnectRequest]) -> None:
        """Read messages until the gateway stops, then end its stream once everything is answered."""
        try:
            await self._hear_out(messages)
        except DecodeError:
            self._break(f"Message {self._messages + 1} of the stream is no ConnectRequest.")
        except Broken as broken:
            self._break(str(broken))
        except grpc.aio.BaseError:
            # The server has ended the call, and its reason is recorded already.
            pass
        except Exception:
            log.exception("gateway failed")
            self.outbox.close(Closing.FAILED)
        else:
            self.leave(Closing.DETACHED)

    def leave(self, why: Closing) -> None:
        """Carry out nothing more. End the stream once what is under way is answered."""
        if self._leaving is None:
            self._leaving = why
            self._close_if_done()

    def _break(self, said: str) -> None:
        self.said = said
        self.outbox.close(Closing.MALFORMED)

    def _close_if_done(self) -> None:
        if self._leaving is not None and not self._reading and self._underway == 0:
            last = goodbye(self._leaving)
            parting = b"" if last is None else pb.ConnectResponse(goodbye=last.goodbye).SerializeToString()
            self.outbox.close(self._leaving, parting)

    async def part(self) -> None:
        """The stream is gone: detach every seat, some at a time, so that others get a turn."""
        self.outbox.abandon()
        seats, self._seats = tuple(self._seats.values()), {}
        for number, seat in enumerate(seats, 1):
            _detach(seat)
            if number % _SLICE == 0:
                await asyncio.sleep(0)

    def hear(self) -> None:
        """Note that the gateway has sent something. If it was silent for too long, its seats count as present again."""
        now = self._monotonic()
        silent = now - self.pulse.heard > self._limits.absent_seconds
        self.pulse.heard = now
        if silent:
            for sitting in self._sittings():
                if sitting.attachment is not None:
                    sitting.room.audience.hear(sitting.attachment)

    def _sittings(self) -> Iterator[Sitting]:
        return (seat.sitting for seat in tuple(self._seats.values()) if seat.sitting is not None)

    async def _hear_out(self, messages: AsyncIterator[pb.ConnectRequest]) -> None:
        async for message in messages:
            if self._is_over:
                return
            self.hear()
            await self._pay(message)
            self._reading = True
            try:
                await self._take(message)
            finally:
                self._reading = False
                self._close_if_done()
            self._messages += 1

    @property
    def _is_over(self) -> bool:
        return self._leaving is not None or self.outbox.closing is not None

    async def _pay(self, message: pb.ConnectRequest) -> None:
        """Pay for a message from the stream's allowance. If that is used up, wait: nothing is read meanwhile."""
        wait = self._allowance.spend(_cost(message), self._monotonic())
        if wait:
            await self._monotonic.sleep(wait)

    async def _take(self, message: pb.ConnectRequest) -> None:
        """Begin the requests of a message, unless the stream ends. Returns when there is room for more."""
        for place, request in enumerate(message.requests, 1):
            if self._is_over:
                return
            self._begin(request, place)
            if place % _SLICE == 0:
                await asyncio.sleep(0)
            if self.outbox.crowded:
                await self.outbox.relief()
            await self._less_to_do()
        if self._underway:
            self._held += message.ByteSize()
            await self._less_to_do()

    async def _less_to_do(self) -> None:
        while self._underway >= _WAITING or self._held >= _HELD:
            self._fewer.clear()
            await self._fewer.wait()

    # A request

    def _begin(self, request: pb.SeatRequest, place: int) -> None:
        """Begin a request, or let it wait for the request before it of the same seat. Raises `Broken`."""
        kind = request.WhichOneof("request")
        if kind is None:
            raise self._broken(request, place, "holds no request that this server knows")
        seat = self._seats.get(request.handle)
        if kind == "open":
            if seat is not None:
                raise self._broken(request, place, "opens a handle that is open")
            last_version = request.open.last_version if request.open.HasField("last_version") else None
            seat = OpenSeat(request.handle, self.outbox, last_version, self._counters, self._end_seat)
            self._seats[request.handle] = seat
        elif seat is None:
            return  # it has ended, which the gateway could not know yet
        seat.requests += 1
        self._underway += 1
        if seat.busy:
            seat.pending.append((request, seat.requests))
            return
        seat.busy = True
        work = self._serve(seat, request, seat.requests)
        # What a shared store does may be bound to its task, such as a timeout.
        task = asyncio.create_task(work) if self._services.node.store.shared else begin(work)
        if task is not None:
            # Cancelling it could lose a command that is half carried out.
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _broken(self, request: pb.SeatRequest, place: int, what: str) -> Broken:
        return Broken(
            f"Message {self._messages + 1} of the stream, request {place}, handle {request.handle}: it {what}."
        )

    async def _serve(self, seat: OpenSeat, request: pb.SeatRequest, number: int) -> None:
        """Carry out a request of a seat, and those that come meanwhile. An error ends this seat, and no other."""
        for served in count(1):
            try:
                await self._carry_out(seat, request, number)
            except Exception:
                log.exception("seat failed")
                self._end_seat(seat, Closing.FAILED)
            self._finish_one()
            if not seat.pending:
                break
            request, number = seat.pending.popleft()
            if served % _SLICE == 0:
                await asyncio.sleep(0)
        seat.busy = False
        self._close_if_done()

    def _finish_one(self) -> None:
        self._underway -= 1
        if self._underway == 0:
            self._held = 0
        self._fewer.set()

    async def _carry_out(self, seat: OpenSeat, request: pb.SeatRequest, number: int) -> None:
        sitting = seat.sitting
        kind = request.WhichOneof("request")
        if kind == "open":
            await self._open(seat, request.open)
            return
        if sitting is None or seat.box.ended:
            return
        room, claims = sitting.room, sitting.claims
        match kind:
            case "command":
                if self._is_paid(seat, sitting, request, number, Work.COMMAND):
                    answer = await carried_out(claims, request, room)
                    message = answered(request.command_id, number, answer, room)
                    if message is not None:
                        seat.put(message)
            case "resync":
                if self._is_paid(seat, sitting, request, number, Work.SNAPSHOT):
                    seat.put(await _resynced(sitting, request, number))
            case "record":
                if self._is_paid(seat, sitting, request, number, Work.RECORD):
                    record = await self._services.records.of(claims.platform, room, claims.seat)
                    seat.put(recorded(request.command_id, number, record, room))
            case "hint":
                if self._is_paid(seat, sitting, request, number, Work.HINT):
                    hint = await room.hint(SeatActor(claims.seat, claims.player))
                    seat.put(hinted(request.command_id, number, hint, room))
            case "close":
                self._end_seat(seat, Closing.DETACHED)
            case None:
                raise AssertionError("`_begin` takes no such request")

    def _is_paid(self, seat: OpenSeat, sitting: Sitting, request: pb.SeatRequest, number: int, work: Work) -> bool:
        """Pay from the seat's allowance; gives whether to carry the request out. If not, the seat has been told."""
        room, now = sitting.room, self._monotonic()
        wait = room.allowances.of(sitting.claims.seat, now).take(work.units, now)
        if wait:
            seat.put(refused(request.command_id, number, self._too_many(wait), room))
        return not wait

    def _too_many(self, wait: float) -> TooManyCommands:
        return TooManyCommands(self._limits.commands_per_second, wait)

    # A seat's beginning and end

    async def _open(self, seat: OpenSeat, asked: pb.OpenSeat) -> None:
        admitted = await self._admitted(asked.seat_token)
        if self._is_over:
            # Displace nobody for a stream that ends. The goodbye of a leaving server is for this seat too.
            if self._leaving is Closing.DETACHED:
                self._finish(seat, Closing.DETACHED, pb.SeatEnded(), None)
            return
        if not isinstance(admitted, Sitting):
            self._finish(seat, Closing.DETACHED, admitted, None)
            return
        seat.sitting = admitted
        last_version = asked.last_version if asked.HasField("last_version") else None
        admitted.attachment = admitted.room.attach(admitted.claims.seat, seat, last_version, self.pulse)

    async def _admitted(self, token: str) -> Sitting | pb.SeatEnded:
        """The seat that the token opens, or what the gateway is told if it opens none."""
        if len(self._seats) > self._limits.seats_per_gateway:
            said = f"The server takes {self._limits.seats_per_gateway} open seats from one gateway."
            return self._not_opened(Reason.TOO_MANY_STREAMS, said)
        claims = self._services.access.claims(token)
        if isinstance(claims, TokenRefused):
            if claims.fault is Fault.EXPIRED:
                return self._not_opened(Reason.CREDENTIAL_EXPIRED)
            # A gateway learns no more of a bad token than of a good one for a room that is not its platform's.
            return self._refused(NoSuchRoom())
        if claims.platform != self._platform:
            self._services.access.note(Credential.SEAT_TOKEN, Wrong.FOREIGN, Reason.NO_SUCH_ROOM)
            return self._refused(NoSuchRoom())
        return await self._seated(claims)

    async def _seated(self, claims: SeatClaims) -> Sitting | pb.SeatEnded:
        room: Room | Refused = await self._services.access.owned(claims.room, claims.platform)
        if not isinstance(room, Room):
            return self._refused(room)
        if not holds(room, claims):
            self._services.access.note(Credential.SEAT_TOKEN, Wrong.UNSEATED, Reason.UNSEATED)
            return self._not_opened(Reason.UNSEATED)
        now = self._monotonic()
        wait = room.allowances.of(claims.seat, now).take(Work.SNAPSHOT.units, now)
        if wait:
            return self._refused(self._too_many(wait))
        return Sitting(claims, room)

    def _refused(self, refusal: Refused) -> pb.SeatEnded:
        self._counters.refused[reason(refusal)] += 1
        return seat_ended(refused_status(refusal))

    def _not_opened(self, why: Reason, said: str = "") -> pb.SeatEnded:
        self._counters.refused[why] += 1
        return seat_ended(ended_status(why, said))

    def _end_seat(self, seat: OpenSeat, closing: Closing) -> None:
        """End an open seat, for a reason of its room or of its gateway."""
        if not seat.box.ended:
            why = closing.value
            if why is not None:
                self._counters.ended[why] += 1
            ended = pb.SeatEnded() if why is None else seat_ended(ended_status(why))
            last = goodbye(closing)
            self._finish(seat, closing, ended, last)
            if closing in _OWN:
                _detach(seat)

    def _finish(
        self, seat: OpenSeat, closing: Closing, ended: pb.SeatEnded, last: seat_service_pb2.SeatMessage | None
    ) -> None:
        self.outbox.finish(seat.box, closing, ended, None if last is None else encode.packed(last))
        if self._seats.get(seat.handle) is seat:
            del self._seats[seat.handle]


async def _resynced(sitting: Sitting, request: pb.SeatRequest, number: int) -> seat_service_pb2.SeatMessage:
    """The answer to `resync`: a snapshot of the seat, or why there is none."""
    behind = await sitting.room.refresh()
    if behind is not None:
        return refused(request.command_id, number, behind, sitting.room)
    last_version = request.resync.last_version if request.resync.HasField("last_version") else None
    begun = sitting.room.audience.beginning(sitting.claims.seat, last_version)
    return seat_service_pb2.SeatMessage(snapshot=encode.snapshot(begun))


def _detach(seat: OpenSeat) -> None:
    sitting = seat.sitting
    if sitting is not None and sitting.attachment is not None:
        sitting.room.detach(sitting.attachment)


def _cost(message: pb.ConnectRequest) -> float:
    """What a message costs the stream. An empty one costs as much as a heartbeat."""
    costs = (_COSTS.get(request.WhichOneof("request") or "", Work.HEARTBEAT).units for request in message.requests)
    return sum(costs) or Work.HEARTBEAT.units
