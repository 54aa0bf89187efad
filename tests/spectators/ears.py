"""Spectators without a server: they keep what they are told, and when."""

from collections.abc import Callable
from typing import final

from erqiwang_core.notices import fold_public
from erqiwang_core.parts import PublicView
from erqiwang_core.viewer import PUBLIC

from erqiwang_grpc.auth.tokens import Lateness, UnixSeconds
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.listener import Heartbeat, Told
from erqiwang_grpc.spectators.broadcast import Admission, Broadcast
from erqiwang_grpc.spectators.broadcasts import Broadcasts
from erqiwang_grpc.spectators.spectator import Entrance
from erqiwang_grpc.store import RoomId, TimeNs

NEVER = UnixSeconds(2**40)


@final
class Ear:
    """A spectator that keeps what it is told, with the time on the wall clock at that moment."""

    def __init__(self, now: Callable[[], TimeNs]) -> None:
        self._now = now
        self.entrances: list[tuple[TimeNs, Entrance]] = []
        self.told: list[tuple[TimeNs, Told]] = []
        self.heartbeats: list[tuple[TimeNs, Heartbeat]] = []
        self.ended: Closing | None = None
        self.version = 0
        self.view: PublicView | None = None

    def begin(self, entrance: Entrance) -> None:
        assert not self.entrances, "it has begun already"
        self.entrances.append((self._now(), entrance))
        self.version, self.view = entrance.scene.version, entrance.scene.view

    def tell(self, told: Told) -> None:
        assert self.view is not None, "it has begun"
        assert told.version == self.version + 1
        self.told.append((self._now(), told))
        self.version = told.version
        self.view = fold_public(self.view, told.telling.notice(PUBLIC))

    def beat(self, heartbeat: Heartbeat) -> None:
        self.heartbeats.append((self._now(), heartbeat))

    def end(self, closing: Closing) -> None:
        self.ended = self.ended or closing


async def listening(
    broadcasts: Broadcasts,
    room: RoomId,
    lateness: Lateness,
    now: Callable[[], TimeNs],
    last_version: int | None = None,
    expires: UnixSeconds = NEVER,
) -> tuple[Ear, Broadcast, Admission]:
    """An ear that has attached."""
    ear = Ear(now)
    admission = Admission(ear, expires, 0.0)
    broadcast = await broadcasts.attach(room, lateness, admission, last_version)
    assert isinstance(broadcast, Broadcast), broadcast
    return ear, broadcast, admission
