"""Arguments of the subcommands that call a running server: where it is, its authority, and a platform's key."""

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

import grpc

from erqiwang_grpc.client import CallRefused, Platform
from erqiwang_grpc.commands.arguments import PORT, BadArguments

KEY_VARIABLE: Final = "ERQIWANG_KEY"


def add_server_options(parser: ArgumentParser) -> None:
    """Add `--server` and `--ca`."""
    here = f"127.0.0.1:{PORT}"
    parser.add_argument("--server", metavar="HOST:PORT", default=here, help=f"where the server is (default: {here})")
    parser.add_argument("--ca", type=Path, help="PEM authority of the server's certificate: the connection is TLS")


def add_key_option(parser: ArgumentParser) -> None:
    """Add `--key-file`. The key itself is no argument, because arguments show in the list of processes."""
    parser.add_argument(
        "--key-file", type=Path, help=f"file that holds the platform's key (default: the variable {KEY_VARIABLE})"
    )


def credentials(arguments: Namespace) -> grpc.ChannelCredentials | None:
    """The credentials of a TLS connection; None without `--ca`. Raises `BadArguments` if the file cannot be read."""
    return None if arguments.ca is None else grpc.ssl_channel_credentials(_read(arguments.ca))


def platform(arguments: Namespace) -> Platform:
    """A platform's connection to the server. Raises `BadArguments` without a key, or if a file cannot be read."""
    return Platform([arguments.server], _key(arguments), credentials=credentials(arguments))


def _key(arguments: Namespace) -> str:
    if arguments.key_file is not None:
        key = _read(arguments.key_file).decode(errors="replace").strip()
        source = str(arguments.key_file)
    else:
        key = os.environ.get(KEY_VARIABLE, "").strip()
        source = KEY_VARIABLE
    if not key:
        raise BadArguments(f"a platform's key is needed: name its file with --key-file, or set {KEY_VARIABLE}")
    if not (key.isascii() and key.isprintable()):
        raise BadArguments(f"{source} holds no key: copy it whole")
    return key


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadArguments(f"{path}: {error.strerror}") from error


def refused(refusal: CallRefused, server: str) -> str:
    """What a person is told of a refused call."""
    if refusal.reason:
        return str(refusal)
    return f"no server answers at {server}: is the address right, and --ca?"
