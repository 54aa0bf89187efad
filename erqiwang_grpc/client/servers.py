"""The servers of a client: it uses one at a time, and the next if that one cannot be reached or is shutting down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, final

import grpc

Options: TypeAlias = Sequence[tuple[str, int | str]]

_OPTIONS: Final[Options] = (
    # By default a failed channel waits for up to two minutes, and an attempt to connect takes 20 seconds to fail. This
    # client has its own waits, and with the defaults it would reconnect long after the server is back.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 5_000),
    # A machine that is gone, or a server that is frozen, says no goodbye: notice it after 15 seconds and go elsewhere. The
    # ping timeout counts, which is a minute by default.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.ping_timeout_ms", 5_000),
    ("grpc.http2.max_pings_without_data", 0),
)


@final
class Servers:
    """A list of addresses, tried in order and again from the start. A channel is opened when it is first used.

    All addresses must lead to the same store, so that any server serves any room. Channels with the same address and
    options share one connection. For a separate connection, give the option `grpc.use_local_subchannel_pool`.
    """

    def __init__(
        self, addresses: Sequence[str], credentials: grpc.ChannelCredentials | None, options: Options = ()
    ) -> None:
        if isinstance(addresses, str) or not addresses:
            raise ValueError("addresses is a list of one address at least, such as ['127.0.0.1:50051']")
        self._addresses = tuple(addresses)
        self._credentials = credentials
        self._options = tuple((dict(_OPTIONS) | dict(options)).items())
        self._place = 0
        self._channels: dict[str, grpc.aio.Channel] = {}

    def __len__(self) -> int:
        return len(self._addresses)

    @property
    def address(self) -> str:
        """The address in use."""
        return self._addresses[self._place]

    def channel(self) -> grpc.aio.Channel:
        """The channel to the address in use."""
        address = self.address
        if address not in self._channels:
            self._channels[address] = (
                grpc.aio.insecure_channel(address, options=self._options)
                if self._credentials is None
                else grpc.aio.secure_channel(address, self._credentials, options=self._options)
            )
        return self._channels[address]

    def leave(self, address: str) -> None:
        """Go on to the next address. Does nothing if another call has left `address` already."""
        if address == self.address:
            self._place = (self._place + 1) % len(self._addresses)

    async def close(self) -> None:
        """Close every channel, with the calls on it."""
        channels, self._channels = self._channels, {}
        for channel in channels.values():
            await channel.close()
