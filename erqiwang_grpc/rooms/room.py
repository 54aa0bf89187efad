"""One live room: a command is decided, appended, taken in and told.

The room holds its only lock, and every await between deciding and telling.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from time import perf_counter
from typing import Final, final

from erqiwang_core import match as matches
from erqiwang_core.dealing import Shuffled
from erqiwang_core.match import Disband, Gathering, Match
from erqiwang_core.playing import Reply, ShowTrumps, Signal, Signalled, TrumpsShown
from erqiwang_core.refusals import SeatFree, SeatOccupied, WrongPhase
from erqiwang_core.rules import game_rules
from erqiwang_core.units import Seat

from erqiwang_grpc.clocks import Monotonic, SystemMonotonic
from erqiwang_grpc.events.actor import Actor, HouseActor, SeatActor, stored
from erqiwang_grpc.events.batches import batch_of
from erqiwang_grpc.events.standing import Standing
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.rooms.audience import Attachment, Audience
from erqiwang_grpc.rooms.command import Accepted, Answer, Answered, Asked, HouseAsks, SeatAsks
from erqiwang_grpc.rooms.counters import Counters
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.listener import Listener, Told
from erqiwang_grpc.rooms.rate_limit import Allowances
from erqiwang_grpc.rooms.refusals import (
    CommandIdReused,
    OutcomeUnknown,
    Refused,
    RoomQuarantined,
    StaleVersion,
    StoreUnavailable,
)
from erqiwang_grpc.rooms.state import Brought, State
from erqiwang_grpc.shuffling import Shuffler
from erqiwang_grpc.store import (
    NOTHING,
    Appended,
    CommandKey,
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

_ATTEMPTS: Final = 8
"""How often one command is decided at most: again each time another node was faster. More would mean a fault."""


@final
@dataclass(frozen=True, slots=True)
class Node:
    """What every room needs of the node it lives on."""

    store: Store
    wakeup: Wakeup
    now: Callable[[], TimeNs]
    """The wall clock; `clocks` says which of the two measures what."""
    shuffle: Shuffler
    limits: Limits
    counters: Counters = field(default_factory=Counters)
    monotonic: Monotonic = field(default_factory=SystemMonotonic)


@final
class Room:
    """One room in memory."""

    def __init__(self, room_id: RoomId, state: State, node: Node) -> None:
        self.id = room_id
        self.state = state
        self.audience = Audience(room_id, state, node.now, node.monotonic)
        self.touched = node.monotonic()
        self.allowances = Allowances(node.limits.commands_per_second)
        """What each seat may still ask for."""
        self._node = node
        self._lock = asyncio.Lock()
        self._summaries = SummaryWriter()
        self._unsure = False
        self._commands = 0
        """Commands under way or waiting. The lock cannot tell: between two commands it is free until the next waiter runs."""

    @property
    def match(self) -> Match:
        """The match as it stands."""
        return self.state.match

    @property
    def version(self) -> Version:
        """How many events the room holds."""
        return self.state.version

    @property
    def fault(self) -> str | None:
        """Why the room is quarantined; None if it is not."""
        return self.state.fault

    @property
    def in_use(self) -> bool:
        """Whether somebody listens or a command is under way."""
        return bool(self.audience) or self._commands > 0

    def touch(self) -> None:
        """Note that the room is in use now, so that it stays in memory."""
        self.touched = self._node.monotonic()

    # Listening

    def attach(self, seat: Seat, listener: Listener, last_version: int | None) -> Attachment:
        """A new listener of a seat, which begins with the view now. An older one of the seat is displaced."""
        return self.audience.attach(seat, listener, last_version)

    def detach(self, attachment: Attachment) -> None:
        """Remove a listener whose stream has ended."""
        self.touch()
        self.audience.detach(attachment)

    # Commands

    async def carry_out(self, asked: Asked) -> Answer:
        """Carry a command out, or say why not. An unexpected error quarantines this room and reaches no other."""
        self._commands += 1
        try:
            async with self._lock:
                self.touch()
                began = perf_counter()
                answer = await self._contained(asked)
                self._node.counters.count(answer, perf_counter() - began)
                return answer
        finally:
            self._commands -= 1

    async def _contained(self, asked: Asked) -> Answer:
        try:
            return await self._carry_out(asked)
        except Exception:
            self.state.fault = "an unexpected exception"
            log.exception("room quarantined", extra={"room": self.id, "version": self.version})
            return RoomQuarantined(self.version)

    async def _carry_out(self, asked: Asked) -> Answer:
        """The way of every command: recognise, decide, append, then take and tell."""
        store = self._node.store
        at_head = not store.shared
        if self._unsure:
            at_head = True
            if await self._follow() is not None:
                return OutcomeUnknown()
        for _ in range(_ATTEMPTS):
            # Recognise. An id that brought something about is answered as before.
            known = self.state.brought.get((asked.actor, asked.key.id)) if asked.key else None
            if known is not None and asked.key is not None:
                return _again(known, asked.key)

            # Decide. On a shared store this node may be behind, so what brings no event about is answered only at the head.
            version = self.version
            decided = self._decide(asked)
            if not isinstance(decided, tuple) or not decided:
                if not at_head:
                    at_head = True
                    refused = await self._follow()
                    if refused is not None:
                        return refused
                    if self.version > version:
                        continue
                return self._nothing_brought(decided)

            # Append. Until the store has answered, only the store knows whether the batch is in it.
            # A wall clock that is set back must not make a room's story run backwards.
            time = max(self._node.now(), self.state.standing.time)
            after = self._after(decided, time, asked.actor)
            batch = batch_of(decided, after[-1], self._summaries, stored(asked.actor), asked.key)
            self._unsure = True
            appended = await store.append(self.id, version, batch)
            self._unsure = isinstance(appended, Unavailable | Unsure)
            match appended:
                case Appended():
                    # Take and tell.
                    sender = asked.actor.seat if isinstance(asked, SeatAsks) else None
                    told = tuple(
                        self._take(event, standing, sender) for event, standing in zip(decided, after, strict=True)
                    )
                    self.state.remember(asked.actor, asked.key, Version(version + 1))
                    self._node.wakeup.hint(self.id, self.version)
                    return Accepted(Version(version + 1), self.version, repeated=False, told=told)
                case Duplicate(first, last, fingerprint):
                    assert asked.key is not None, "only a command with an id can be a duplicate"
                    return await self._follow() or _again(Brought(first, last, fingerprint), asked.key)
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
        raise RuntimeError("a room that is decided again and again never settles")

    def _decide(self, asked: Asked) -> tuple[matches.Event, ...] | Reply | Refused:
        """The events of a command, the answer to a request, or a refusal."""
        match asked:
            case SeatAsks(SeatActor(seat, player), command, _, expected):
                if self.fault is not None:
                    return RoomQuarantined(self.version)
                if expected not in (None, self.version):
                    return StaleVersion(self.version)
                sitting = self.match.chairs[seat].player
                if sitting != player:
                    # The seat was left, or given to another, while the command waited for its turn.
                    return SeatFree(seat) if sitting is None else SeatOccupied(seat)
                if isinstance(command, Signal | ShowTrumps):
                    return matches.answer(self.match, seat, command)
                return matches.decide(self.match, seat, command, self._shuffled)
            case HouseAsks(HouseActor()) if not isinstance(self.match, Gathering):
                # The house ends what nobody fills; while its command waited, the last seat was taken.
                return WrongPhase(matches.phase(self.match))
            case HouseAsks(_, command):
                if self.fault is not None and not isinstance(command, Disband):
                    # A match can always be ended: that needs nothing of what came before.
                    return RoomQuarantined(self.version)
                return matches.administer(self.match, command, self._shuffled)

    def _nothing_brought(self, decided: tuple[matches.Event, ...] | Reply | Refused) -> Answer:
        """The answer to what brings no event about. A signal is passed on."""
        if isinstance(decided, tuple):
            return Accepted(NOTHING, NOTHING, repeated=False)
        if isinstance(decided, Signalled):
            self.audience.signal(decided)
            return Answered()
        return Answered(decided) if isinstance(decided, TrumpsShown) else decided

    def _shuffled(self) -> Shuffled:
        options = self.match.options
        return self._node.shuffle(game_rules(options.game, options.review))

    # Events

    def _after(self, decided: Sequence[matches.Event], time: TimeNs, actor: Actor) -> tuple[Standing, ...]:
        """Where the room will stand after each of the events."""
        stations = accumulate(decided, lambda at, event: at.after(event, time, actor), initial=self.state.standing)
        return tuple(stations)[1:]

    def _take(self, event: matches.Event, after: Standing, sender: Seat | None) -> Told:
        """Take an event that is in the store into the state, and tell it."""
        before = self.match
        self.state.take(event, after)
        return self.audience.tell(before, event, sender)

    async def _follow(self) -> RoomQuarantined | None:
        """Take in and tell what the store holds and this node has not seen; why not, if that is not possible."""
        entries = await self._node.store.read(self.id, self.version)
        if isinstance(entries, Damaged):
            return self._damaged(entries.why)
        self._unsure = False
        sound = self.fault is None
        for entry in entries:
            followed = self.state.follow(entry)
            if followed is not None:
                self.audience.tell(followed.before, followed.event, None)
        if sound and self.fault is not None:
            log.error("room quarantined", extra={"room": self.id, "version": self.version, "why": self.fault})
        return None

    def _damaged(self, why: str) -> RoomQuarantined:
        self.state.fault = why
        log.error("room damaged", extra={"room": self.id, "version": self.version, "why": why})
        return RoomQuarantined(self.version)

    async def follow(self) -> None:
        """Take in and tell what other nodes have appended: at a wakeup, and from time to time, since one may be lost."""
        async with self._lock:
            await self._follow()

    async def refresh(self) -> None:
        """Follow to the head before the room is read. Does nothing if this node alone writes to the store."""
        if self._node.store.shared:
            await self.follow()


def _again(brought: Brought, key: CommandKey) -> Accepted | CommandIdReused:
    """The answer to a command that was sent before."""
    if brought.fingerprint != key.fingerprint:
        return CommandIdReused()
    return Accepted(brought.first, brought.last, repeated=True)
