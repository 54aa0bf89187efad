"""The address of a database: a URL as PostgreSQL's own clients take it. What is shown of it never holds a password."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, final
from urllib.parse import parse_qs, unquote

_SCHEMES: Final = ("postgresql://", "postgres://")
_SECRETS: Final = frozenset({"password", "sslpassword"})


@final
@dataclass(frozen=True, slots=True)
class Host:
    """One host of an address. Without a port, the usual one is meant."""

    name: str
    port: int | None


class BadAddress(Exception):
    """The URL cannot be read. The text tells why, without any part of the URL."""


@final
@dataclass(frozen=True, slots=True)
class Address:
    """A database, by a URL that may hold a password."""

    url: str = field(repr=False)

    def __str__(self) -> str:
        """The address without password and parameters, for logs and errors."""
        authority, database, query = self._parts()
        user, _, hosts = authority.rpartition("@")
        name = user.partition(":")[0]
        return f"postgresql://{name + '@' if name else ''}{hosts or ','.join(query.get('host', []))}/{database}"

    @property
    def has_password(self) -> bool:
        """Whether the URL itself holds a password."""
        authority, _, query = self._parts()
        return ":" in authority.rpartition("@")[0] or not _SECRETS.isdisjoint(query)

    @property
    def hosts(self) -> tuple[Host, ...]:
        """The hosts before the path. Empty if there are none: then the parameters or the environment name them.

        Raises `BadAddress` if a port is no number.
        """
        authority, _, _ = self._parts()
        named = authority.rpartition("@")[2]
        return tuple(_host(each) for each in named.split(",")) if named else ()

    def _parts(self) -> tuple[str, str, dict[str, list[str]]]:
        """User and hosts; the database; the parameters."""
        rest = self.url.partition("://")[2]
        place, _, query = rest.partition("?")
        authority, _, database = place.rpartition("/") if "@" in place.rpartition("/")[2] else place.partition("/")
        return authority, database, parse_qs(query, keep_blank_values=True)


def is_url(text: str) -> bool:
    """Whether the text names a database, not a folder or a file."""
    return text.startswith(_SCHEMES)


def _host(text: str) -> Host:
    """One host, whose port stands after the last colon that is not within brackets."""
    name, colon, port = text.rpartition(":")
    if not colon or "]" in port:
        return Host(_name(text), None)
    if not port:
        return Host(_name(name), None)
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise BadAddress(
            "a port in it is no number. Write special characters of the user and the password as %40 and so on"
        )
    return Host(_name(name), int(port))


def _name(text: str) -> str:
    return unquote(text.removeprefix("[").removesuffix("]"))
