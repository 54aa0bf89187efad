"""One live room: decide, append, evolve, tell. It holds the room's only lock, and every await between the four."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import Final, TypeAlias, final

from erqiwang_core import match as matches, notices, view as views
from erqiwang_core.dealing import Shuffled
from erqiwang_core.match import Gathering, HouseCommand, Match, SeatLeft, SeatTaken
from erqiwang_core.playing import ShowTrumps, Signal, Signalled, TrumpsShown
from erqiwang_core.refusals import Refusal as RuleRefusal, SeatFree, SeatOccupied, WrongPhase
from erqiwang_core.rules import RULES_VERSION, rules
from erqiwang_core.units import Seat

from erqiwang_grpc import events as stored
from erqiwang_grpc.events.index import tags
from erqiwang_grpc.events.model import HOUSE
from erqiwang_grpc.rooms import state as ledgers
from erqiwang_grpc.rooms.command import Accepted, Answer, Answered, Asked, seat_actor
from erqiwang_grpc.rooms.counters import Counters
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.outbox import Closing, Outbox
from erqiwang_grpc.rooms.rate_limit import Allowance
from erqiwang_grpc.rooms.refusals import (
    CommandIdReused,
    LogUnavailable,
    NoCommand,
    Refused,
    RoomQuarantined,
    StaleVersion,
    TooManyCommands,
)
from erqiwang_grpc.rooms.state import Broken, Brought, State
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.encode.parts import timestamp
from erqiwang_grpc.rpc.wire.rulings import ruling
from erqiwang_grpc.shuffling import Shuffler
from erqiwang_grpc.store import (
    NOTHING,
    Actor,
    Appended,
    Batch,
    CommandKey,
    Conflict,
    Damaged,
    Duplicate,
    RoomId,
    Store,
    TimeNs,
    Unavailable,
    Version,
    Wakeup,
)
from erqiwang_grpc.v1 import seat_service_pb2 as pb

log = logging.getLogger(__name__)

_ATTEMPTS: Final = 8
"""How often a command is decided anew because another node was faster; more would mean that something is broken."""


@final
@dataclass(frozen=True, slots=True)
class Node:
    """What a room needs of the server it lives in."""

    events: Store
    wakeup: Wakeup
    now: Callable[[], TimeNs]
    shuffle: Shuffler
    limits: Limits
    counts: Counters = field(default_factory=Counters)


Decided: TypeAlias = tuple[matches.Event, ...] | RuleRefusal | RoomQuarantined | StaleVersion


@final
class Attachment:
    """One stream of a seat: where its messages go, and when it was last heard of."""

    def __init__(self, seat: Seat, outbox: Outbox) -> None:
        self.seat = seat
        self.outbox = outbox
        self.heard = monotonic()
        self.written = self.heard
        self.present = True


@final
class Room:
    """One room in memory. Whoever holds a reference may look; only these methods change anything."""

    def __init__(self, room_id: RoomId, ledger: State, around: Node, fault: str | None = None) -> None:
        self.id = room_id
        self.state = ledger
        self.fault = fault
        """Why the room is quarantined; None where it is not."""
        self.touched = monotonic()
        self._around = around
        self._lock = asyncio.Lock()
        self._unsure = False
        self._commands = 0
        """How many are under way or wait. The lock does not say: it is free until the next in line has been woken."""
        self._attached: dict[Seat, Attachment] = {}
        self._allowances: dict[Seat, Allowance] = {}

    # Looking

    @property
    def match(self) -> Match:
        """The match as it stands."""
        return self.state.match

    @property
    def version(self) -> Version:
        """How many events are logged."""
        return self.state.version

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The streams attached now."""
        return tuple(self._attached.values())

    @property
    def in_use(self) -> bool:
        """Whether a stream is attached or a command is under way."""
        return bool(self._attached) or self._commands > 0

    def present(self, seat: Seat) -> bool:
        """Whether a stream of the seat was heard of lately."""
        attachment = self._attached.get(seat)
        return attachment is not None and attachment.present

    def snapshot(self, seat: Seat, last_version: int | None = None) -> pb.Snapshot:
        """All that a seat may see now, and what has happened since `last_version` as far as it may look back."""
        missed = [] if last_version is None else self.state.missed(seat, last_version)
        return pb.Snapshot(
            version=self.version,
            view=encode.view(views.view(self.match, seat), self.id, self.state.turn_began),
            missed=[encode.missed(told, happened.version, happened.time) for happened, told in missed],
            server_time=timestamp(self._around.now()),
        )

    def heartbeat(self) -> pb.SeatMessage:
        """What says on a silent stream that the server is there."""
        return pb.SeatMessage(heartbeat=pb.Heartbeat(version=self.version, server_time=timestamp(self._around.now())))

    def touch(self) -> None:
        """The room is wanted: keep it in memory."""
        self.touched = monotonic()

    # Streams

    def attach(self, seat: Seat, last_version: int | None) -> Attachment:
        """A new stream of a seat, which begins with a snapshot. An older one is displaced and told so."""
        older = self._attached.get(seat)
        if older is not None:
            older.outbox.close(Closing.DISPLACED, _goodbye(pb.Goodbye.REASON_DISPLACED))
        outbox = Outbox(self._around.limits.outbox, lambda since: self._resync(seat, since), last_version)
        attachment = Attachment(seat, outbox)
        self._attached[seat] = attachment
        outbox.put(pb.SeatMessage(snapshot=self.snapshot(seat, last_version)))
        self._tell_presence()
        return attachment

    def _resync(self, seat: Seat, since: int | None) -> tuple[pb.SeatMessage, ...]:
        """What takes the place of all that a slow client did not take after a version: what a new stream would begin with."""
        self._around.counts.resyncs += 1
        return pb.SeatMessage(snapshot=self.snapshot(seat, since)), self._presence()

    def detach(self, attachment: Attachment) -> None:
        """A stream has ended. A late end of a displaced one changes nothing."""
        self.touch()
        if self._attached.get(attachment.seat) is attachment:
            del self._attached[attachment.seat]
            self._tell_presence()

    def hear(self, attachment: Attachment) -> None:
        """A stream was heard of."""
        attachment.heard = monotonic()
        if not attachment.present:
            attachment.present = True
            self._tell_presence()

    def miss(self, attachment: Attachment) -> None:
        """A stream was not heard of for too long: its seat is shown absent, and never played for."""
        if attachment.present:
            attachment.present = False
            self._tell_presence()

    def close_all(self, why: Closing, last: pb.SeatMessage | None = None) -> None:
        """End every stream of the room, with `last` as its last message."""
        for attachment in self.attachments:
            attachment.outbox.close(why, last)

    def _tell_presence(self) -> None:
        message = self._presence()
        for attachment in self._attached.values():
            attachment.outbox.put(message)

    def _presence(self) -> pb.SeatMessage:
        present = [self.present(seat) for seat in self.match.chairs.seats()]
        return pb.SeatMessage(presence=pb.Presence(present=present))

    # Commands

    async def act(self, seat: Seat, player: str, asked: Asked) -> Answer:
        """Carry out a seat's command or answer its request; whatever goes wrong inside stays in this room."""
        actor = seat_actor(seat, player)
        return await self._guarded(actor, asked.key, lambda: self._act(seat, player, asked))

    async def administer(self, actor: Actor, command: HouseCommand, key: CommandKey | None) -> Accepted | Refused:
        """Carry out a command of the house."""
        answer = await self._guarded(actor, key, lambda: self._administer(actor, command, key))
        assert not isinstance(answer, Answered), "the house is answered aloud"
        return answer

    async def _guarded(self, actor: Actor, key: CommandKey | None, work: Callable[[], Awaitable[Answer]]) -> Answer:
        self._commands += 1
        try:
            async with self._lock:
                self.touch()
                began = perf_counter()
                answer = await self._answer(actor, key, work)
                self._count(answer, perf_counter() - began)
                return answer
        finally:
            self._commands -= 1

    async def _answer(self, actor: Actor, key: CommandKey | None, work: Callable[[], Awaitable[Answer]]) -> Answer:
        try:
            if self._unsure and not await self._catch_up():
                return LogUnavailable()
            known = self._known(actor, key)
            return await work() if known is None else known
        except Exception:
            self._set_apart("an unexpected exception")
            log.exception("room quarantined", extra={"room": self.id, "version": self.version})
            return RoomQuarantined(self.version)

    def _count(self, answer: Answer, seconds: float) -> None:
        counts = self._around.counts
        counts.took(seconds)
        if isinstance(answer, Accepted):
            counts.accepted += not answer.repeated
            counts.repeated += answer.repeated
        elif isinstance(answer, Answered):
            counts.whispered += 1
        else:
            counts.refused[ruling(answer).reason] += 1

    def _known(self, actor: Actor, key: CommandKey | None) -> Accepted | CommandIdReused | None:
        brought = self.state.commands.get((actor, key.id)) if key else None
        if brought is None or key is None:
            return None
        return _again(brought, key)

    async def _act(self, seat: Seat, player: str, asked: Asked) -> Answer:
        if self.fault is not None:
            return RoomQuarantined(self.version)
        refused = self.spend(seat)
        if refused is not None:
            return refused
        command = asked.command
        if isinstance(command, NoCommand):
            return command

        def barred() -> RoomQuarantined | StaleVersion | SeatFree | SeatOccupied | None:
            return self._barred(asked.expected_version) or self._lost(seat, player)

        if isinstance(command, Signal | ShowTrumps):
            return barred() or self._whisper(seat, command)

        def decide() -> Decided:
            return barred() or matches.decide(self.match, seat, command, self._shuffled)

        return await self._carry_out(seat_actor(seat, player), asked.key, decide, seat)

    async def _administer(self, actor: Actor, command: HouseCommand, key: CommandKey | None) -> Answer:
        def decide() -> Decided:
            if actor == HOUSE and not isinstance(self.match, Gathering):
                # The house ends what nobody fills; while its command waited, the last seat was taken.
                return WrongPhase(matches.phase(self.match))
            # The end of a match needs nothing of what came before it, so it stays open.
            barred = None if isinstance(command, matches.Disband) else self._barred(None)
            return barred or matches.administer(self.match, command, self._shuffled)

        return await self._carry_out(actor, key, decide, None)

    def _barred(self, expected: int | None) -> RoomQuarantined | StaleVersion | None:
        """Why nothing may be decided for a sender who expects that version; asked anew after what others have done."""
        if self.fault is not None:
            return RoomQuarantined(self.version)
        return StaleVersion(self.version) if expected not in (None, self.version) else None

    def _lost(self, seat: Seat, player: str) -> SeatFree | SeatOccupied | None:
        """Why the seat is no longer the player's: it may have been left while the command waited for its turn."""
        sitting = self.match.chairs[seat].player
        if sitting == player:
            return None
        return SeatFree(seat) if sitting is None else SeatOccupied(seat)

    def spend(self, seat: Seat) -> TooManyCommands | None:
        """Take one from what the seat may ask in a second, or say that it asks too much."""
        now, limit = self._around.now(), self._around.limits.commands_per_second
        allowance = self._allowances.setdefault(seat, Allowance(limit, now))
        return None if allowance.take(now) else TooManyCommands(limit)

    def _shuffled(self) -> Shuffled:
        return self._around.shuffle(rules(self.match.options.game, self.match.options.review))

    def _whisper(self, seat: Seat, request: Signal | ShowTrumps) -> Answered | Refused:
        answer = matches.answer(self.match, seat, request)
        if isinstance(answer, TrumpsShown):
            return Answered(answer)
        if not isinstance(answer, Signalled):
            return answer
        message = encode.aside(answer)
        for partner in answer.to:
            if partner in self._attached:
                self._attached[partner].outbox.put(message)
        return Answered()

    async def _carry_out(
        self,
        actor: Actor,
        key: CommandKey | None,
        decide: Callable[[], Decided],
        sender: Seat | None,
    ) -> Accepted | Refused:
        """Decide, append, evolve, tell; decide again where another node was faster."""
        for _ in range(_ATTEMPTS):
            decided = decide()
            if not isinstance(decided, tuple):
                return decided
            if not decided:
                return Accepted(NOTHING, NOTHING, repeated=False)
            time = self._around.now()
            bodies = tuple(stored.write(event) for event in decided)
            batch = Batch(time, actor, key, RULES_VERSION, bodies, tags(self.state, decided))
            # Where the append is not answered, or its caller cancelled, the log alone knows whether the batch is in it.
            self._unsure = True
            appended = await self._around.events.append(self.id, self.version, batch)
            self._unsure = isinstance(appended, Unavailable)
            match appended:
                case Appended():
                    return self._taken_in(decided, time, actor, key, sender)
                case Duplicate(first, last, fingerprint):
                    await self._catch_up()
                    assert key is not None, "only a command with an id can be a duplicate"
                    return _again(Brought(first, last, fingerprint), key)
                case Conflict():
                    if not await self._catch_up():
                        return RoomQuarantined(self.version)
                    known = self._known(actor, key)
                    if known is not None:
                        return known
                case Damaged(why=why):
                    self._set_apart(why)
                    log.error("room damaged", extra={"room": self.id, "version": self.version, "why": why})
                    return RoomQuarantined(self.version)
                case Unavailable(why):
                    log.error("log unavailable", extra={"room": self.id, "version": self.version, "why": why})
                    return LogUnavailable()
        raise RuntimeError("a room that is decided again and again never settles")

    def _taken_in(
        self,
        events: tuple[matches.Event, ...],
        time: TimeNs,
        actor: Actor,
        key: CommandKey | None,
        sender: Seat | None,
    ) -> Accepted:
        first = Version(self.version + 1)
        told: list[pb.Notice] = []
        for event in events:
            told += self._take(event, time, actor, sender)
        self.state.remember(actor, key, first)
        self._around.wakeup.hint(self.id)
        return Accepted(first, self.version, repeated=False, notices=tuple(told))

    def _take(self, event: matches.Event, time: TimeNs, actor: Actor, sender: Seat | None) -> list[pb.Notice]:
        """Take one durable event in and tell every seat that listens; gives what the sender is told."""
        before = self.match
        self.state.take(event, time, actor)
        hearing = self._hearing(sender)
        telling = notices.telling(before, event, self.match, hearing)
        told = [telling.notice(seat) for seat in hearing]
        places = [self._place(seat) for seat in hearing]
        if told:
            encode.put_notices(places, told, self.version, time, self.state.turn_began)
        if isinstance(event, SeatTaken | SeatLeft):
            self._unseat(event.seat)
        return [place for seat, place in zip(hearing, places, strict=True) if seat == sender]

    def _place(self, seat: Seat) -> pb.Notice:
        """Where a seat's next notice is to be put: in its outbox, where there is room."""
        attachment = self._attached.get(seat)
        place = None if attachment is None else attachment.outbox.place()
        return pb.Notice() if place is None else place.notice

    def _hearing(self, sender: Seat | None) -> tuple[Seat, ...]:
        if sender is None or sender in self._attached:
            return tuple(self._attached)
        return (*self._attached, sender)

    def _unseat(self, seat: Seat) -> None:
        """The seat has a new epoch: a stream opened with an older token ends."""
        attachment = self._attached.get(seat)
        if attachment is not None:
            attachment.outbox.close(Closing.UNSEATED, _goodbye(pb.Goodbye.REASON_UNSEATED))
            self.detach(attachment)

    async def _catch_up(self) -> bool:
        """Take in what is in the log and was not seen here; whether that was possible."""
        entries = await self._around.events.read(self.id, self.version)
        if isinstance(entries, Damaged):
            self._set_apart(entries.why)
            log.error("room damaged", extra={"room": self.id, "version": entries.version, "why": entries.why})
            return False
        before, since = self.match.chairs, self.version
        followed = ledgers.follow(self.state, entries)
        if isinstance(followed, Broken):
            self._set_apart(followed.why)
            log.error("room quarantined", extra={"room": self.id, "version": self.version, "why": followed.why})
        self._unsure = False
        for seat, chair in before.items():
            if self.match.chairs[seat].epoch != chair.epoch:
                self._unseat(seat)
        # What was missed is too old for notices: everyone starts again from what is.
        for seat, attachment in self._attached.items():
            attachment.outbox.put(pb.SeatMessage(snapshot=self.snapshot(seat, since)))
        return True

    def _set_apart(self, why: str) -> None:
        self.fault = why


def _again(brought: Brought, key: CommandKey) -> Accepted | CommandIdReused:
    """The answer to a command that was sent before."""
    if brought.fingerprint != key.fingerprint:
        return CommandIdReused()
    return Accepted(brought.first, brought.last, repeated=True)


def _goodbye(reason: pb.Goodbye.Reason.ValueType) -> pb.SeatMessage:
    return pb.SeatMessage(goodbye=pb.Goodbye(reason=reason))
