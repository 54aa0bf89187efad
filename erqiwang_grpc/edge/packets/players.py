"""What only the platform knows: which seat a player of the old protocol has. It comes from a file or from a callback."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeAlias, final
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from erqiwang_grpc.edge.packets.from_seat import integer
from erqiwang_grpc.edge.strict_json import loaded

_SECONDS: Final = 3.0
"""How long a callback may take. A socket without a seat is closed after five seconds."""
_MOST_BYTES: Final = 16 * 1024
"""The largest answer of a callback that is read."""
_LAST_VERSION: Final = 2**64 - 1


@final
@dataclass(frozen=True, slots=True)
class Place:
    """The seat of a player."""

    seat_token: str = field(repr=False)
    last_version: int | None = None
    """As it came with the token. With it the player who fills a room is told of the first deal as the others are."""
    gameid: str | None = None
    """What the player's packets must name; None if nobody has said."""


def place_of(told: Mapping[str, object]) -> Place | None:
    """The place that these fields name; None if `seat_token` is no text that a token could be."""
    token, version, gameid = told.get("seat_token"), integer(told.get("last_version")), told.get("gameid")
    if not isinstance(token, str) or not (token and token.isascii() and token.isprintable()):
        return None
    if version is not None and not 0 <= version <= _LAST_VERSION:
        version = None
    return Place(token, version, gameid if isinstance(gameid, str) else None)


class Unavailable(Exception):
    """Nobody can say now where the player sits. The text says why, for the log."""


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """What a client says of itself as it enters without a token."""

    agentid: str
    playerid: int
    roomcode: int
    data: Mapping[str, object]
    """All data of its packet, these three included, and whatever the platform has its clients put there, such as a ticket."""


class Players(Protocol):
    """Finds the seats of players."""

    async def place(self, asked: Asked) -> Place | None:
        """The seat of a player in a room; None if it has none there. Raises `Unavailable`."""


def players_of(source: str) -> PlayerFile | Callback:
    """The players of a file, or of a callback if it is named by an `http://` or `https://` address."""
    return Callback(source) if source.startswith(("http://", "https://")) else PlayerFile(Path(source))


_Key: TypeAlias = tuple[str, int, int]
"""Agent, player and room."""


@final
class PlayerFile:
    """A JSON list of players, each with `agentid`, `playerid`, `roomcode` and its place. It is read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = (0, 0)
        """When the file that was read last was written, and its size."""
        self._places: Mapping[_Key, Place] = {}

    def __str__(self) -> str:
        return str(self._path)

    async def place(self, asked: Asked) -> Place | None:
        """The place in the file that fits. Of several the last one counts."""
        await asyncio.to_thread(self.check)
        return self._places.get((asked.agentid, asked.playerid, asked.roomcode))

    def check(self) -> None:
        """Read the file if it has changed. Raises `Unavailable` if it cannot be used."""
        try:
            about = self._path.stat()
            if (about.st_mtime_ns, about.st_size) != self._read:
                self._places = _places(self._path.read_bytes(), str(self._path))
                self._read = about.st_mtime_ns, about.st_size
        except OSError as error:
            raise Unavailable(f"{self._path}: {error.strerror}") from error


def _places(content: bytes, source: str) -> Mapping[_Key, Place]:
    try:
        rows = loaded(content)
    except ValueError as error:
        raise Unavailable(f"{source}: not JSON") from error
    if not isinstance(rows, list):
        raise Unavailable(f"{source}: not a list")
    places: dict[_Key, Place] = {}
    for number, row in enumerate(rows, start=1):
        where = f"{source}, entry {number}"
        if not isinstance(row, dict):
            raise Unavailable(f"{where}: not an object")
        agentid, playerid, roomcode = row.get("agentid"), integer(row.get("playerid")), integer(row.get("roomcode"))
        if not isinstance(agentid, str) or playerid is None or roomcode is None:
            raise Unavailable(f"{where}: agentid, playerid and roomcode are needed")
        places[agentid, playerid, roomcode] = _place(row, where)
    return places


@final
class Callback:
    """A service of the platform. It is sent the data of the packet by POST, and answers with the place, or with 404."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __str__(self) -> str:
        """The address without what may be a secret. `…` stands for what is left out before the host and after the path."""
        parts = urlsplit(self._url)
        user, at, host = parts.netloc.rpartition("@")
        after = "?…" if parts.query or parts.fragment else ""
        return f"{parts.scheme}://{'…@' if user or at else ''}{host}{parts.path}{after}"

    def check(self) -> None:
        """Raises `Unavailable` if the address is none. The service is not asked: it may start later."""
        try:
            parts = urlsplit(self._url)
            is_address = parts.hostname and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address:
            raise Unavailable("the callback has an address without a host, or with a wrong port")

    async def place(self, asked: Asked) -> Place | None:
        """What the service answers."""
        try:
            # A player enters rarely, so each question has a connection of its own.
            async with (
                ClientSession(timeout=ClientTimeout(total=_SECONDS)) as session,
                session.post(self._url, json=dict(asked.data), allow_redirects=False) as answer,
            ):
                if answer.status == 404:
                    return None
                if answer.status != 200:
                    raise Unavailable(f"the callback answered {answer.status}")
                told = loaded(await _body(answer))
        except (ClientError, TimeoutError, ValueError) as error:
            raise Unavailable(f"the callback failed: {type(error).__name__}") from error
        if not isinstance(told, dict):
            raise Unavailable("the callback answered no JSON object")
        return _place(told, "the callback")


async def _body(answer: ClientResponse) -> bytes:
    body = b""
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise Unavailable("the callback answered too much")
    return body


def _place(told: Mapping[str, object], source: str) -> Place:
    place = place_of(told)
    if place is None:
        raise Unavailable(f"{source} gave no seat_token, or none that could be one")
    return place
