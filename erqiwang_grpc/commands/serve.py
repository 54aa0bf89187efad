"""`erqiwang serve`: runs the server until it is stopped."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Final, Never, final

import uvloop

from erqiwang_grpc.addresses import joined
from erqiwang_grpc.auth.files import KeyFileRefused, KeyFiles, open_key_files
from erqiwang_grpc.collector import calm_the_collector
from erqiwang_grpc.commands import data_folder, file_modes, open_files, signals, stores, tracing
from erqiwang_grpc.commands.arguments import (
    PORT,
    BadArguments,
    add_switch,
    at_least,
    go_together,
    host,
    not_negative,
    port,
    up_to_an_hour,
)
from erqiwang_grpc.commands.configuration import make_configurable
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.commands.signals import Signals
from erqiwang_grpc.commands.stores import InDatabase, InFolder, Opened, Place
from erqiwang_grpc.commands.tracing import Tracing
from erqiwang_grpc.logs import LEVELS, write_to_standard_error
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rpc.server import Server, Settings, Tls
from erqiwang_grpc.store import Store
from erqiwang_grpc.store.address import is_url
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import SqliteStore
from erqiwang_grpc.store.wakeup import ProcessWakeup

if TYPE_CHECKING:
    from erqiwang_grpc.monitoring.port import Port

log = logging.getLogger(__name__)

CANNOT_START: Final = 2
FLUSH_FAILED: Final = 3
"""The exit status after a failed flush."""
_LAST_WORDS: Final = 1.0
"""Seconds to answer the calls in progress after a flush has failed."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `serve`."""
    parser.add_argument("--host", type=host, default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=port, default=PORT, help=f"port, 0 for a free one (default: {PORT})")
    data_folder.add_data_option(parser)
    stores.add_store_option(parser)
    add_switch(
        parser,
        "--new-rooms",
        default=False,
        help="begin without rooms in a used folder whose rooms.sqlite is gone",
    )
    add_switch(parser, "--in-memory", default=False, help="keep rooms in memory alone: a stop forgets them")
    parser.add_argument("--platform-keys", type=Path, help="file of platform keys (default: made in the data folder)")
    parser.add_argument("--signing-keys", type=Path, help="file of signing keys (default: made in the data folder)")
    parser.add_argument("--tls-cert", type=Path, help="PEM certificate chain; with --tls-key, serve TLS")
    parser.add_argument("--tls-key", type=Path, help="PEM private key")
    parser.add_argument("--client-ca", type=Path, help="PEM authority that client certificates must come from (mTLS)")
    add_switch(parser, "--reflection", default=True, help="let tools ask for the schemas (default: on)")
    add_switch(
        parser,
        "--channelz",
        default=False,
        help="answer questions about connections and calls, whoever asks (default: off)",
    )
    parser.add_argument(
        "--metrics-port", type=port, help="port to scrape metrics from, 0 for a free one (default: none)"
    )
    parser.add_argument(
        "--keep-days", type=not_negative, help="delete matches that ended longer ago (default: keep all)"
    )
    parser.add_argument(
        "--grace", type=up_to_an_hour, default=5.0, help="seconds to finish calls in progress at a stop (default: 5)"
    )
    parser.add_argument(
        "--lame-duck",
        type=up_to_an_hour,
        default=0.0,
        metavar="SECONDS",
        help="seconds at a stop between NOT_SERVING and the goodbyes, in which load balancers turn away (default: 0)",
    )
    parser.add_argument(
        "--log-level", choices=LEVELS, default="info", help="log lines of this level and above (default: info)"
    )
    tracing.add_arguments(parser)
    _add_limits(parser)
    make_configurable(parser, "serve", run, check, {"store": stores.VARIABLE})


_LIMIT_FLAGS: Final = {
    "rooms": "rooms in memory: with so many, no new one is opened",
    "streams": "seat streams at once",
    "streams_per_seat": "streams of one seat at once",
    "watchers": "WatchRooms streams at once",
    "spectators": "streams of spectators at once",
    "spectators_per_room": "streams of spectators of one room at once",
    "platform_calls_per_second": "RoomService calls taken from one platform, in the long run",
    "unattached": "seat streams that have not attached yet",
    "health_watchers": "Health.Watch streams at once",
    "reflections": "streams of reflection at once",
    "connections": "connections at once, each of which is an open file",
    "streams_per_connection": "calls and streams of one connection at once",
    "backlog": "calls that wait to be taken",
    "handshake_seconds": "how long a connection may take to begin",
    "commands_per_second": "commands taken from one seat, in the long run",
    "gateways": "gateway streams at once",
    "seats_per_gateway": "seats that one gateway has open",
    "gateway_bytes": "bytes kept for a gateway that does not read",
    "commands_per_gateway": "commands taken from all seats of one gateway, in the long run",
    "message_bytes": "largest request",
    "outbox": "messages kept for a stream that does not read",
    "seat_changes": "times that the seats of one room are given or freed",
    "fill_minutes": "how long a room waits for its last seat",
    "idle_minutes": "how long an unused room stays in memory",
    "unfilled_seconds": "how long an unused room stays in memory while it waits for its seats",
}
"""Each limit of the server, and what `--help` says of its flag."""

_QUOTA_FLAGS: Final = {
    "platform_rooms": ("rooms of one platform, in memory or waiting for their seats", "rooms"),
    "platform_streams": ("seat streams of one platform at once", "streams"),
    "platform_watchers": ("WatchRooms streams of one platform at once", "watchers"),
    "platform_spectators": ("streams of spectators of one platform's rooms at once", "spectators"),
    "platform_gateways": ("gateway streams of one platform at once", "gateways"),
    "platform_unattached": ("seat streams of one platform that have not attached yet", "unattached"),
}
"""Each quota of a platform: what `--help` says of its flag, and the limit of the whole server.

A quota is half of that limit by default.
"""


def _add_limits(parser: ArgumentParser) -> None:
    defaults = {each.name: getattr(Limits(), each.name) for each in fields(Limits)}
    limits = parser.add_argument_group("limits")
    for name, text in _LIMIT_FLAGS.items():
        flag = "--" + name.replace("_", "-")
        limits.add_argument(
            flag, type=at_least(1), default=int(defaults[name]), help=f"{text} (default: {int(defaults[name])})"
        )
    for name, (text, total) in _QUOTA_FLAGS.items():
        flag = "--" + name.replace("_", "-")
        limits.add_argument(flag, type=at_least(1), help=f"{text} (default: half of --{total})")


def check(arguments: Namespace, environment: Mapping[str, str] = os.environ) -> None:
    """Raise `BadArguments` for values with which no server starts, whatever files and databases there are."""
    try:
        _check_place(arguments, environment)
    except NoStore as refused:
        raise BadArguments(str(refused)) from refused
    if not go_together(arguments, "tls_cert", "tls_key") and arguments.client_ca is not None:
        raise BadArguments("--client-ca goes with --tls-cert and --tls-key")
    tracing.check(arguments)


def _check_place(arguments: Namespace, environment: Mapping[str, str]) -> None:
    if arguments.in_memory:
        if arguments.store is not None:
            raise NoStore("--in-memory keeps rooms nowhere: leave it out, or --store")
        return
    stores.check(arguments.store, environment)
    if arguments.new_rooms and is_url(arguments.store or environment.get(stores.VARIABLE, "")):
        raise NoStore(_ONLY_FOLDERS_ARE_NEW)


_ONLY_FOLDERS_ARE_NEW: Final = "--new-rooms is for a folder whose rooms are gone: a database is made new by creating it"


def run(arguments: Namespace) -> int:
    """Serve until SIGTERM, which gives 0, or SIGINT, which gives 130. Gives 2, with advice, if the server cannot start.

    Ends the process with status 3 if a flush fails.
    """
    write_to_standard_error(arguments.log_level)
    prepared = _prepare(arguments)
    if isinstance(prepared, CannotStart):
        return _cannot_start(prepared)
    return signals.run(_serve(arguments, prepared), uvloop.new_event_loop)


@final
@dataclass(frozen=True, slots=True)
class CannotStart:
    """Why the server cannot start, and what to do."""

    why: str


@final
@dataclass(frozen=True, slots=True)
class Prepared:
    """What is prepared before the store is opened."""

    place: Place | None
    """Where the rooms are kept; None for memory alone."""
    tls: Tls | None
    limits: Limits
    tracing: Tracing


def _prepare(arguments: Namespace) -> Prepared | CannotStart:
    try:
        place = _place(arguments)
        for folder in (arguments.data, *((place.folder,) if isinstance(place, InFolder) else ())):
            # The store holds the cards in hand, so only this user may read the folder.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tls = _tls(arguments)
    except NoStore as refused:
        return CannotStart(str(refused))
    except FileExistsError as error:
        return CannotStart(f"{error.filename} is no folder: give another --data")
    except OSError as error:
        return CannotStart(f"{error.filename}: {error.strerror}")
    if isinstance(tls, CannotStart):
        return tls
    loss = data_folder.loss(place.folder) if isinstance(place, InFolder) and not arguments.new_rooms else None
    if loss is not None:
        return CannotStart(loss)
    limits = Limits(**{name: getattr(arguments, name) for name in (*_LIMIT_FLAGS, *_QUOTA_FLAGS)})
    try:
        return Prepared(place, tls, limits, tracing.prepared(arguments))
    except BadArguments as bad:
        return CannotStart(str(bad))


def _place(arguments: Namespace) -> Place | None:
    """Where the rooms are kept; None for memory alone. Raises `NoStore`."""
    if arguments.in_memory:
        return None
    place = stores.place(arguments.store, arguments.data)
    if isinstance(place, InDatabase) and arguments.new_rooms:  # a file holds its URL
        raise NoStore(_ONLY_FOLDERS_ARE_NEW)
    return place


def _tls(arguments: Namespace) -> Tls | CannotStart | None:
    if arguments.tls_cert is None:
        return None
    # Imported here, because the library that reads certificates takes a tenth of the start.
    from erqiwang_grpc.commands import tls_files  # noqa: PLC0415  # see above

    tls = tls_files.read(arguments.tls_cert, arguments.tls_key, arguments.client_ca)
    return CannotStart(tls.why) if isinstance(tls, tls_files.TlsRefused) else tls


async def _open(place: Place | None) -> Opened | CannotStart:
    if place is None:
        return Opened(MemoryStore(), ProcessWakeup())
    try:
        opened = await stores.opened(place)
    except NoStore as refused:
        return CannotStart(str(refused))
    log.info("store opened", extra={"path": str(place), "store": opened.store.identity})
    return opened


def _open_keys(arguments: Namespace, place: Place | None) -> KeyFiles | CannotStart:
    """Open the keys. Do it after the store, because key files without a store are the sign of a lost store."""
    opened = open_key_files(arguments.data, arguments.platform_keys, arguments.signing_keys)
    if isinstance(opened, KeyFileRefused):
        return CannotStart(f"{opened.path}: {opened.why}")
    for path in opened.made:
        log.info("key file made", extra={"path": str(path)})
    named = place.file if isinstance(place, InDatabase) else None
    given = (arguments.platform_keys, arguments.signing_keys, arguments.tls_key, named)
    file_modes.warn((*data_folder.secrets(arguments.data), *given))
    return opened.files


async def _serve(arguments: Namespace, prepared: Prepared) -> int:
    told = Signals()
    open_files.allow(prepared.limits.connections)
    metrics = await _open_metrics(arguments)
    if isinstance(metrics, CannotStart):
        return _cannot_start(metrics)
    try:
        return await _serve_store(arguments, prepared, told, metrics)
    finally:
        await prepared.tracing.stop()
        if metrics is not None:
            await metrics.close()


async def _open_metrics(arguments: Namespace) -> Port | CannotStart | None:
    """Open the port for metrics and health before anything that may have to wait; None without `--metrics-port`."""
    if arguments.metrics_port is None:
        return None
    # Imported here, so that a server without metrics does not load what writes them.
    from erqiwang_grpc.monitoring.port import Port  # noqa: PLC0415  # see above
    from erqiwang_grpc.rpc.metrics import starting  # noqa: PLC0415  # see above

    port = Port(starting())
    try:
        await port.open(arguments.host, arguments.metrics_port)
    except OSError as error:
        address = joined(arguments.host, arguments.metrics_port)
        return CannotStart(f"{address}: {error.strerror}: choose another --metrics-port")
    log.info("metrics", extra={"address": joined(arguments.host, port.port)})
    return port


async def _serve_store(arguments: Namespace, prepared: Prepared, told: Signals, metrics: Port | None) -> int:
    if told.stopping.done():
        return told.stopped_while_starting()
    opening = _open(prepared.place)
    # A database is waited for. A file is opened in a moment, by a thread that cannot be cancelled.
    waits = isinstance(prepared.place, InDatabase)
    opened = await told.unless_stopped(opening) if waits else await opening
    if opened is None:
        return told.stopped_while_starting()
    if isinstance(opened, CannotStart):
        return _cannot_start(opened)
    try:
        if told.stopping.done():
            return told.stopped_while_starting()
        keys = _open_keys(arguments, prepared.place)
        if isinstance(keys, CannotStart):
            return _cannot_start(keys)
        return await _serve_rooms(arguments, prepared, keys, opened, told, metrics)
    finally:
        await opened.store.close()


def _cannot_start(cannot: CannotStart) -> int:
    print(f"erqiwang serve: {cannot.why}", file=sys.stderr)
    return CANNOT_START


async def _serve_rooms(
    arguments: Namespace, prepared: Prepared, keys: KeyFiles, opened: Opened, told: Signals, metrics: Port | None
) -> int:
    server = Server(
        Settings(
            store=opened.store,
            wakeup=opened.wakeup,
            side_messages=opened.side_messages,
            keys=keys,
            host=arguments.host,
            port=arguments.port,
            tls=prepared.tls,
            reflection=arguments.reflection,
            channelz=arguments.channelz,
            limits=prepared.limits,
            keep_days=arguments.keep_days,
            metrics=metrics,
            spans=prepared.tracing.spans,
        )
    )
    try:
        await server.start()
    except RuntimeError:
        # gRPC has printed the exact error on standard error.
        fit = "" if prepared.tls is None else ", or see whether --tls-cert, --tls-key and --client-ca are PEM and fit"
        address = joined(arguments.host, arguments.port)
        return _cannot_start(CannotStart(f"{address} cannot be listened on: choose another --host or --port{fit}"))
    told.on_reload(lambda: _reload(arguments, keys, server))
    calm_the_collector()
    print(f"erqiwang serves on {joined(arguments.host, server.port)}", flush=True)
    losing = asyncio.create_task(_flush_fails(opened.store))
    await asyncio.wait((losing, told.stopping), return_when=asyncio.FIRST_COMPLETED)
    if losing.done():
        await _give_up(server)
    losing.cancel()
    await told.stopping
    await _stop(server, arguments.grace, arguments.lame_duck, told.hurry)
    return told.status


async def _stop(server: Server, grace: float, lame_duck: float, hurry: asyncio.Event) -> None:
    """Stop the server. `hurry`, if it is set in the `lame_duck` seconds, ends them."""
    if not lame_duck:
        return await server.stop(grace)
    hurried = asyncio.create_task(hurry.wait())
    leaving = asyncio.create_task(server.stop(grace, lame_duck))
    await asyncio.wait((hurried, leaving), timeout=lame_duck, return_when=asyncio.FIRST_COMPLETED)
    if hurried.done():
        # Still in the pause, in which everybody is served, so nothing is cut off.
        leaving.cancel()
        log.info("leaving at once")
        await asyncio.wait((leaving,))
        return await server.stop(grace)
    hurried.cancel()
    return await leaving


async def _flush_fails(store: Store) -> None:
    """Return when a flush of the store has failed. For a store in memory it never returns."""
    if isinstance(store, SqliteStore):
        await store.lost()
    else:
        await asyncio.Event().wait()


async def _give_up(server: Server) -> Never:
    """Answer the calls in progress, then end the process without touching the store. Reopening shows what it holds.

    It does not return, because the caller would close the file, and closing writes to it.
    """
    why = "what the disk did not take may seem stored: see to the disk, then start again"
    log.critical("flush failed", extra={"why": why})
    await server.stop(_LAST_WORDS)
    logging.shutdown()
    os._exit(FLUSH_FAILED)


def _reload(arguments: Namespace, keys: KeyFiles, server: Server) -> None:
    """Read the key files and the TLS files again. Those in use stay where one is refused."""
    refused = keys.reload()
    if refused is None:
        log.info("key files reloaded")
    else:
        log.error("key file refused", extra={"path": str(refused.path), "why": refused.why})
    try:
        tls = _tls(arguments)
    except OSError as error:
        tls = CannotStart(f"{error.filename}: {error.strerror}")
    match tls:
        case None:
            pass
        case CannotStart(why):
            log.error("certificate refused", extra={"path": str(arguments.tls_cert), "why": why})
        case _:
            server.use(tls)
            log.info("certificate reloaded", extra={"path": str(arguments.tls_cert)})
