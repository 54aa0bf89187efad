"""One stream of `Watch`: it is kept open over lost connections, and goes on from the last version that was told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Final, TypeAlias, final

import grpc

from erqiwang_grpc.client import placement
from erqiwang_grpc.client.calls import Cancellation, Ending, Status, bearer
from erqiwang_grpc.client.commands import Ended
from erqiwang_grpc.client.endings import FOR_GOOD, Lost, parted
from erqiwang_grpc.client.servers import Servers
from erqiwang_grpc.client.timing import BackOff, Timing
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.v1 import seat_service_pb2 as pb, seat_service_pb2_grpc as rpc

_AFRESH_SECONDS: Final = 1.0
"""Seconds from the begin of one stream to that of the next where a snapshot is asked for: each costs of the room's allowance."""
_ELSEWHERE: Final = (Reason.DRAINING.name, Reason.WRITTEN_BY_NEWER.name)
"""What another server may do better."""
_Call: TypeAlias = "grpc.aio.UnaryStreamCall[pb.WatchRequest, pb.PlayResponse]"


@final
class WatchStream:
    """The responses of `Watch` with one token, of a seat or a spectator.

    After a lost connection it reconnects, to the next server if one is gone, and begins again with a snapshot.
    """

    def __init__(
        self,
        servers: Servers,
        token: str,
        *,
        last_version: int | None = None,
        room_id: str | None = None,
        timing: Timing | None = None,
        is_patient: bool = True,
    ) -> None:
        """If it is not patient, it ends with what may pass later but is no fault of the connection, such as too many streams."""
        self._servers = servers
        self._token = token
        self._room = () if room_id is None else ((placement.ROOM_HEADER, room_id),)
        self._timing = Timing() if timing is None else timing
        self._is_patient = is_patient
        self._call: _Call | None = None
        self._dropping = False
        self.version = last_version
        """The last version that was told; before the first, the one to go on from."""
        self.connections = 0
        """The number of streams that have begun with a message."""
        self.connected = False
        """Whether a stream has begun and was not lost."""
        self.ended: Ended | None = None
        """How the stream ended for good; None while it has not. The code is OK if a spectator was told the match's end."""

    def renew(self, token: str) -> None:
        """Use a fresh token from the next connection on, or at once if the open stream ends because the old one expired."""
        self._token = token

    def drop(self, last_version: int | None) -> None:
        """Begin again with a snapshot, and with what was missed since that version, a second after the last begin at the earliest."""
        self.version = last_version
        if self._call is not None:
            self._dropping = True
            self._call.cancel()

    async def responses(self) -> AsyncGenerator[pb.PlayResponse, None]:
        """The responses of the server, in order, until the stream ends for good. Iterate over it once."""
        back_off = BackOff(self._timing)
        while self.ended is None:
            cancellation, begun = Cancellation(), self._timing.now()
            before, address, token = self.connections, self._servers.address, self._token
            request = pb.WatchRequest(last_version=self.version)
            call = rpc.SeatServiceStub(self._servers.channel()).Watch(request, metadata=(*bearer(token), *self._room))
            status, goodbye = Status(call), None
            self._call, self._dropping = call, False
            try:
                async for response in call:
                    self._note(response, is_first=self.connections == before)
                    yield response
                    last = response.messages[-1] if response.messages else pb.SeatMessage()
                    goodbye = last.goodbye if last.HasField("goodbye") else goodbye
            except grpc.aio.AioRpcError:
                pass  # the status says more
            except asyncio.CancelledError:
                cancellation.heed()
                if not self._dropping:
                    raise
            finally:
                self._call, self.connected = None, False
                # The caller may have closed this generator. Nothing else ends a stream that is not read any more.
                call.cancel()
            cancellation.heed()
            if self._dropping:
                await self._timing.sleep(max(0.0, begun + _AFRESH_SECONDS - self._timing.now()))
                continue
            outcome = parted(goodbye) if goodbye is not None else self._outcome(await status.ending(), before)
            if isinstance(outcome, Ended) and outcome.code is grpc.StatusCode.UNAUTHENTICATED and token != self._token:
                continue
            if isinstance(outcome, Ended):
                self.ended = outcome
                return
            if self.connections > before:
                back_off.begin_again()
            if outcome.elsewhere:
                self._servers.leave(address)
            await self._timing.sleep(back_off.wait(outcome.retry_delay))

    def _note(self, response: pb.PlayResponse, *, is_first: bool) -> None:
        self.connections += is_first
        self.connected = True
        for message in response.messages:
            self.version = message.snapshot.version or message.notice.version or self.version

    def _outcome(self, how: Ending, before: int) -> Ended | Lost:
        """What a status means. Before that stream, there were so many connections."""
        is_own = how.reason and how.code is not grpc.StatusCode.UNAVAILABLE
        is_lasting = how.reason == Reason.ROOM_QUARANTINED.name or not self._is_patient
        if how.code is grpc.StatusCode.OK or how.code in FOR_GOOD or (is_own and is_lasting):
            return Ended(how.code, how.why, reason=how.reason)
        # A server that gives a reason is there: others use the connection to it too.
        elsewhere = how.reason in _ELSEWHERE or (not how.reason and self.connections == before)
        return Lost(elsewhere, how.retry_delay)
