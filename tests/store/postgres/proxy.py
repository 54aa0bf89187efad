"""A network between a node and its database that a test may cut, or let swallow everything without a word."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import final


@final
class Proxy:
    """A port that leads to the server."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._writers: set[StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()
        self.port = 0
        self.to_server = True
        """Whether what a node says reaches the server."""
        self.to_node = True
        """Whether what the server says reaches the node."""

    def cut(self) -> None:
        """Cut all connections."""
        for writer in self._writers:
            writer.transport.abort()

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Pass a connection on."""
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._server)
        self._writers |= {writer, to_writer}
        for source, sink, is_up in ((reader, to_writer, True), (to_reader, writer, False)):
            task = asyncio.create_task(self._pass(source, sink, is_up))
            self._passing.add(task)
            task.add_done_callback(self._passing.discard)

    async def _pass(self, source: StreamReader, sink: StreamWriter, is_up: bool) -> None:
        with suppress(ConnectionError):
            while passed := await source.read(65_536):
                if self.to_server if is_up else self.to_node:
                    sink.write(passed)
        sink.transport.abort()


@asynccontextmanager
async def proxied(server: int) -> AsyncIterator[Proxy]:
    """A proxy before the server on that port."""
    proxy = Proxy(server)
    serving = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = serving.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        serving.close()
        proxy.cut()
