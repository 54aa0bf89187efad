"""The standing of a room: its match and its times, computed from its events one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import final

from erqiwang_core import match as matches
from erqiwang_core.match import (
    DealStarted,
    Event,
    Gathering,
    Match,
    MatchEnded,
    Over,
    Running,
    SeatLeft,
    SeatReady,
    SeatTaken,
)
from erqiwang_core.settlement import DealSettled

from erqiwang_grpc.events.actor import HOUSE, Actor, read as actor_of
from erqiwang_grpc.events.history import HistoryEvent, RoomHistory, UnreadableEntry
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.store import TimeNs, Version


class RoomState(Enum):
    """Where a room stands, as its platform sees it."""

    OPEN = 1
    """The match has not begun."""
    PLAYING = 2
    FINISHED = 3
    """All deals were played."""
    DISBANDED = 4
    """The match was disbanded by its platform."""
    EXPIRED = 5
    """The match did not begin in time, so the server disbanded it."""


@final
@dataclass(frozen=True, slots=True)
class Standing:
    """The standing of a room after its event `version`."""

    opened: RoomOpened
    match: Match
    version: Version
    created: TimeNs
    time: TimeNs
    """When the last event happened. The times in a room never go back, even if the wall clock is set back: the next
    event has this time or a later one."""
    turn_began: TimeNs
    settled_deals: int = 0
    """The number of settled deals. A deal that a disband cut short is not counted."""
    started: TimeNs | None = None
    """When the first deal started; None before that."""
    ended: TimeNs | None = None
    ended_by: Actor | None = None

    @property
    def state(self) -> RoomState:
        """Where the room stands, as its platform sees it."""
        match self.match:
            case Gathering():
                return RoomState.OPEN
            case Running():
                return RoomState.PLAYING
            case Over(account=account):
                if self.ended_by == HOUSE:
                    return RoomState.EXPIRED
                return RoomState.FINISHED if account.disbanding is None else RoomState.DISBANDED

    def after(self, event: Event, time: TimeNs, actor: Actor) -> Standing:
        """The standing after one more event, which must come from this match."""
        begins = isinstance(event, DealStarted) and event.number == 1
        ends = isinstance(event, MatchEnded)
        is_turn = not isinstance(event, SeatTaken | SeatLeft | SeatReady | MatchEnded)
        return Standing(
            opened=self.opened,
            match=matches.evolve(self.match, event),
            version=Version(self.version + 1),
            created=self.created,
            time=max(self.time, time),
            turn_began=time if is_turn else self.turn_began,
            settled_deals=self.settled_deals + isinstance(event, DealSettled),
            started=time if begins else self.started,
            ended=time if ends else self.ended,
            ended_by=actor if ends else self.ended_by,
        )

    def passing(self, version: Version, time: TimeNs) -> Standing:
        """The standing after an event that cannot be followed: only version and time change."""
        return replace(self, version=version, time=max(self.time, time))


def opened(event: RoomOpened, time: TimeNs) -> Standing:
    """The standing of a room that was just created."""
    return Standing(event, matches.begin(event.options), Version(1), time, time, time)


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One event of a stored room, with the standing before and after it."""

    before: Standing
    happened: HistoryEvent
    after: Standing


def steps(history: RoomHistory) -> Iterator[Step | UnreadableEntry]:
    """Each event of a stored room after its opening, with the standing before and after it.

    An event that the rules cannot follow ends the sequence: its last item is then an `UnreadableEntry`. A live room goes
    on after such an event instead, see `rooms.state.State.follow`.
    """
    before = opened(history.opened, history.opening.time)
    for each in history.later:
        entry = each.entry
        try:
            after = before.after(each.event, entry.time, actor_of(entry.actor))
        except Exception as error:  # noqa: BLE001  # a corrected rule may not accept what an older one decided
            yield UnreadableEntry(entry.version, f"{type(error).__name__} in the rules")
            return
        yield Step(before, each, after)
        before = after


def latest(history: RoomHistory) -> Standing | UnreadableEntry:
    """The standing after all events of a stored room, or the first event that cannot be read or followed."""
    if history.unreadable is not None:
        return history.unreadable
    standing = opened(history.opened, history.opening.time)
    for step in steps(history):
        if isinstance(step, UnreadableEntry):
            return step
        standing = step.after
    return standing
