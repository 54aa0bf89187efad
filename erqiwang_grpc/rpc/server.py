"""The server: its services on a port, its housekeeping, and its shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, final

import grpc
from grpc_health.v1 import health_pb2_grpc

from erqiwang_grpc import shuffling
from erqiwang_grpc.addresses import joined
from erqiwang_grpc.archive.matches import Archive
from erqiwang_grpc.archive.retention import delete_old_matches
from erqiwang_grpc.archive.summaries import Scrub
from erqiwang_grpc.auth.files import KeyFiles
from erqiwang_grpc.clocks import Monotonic, SystemMonotonic, system_wall
from erqiwang_grpc.monitoring.loop_lag import LoopLag
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.limits import DAY, Limits
from erqiwang_grpc.rooms.neighbours import Neighbours
from erqiwang_grpc.rooms.quotas import Quotas
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.rooms.spans import UNTRACED, Spans
from erqiwang_grpc.rpc import health
from erqiwang_grpc.rpc.access import Access
from erqiwang_grpc.rpc.calls import Calls
from erqiwang_grpc.rpc.gateway.service import GATEWAY_SERVICE, GatewayServicer
from erqiwang_grpc.rpc.places import Places
from erqiwang_grpc.rpc.reflection import add_reflection
from erqiwang_grpc.rpc.room_service import RoomServicer
from erqiwang_grpc.rpc.seat_service import SEAT_SERVICE, SeatServicer
from erqiwang_grpc.rpc.spectating import Spectating
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.shuffling import Shuffler
from erqiwang_grpc.spectators.broadcasts import Broadcasts
from erqiwang_grpc.store import SideMessages, Store, TimeNs, Wakeup
from erqiwang_grpc.store.wakeup import ProcessWakeup
from erqiwang_grpc.v1 import room_service_pb2, room_service_pb2_grpc

if TYPE_CHECKING:
    from erqiwang_grpc.monitoring.port import Port

log = logging.getLogger(__name__)

SERVICES: Final = (
    room_service_pb2.DESCRIPTOR.services_by_name["RoomService"].full_name,
    SEAT_SERVICE,
    GATEWAY_SERVICE,
)
_TICK_SECONDS: Final = 1.0
_RETENTION_SECONDS: Final = 3600.0
_REFLECTION_SECONDS: Final = 60.0
"""Seconds that a reflection stream may stay open. Tools ask and leave; one that stays takes another's place."""


@final
@dataclass(frozen=True, slots=True)
class Tls:
    """TLS in PEM: the server's certificate and key, and the authority of clients' certificates if they need one."""

    certificate: bytes
    key: bytes
    client_authority: bytes | None = None


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server."""

    store: Store
    keys: KeyFiles
    host: str = "127.0.0.1"
    port: int = 0
    """The port to serve on; 0 takes a free one."""
    tls: Tls | None = None
    reflection: bool = True
    """Whether tools may ask for the schemas."""
    channelz: bool = False
    """Whether the server tells everybody of its connections and calls."""
    limits: Limits = field(default_factory=Limits)
    keep_days: float | None = None
    """Days that a match is kept after its end; then it is deleted. None keeps all."""
    metrics: Port | None = None
    """The open port for metrics and health, which the server closes at its end; None for none."""
    wakeup: Wakeup = field(default_factory=ProcessWakeup)
    """What wakes the rooms and watchers of all nodes that share the store."""
    side_messages: SideMessages | None = None
    """What carries signals and presence between the nodes that share the store; None for a server alone."""
    shuffle: Shuffler = shuffling.shuffle
    now: Callable[[], TimeNs] = system_wall
    """The wall clock."""
    monotonic: Monotonic = field(default_factory=SystemMonotonic)
    """The clock of allowances, timeouts and idleness."""
    spans: Spans = UNTRACED
    """Where each command is traced; by default nowhere."""


@final
class Server:
    """A server. Call `start` once, and `stop` at the end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        node = Node(
            settings.store,
            settings.wakeup,
            settings.now,
            settings.shuffle,
            settings.limits,
            monotonic=settings.monotonic,
            neighbours=Neighbours(settings.side_messages),
            spans=settings.spans,
        )
        quotas = Quotas(settings.limits, settings.monotonic)
        self.counters = node.counters
        self.rooms = Rooms(node, quotas)
        self.housekeeping = Housekeeping(self.rooms)
        self._access = access = Access(settings.keys, self.rooms, settings.store, settings.now)
        archive = Archive(settings.store, encode.written_deal, settings.monotonic)
        self._broadcasts = Broadcasts(node)
        self.spectating = Spectating(access, self._broadcasts, quotas, node)
        self.seats = SeatServicer(access, archive, quotas, node, self.spectating)
        self.gateways = GatewayServicer(access, archive, quotas, node)
        self._platforms = RoomServicer(access, self.rooms, settings.keys, archive, quotas, node)
        self._health_watchers = Places(settings.limits.health_watchers, "health watches")
        self._health = health.Health(SERVICES, self._health_watchers, lambda: settings.store.outage is None)
        self._reflections = Places(settings.limits.reflections, "streams of reflection", _REFLECTION_SECONDS)
        self._calls = Calls(self.counters)
        self._server = grpc.aio.server(
            interceptors=(self._calls,), options=channel_options(settings.limits, channelz=settings.channelz)
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._certificates: _Certificates | None = None
        self.port = 0
        self._is_started = False

    async def start(self) -> None:
        """Open the port and begin to serve. Raises `RuntimeError` if the port cannot be opened."""
        if self._settings.metrics is not None:
            self._tell_metrics(self._settings.metrics)
        self._server.add_generic_rpc_handlers((self.seats.handler(), self.gateways.handler()))
        room_service_pb2_grpc.add_RoomServiceServicer_to_server(self._platforms, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if self._settings.channelz:
            # Imported here, because it takes a tenth of the start.
            from grpc_channelz.v1 import channelz  # noqa: PLC0415  # see above

            channelz.add_channelz_servicer(self._server)
        if self._settings.reflection:
            add_reflection((*SERVICES, health.NAME), self._server, self._reflections, self._settings.monotonic)
        address = joined(self._settings.host, self._settings.port)
        tls = self._settings.tls
        if tls is None:
            self.port = self._server.add_insecure_port(address)
        else:
            self._certificates = _Certificates(tls)
            self.port = self._server.add_secure_port(address, self._certificates.credentials())
        await self._server.start()
        self._is_started = True
        self._tasks += [
            asyncio.create_task(self._every_tick()),
            asyncio.create_task(self._watch_stored()),
            asyncio.create_task(self._scrub()),
        ]
        if self._settings.keep_days is not None:
            self._tasks.append(asyncio.create_task(self._delete_old_matches(self._settings.keep_days)))
        log.info("serving", extra={"address": joined(self._settings.host, self.port)})

    def use(self, tls: Tls) -> None:
        """Serve connections from now on with these files; those that are open stay. Only for a server with TLS."""
        assert self._certificates is not None, "a server without TLS has no certificate to exchange"
        self._certificates.tls = tls

    async def stop(self, grace: float = 5.0, lame_duck: float = 0.0) -> None:
        """Refuse new work, tell every seat to reconnect, wait up to `grace` seconds for work in progress, and close.

        For `lame_duck` seconds before that, only health checks say that the server leaves: everybody is served as before,
        and whatever balances the load sends nobody new.
        """
        if lame_duck:
            # Not without a pause: its watchers would be in the middle of a write when they are sent away below.
            self._health.leave()
            log.info("leaving", extra={"seconds": lame_duck})
            await asyncio.sleep(lame_duck)
        began, streams, cut = self._settings.monotonic(), self._streams, 0
        log.info("draining", extra={"streams": streams})

        def count_cut() -> None:
            nonlocal cut
            cut = self._streams

        self.seats.drain()
        self.gateways.drain()
        self._health_watchers.close()
        self._reflections.close()
        self.rooms.end_streams(Closing.DRAINING)
        self._broadcasts.end_streams(Closing.DRAINING)
        self._platforms.drain()
        # When `stop` returns, it has ended them.
        counting = asyncio.get_running_loop().call_later(0.98 * grace, count_cut)
        await self._server.stop(grace)
        counting.cancel()
        took = round(self._settings.monotonic() - began, 3)
        log.info("drained", extra={"streams": streams, "cut": cut, "seconds": took})
        self.rooms.close()
        self._broadcasts.close()
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if self._settings.metrics is not None:
            await self._settings.metrics.close()
        log.info("stopped", extra={"address": joined(self._settings.host, self.port)})

    @property
    def _streams(self) -> int:
        """The number of open streams of all kinds."""
        return self.seats.streams + self.gateways.streams + self._platforms.watchers + self.spectating.streams

    def _tell_metrics(self, port: Port) -> None:
        # Imported here, so that a server without metrics does not load what writes them.
        from erqiwang_grpc.monitoring.port import Watched  # noqa: PLC0415  # see above
        from erqiwang_grpc.rpc.metrics import READY, Gauge, ServerMetrics, Streams  # noqa: PLC0415  # see above

        rooms, limits, lag = self.rooms, self._settings.limits, LoopLag()
        gauges = (
            Gauge("ready", READY, lambda: self.why_not_ready is None),
            Gauge("rooms", "Rooms in memory.", lambda: len(rooms.live)),
            Gauge("rooms_open", "Rooms in memory, or waiting for their seats.", lambda: rooms.open),
            Gauge("rooms_limit", "Most rooms that may be open.", lambda: limits.rooms),
            Gauge("rooms_quarantined", "Rooms set apart because of an error.", lambda: sum(map(_is_apart, rooms.live))),
            Gauge("gateway_seats", "Seats that gateways have open.", lambda: self.gateways.seats),
            Gauge("broadcasts", "Rooms followed for spectators, once for each delay.", lambda: len(self._broadcasts)),
        )
        kinds = {
            "seat": Streams(lambda: self.seats.streams, limits.streams),
            "gateway": Streams(lambda: self.gateways.streams, limits.gateways),
            "room_watch": Streams(lambda: self._platforms.watchers, limits.watchers),
            "spectator": Streams(lambda: self.spectating.streams, limits.spectators),
            "health_watch": Streams(lambda: self._health_watchers.taken, limits.health_watchers),
            "reflection": Streams(lambda: self._reflections.taken, limits.reflections),
        }
        metrics = ServerMetrics(self.counters, self._calls, self._settings.store, lag, gauges, kinds)
        port.tell(Watched(metrics.collect, lambda: self.why_not_ready))
        self._tasks.append(asyncio.create_task(lag.watch()))

    @property
    def why_not_ready(self) -> str | None:
        """Why nobody should be sent here now; None if the server serves."""
        return self._health.why_not if self._is_started else "the server is starting"

    async def _watch_stored(self) -> None:
        try:
            await self.housekeeping.watch_stored()
        except Exception:
            log.exception("rooms left open by the last server are not watched")

    async def _delete_old_matches(self, keep_days: float) -> None:
        """Delete old matches at the start and every hour, if this node keeps house.

        An error is logged, and the next hour tries again.
        """
        while True:
            while not self._settings.store.keeps_house:  # noqa: ASYNC110  # another node may stop at any time
                await asyncio.sleep(_TICK_SECONDS)
            # The wall clock, because it is compared with stored times.
            before = TimeNs(self._settings.now() - int(keep_days * DAY))
            try:
                deleted = await delete_old_matches(self._settings.store, before)
                self.rooms.forget(deleted)
                self._broadcasts.forget(deleted)
            except Exception:
                log.exception("old matches are not deleted")
            await asyncio.sleep(_RETENTION_SECONDS)

    async def _scrub(self) -> None:
        """Check stored summaries against their events, one room at a time, if this node keeps house.

        An error is logged and does not end it.
        """
        scrub = Scrub(self._settings.store)
        while True:
            await asyncio.sleep(self._settings.limits.scrub_seconds)
            if not self._settings.store.keeps_house:
                continue
            try:
                await scrub.step()
            except Exception:
                log.exception("summaries are not looked over")

    async def _every_tick(self) -> None:
        """Do the housekeeping about once a second. An error is logged and does not end it."""
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            try:
                self._health.look()
                self.gateways.look_after()
                self._access.tell_left_out()
                self._calls.tell_left_out()
                self._broadcasts.look_after()
                await self.housekeeping.tick()
            except Exception:
                log.exception("housekeeping failed")


def _is_apart(room: Room) -> bool:
    return room.fault is not None


@final
class _Certificates:
    """The TLS files in use. gRPC asks for them at each handshake, from threads of its own."""

    def __init__(self, tls: Tls) -> None:
        self.tls = tls
        self._told = tls

    def credentials(self) -> grpc.ServerCredentials:
        """The credentials of a port. Whether clients must show a certificate cannot change while it is open."""
        return grpc.dynamic_ssl_server_credentials(
            _certificates(self.tls),
            self._fetch,  # type: ignore[arg-type]  # the stubs forget that None stands for no change
            require_client_authentication=self.tls.client_authority is not None,
        )

    def _fetch(self) -> grpc.ServerCertificateConfiguration | None:
        """The files that are new since the last handshake; None if none are."""
        tls = self.tls
        if tls is self._told:
            return None
        self._told = tls
        return _certificates(tls)


def channel_options(limits: Limits, *, channelz: bool = False) -> list[tuple[str, int]]:
    """The options of the gRPC server. Each one is there for a trap that was measured."""
    ping = int(1000 * limits.frozen_seconds / 2)
    return [
        # Each call that waits to be handled costs 14 KiB, also one without a credential. Beyond the first number, some calls
        # end with a bare CANCELLED; beyond the second, all do. The default of 1,000 is too small for a burst of players.
        ("grpc.server.max_pending_requests", limits.backlog),
        ("grpc.server.max_pending_requests_hard_limit", limits.backlog * 5 // 4),
        # Unlimited by default. Then one connection could fill the memory with streams that it opens and abandons.
        ("grpc.max_concurrent_streams", limits.streams_per_connection),
        ("grpc.max_allowed_incoming_connections", limits.connections),
        # For TLS and the first settings of HTTP/2. The default of two minutes lets strangers hold connections.
        ("grpc.server_handshake_timeout_ms", 1000 * limits.handshake_seconds),
        # The two together bound the time until a frozen client on a direct connection is noticed. Proxies answer pings.
        ("grpc.keepalive_time_ms", ping),
        ("grpc.keepalive_timeout_ms", ping),
        ("grpc.http2.ping_timeout_ms", ping),
        ("grpc.keepalive_permit_without_calls", 1),
        # Clients may ping as often as the server does.
        ("grpc.http2.min_ping_interval_without_data_ms", 1_000),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 1_000),
        ("grpc.http2.max_ping_strikes", 0),
        ("grpc.max_receive_message_length", limits.message_bytes),
        # Two servers on one port would share the clients, but not the rooms.
        ("grpc.so_reuseport", 0),
        ("grpc.enable_channelz", int(channelz)),
        # A client whose stream is read slowly is held back once this many bytes wait unread. By default it could send
        # some hundred thousand heartbeats before that. The probe would raise the number again.
        ("grpc.http2.lookahead_bytes", 16 * 1024),
        ("grpc.http2.bdp_probe", 0),
    ]


def _certificates(tls: Tls) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(tls.key, tls.certificate)], tls.client_authority)
