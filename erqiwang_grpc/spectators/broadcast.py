"""A broadcast: one room, as late as its spectators are told of it. They share one fold and each message."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import Iterator
from typing import Final, final

from erqiwang_core import notices, view as views
from erqiwang_core.match import Over
from erqiwang_core.viewer import PUBLIC

from erqiwang_grpc.auth.tokens import Lateness, UnixSeconds
from erqiwang_grpc.clocks import within
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.limits import SECOND
from erqiwang_grpc.rooms.listener import Heartbeat, Missed, Told
from erqiwang_grpc.rooms.refusals import RoomQuarantined, StoreUnavailable, WrittenByNewer
from erqiwang_grpc.rooms.room import Node
from erqiwang_grpc.rooms.state import State, Unopenable, replay
from erqiwang_grpc.spectators.spectator import Entrance, Scene, Spectator
from erqiwang_grpc.spectators.waiting import Waiting, breath, waiting
from erqiwang_grpc.store import NOTHING, Damaged, Entry, RoomId, TimeNs, Unavailable
from erqiwang_grpc.store.wakeup import Bell

log = logging.getLogger(__name__)

_POLL_SECONDS: Final = 5.0
"""Seconds between two reads of the log, because a wakeup may be lost."""
_AT_ONCE: Final = 20
"""Entries that are followed before others have their turn: 2 ms."""
_TOGETHER: Final = 50
"""Spectators that are told of an event before others have their turn. Writing to each takes 70 µs: to a thousand at once, every
table on the node would wait for 70 ms."""


@final
class Admission:
    """A spectator in a broadcast."""

    def __init__(self, spectator: Spectator, expires: UnixSeconds, now: float) -> None:
        self.spectator = spectator
        self.expires = expires
        """When its token expires, on the wall clock."""
        self.written = now
        """When it was last written to. Its stream keeps it up to date."""
        self.version = 0
        """The last version that it was told; 0 before it has begun."""
        self.has_left = False


@final
class Broadcast:
    """A room at one lateness. It reads the log while it has spectators."""

    def __init__(self, room: RoomId, lateness: Lateness, node: Node) -> None:
        self.room = room
        self.lateness = lateness
        self.left = node.monotonic()
        """When the last spectator left."""
        self.closed: Closing | None = None
        """Why it tells nothing more, so that another broadcast must try anew; None while it goes on."""
        self._node = node
        self._waiting: Waiting = waiting(lateness)
        self._read_up_to = NOTHING
        self._state: State | None = None
        """What may be told by now; None before the room's opening may be told."""
        self._scene: Scene | None = None
        """What spectators begin with at the present version; None until one does."""
        self._admitted: set[Admission] = set()
        self._working: set[asyncio.Task[RoomQuarantined | StoreUnavailable | WrittenByNewer | None]] = set()
        self._coming = 0
        """Spectators that wait for what they begin with, or for their turn to have it read."""
        self._lock = asyncio.Lock()
        self._bell = Bell()
        self._next_read = 0.0
        self._going_on: asyncio.Task[None] | None = None

    @property
    def in_use(self) -> bool:
        """Whether it has a spectator, or one that waits for what it begins with."""
        return bool(self._admitted) or self._coming > 0

    @property
    def is_open(self) -> bool:
        """Whether the log was followed up to what may be told, so that one more spectator costs little."""
        return self._state is not None

    # Spectators

    @contextlib.contextmanager
    def awaited(self) -> Iterator[None]:
        """Keep it in use while in the context: a spectator waits for its turn to attach."""
        self._coming += 1
        try:
            yield
        finally:
            self._coming -= 1
            self.left = self._node.monotonic()

    async def attach(
        self, admission: Admission, last_version: int | None
    ) -> RoomQuarantined | StoreUnavailable | WrittenByNewer | None:
        """Take in a spectator, which begins with what may be told by now; the refusal if the log cannot be followed.

        If the opening of the room may not be told yet, the spectator begins once it may.
        """
        # What the others are told on the way must be told to its end, also if this caller gives up.
        attaching = asyncio.create_task(self._attach(admission, last_version))
        self._working.add(attaching)
        attaching.add_done_callback(self._working.discard)
        try:
            return await asyncio.shield(attaching)
        except asyncio.CancelledError:
            self.detach(admission)
            raise

    async def _attach(
        self, admission: Admission, last_version: int | None
    ) -> RoomQuarantined | StoreUnavailable | WrittenByNewer | None:
        with self.awaited():
            async with self._lock:
                refused = None if self.closed is not None else await self._catch_up()
                if refused is None and not admission.has_left:
                    self._admit(admission, last_version)
                return refused

    async def _catch_up(self) -> RoomQuarantined | StoreUnavailable | WrittenByNewer | None:
        """Read the log, and tell what may be told. What keeps it from going on ends the spectators it has already."""
        try:
            refused = await self._read() or await self._tell()
        except Exception:
            self.close(Closing.FAILED)
            raise
        if isinstance(refused, RoomQuarantined | WrittenByNewer):
            self.close(_closing(refused))
        return refused

    def _admit(self, admission: Admission, last_version: int | None) -> None:
        if self.closed is not None:  # while it waited
            admission.spectator.end(self.closed)
            return
        self._admitted.add(admission)
        if self._state is not None:
            admission.spectator.begin(self._entrance(self._state, admission, last_version))
            self._end_if_over(self._state)
        else:
            # It waits for the opening of the room. Show it that its token was taken.
            admission.spectator.beat(Heartbeat(NOTHING, self._server_time()))
        if self._going_on is None:
            self._going_on = asyncio.create_task(self._go_on())

    def detach(self, admission: Admission) -> None:
        """Remove a spectator whose stream has ended. One that is still attaching is not let in any more."""
        admission.has_left = True
        self._admitted.discard(admission)
        self.left = self._node.monotonic()
        self._bell.ring()

    def end(self, closing: Closing) -> None:
        """End every spectator with this reason."""
        for admission in self._admitted:
            admission.spectator.end(closing)

    def close(self, closing: Closing) -> None:
        """End every spectator with this reason, and those that still wait for their turn."""
        self.closed = closing
        self.end(closing)

    def stop(self) -> None:
        """Stop reading the log, for good."""
        if self._going_on is not None:
            self._going_on.cancel()

    def entrance(self, admission: Admission, last_version: int | None) -> Entrance | None:
        """What a spectator begins again with, after the last version that it saw; None if nothing may be told yet."""
        return None if self._state is None else self._entrance(self._state, admission, last_version)

    def _entrance(self, state: State, admission: Admission, last_version: int | None) -> Entrance:
        admission.version = state.version
        if self._scene is None:
            seen = views.view(state.match, PUBLIC)
            self._scene = Scene(self.room, state.version, seen, state.standing.turn_began)
        missed = [] if last_version is None else state.missed(PUBLIC, last_version)
        told = tuple(Missed(happened.version, happened.time, cause) for happened, cause in missed)
        return Entrance(self._scene, told, self._server_time())

    def _server_time(self) -> TimeNs:
        """The time that is shown, but never before the last event: the wall clock may have been set back."""
        moment = self._waiting.moment(self._node.now())
        return moment if self._state is None else max(moment, self._state.standing.time)

    def look_after(self, heartbeat_seconds: float) -> None:
        """Send heartbeats on silent streams, and end those whose token has expired."""
        now, wall = self._node.monotonic(), self._node.now() // SECOND
        version = NOTHING if self._state is None else self._state.version
        for admission in self._admitted:
            if wall >= admission.expires:
                admission.spectator.end(Closing.EXPIRED)
            elif now - admission.written > heartbeat_seconds:
                admission.written = now
                admission.spectator.beat(Heartbeat(version, self._server_time()))

    # The log

    def ring(self) -> None:
        """The room may have grown."""
        self._bell.ring()

    async def _go_on(self) -> None:
        """Read and tell what comes, while there are spectators. An error ends them, and reaches no other broadcast."""
        try:
            while self._admitted:
                await self._wait()
                async with self._lock:
                    if self.closed is not None:
                        return  # by one that attached meanwhile
                    unread = await self._read() if self._node.monotonic() >= self._next_read else None
                    untold = await self._tell()
                for refused in (untold, unread):
                    if isinstance(refused, RoomQuarantined | WrittenByNewer) and self.closed is None:
                        self.close(_closing(refused))
        except Exception:
            log.exception("broadcast failed", extra={"room": self.room, "version": self._read_up_to})
            self.close(Closing.FAILED)
        finally:
            self._going_on = None

    async def _wait(self) -> None:
        """Wait until something may be told, or the log is to be read."""
        now = self._node.monotonic()
        due = self._waiting.seconds(self._node.now())
        until = min(self._next_read, math.inf if due is None else now + due)
        with contextlib.suppress(TimeoutError):
            if until > now:
                await within(self._node.monotonic, until - now, self._bell.wait())
                self._next_read = min(self._next_read, self._node.monotonic() + breath(self.lateness))

    async def _read(self) -> RoomQuarantined | StoreUnavailable | None:
        """Read what was appended since the last read. A refusal if that is not possible."""
        self._next_read = self._node.monotonic() + _POLL_SECONDS
        entries = await self._node.store.read(self.room, self._read_up_to)
        if isinstance(entries, Damaged):
            log.error("room damaged", extra={"room": self.room, "version": entries.version, "why": entries.why})
            return RoomQuarantined(NOTHING)  # its version would tell how far the room has come
        if isinstance(entries, Unavailable):
            return StoreUnavailable()
        if entries:
            self._waiting.add(entries)
            self._read_up_to = entries[-1].version
        return None

    async def _tell(self) -> RoomQuarantined | WrittenByNewer | None:
        """Tell what may be told by now. A refusal if it cannot be understood.

        It must not be cancelled: what was taken is told by nobody else.
        """
        while due := self._waiting.take(self._node.now(), _AT_ONCE):
            if self._state is None:
                begun = replay(due)
                if isinstance(begun, Unopenable):
                    return WrittenByNewer() if begun.is_newer else RoomQuarantined(NOTHING)
                if begun.fault is not None:
                    return self._unfollowable(begun)
                self._state = begun
                for admission in self._admitted:
                    admission.spectator.begin(self._entrance(begun, admission, None))
            else:
                for entry in due:
                    await self._follow(self._state, entry)
                    if self._state.fault is not None:
                        return self._unfollowable(self._state)
            await asyncio.sleep(0)
        if self._state is None:
            return None
        self._end_if_over(self._state)
        return None if self._state.newer is None else WrittenByNewer()

    def _unfollowable(self, state: State) -> RoomQuarantined:
        """The refusal once an event cannot be followed: versions go on after it, but nobody knows what happened."""
        log.error("room quarantined", extra={"room": self.room, "version": state.version, "why": state.fault})
        return RoomQuarantined(NOTHING)

    async def _follow(self, state: State, entry: Entry) -> None:
        """Take in an entry, and tell every spectator of its event, a portion of them after the other."""
        self._scene = None
        followed = state.follow(entry)
        if followed is None or not self._admitted:
            return
        telling = notices.telling(followed.before, followed.event, state.match, ())
        told = Told(state.version, state.standing.time, state.standing.turn_began, telling)
        admitted = tuple(self._admitted)
        for first in range(0, len(admitted), _TOGETHER):
            if first:
                await asyncio.sleep(0)
            for admission in admitted[first : first + _TOGETHER]:
                # One that was too slow may have begun again meanwhile, with this event.
                if admission.version < told.version:
                    admission.version = told.version
                    admission.spectator.tell(told)

    def _end_if_over(self, state: State) -> None:
        """End the spectators of a match that is over: they were told all that there is to tell."""
        if isinstance(state.match, Over):
            self.end(Closing.DETACHED)


def _closing(refused: RoomQuarantined | WrittenByNewer) -> Closing:
    """How the streams of a broadcast end that cannot go on."""
    match refused:
        case RoomQuarantined():
            return Closing.QUARANTINED
        case WrittenByNewer():
            return Closing.LEFT_TO_NEWER
