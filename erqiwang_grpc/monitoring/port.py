"""The port that a process is watched on: `/metrics`, `/healthz` and `/readyz` over HTTP, and nothing else.

It is served by the event loop, one request a connection. Connections are limited in number and in time, so that whoever
opens many and says nothing neither costs a thread each nor keeps Prometheus away.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, final

from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

log = logging.getLogger(__name__)

CONNECTIONS: Final = 32
"""Most connections at once."""
REQUEST_SECONDS: Final = 10.0
"""How long a connection may take to send its request."""
_ANSWER_SECONDS: Final = 10.0
"""How long a connection may take to read its answer."""
_LINGER_SECONDS: Final = 1.0
"""How long what a client still sends is read after the answer. To close before would take the answer from it."""
_HEAD_BYTES: Final = 8 * 1024
_TEXT: Final = "text/plain; charset=utf-8"


@final
@dataclass(frozen=True, slots=True)
class Watched:
    """What the port tells of its process."""

    families: Callable[[], Iterable[Metric]]
    """All metrics now. Called in the event loop, so it may wait for nothing."""
    why_not_ready: Callable[[], str | None]
    """Why nobody should be sent here now; None if the process serves."""


@final
@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    headers: dict[str, str]


@final
@dataclass(frozen=True, slots=True)
class _Answer:
    status: HTTPStatus
    body: bytes
    kind: str = _TEXT
    others: tuple[tuple[str, str], ...] = ()


@final
class Port:
    """The open port."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._server: asyncio.Server | None = None
        self._serving: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._silent: dict[asyncio.StreamWriter, None] = {}
        """The connections that have not sent a whole request yet, oldest first."""
        self._encoding = asyncio.Lock()
        self.port = 0

    async def open(self, host: str, port: int) -> None:
        """Open the port; 0 takes a free one. Raises `OSError` if it cannot be opened."""
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=_HEAD_BYTES)
        except OSError as error:
            if not error.errno or error.errno < 0:
                raise  # the name of the host was not found
            # asyncio's own text repeats the address.
            raise OSError(error.errno, os.strerror(error.errno)) from error
        self.port = self._server.sockets[0].getsockname()[1]

    def tell(self, watched: Watched) -> None:
        """Tell this of the process from now on."""
        self._watched = watched

    async def close(self) -> None:
        """Close the port and all its connections. Does nothing the second time."""
        if self._server is not None:
            self._server.close()
        # A connection that was accepted a moment ago begins to be served only now.
        await asyncio.sleep(0)
        for writer in tuple(self._serving.values()):
            writer.transport.abort()
        if self._serving:
            await asyncio.wait(tuple(self._serving))
        # A connection that was cut is closed in the loop's next turn.
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._serving) >= CONNECTIONS:
            # Whoever has been silent for longest makes room. Where all are being answered, the new one has to go.
            longest = next(iter(self._silent), writer)
            longest.transport.abort()
            if longest is writer:
                return
            del self._silent[longest]
        task = asyncio.current_task()
        assert task is not None, "a connection is served by a task"
        self._serving[task] = writer
        self._silent[writer] = None
        try:
            await self._converse(reader, writer)
        except (OSError, EOFError, TimeoutError):
            pass  # the client has left, or was too slow
        except Exception:
            log.exception("metrics failed")
        finally:
            self._silent.pop(writer, None)
            writer.transport.abort()
            del self._serving[task]

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one request and answer it."""
        request: _Request | None = None
        answer = _said(HTTPStatus.BAD_REQUEST)
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            answer = _said(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        else:
            request = _parsed(head)
        self._silent.pop(writer, None)
        if request is not None:
            answer = await self._answer(request)
        async with asyncio.timeout(_ANSWER_SECONDS):
            writer.write(_written(answer, has_body=request is None or request.method != "HEAD"))
            await writer.drain()
            writer.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                while await reader.read(_HEAD_BYTES):
                    pass

    async def _answer(self, request: _Request) -> _Answer:
        if request.path not in ("/metrics", "/healthz", "/readyz"):
            return _said(HTTPStatus.NOT_FOUND)
        if request.method not in ("GET", "HEAD"):
            return _said(HTTPStatus.METHOD_NOT_ALLOWED, others=(("Allow", "GET, HEAD"),))
        if request.path == "/healthz":
            return _said(HTTPStatus.OK, "alive")
        if request.path == "/readyz":
            why = self._watched.why_not_ready()
            return _said(HTTPStatus.OK, "ready") if why is None else _said(HTTPStatus.SERVICE_UNAVAILABLE, why)
        return await self._metrics(request.headers)

    async def _metrics(self, headers: dict[str, str]) -> _Answer:
        encode, kind = choose_encoder(headers.get("accept", ""))
        is_zipped = _takes_gzip(headers.get("accept-encoding", ""))
        # One after another: many scrapes at once must not take all processors.
        async with self._encoding:
            found = _Found(tuple(self._watched.families()))
            # In a thread: it takes some milliseconds, in which others would wait.
            body = await asyncio.to_thread(lambda: _packed(encode(found), is_zipped=is_zipped))
        zipped = (("Content-Encoding", "gzip"),) if is_zipped else ()
        return _Answer(HTTPStatus.OK, body, kind, (*zipped, ("Vary", "Accept, Accept-Encoding")))


@final
class _Found(Collector):
    def __init__(self, families: tuple[Metric, ...]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _packed(text: bytes, *, is_zipped: bool) -> bytes:
    return gzip.compress(text, 1) if is_zipped else text


def _parsed(head: bytes) -> _Request | None:
    """The request; None if it is no HTTP/1."""
    line, *fields = head.decode("latin-1").split("\r\n")[:-2]
    method, _, rest = line.partition(" ")
    target, _, protocol = rest.partition(" ")
    if not (method and target) or protocol not in ("HTTP/1.1", "HTTP/1.0"):
        return None
    headers: dict[str, str] = {}
    for field in fields:
        name, colon, value = field.partition(":")
        if not colon:
            return None
        headers[name.lower()] = value.strip()
    return _Request(method, target.partition("?")[0], headers)


def _takes_gzip(accepted: str) -> bool:
    for each in accepted.split(","):
        coding, _, weight = each.partition(";")
        if coding.strip().lower() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _said(status: HTTPStatus, why: str = "", others: tuple[tuple[str, str], ...] = ()) -> _Answer:
    return _Answer(status, f"{why or status.phrase}\n".encode(), others=others)


def _written(answer: _Answer, *, has_body: bool) -> bytes:
    headers = (
        ("Content-Type", answer.kind),
        ("Content-Length", str(len(answer.body))),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Connection", "close"),
        *answer.others,
    )
    told = "".join(f"{name}: {value}\r\n" for name, value in headers)
    head = f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\n{told}\r\n".encode("latin-1")
    return head + answer.body if has_body else head
