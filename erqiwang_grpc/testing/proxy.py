"""A network before a server that a test may cut, or let swallow everything without a word."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import final


@final
class Proxy:
    """A port that leads to a server."""

    def __init__(self, server: int) -> None:
        self.server = server
        """The port that it leads to."""
        self._writers: set[StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()
        self.port = 0
        self.to_server = True
        """Whether what a client says reaches the server. What is said meanwhile is lost."""
        self.to_client = True
        """Whether what the server says reaches a client. What is said meanwhile is lost."""

    def cut(self) -> int:
        """Cut all connections; gives how many there were."""
        for writer in self._writers:
            writer.transport.abort()
        return len(self._writers) // 2

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Pass a connection on. It is cut if the server does not take it."""
        try:
            to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self.server)
        except OSError:
            writer.transport.abort()
            return
        for source, sink, is_up in ((reader, to_writer, True), (to_reader, writer, False)):
            self._writers.add(sink)
            task = asyncio.create_task(self._pass(source, sink, is_up))
            self._passing.add(task)
            task.add_done_callback(self._passing.discard)

    async def _pass(self, source: StreamReader, sink: StreamWriter, is_up: bool) -> None:
        with suppress(ConnectionError):
            while passed := await source.read(65_536):
                if self.to_server if is_up else self.to_client:
                    sink.write(passed)
        sink.transport.abort()
        self._writers.discard(sink)


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
        # A connection that was taken a moment ago is passed on only now.
        await asyncio.sleep(0.01)
        proxy.cut()
        await asyncio.sleep(0)
