"""A PostgreSQL server of the tests' own, in a temporary folder, from the programs on this machine."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from random import randrange
from time import monotonic, sleep
from typing import Final, final
from urllib.parse import quote

import asyncpg

from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.store.postgres.connections import Connection

_PLACES: Final = "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"
_START_SECONDS: Final = 60.0
_SUPERUSER: Final = "postgres"
_SETTINGS: Final = {
    "listen_addresses": "127.0.0.1",
    # These tests end the server in many ways, but never its machine.
    "fsync": "off",
    # Its transactions would now and then hold back a feed for a moment.
    "autovacuum": "off",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "log_min_messages": "fatal",
}


def programs() -> Path | None:
    """The folder of the newest PostgreSQL on this machine; None if there is none."""
    found = [path for pattern in _PLACES for path in Path("/").glob(pattern[1:]) if (path / "initdb").exists()]
    on_path = shutil.which("initdb")
    if on_path is not None:
        found.append(Path(on_path).resolve().parent)
    return max(found, key=_version, default=None)


def _version(folder: Path) -> tuple[int, ...]:
    digits = "".join(character if character.isdigit() else " " for character in folder.parent.name).split()
    return tuple(map(int, digits))


def _user() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root: then it runs as the user it was installed with, or as nobody. None: as we do."""
    if os.getuid() != 0:
        return None
    names = {each.pw_name: each for each in pwd.getpwall()}
    return names.get("postgres") or names.get("nobody")


def _as_user() -> tuple[str, ...]:
    """The words before a command that runs as that user.

    To have Python itself change the user would make it fork, which gRPC in this process does not survive every time.
    """
    user = _user()
    if user is None:
        return ()
    return ("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--")


@final
class Cluster:
    """One server. `start` and `stop` may be called again and again."""

    def __init__(self, bin_folder: Path, folder: Path) -> None:
        self._bin = bin_folder
        self.folder = folder
        """Its socket is here, and its data."""
        self.data = folder / "data"
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        """Make the files of the cluster."""
        flags = ("-U", _SUPERUSER, "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
        command = [*_as_user(), str(self._bin / "initdb"), "-D", str(self.data), *flags]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def start(self, largest_file: int | None = None, **settings: str) -> None:
        """Start the server, and return when it takes connections. No file may grow beyond `largest_file` bytes."""
        options = {"port": str(self.port), "unix_socket_directories": str(self.folder)} | _SETTINGS | settings
        flags = [text for name, value in options.items() for text in ("-c", f"{name}={value}")]
        # In the blocks of 512 bytes that POSIX counts in.
        limit = "unlimited" if largest_file is None else str(largest_file // 512)
        limited = (*_as_user(), "sh", "-c", 'ulimit -S -f "$0"; exec "$@"', limit)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*limited, str(self._bin / "postgres"), "-D", str(self.data), *flags],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        until = monotonic() + _START_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or monotonic() > until:
                raise RuntimeError(f"{self._process.poll()}: {(self.folder / 'log').read_text()[-2_000:]}")
            sleep(0.02)

    def _is_ready(self) -> bool:
        asked = [str(self._bin / "pg_isready"), "-q", "-h", str(self.folder), "-p", str(self.port)]
        return subprocess.run(asked, check=False).returncode == 0

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server by its process: SIGINT cuts its connections, SIGQUIT is a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_START_SECONDS)
            self._process = None

    def adopt(self, data: Path) -> None:
        """Serve these files, which lie in its folder, in place of its own."""
        user = _user()
        if user is not None:
            for path in (data, *data.rglob("*")):
                os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        self.data = data
        self.start()

    def address(self, database: str, *, user: str = _SUPERUSER, hosts: str | None = None) -> Address:
        """The address of a database, over the network."""
        return Address(f"postgresql://{user}@{hosts or f'127.0.0.1:{self.port}'}/{database}")

    def socket_address(self, database: str) -> Address:
        """The address of a database, over the socket in the file system."""
        return Address(f"postgresql://{_SUPERUSER}@/{database}?host={quote(str(self.folder))}&port={self.port}")

    @asynccontextmanager
    async def superuser(self, database: str = "postgres") -> AsyncIterator[Connection]:
        """A connection that may do everything."""
        db = await asyncpg.connect(
            self.address(database).url, server_settings={"statement_timeout": "0", "lock_timeout": "0"}
        )
        try:
            yield db
        finally:
            await asyncio.wait_for(db.close(), 10)


@contextmanager
def running(bin_folder: Path) -> Iterator[Cluster]:
    """A new cluster, while in the context."""
    folder = Path(tempfile.mkdtemp(prefix="erqiwang-pg-"))
    owner = _user()
    if owner is not None:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    cluster = Cluster(bin_folder, folder)
    try:
        cluster.make()
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder)


def _free_port() -> int:
    """A free port that no client is given as its own.

    While the server is down, nodes try to reach it again and again. Given its port as its own, one of them would reach
    itself, and the server could not start.
    """
    while True:
        port = randrange(20_000, 32_000)
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
