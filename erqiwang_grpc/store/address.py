"""The address of a database: a URL as PostgreSQL's own clients take it. What is shown of it never holds a password."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, final
from urllib.parse import parse_qs, unquote

_SCHEMES: Final = ("postgresql://", "postgres://")
_WRITE_IT_SO: Final = "write special characters of the user and the password as %40 and so on"
_SECRETS: Final = frozenset({"password", "sslpassword"})


@final
@dataclass(frozen=True, slots=True)
class Host:
    """One host of an address. Without a port, the usual one is meant."""

    name: str
    port: int | None


class BadAddress(Exception):
    """The URL cannot be read. The text tells why, without any part of the URL."""


def unreadable(why: str) -> str:
    """What the operator is told of a URL that cannot be read."""
    return f"the URL of the database cannot be read: {why}"


@final
@dataclass(frozen=True, slots=True)
class Address:
    """A database, by a URL that may hold a password."""

    url: str = field(repr=False)

    def __str__(self) -> str:
        """The address without password and parameters, for logs and errors."""
        parts = _parts(self.url)
        if parts is None:
            return "postgresql://…"
        named = parts.hosts or ",".join(parts.query.get("host", []))
        return f"postgresql://{parts.user + '@' if parts.user else ''}{named}/{parts.database}"

    @property
    def has_password(self) -> bool:
        """Whether the URL itself holds a password, or may hold one because it cannot be read."""
        parts = _parts(self.url)
        return parts is None or parts.has_password

    @property
    def hosts(self) -> tuple[Host, ...]:
        """The hosts before the path. Empty if there are none: then the parameters or the environment name them.

        Raises `BadAddress` if the URL cannot be read.
        """
        parts = _parts(self.url)
        if parts is None:
            raise BadAddress(_WRITE_IT_SO)
        return tuple(_host(each) for each in parts.hosts.split(",")) if parts.hosts else ()


@final
@dataclass(frozen=True, slots=True)
class _Parts:
    user: str
    has_password: bool
    hosts: str
    database: str
    query: dict[str, list[str]]


# A special character that stands for itself would let others take a part of the password for a host or a database.
_URL: Final = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^:/?#@]*)(?P<password>:[^/?#@]*)?@)?"
    r"(?P<hosts>[^/?#@]*)(?:/(?P<database>[^/?#@]*))?(?:\?(?P<query>[^#@]*))?"
)


def _parts(url: str) -> _Parts | None:
    """The parts of a URL; None if it cannot be read."""
    match = _URL.fullmatch(url)
    if match is None:
        return None
    query = parse_qs(match["query"] or "", keep_blank_values=True)
    has_password = match["password"] is not None or not _SECRETS.isdisjoint(query)
    return _Parts(match["user"] or "", has_password, match["hosts"], match["database"] or "", query)


_PATHS: Final = ("/", "./", "../")
_OF_ADDRESSES: Final = re.compile(r"^[^/]*:|[@?]|//")


def may_be_mistyped(text: str) -> bool:
    """Whether a text that is no URL may be one that was mistyped: it is not to be shown, nor taken for a path.

    It holds `@`, `?` or `//`, or `:` before any `/`, and does not begin as only paths do, with `/`, `./` or `../`. Or it
    holds `://`, however it begins.
    """
    is_path = text.startswith(_PATHS) and not text.startswith("//") and "://" not in text
    return not is_path and _OF_ADDRESSES.search(text) is not None


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
