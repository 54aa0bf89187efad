"""What the errors of a database mean: whether something may have been written, whether it may heal, what to do."""

from __future__ import annotations

import ssl
from typing import Final

import asyncpg

CONNECTION_ERRORS: Final = (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""The errors of a connection that is lost or cannot be made. Those of asyncpg are raised by the client itself."""
ERRORS: Final = (*CONNECTION_ERRORS, asyncpg.PostgresError)
"""All errors of a database that is away, ill, or refuses."""

_READ_ONLY: Final = "25006"
_CROSSED: Final = frozenset({"40001", "40P01", "23505"})
"""Two writers got in each other's way: serialization, deadlock, the same key. Nothing was written."""
_LASTING: Final = frozenset({"28000", "28P01", "3D000", "42501", "42704", "08P01", "26000", "42P05", "0A000", "22023"})
"""Password, privilege, a database or a setting that is not there, protocol: waiting does not mend them."""

_POOLED: Final = frozenset({"08P01", "26000", "42P05"})
"""A setting that is not taken; a prepared statement that is not there, or is there already."""

_ADVICE: Final = {
    "25006": "it may only be read: see whether another host of the URL is the primary now",
    "28000": "the server does not let this user in: see pg_hba.conf and the user in the URL",
    "28P01": "the password is wrong: see PGPASSFILE, or the URL in the file or in ERQIWANG_STORE",
    "3D000": "there is no such database: create it, or name another one",
    "42501": "this user lacks a privilege: make it the owner of the database",
    "42P01": "its tables are not there: see whether somebody dropped them",
    "53100": "no space is left on its disk: make room, or delete old rooms",
    "53200": "it has no memory left: see to its settings",
    "53300": "it takes no more connections: raise max_connections, or start fewer nodes",
    "57P01": "it was told to end this connection: see whether it shuts down",
    "57P03": "it is starting up or shutting down: wait for it",
    "57014": "somebody cancelled the statement",
}


def is_answer(error: BaseException) -> bool:
    """Whether the server has refused the statement and goes on, so that nothing of it was written.

    A FATAL error ends the connection. It may come after the commit, while the commit waits for a standby.
    """
    return isinstance(error, asyncpg.PostgresError) and error.severity_en == "ERROR"


def is_read_only(error: BaseException) -> bool:
    """Whether the database may only be read, so that another host may be the primary now."""
    return _code(error) == _READ_ONLY


def is_crossed(error: BaseException) -> bool:
    """Whether two writers got in each other's way, so that the statement should be tried again."""
    return _code(error) in _CROSSED


def is_lasting(error: BaseException) -> bool:
    """Whether waiting cannot mend it: somebody has to change the URL, the server or the user."""
    return isinstance(error, asyncpg.ClientConfigurationError | ssl.SSLError) or _code(error) in _LASTING


def sentence(error: BaseException) -> str:
    """What is wrong and what to do, in one sentence without the password or any data."""
    code = _code(error)
    if code in _ADVICE:
        return _ADVICE[code]
    if isinstance(error, asyncpg.PostgresError):
        return f"it refuses ({type(error).__name__}, {code})"
    if isinstance(error, asyncpg.TargetServerAttributeNotMatched):
        return "none of the hosts in the URL may be written: see which one is the primary"
    if isinstance(error, asyncpg.ClientConfigurationError):
        return f"the URL does not fit: {error}"
    if isinstance(error, TimeoutError):
        return "it does not answer in time: see whether it is running, and to the network"
    if isinstance(error, ssl.SSLError):
        return "its certificate is not the one that the URL asks for: see sslmode and sslrootcert"
    if isinstance(error, ConnectionError) and "rejected SSL" in str(error):
        return "it does not speak TLS: see its setting ssl, or sslmode in the URL"
    if isinstance(error, OSError):
        return f"it cannot be reached ({error.strerror or type(error).__name__}): see whether it is running, and to the network"
    return f"the connection was lost ({type(error).__name__})"


def _code(error: BaseException) -> str:
    return error.sqlstate if isinstance(error, asyncpg.PostgresError) else ""


def is_of_a_pooler(error: BaseException) -> bool:
    """Whether a pooler speaks, not a server: it takes no settings, or lends another connection for each statement."""
    return _code(error) in _POOLED
