"""Watches: the streams of `WatchRooms`, which tell a platform the public events of its rooms."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TypeAlias, final

import grpc

from erqiwang_grpc.archive import feed as watching
from erqiwang_grpc.archive.feed import Place
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.clocks import within
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.costs import Work
from erqiwang_grpc.rooms.quotas import Quotas
from erqiwang_grpc.rooms.refusals import ForeignCursor, InvalidCursor, StoreUnavailable, WrittenByNewer
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Node
from erqiwang_grpc.rpc import cursors
from erqiwang_grpc.rpc.cursors import read_cursor
from erqiwang_grpc.rpc.errors import end, end_served, refuse
from erqiwang_grpc.rpc.openings import Openings
from erqiwang_grpc.rpc.room_presence import RoomPresence
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import Unavailable
from erqiwang_grpc.store.wakeup import Bell
from erqiwang_grpc.v1 import room_service_pb2 as pb

Context: TypeAlias = "grpc.aio.ServicerContext[pb.WatchRoomsRequest, pb.WatchRoomsResponse]"


@final
class RoomWatches:
    """All streams of `WatchRooms` of a server."""

    def __init__(self, rooms: Rooms, quotas: Quotas, node: Node) -> None:
        self._rooms = rooms
        self._quotas = quotas
        self._node = node
        self._openings = Openings(rooms, node.store)
        self.number = 0
        """The number of streams now."""
        self._draining = asyncio.Event()
        self._bells: set[Bell] = set()

    async def watch(self, platform: PlatformId, request: pb.WatchRoomsRequest, context: Context) -> None:
        """Send the platform the events of its rooms until it leaves. Ends the call where there are too many streams."""
        place = await self._start(request)
        if not isinstance(place, Place):
            await refuse(context, place)
        if self.number >= self._node.limits.watchers:
            said = f"The server holds {self._node.limits.watchers} watchers, as many as it takes."
            await end(context, Reason.TOO_MANY_STREAMS, said)
        reached = self._quotas.watcher(platform)
        if reached is not None:
            await refuse(context, reached)
        self.number += 1
        try:
            with self._quotas.watching(platform):
                if request.now:
                    await context.write(pb.WatchRoomsResponse(cursor=self._cursor(place)))
                await self._tell(platform, place, context, follows_presence=request.presence)
        finally:
            self.number -= 1

    async def _start(self, request: pb.WatchRoomsRequest) -> Place | InvalidCursor | ForeignCursor | StoreUnavailable:
        """The place where the watch begins."""
        if not request.now:
            return read_cursor(request.cursor, self._node.store.identity)
        latest = await self._node.store.latest()
        return StoreUnavailable() if isinstance(latest, Unavailable) else Place(latest, 0)

    def _cursor(self, place: Place) -> str:
        return cursors.cursor(self._node.store.identity, place)

    async def _tell(
        self,
        platform: PlatformId,
        place: Place,
        context: Context,
        *,
        follows_presence: bool,
    ) -> None:
        node, bell = self._node, Bell()
        presence = RoomPresence(platform, self._rooms, self._openings, bell.ring) if follows_presence else None
        wrote = node.monotonic()

        def is_quiet() -> bool:
            return node.monotonic() - wrote >= watching.QUIET_SECONDS

        feed = watching.feed(
            node.store,
            node.wakeup,
            platform,
            place,
            bell,
            self._draining.is_set,
            node.monotonic,
            partial(self._pay_to_watch, platform),
            has_more=lambda: is_quiet() or (presence is not None and presence.waits),
        )
        with contextlib.ExitStack() as stack:
            self._bells.add(bell)
            stack.callback(self._bells.discard, bell)
            if presence is not None:
                stack.enter_context(node.presences.listen(presence.hear))
            async with contextlib.aclosing(feed) as found:
                async for happened in found:
                    if isinstance(happened, InvalidCursor | StoreUnavailable | WrittenByNewer):
                        await refuse(context, happened)
                    place = happened[-1].place if happened else place
                    told = [await self._told(each, context) for each in happened]
                    news = [] if presence is None else await presence.news()
                    if presence is not None:
                        self._quotas.owe(platform, presence.bill() * Work.EVENT.units)
                    if news:
                        await self._pay_to_watch(platform, len(news))
                    if told or news or is_quiet():
                        cursor = self._cursor(place)
                        await context.write(pb.WatchRoomsResponse(events=told, cursor=cursor, presence=news))
                        wrote = node.monotonic()
        await end_served(context, Reason.DRAINING)

    async def _pay_to_watch(self, platform: PlatformId, events: int) -> None:
        """Pay for events that a watcher is to be told. Returns when they may be told, or when the server shuts down."""
        wait = self._quotas.watch(platform, events * Work.WATCHED.units)
        if wait:
            with contextlib.suppress(TimeoutError):
                await within(self._node.monotonic, wait, self._draining.wait())

    def drain(self) -> None:
        """The server is shutting down: end all streams."""
        self._draining.set()
        for bell in self._bells:
            bell.ring()

    async def _told(
        self,
        happened: watching.Happened,
        context: Context,
    ) -> pb.RoomEvent:
        opened = await self._openings.of(happened)
        if isinstance(opened, StoreUnavailable | WrittenByNewer):
            await refuse(context, opened)
        return encode.room_event(happened.entry, happened.event, opened, self._cursor(happened.place))
