"""A pooler that lends the one connection it has for one transaction at a time, as PgBouncer does with `transaction`."""

import asyncio
import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

_PROTOCOL = 196608
_READY = b"Z"
_END = b"X"


async def _message(reader: StreamReader) -> tuple[bytes, bytes]:
    """One message: its kind, and all of it."""
    head = await reader.readexactly(5)
    return head[:1], head + await reader.readexactly(struct.unpack("!i", head[1:])[0] - 4)


async def _startup(reader: StreamReader) -> bool:
    """Read the first message of a client; whether it begins a session, rather than asks for TLS."""
    (length,) = struct.unpack("!i", await reader.readexactly(4))
    rest = await reader.readexactly(length - 4)
    return bool(struct.unpack("!i", rest[:4])[0] == _PROTOCOL)


class _Pooler:
    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._lent = asyncio.Lock()
        self._greeting = b""

    async def begin(self, user: str, database: str) -> None:
        settings = b"".join(text.encode() + b"\0" for text in ("user", user, "database", database)) + b"\0"
        self._writer.write(struct.pack("!ii", len(settings) + 8, _PROTOCOL) + settings)
        while True:
            kind, message = await _message(self._reader)
            self._greeting += message
            if kind == _READY:
                return

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while not await _startup(reader):
                writer.write(b"N")
            writer.write(self._greeting)
            while await self._transaction(reader, writer):
                pass
        writer.close()

    async def _transaction(self, reader: StreamReader, writer: StreamWriter) -> bool:
        """Lend the connection until it is idle again; whether the client goes on."""
        kind, message = await _message(reader)
        if kind == _END:
            return False
        async with self._lent:
            self._writer.write(message)
            asking = asyncio.create_task(self._ask(reader))
            await self._answer(writer)
            asking.cancel()
            await asyncio.wait((asking,))
        return True

    async def _ask(self, reader: StreamReader) -> None:
        while True:
            _, message = await _message(reader)
            self._writer.write(message)

    async def _answer(self, writer: StreamWriter) -> None:
        """Pass answers on until the transaction is over."""
        while True:
            kind, message = await _message(self._reader)
            writer.write(message)
            if kind == _READY and message.endswith(b"I"):
                return


@asynccontextmanager
async def pooler(server: int, database: str) -> AsyncIterator[int]:
    """A pooler before the server on that port; gives its own port."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server)
    pool = _Pooler(reader, writer)
    await pool.begin("postgres", database)
    serving = await asyncio.start_server(pool.serve, "127.0.0.1", 0)
    try:
        yield serving.sockets[0].getsockname()[1]
    finally:
        serving.close()
        writer.close()
