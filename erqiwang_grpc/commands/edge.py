"""`erqiwang edge`: lets browsers, mini-programs and old clients in, until it is stopped."""

import asyncio
import logging
import ssl
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from dataclasses import fields
from ipaddress import ip_network
from pathlib import Path
from typing import Final

import uvloop

from erqiwang_grpc.addresses import joined
from erqiwang_grpc.client.endings import REFUSED_KEY
from erqiwang_grpc.collector import calm_the_collector
from erqiwang_grpc.commands import file_modes, open_files, signals
from erqiwang_grpc.commands.arguments import (
    BadArguments,
    at_least,
    between,
    go_together,
    host,
    port,
    up_to_an_hour,
)
from erqiwang_grpc.commands.configuration import make_configurable
from erqiwang_grpc.commands.server_arguments import add_servers_options, check_tls_options, credentials, key
from erqiwang_grpc.commands.signals import Signals
from erqiwang_grpc.edge.packets.players import Callback, PlayerFile, Players, Unavailable, players_of
from erqiwang_grpc.edge.serving import CannotListen, Running, running
from erqiwang_grpc.edge.settings import Limits, Network, Settings
from erqiwang_grpc.logs import LEVELS, write_to_standard_error

log = logging.getLogger(__name__)

KEY_VARIABLE: Final = "ERQIWANG_GATEWAY_KEY"
CANNOT_START: Final = 2
STREAM_ENDED: Final = 1
"""The exit status if the servers refuse the gateway stream."""
_MOST_MESSAGE_BYTES: Final = 24 * 1024
"""With all that goes into one message to the server beside it, it stays below the 64 KiB that a server takes."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `edge`."""
    add_servers_options(parser)
    parser.add_argument(
        "--key-file", type=Path, help=f"file that holds the gateway key (default: the variable {KEY_VARIABLE})"
    )
    parser.add_argument("--host", type=host, default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=port, default=8080, help="port, 0 for a free one (default: 8080)")
    parser.add_argument("--tls-cert", type=Path, help="PEM certificate chain; with --tls-key, serve TLS")
    parser.add_argument("--tls-key", type=Path, help="PEM private key")
    parser.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="web pages that may open sockets, such as https://play.example, or *; may be given again (default: this edge's own)",
    )
    parser.add_argument(
        "--trusted-proxy",
        type=_network,
        action="append",
        default=[],
        metavar="NETWORK",
        help="proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8; may be given again (default: none)",
    )
    parser.add_argument(
        "--status-host", type=host, default="127.0.0.1", help="address for health and metrics (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--status-port", type=port, default=8081, help="port for health and metrics, 0 for a free one (default: 8081)"
    )
    parser.add_argument(
        "--drain-seconds",
        type=up_to_an_hour,
        default=5.0,
        help="time over which the closing of the sockets is spread at a stop (default: 5)",
    )
    parser.add_argument(
        "--packet-players",
        type=players_of,
        metavar="FILE or URL",
        help="who sits where, for old clients without a token, as docs/packets.md says (default: each needs a token)",
    )
    parser.add_argument(
        "--log-level", choices=LEVELS, default="info", help="log lines of this level and above (default: info)"
    )
    _add_limits(parser)
    make_configurable(parser, "edge", run, check, {"key_file": KEY_VARIABLE})


_LIMIT_FLAGS: Final = {
    "connections": ("connections at once, each of which is an open file", at_least(1)),
    "connections_per_address": ("sockets of one address at once", at_least(1)),
    "message_bytes": ("largest message of a client", between(4 * 1024, _MOST_MESSAGE_BYTES)),
    "messages_per_second": ("messages taken from one socket, in the long run", at_least(1)),
    "token_seconds": ("how long a socket may be without a seat", at_least(1)),
    "idle_seconds": ("how long a socket may be silent, pongs included", at_least(1)),
    "outbox_messages": ("messages kept for a socket that does not read", at_least(1)),
    "outbox_bytes": ("bytes of these messages", at_least(1)),
}
"""Each limit that may be set: what `--help` says of its flag, and its parser."""


def _add_limits(parser: ArgumentParser) -> None:
    defaults = {each.name: getattr(Limits(), each.name) for each in fields(Limits)}
    limits = parser.add_argument_group("limits")
    for name, (text, parsed) in _LIMIT_FLAGS.items():
        flag = "--" + name.replace("_", "-")
        limits.add_argument(
            flag, type=parsed, default=int(defaults[name]), help=f"{text} (default: {defaults[name]:g})"
        )


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def check(arguments: Namespace, _environment: Mapping[str, str]) -> None:
    """Raise `BadArguments` for values with which no edge starts, whatever files there are."""
    check_tls_options(arguments)
    go_together(arguments, "tls_cert", "tls_key")
    if isinstance(arguments.packet_players, Callback):
        _checked(arguments.packet_players)


def run(arguments: Namespace) -> int:
    """Serve until SIGTERM, which gives 0, or SIGINT, which gives 130. Gives 2, with advice, if the edge cannot start.

    Gives 1 if the servers refuse its key for good.
    """
    write_to_standard_error(arguments.log_level)
    try:
        settings = _settings(arguments)
    except BadArguments as bad:
        print(f"erqiwang edge: {bad}", file=sys.stderr)
        return CANNOT_START
    file_modes.warn((arguments.key_file, arguments.tls_key, arguments.client_key))
    return signals.run(_serve(settings, arguments), uvloop.new_event_loop)


def _settings(arguments: Namespace) -> Settings:
    return Settings(
        servers=arguments.server,
        gateway_key=key(
            arguments.key_file,
            KEY_VARIABLE,
            "a gateway key is needed (erqiwang keys add NAME --scope gateway): name its file with --key-file",
        ),
        credentials=credentials(arguments),
        host=arguments.host,
        port=arguments.port,
        tls=_tls(arguments),
        status_host=arguments.status_host,
        status_port=arguments.status_port,
        origins=frozenset(arguments.origin),
        trusted_proxies=tuple(arguments.trusted_proxy),
        limits=Limits(**{name: getattr(arguments, name) for name in _LIMIT_FLAGS}),
        players=_players(arguments),
    )


def _players(arguments: Namespace) -> Players | None:
    """Who finds the seats of old clients. Raises `BadArguments` for what can be known to be wrong before one comes."""
    players: PlayerFile | Callback | None = arguments.packet_players
    return None if players is None else _checked(players)


def _checked(players: PlayerFile | Callback) -> Players:
    try:
        players.check()
    except Unavailable as why:
        raise BadArguments(f"--packet-players: {why}") from why
    return players


def _tls(arguments: Namespace) -> ssl.SSLContext | None:
    if arguments.tls_cert is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    _load(context, arguments)
    return context


def _load(context: ssl.SSLContext, arguments: Namespace) -> None:
    """Read the TLS files: each connection from now on is served with them. Raises `BadArguments`."""
    try:
        context.load_cert_chain(arguments.tls_cert, arguments.tls_key, password=_no_password)
    except ssl.SSLError as error:
        raise BadArguments(
            f"--tls-cert and --tls-key: give the chain and its own key as PEM, the key without a password ({error.reason})"
        ) from error
    except OSError as error:
        raise BadArguments(f"--tls-cert or --tls-key: {error.strerror}") from error


def _no_password() -> str:
    """Without it, OpenSSL would ask at the terminal."""
    return ""


async def _serve(settings: Settings, arguments: Namespace) -> int:
    open_files.allow(settings.limits.connections)
    told = Signals()
    if told.stopping.done():
        return told.stopped_while_starting()
    told.on_reload(lambda: _reload(settings, arguments))
    try:
        async with running(settings) as edge:
            calm_the_collector()
            print(f"erqiwang edge serves on {joined(settings.host, edge.port)}", flush=True)
            return await _until_stopped(edge, told, arguments.drain_seconds)
    except CannotListen as refused:
        print(f"erqiwang edge: {refused}: choose another --port or --status-port", file=sys.stderr)
        return CANNOT_START


async def _until_stopped(edge: Running, told: Signals, drain_seconds: float) -> int:
    ending = asyncio.create_task(edge.edge.ended())
    await asyncio.wait((ending, told.stopping), return_when=asyncio.FIRST_COMPLETED)
    if ending.done():
        ended = ending.result()
        why = (
            "the servers refuse its gateway key" if ended.code in REFUSED_KEY else "the stream to the servers has ended"
        )
        print(
            f"erqiwang edge: {why}: {' '.join(filter(None, (ended.code.name, ended.reason)))}: {ended.why}",
            file=sys.stderr,
        )
        return STREAM_ENDED
    ending.cancel()
    await told.stopping
    await edge.edge.drain(drain_seconds)
    return told.status


def _reload(settings: Settings, arguments: Namespace) -> None:
    """Read the TLS files again. If they are refused, those in use stay."""
    if settings.tls is None:
        return
    try:
        # First into another context, because a chain is in use before its key is found to be another's.
        _load(ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), arguments)
        _load(settings.tls, arguments)
    except BadArguments as bad:
        log.error("certificate refused", extra={"path": str(arguments.tls_cert), "why": str(bad)})  # noqa: TRY400  # the reason says all
    else:
        log.info("certificate reloaded", extra={"path": str(arguments.tls_cert)})
