"""The servers a client may speak to: one at a time, and the next where that one cannot be reached or is leaving."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, final

import grpc

Options: TypeAlias = Sequence[tuple[str, int | str]]

_OPTIONS: Final[Options] = (
    # By default a channel that failed waits for up to two minutes, and an attempt to connect takes 20 seconds to fail:
    # a client that has its own waits would come back long after the server did.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 5_000),
)


@final
class Servers:
    """A list of addresses, tried in order and round again. A channel is opened when it is first spoken on.

    Any server of the list serves any room: all must lead to the same store. Channels with the same address and options share one connection, so that many
    clients in one process need no channel to share: give `grpc.use_local_subchannel_pool` for a connection of its own.
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
        """Where the client speaks to now."""
        return self._addresses[self._place]

    def channel(self) -> grpc.aio.Channel:
        """The channel to speak on now."""
        address = self.address
        if address not in self._channels:
            self._channels[address] = (
                grpc.aio.insecure_channel(address, options=self._options)
                if self._credentials is None
                else grpc.aio.secure_channel(address, self._credentials, options=self._options)
            )
        return self._channels[address]

    def leave(self, address: str) -> None:
        """Go on to the next address; nothing where another call has left this one already."""
        if address == self.address:
            self._place = (self._place + 1) % len(self._addresses)

    async def close(self) -> None:
        """Close every channel, and with it what is under way."""
        channels, self._channels = self._channels, {}
        for channel in channels.values():
            await channel.close()
