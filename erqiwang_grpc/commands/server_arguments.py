"""Arguments of the subcommands that call a running server: where it is, its authority, and a platform's key."""

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

import grpc

from erqiwang_grpc.client import CallRefused, Platform
from erqiwang_grpc.commands.arguments import PORT, BadArguments, go_together

KEY_VARIABLE: Final = "ERQIWANG_KEY"
_HERE: Final = f"127.0.0.1:{PORT}"


def add_server_options(parser: ArgumentParser) -> None:
    """Add `--server` and the options of TLS."""
    parser.add_argument("--server", metavar="HOST:PORT", default=_HERE, help=f"where the server is (default: {_HERE})")
    _add_tls_options(parser)


def add_servers_options(parser: ArgumentParser) -> None:
    """Add `--server` for several servers over one store, and the options of TLS."""
    parser.add_argument(
        "--server",
        metavar="HOST:PORT",
        nargs="+",
        default=[_HERE],
        help=f"servers over one store; the next is used if one is gone (default: {_HERE})",
    )
    _add_tls_options(parser)


def _add_tls_options(parser: ArgumentParser) -> None:
    parser.add_argument("--ca", type=Path, help="PEM authority of the servers' certificates: the connection is TLS")
    parser.add_argument("--client-cert", type=Path, help="PEM certificate to show to servers that need one (mTLS)")
    parser.add_argument("--client-key", type=Path, help="PEM private key of that certificate")


def add_key_option(parser: ArgumentParser) -> None:
    """Add `--key-file`. The key itself is no argument, because arguments show in the list of processes."""
    parser.add_argument(
        "--key-file", type=Path, help=f"file that holds the platform's key (default: the variable {KEY_VARIABLE})"
    )


def credentials(arguments: Namespace) -> grpc.ChannelCredentials | None:
    """The credentials of a TLS connection; None without `--ca`.

    Raises `BadArguments` if a file cannot be read, or for options that do not go together.
    """
    check_tls_options(arguments)
    if arguments.ca is None:
        return None
    if arguments.client_cert is None:
        return grpc.ssl_channel_credentials(_read(arguments.ca))
    return grpc.ssl_channel_credentials(_read(arguments.ca), _read(arguments.client_key), _read(arguments.client_cert))


def check_tls_options(arguments: Namespace) -> None:
    """Raise `BadArguments` for options of TLS that do not go together."""
    if go_together(arguments, "client_cert", "client_key") and arguments.ca is None:
        raise BadArguments("--client-cert goes with --ca: without it the connection is no TLS")


def platform(arguments: Namespace) -> Platform:
    """A platform's connection to the server. Raises `BadArguments` without a key, or if a file cannot be read."""
    given = key(arguments.key_file, KEY_VARIABLE, "a platform's key is needed: name its file with --key-file")
    return Platform([arguments.server], given, credentials=credentials(arguments))


def key(path: Path | None, variable: str, needed: str) -> str:
    """The key in a file, or in an environment variable if no file is named.

    Raises `BadArguments`: with `needed`, which says what the key is and which flag names its file, if there is none; if the
    file cannot be read; if it holds no key.
    """
    given = os.environ.get(variable, "") if path is None else _read(path).decode(errors="replace")
    if not given.strip():
        raise BadArguments(f"{needed}, or set {variable}")
    if not (given.strip().isascii() and given.strip().isprintable()):
        raise BadArguments(f"{variable if path is None else path} holds no key: copy it whole")
    return given.strip()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadArguments(f"{path}: {error.strerror}") from error


def refused(refusal: CallRefused, server: str) -> str:
    """What a person is told of a refused call."""
    if refusal.reason:
        return str(refusal)
    return f"no server answers at {server}: are the address, --ca and --client-cert right?"
