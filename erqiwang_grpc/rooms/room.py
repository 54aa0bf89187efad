"""One live room: it decides a command, appends its events, takes them into its state, and tells its listeners.

A room has one lock. All waiting between deciding a command and telling it happens here, behind that lock.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from time import perf_counter
from typing import Final, TypeVar, final

from erqiwang_core import match as matches
from erqiwang_core.dealing import Shuffled
from erqiwang_core.match import Command, Disband, Gathering, LeaveSeat, Match, TakeSeat
from erqiwang_core.playing import Reply, ShowTrumps, Signal, Signalled, TrumpsShown
from erqiwang_core.refusals import SeatFree, SeatOccupied, WrongPhase
from erqiwang_core.rules import game_rules
from erqiwang_core.units import Seat

from erqiwang_grpc.clocks import Monotonic, SystemMonotonic
from erqiwang_grpc.events.actor import Actor, HouseActor, SeatActor, stored
from erqiwang_grpc.events.batches import batch_of
from erqiwang_grpc.events.standing import Standing
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.monitoring.histogram import Histogram
from erqiwang_grpc.rooms.audience import Attachment, Audience, Pulse
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.command import Accepted, Answer, Answered, Asked, HouseAsks, SeatAsks
from erqiwang_grpc.rooms.counters import Counters
from erqiwang_grpc.rooms.hints import Hinted, Hints
from erqiwang_grpc.rooms.idempotency import Brought, again
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.listener import Listener, Told
from erqiwang_grpc.rooms.neighbours import Neighbours
from erqiwang_grpc.rooms.presences import Presences
from erqiwang_grpc.rooms.rate_limit import Allowances
from erqiwang_grpc.rooms.refusals import (
    OutcomeUnknown,
    Refused,
    RoomQuarantined,
    SeatChangesUsedUp,
    StaleVersion,
    StoreUnavailable,
    WrittenByNewer,
)
from erqiwang_grpc.rooms.spans import UNTRACED, Span, Spans
from erqiwang_grpc.rooms.state import State
from erqiwang_grpc.shuffling import Shuffler
from erqiwang_grpc.store import (
    NOTHING,
    Appended,
    Conflict,
    Damaged,
    Duplicate,
    RoomId,
    Store,
    TimeNs,
    Unavailable,
    Unsure,
    Version,
    Wakeup,
)

log = logging.getLogger(__name__)

T = TypeVar("T")

_ATTEMPTS: Final = 8
"""Most times that one command is decided. It is decided again each time another node appended first."""


@final
@dataclass(frozen=True, slots=True)
class Node:
    """What a room needs from the node it lives on."""

    store: Store
    wakeup: Wakeup
    now: Callable[[], TimeNs]
    """The wall clock. `clocks` says what each of the two clocks is for."""
    shuffle: Shuffler
    limits: Limits
    counters: Counters = field(default_factory=Counters)
    monotonic: Monotonic = field(default_factory=SystemMonotonic)
    neighbours: Neighbours = field(default_factory=Neighbours)
    """The other nodes on the store; by default there are none."""
    presences: Presences = field(default_factory=Presences)
    """Who follows the presence of seats in many rooms."""
    spans: Spans = UNTRACED
    """Where each command is traced; by default nowhere."""
    hints: Hints = field(default_factory=Hints)
    """What works out hints, beside the event loop."""


@final
class Room:
    """One room in memory."""

    def __init__(self, room_id: RoomId, state: State, node: Node) -> None:
        self.id = room_id
        self.state = state
        self.audience = Audience(room_id, state, node.now, node.monotonic, node.neighbours, node.presences)
        self.touched = node.monotonic()
        self.allowances = Allowances(node.limits.commands_per_second)
        """The allowance of each seat."""
        self._node = node
        self._lock = asyncio.Lock()
        self._summaries = SummaryWriter()
        self._unsure = False
        self._commands = 0
        """Commands being carried out or waiting. The lock cannot tell: it is free for a moment between two commands."""

    @property
    def match(self) -> Match:
        """The match now."""
        return self.state.match

    @property
    def version(self) -> Version:
        """The number of events in the room."""
        return self.state.version

    @property
    def fault(self) -> str | None:
        """Why the room is quarantined, for the logs; None if it is not."""
        return self.state.fault

    @property
    def is_left(self) -> bool:
        """Whether a newer version of the server has written the room, so that this node does nothing more for it."""
        return self.state.newer is not None

    @property
    def in_use(self) -> bool:
        """Whether the room has a listener or a command that is not answered yet."""
        return bool(self.audience) or self._commands > 0

    @property
    def counters(self) -> Counters:
        """What its node counts."""
        return self._node.counters

    def touch(self) -> None:
        """Note that the room is used now, so that it stays in memory."""
        self.touched = self._node.monotonic()

    # Listening

    def attach(
        self, seat: Seat, listener: Listener, last_version: int | None, pulse: Pulse | None = None
    ) -> Attachment:
        """Attach a listener to a seat. It begins with the present view, and displaces an older listener of the seat."""
        return self.audience.attach(seat, listener, last_version, pulse)

    def detach(self, attachment: Attachment) -> None:
        """Remove a listener whose stream has ended. Does nothing if a newer one has displaced it."""
        self.touch()
        self.audience.detach(attachment)

    # Commands

    def span(self, kind: str, seat: Seat | None) -> Span:
        """Begin the span of a command of that kind. `carry_out` ends it."""
        return self._node.spans.command(kind, seat, self.id, self.state.match.options, self.state.match)

    async def carry_out(self, asked: Asked, span: Span | None = None) -> Answer:
        """Carry out a command; gives what it brought about, or why it was refused.

        An unexpected error quarantines this room. It does not reach other rooms. Without a span, it begins one.
        """
        if span is None:
            span = self.span(type(asked.command).__name__, asked.actor.seat if isinstance(asked, SeatAsks) else None)
        self._commands += 1
        try:
            came = perf_counter()
            async with self._lock:
                self.touch()
                _spent(self.counters.phases.wait, came)
                answer = await self._contained(self._carry_out(asked, span))
                self.counters.count(answer, perf_counter() - came)
                span.end(answer)
                return answer
        finally:
            self._commands -= 1

    async def hint(self, actor: SeatActor) -> Hinted | Refused:
        """What a sensible player would do in the place of this player's seat now, or why there is no hint."""
        behind = await self.refresh()
        if behind is not None:
            return behind
        self.touch()
        refused = self._not_served(actor, None)
        version = self.version
        hint = refused or await self._node.hints.of(self.match, actor.seat)
        return Hinted(hint, version) if isinstance(hint, Command) else hint

    async def _contained(self, work: Awaitable[T]) -> T | RoomQuarantined:
        """Do work of this room. An unexpected error quarantines the room, and reaches no other room."""
        try:
            return await work
        except Exception:
            self.state.fault = "an unexpected exception"
            log.exception("room quarantined", extra={"room": self.id, "version": self.version})
            return RoomQuarantined(self.version)

    async def _carry_out(self, asked: Asked, span: Span) -> Answer:
        """The four steps of every command: recognise, decide, append, then take and tell."""
        if self.is_left:
            return WrittenByNewer()
        store = self._node.store
        at_head = not store.shared
        if self._unsure:
            at_head = True
            if await self._follow() is not None:
                return OutcomeUnknown()
        for _ in range(_ATTEMPTS):
            # Recognise. If a command with this id was accepted before, give the same answer again.
            known = self.state.accepted.recognise(asked.actor, asked.key)
            if known is not None:
                return known

            began = perf_counter()
            # Decide. On a shared store this node may be behind. So it catches up before it answers without any event.
            version = self.version
            with span.step("decide"):
                decided = self._decide(asked)
            if not isinstance(decided, tuple) or not decided:
                _spent(self.counters.phases.decide, began)
                if not at_head:
                    at_head = True
                    refused = await self._follow()
                    if refused is not None:
                        return refused
                    if self.version > version:
                        continue
                return self._nothing_brought(decided)

            # Append. Until the store has answered, only the store knows whether it holds the batch.
            # The wall clock may be set back, but the times of a room's events must not go back.
            time = max(self._node.now(), self.state.standing.time)
            after = self._after(decided, time, asked.actor)
            batch = batch_of(decided, after[-1], self._summaries, stored(asked.actor), asked.key)
            self._unsure = True
            began = _spent(self.counters.phases.decide, began)
            with span.step("append"):
                appended = await store.append(self.id, version, batch)
            began = _spent(self.counters.phases.append, began)
            self._unsure = isinstance(appended, Unavailable | Unsure)
            match appended:
                case Appended():
                    # Take and tell.
                    sender = asked.actor.seat if isinstance(asked, SeatAsks) else None
                    with span.step("tell"):
                        told = tuple(
                            self._take(event, standing, sender) for event, standing in zip(decided, after, strict=True)
                        )
                    self.state.accepted.remember(asked.actor, asked.key, Version(version + 1), self.version)
                    self._node.wakeup.hint(self.id, self.version)
                    _spent(self.counters.phases.tell, began)
                    return Accepted(Version(version + 1), self.version, repeated=False, told=told)
                case Duplicate(first, last, fingerprint):
                    assert asked.key is not None, "only a command with an id can be a duplicate"
                    behind = await self._follow()
                    if isinstance(behind, StoreUnavailable):
                        return OutcomeUnknown()  # it was done before, so "nothing was done" would be wrong
                    if behind is None and self.version < last:
                        continue  # a failover of the store has lost it, before anybody was answered
                    return behind or again(Brought(first, last, fingerprint), asked.key)
                case Conflict():
                    at_head = True
                    refused = await self._follow()
                    if refused is not None:
                        return refused
                case Damaged(why=why):
                    return self._damaged(why)
                case Unavailable(why):
                    log.error("store unavailable", extra={"room": self.id, "version": self.version, "why": why})
                    return StoreUnavailable()
                case Unsure(why):
                    log.error("outcome unknown", extra={"room": self.id, "version": self.version, "why": why})
                    return OutcomeUnknown()
        log.error("command given up", extra={"room": self.id, "version": self.version, "why": "other nodes came first"})
        return StoreUnavailable()

    def _decide(self, asked: Asked) -> tuple[matches.Event, ...] | Reply | Refused:
        """The events of a command, the reply to a request, or a refusal."""
        match asked:
            case SeatAsks(SeatActor(seat) as actor, command, _, expected):
                unserved = self._not_served(actor, expected)
                if unserved is not None:
                    return unserved
                if isinstance(command, Signal | ShowTrumps):
                    return matches.answer(self.match, seat, command)
                return matches.decide(self.match, seat, command, self._shuffled)
            case HouseAsks(HouseActor()) if not isinstance(self.match, Gathering):
                # The house disbands a match that has not begun. This one began while its command waited for the lock.
                return WrongPhase(matches.phase(self.match))
            case HouseAsks(_, command):
                if self.fault is not None and not isinstance(command, Disband):
                    # Even a quarantined match can be disbanded: that does not depend on earlier events.
                    return RoomQuarantined(self.version)
                most = self._node.limits.seat_changes
                if isinstance(command, TakeSeat | LeaveSeat) and sum(at.epoch for at in self.match.chairs) >= most:
                    # Without this a platform could make a room so long that reading it fills the memory.
                    return SeatChangesUsedUp(most)
                return matches.administer(self.match, command, self._shuffled)

    def _not_served(
        self, actor: SeatActor, expected: int | None
    ) -> RoomQuarantined | StaleVersion | SeatFree | SeatOccupied | None:
        """Why nothing is done for this player now, whatever it asks; None if it is served."""
        if self.fault is not None:
            return RoomQuarantined(self.version)
        if expected not in (None, self.version):
            return StaleVersion(self.version)
        sitting = self.match.chairs[actor.seat].player
        if sitting != actor.player:
            # The seat was left or given to another player while the command waited for the lock.
            return SeatFree(actor.seat) if sitting is None else SeatOccupied(actor.seat)
        return None

    def _nothing_brought(self, decided: tuple[matches.Event, ...] | Reply | Refused) -> Answer:
        """The answer to a command or request without events. A signal is passed on to its addressees."""
        if isinstance(decided, tuple):
            return Accepted(NOTHING, NOTHING, repeated=False)
        if isinstance(decided, Signalled):
            self.audience.signal(decided)
            if not all(self.audience.reaches(seat) for seat in decided.to):
                self._node.neighbours.tell_signal(self.id, self.version, decided.sender, decided.signal)
            return Answered()
        return Answered(decided) if isinstance(decided, TrumpsShown) else decided

    def _shuffled(self) -> Shuffled:
        options = self.match.options
        return self._node.shuffle(game_rules(options.game, options.review))

    # Events

    def _after(self, decided: Sequence[matches.Event], time: TimeNs, actor: Actor) -> tuple[Standing, ...]:
        """The standing of the room after each of the events."""
        stations = accumulate(decided, lambda at, event: at.after(event, time, actor), initial=self.state.standing)
        return tuple(stations)[1:]

    def _take(self, event: matches.Event, after: Standing, sender: Seat | None) -> Told:
        """Take an event that is stored already into the state, and tell the listeners."""
        before = self.match
        self.state.take(event, after)
        return self.audience.tell(before, event, sender)

    async def _follow(self) -> RoomQuarantined | StoreUnavailable | WrittenByNewer | None:
        """Read the events that this node has not seen, take them in and tell them. A refusal if they cannot be read."""
        if self.is_left:
            return WrittenByNewer()
        began = perf_counter()
        entries = await self._node.store.read(self.id, self.version)
        _spent(self.counters.phases.follow, began)
        if isinstance(entries, Damaged):
            return self._damaged(entries.why)
        if isinstance(entries, Unavailable):
            return StoreUnavailable()
        self._unsure = False
        sound = self.fault is None
        for entry in entries:
            followed = self.state.follow(entry)
            if followed is not None:
                self.audience.tell(followed.before, followed.event, None)
        if self.state.newer is not None:
            return self._left_to_newer(self.state.newer)
        if sound and self.fault is not None:
            log.error("room quarantined", extra={"room": self.id, "version": self.version, "why": self.fault})
        return None

    def _left_to_newer(self, why: str) -> WrittenByNewer:
        log.warning("room left to a newer version", extra={"room": self.id, "version": self.version, "why": why})
        self.audience.end(Closing.LEFT_TO_NEWER)
        return WrittenByNewer()

    def _damaged(self, why: str) -> RoomQuarantined:
        self.state.fault = why
        log.error("room damaged", extra={"room": self.id, "version": self.version, "why": why})
        return RoomQuarantined(self.version)

    async def pass_on(self, seat: Seat, signal: int, version: Version) -> None:
        """Pass on a signal that was given on another node when the room was at `version`.

        The rules are asked again whether it stands and whom it reaches: a message between nodes may be forged.
        """
        if self.version < version:
            await self._catch_up()
        answer = matches.answer(self.match, seat, Signal(signal))
        if isinstance(answer, Signalled):
            self.audience.signal(answer)

    async def follow(self) -> None:
        """Take in and tell what other nodes have appended. Called at a wakeup, and now and then, as one may be lost."""
        await self._catch_up()

    async def _catch_up(self) -> RoomQuarantined | StoreUnavailable | WrittenByNewer | None:
        async with self._lock:
            return await self._contained(self._follow())

    async def refresh(self) -> StoreUnavailable | WrittenByNewer | None:
        """Catch up with the store before the room is read; a refusal if that is not possible.

        Does nothing if only this node writes to the store.
        """
        if not self._node.store.shared:
            return None
        refused = await self._catch_up()
        # A damaged room is shown as it was when it was sound.
        return refused if isinstance(refused, StoreUnavailable | WrittenByNewer) else None


def _spent(phase: Histogram, since: float) -> float:
    """Count what a command has spent in a phase; gives the moment at which the next one begins."""
    now = perf_counter()
    phase.observe(now - since)
    return now
