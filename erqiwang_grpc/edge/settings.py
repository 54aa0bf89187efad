"""The settings of an edge."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from typing import TypeAlias, final

import grpc

Network: TypeAlias = IPv4Network | IPv6Network


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """What one edge takes. The defaults are for the open internet."""

    connections: int = 10_000
    """TCP connections at once."""
    connections_per_address: int = 200
    """Open sockets of one address; of IPv6, of one /64 network. Many players may share an address of a mobile network."""
    message_bytes: int = 16 * 1024
    """The largest message of a client."""
    messages_per_second: int = 20
    """Messages taken from one socket in the long run; twice as many in a burst. More of them wait."""
    too_fast_seconds: float = 10.0
    """How long a socket may be beyond that before it is closed."""
    token_seconds: float = 5.0
    """How long a socket may be without a seat."""
    idle_seconds: float = 60.0
    """How long a socket may be silent: no message and no pong. It is pinged after a third of it."""
    beat_seconds: float = 20.0
    """How long nothing may be written to a socket before a heartbeat is, which the client's code can see, unlike a ping."""
    outbox_messages: int = 64
    """Messages that wait for a socket that does not read. Beyond that they are dropped, and a snapshot follows later."""
    outbox_bytes: int = 256 * 1024
    """The bytes of these messages, likewise."""
    system_bytes: int = 64 * 1024
    """Bytes that the system keeps for a socket that does not read. By itself it would keep megabytes."""
    closing_seconds: float = 2.0
    """How long a socket has to take its last messages and answer its close."""
    request_seconds: float = 15.0
    """How long a connection may wait before its first request, and between two."""


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an edge."""

    servers: Sequence[str]
    """Addresses of servers over one store. One is used, and the next if that one is gone."""
    gateway_key: str = field(repr=False)
    credentials: grpc.ChannelCredentials | None = None
    """For TLS to the servers."""
    host: str = "127.0.0.1"
    port: int = 0
    """The port for players; 0 takes a free one."""
    tls: ssl.SSLContext | None = None
    status_host: str = "127.0.0.1"
    status_port: int | None = 0
    """The port for health and metrics; 0 takes a free one, None serves neither."""
    origins: frozenset[str] = frozenset()
    """Origins of web pages that may open a socket, beside those of this edge itself. `*` allows all."""
    trusted_proxies: tuple[Network, ...] = ()
    """Proxies whose `X-Forwarded-For` is believed."""
    limits: Limits = field(default_factory=Limits)
