"""What a stranger may send: HTTP/2, frame by frame, without the manners of a library."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Final, TypeAlias

from hpack import Encoder, NeverIndexedHeaderTuple
from hyperframe.frame import ContinuationFrame, HeadersFrame, PingFrame, RstStreamFrame, SettingsFrame

BEGINNING: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SettingsFrame(0).serialize()
_AT_ONCE: Final = 500
"""How many frames or pairs of frames are written together."""
_BLOCK: Final = Encoder().encode(
    [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/erqiwang.v1.SeatService/Play"),
        (":authority", "127.0.0.1"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
    ]
)
_HEADER: Final = Encoder().encode([NeverIndexedHeaderTuple("x", "y")], huffman=False)
"""A header that no table remembers: each is one more."""
_WITHIN_LIMIT: Final = 200
"""So many of them are within the 8 KiB of headers that a call may have, each counted as 34 bytes."""

Flood: TypeAlias = Callable[[], Iterator[tuple[int, bytes]]]
"""The bytes of one connection, piece by piece, each with how many frames it holds."""


def _endless(frames: Callable[[], bytes], number: int) -> Iterator[tuple[int, bytes]]:
    yield 1, BEGINNING
    while True:
        yield number, frames()


def resets() -> Iterator[tuple[int, bytes]]:
    """Open a stream and reset it, again and again: the rapid reset."""
    ids = count(1, 2)

    def pair(stream: int) -> bytes:
        opened = HeadersFrame(stream, _BLOCK, flags=["END_HEADERS"]).serialize()
        return opened + RstStreamFrame(stream, error_code=8).serialize()

    return _endless(lambda: b"".join(pair(next(ids)) for _ in range(_AT_ONCE)), 2 * _AT_ONCE)


def unended_streams() -> Iterator[tuple[int, bytes]]:
    """Open streams, say nothing on them and leave them open."""
    ids = count(1, 2)

    def opened() -> bytes:
        return HeadersFrame(next(ids), _BLOCK, flags=["END_HEADERS"]).serialize()

    return _endless(lambda: b"".join(opened() for _ in range(_AT_ONCE)), _AT_ONCE)


def unended_headers() -> Iterator[tuple[int, bytes]]:
    """Begin the headers of one stream after the other and end none: against the protocol."""
    ids = count(1, 2)

    def begun() -> bytes:
        return HeadersFrame(next(ids), _BLOCK).serialize()

    return _endless(lambda: b"".join(begun() for _ in range(_AT_ONCE)), _AT_ONCE)


def continued_headers() -> Iterator[tuple[int, bytes]]:
    """Open a stream with as many headers as it may have, each in a frame of its own, and reset it; again and again."""
    ids = count(1, 2)

    def stream(number: int) -> bytes:
        more = (_WITHIN_LIMIT - 1) * ContinuationFrame(number, _HEADER).serialize()
        last = ContinuationFrame(number, _HEADER, flags=["END_HEADERS"]).serialize()
        return HeadersFrame(number, _BLOCK).serialize() + more + last + RstStreamFrame(number, error_code=8).serialize()

    return _endless(lambda: b"".join(stream(next(ids)) for _ in range(10)), 10 * (_WITHIN_LIMIT + 2))


def continuations() -> Iterator[tuple[int, bytes]]:
    """The headers of one stream, continued for ever with headers that are new. No test: only a proxy bounds it (docs/operations.md)."""
    yield 1, BEGINNING
    yield 1, HeadersFrame(1, _BLOCK).serialize()
    more = _AT_ONCE * ContinuationFrame(1, 100 * _HEADER).serialize()
    while True:
        yield _AT_ONCE, more


def empty_continuations() -> Iterator[tuple[int, bytes]]:
    """The headers of one stream, continued for ever with nothing."""
    yield 1, BEGINNING
    yield 1, HeadersFrame(1, _BLOCK).serialize()
    nothing = _AT_ONCE * ContinuationFrame(1).serialize()
    while True:
        yield _AT_ONCE, nothing


def pings() -> Iterator[tuple[int, bytes]]:
    """Ask for answers for ever."""
    asked = _AT_ONCE * PingFrame(0, opaque_data=b"askedall").serialize()
    return _endless(lambda: asked, _AT_ONCE)


def settings() -> Iterator[tuple[int, bytes]]:
    """Change the settings of the connection for ever, each of which is to be acknowledged."""
    changed = _AT_ONCE * SettingsFrame(0, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 65_535}).serialize()
    return _endless(lambda: changed, _AT_ONCE)


def silence() -> Iterator[tuple[int, bytes]]:
    """Nothing at all."""
    return iter(())


def half_a_beginning() -> Iterator[tuple[int, bytes]]:
    """The first bytes of a connection, and no settings."""
    yield 0, BEGINNING[:24]


FLOODS: Final[dict[str, Flood]] = {
    flood.__name__: flood
    for flood in (
        resets,
        unended_streams,
        unended_headers,
        continued_headers,
        continuations,
        empty_continuations,
        pings,
        settings,
        silence,
        half_a_beginning,
    )
}
