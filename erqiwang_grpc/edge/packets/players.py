"""What only the platform knows: which seat a player of the old protocol has. It comes from a file or from a callback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, final

from aiohttp import ClientError, ClientSession, ClientTimeout

from erqiwang_grpc.edge.packets.from_seat import integer

_SECONDS: Final = 3.0
"""How long a callback may take. A socket without a seat is closed after five seconds."""
_MOST_BYTES: Final = 16 * 1024
"""The largest answer of a callback that is read."""


@final
@dataclass(frozen=True, slots=True)
class Place:
    """The seat of a player."""

    seat_token: str
    last_version: int | None = None
    """As it came with the token. With it the player who fills a room is told of the first deal as the others are."""
    gameid: str | None = None
    """What the player's packets must name; None if nobody has said."""


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


def players_of(source: str) -> Players:
    """The players of a file, or of a callback if it is named by an `http://` or `https://` address."""
    return Callback(source) if source.startswith(("http://", "https://")) else PlayerFile(Path(source))


@final
class PlayerFile:
    """A JSON list of players, each with `agentid`, `playerid`, `roomcode` and its place. It is read again at each question."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def place(self, asked: Asked) -> Place | None:
        """The first place in the file that fits."""
        rows = await asyncio.to_thread(self._rows)
        named = {"agentid": asked.agentid, "playerid": asked.playerid, "roomcode": asked.roomcode}
        found = next((row for row in rows if {key: row.get(key) for key in named} == named), None)
        return None if found is None else _place(found, str(self._path))

    def _rows(self) -> list[dict[str, object]]:
        try:
            rows: object = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Unavailable(f"{self._path}: {type(error).__name__}") from error
        if not isinstance(rows, list):
            raise Unavailable(f"{self._path}: not a list")
        return [row for row in rows if isinstance(row, dict)]


@final
class Callback:
    """A service of the platform. It is sent the data of the packet by POST, and answers with the place, or with 404."""

    def __init__(self, url: str) -> None:
        self._url = url

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
                told: object = json.loads(await answer.content.read(_MOST_BYTES))
        except (ClientError, TimeoutError, ValueError) as error:
            raise Unavailable(f"the callback failed: {type(error).__name__}") from error
        if not isinstance(told, dict):
            raise Unavailable("the callback answered no JSON object")
        return _place(told, "the callback")


def _place(told: Mapping[str, object], source: str) -> Place:
    token, gameid = told.get("seat_token"), told.get("gameid")
    if not isinstance(token, str) or not token:
        raise Unavailable(f"{source} gave no seat_token")
    return Place(token, integer(told.get("last_version")), gameid if isinstance(gameid, str) else None)
