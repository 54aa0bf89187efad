"""Spectating: the calls of `Watch` with a watch token, from the check of the limits to the last message."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import final

import grpc

from erqiwang_grpc.auth.tokens import WatchClaims
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.counters import Kind
from erqiwang_grpc.rooms.quotas import Quotas
from erqiwang_grpc.rooms.room import Node
from erqiwang_grpc.rpc.access import Access
from erqiwang_grpc.rpc.errors import end, refuse
from erqiwang_grpc.rpc.spectator_stream import SpectatorStream
from erqiwang_grpc.spectators.broadcast import Admission, Broadcast
from erqiwang_grpc.spectators.broadcasts import ATTACHED_PER_SECOND, LATENESSES, Broadcasts
from erqiwang_grpc.spectators.spectator import Entrance
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.v1 import seat_service_pb2 as pb

_Context = grpc.aio.ServicerContext[pb.WatchRequest, bytes]


@final
class Spectating:
    """Serves the streams of spectators."""

    def __init__(self, access: Access, broadcasts: Broadcasts, quotas: Quotas, node: Node) -> None:
        self._access = access
        self._broadcasts = broadcasts
        self._quotas = quotas
        self._node = node
        self.streams = 0
        """The number of open streams of spectators."""
        self._of_room: Counter[RoomId] = Counter()

    async def watch(self, claims: WatchClaims, last_version: int | None, context: _Context) -> Closing:
        """Serve one spectator to its end; gives why it ended. Ends the call if it cannot begin."""
        async with self._place(claims, context):
            await self._refuse_haste(claims, context)
            await self._refuse_lateness(claims, context)
            # Who is refused up to here costs no read of the store.
            refused = await self._access.owns(claims.room, claims.platform)
            if refused is not None:
                await refuse(context, refused)
            # Others may have come meanwhile. Until it attaches nothing is waited for.
            await self._refuse_lateness(claims, context)
            broadcast: Broadcast | None = None

            def begin_again(since: int | None) -> Entrance | None:
                self._node.counters.resyncs[Kind.SPECTATOR] += 1
                return None if broadcast is None else broadcast.entrance(admission, since)

            stream = SpectatorStream(self._node.limits.outbox, begin_again, last_version)
            admission = Admission(stream, claims.expires, self._node.monotonic())
            attached = await self._broadcasts.attach(claims.room, claims.lateness, admission, last_version)
            if not isinstance(attached, Broadcast):
                await refuse(context, attached)
            broadcast = attached
            try:
                return await self._write(stream, admission, context)
            finally:
                broadcast.detach(admission)

    async def _write(self, stream: SpectatorStream, admission: Admission, context: _Context) -> Closing:
        while True:
            response = await stream.outbox.take()
            if response:
                admission.written = self._node.monotonic()
                await context.write(response)
            elif stream.outbox.closing is not None:
                return stream.outbox.closing

    @asynccontextmanager
    async def _place(self, claims: WatchClaims, context: _Context) -> AsyncIterator[None]:
        """Count the stream while in the context. Ends the call if the server, the platform or the room has too many."""
        limits = self._node.limits
        if self.streams >= limits.spectators or self._of_room[claims.room] >= limits.spectators_per_room:
            said = f"The server takes {limits.spectators} spectators, and {limits.spectators_per_room} of one room."
            await end(context, Reason.TOO_MANY_STREAMS, said)
        reached = self._quotas.spectator(claims.platform)
        if reached is not None:
            await refuse(context, reached)
        self.streams += 1
        self._of_room[claims.room] += 1
        try:
            with self._quotas.spectating(claims.platform):
                yield
        finally:
            self.streams -= 1
            self._of_room[claims.room] -= 1
            if not self._of_room[claims.room]:
                del self._of_room[claims.room]

    async def _refuse_haste(self, claims: WatchClaims, context: _Context) -> None:
        """End the call if spectators of the room come too fast."""
        if self._broadcasts.wait(claims.room):
            said = f"More than {ATTACHED_PER_SECOND} spectators of this room come in a second."
            await end(context, Reason.TOO_MANY_STREAMS, said)

    async def _refuse_lateness(self, claims: WatchClaims, context: _Context) -> None:
        """End the call if the room is watched in too many ways."""
        if not self._broadcasts.has_place(claims.room, claims.lateness):
            said = f"The room is watched with {LATENESSES} different delays, as many as the server takes."
            await end(context, Reason.TOO_MANY_STREAMS, said)
