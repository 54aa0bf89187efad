"""A PostgreSQL server for tests, in a temporary folder, from the programs on this machine.

It needs the extra `postgres`. `pair` puts a standby beside it.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from random import randrange
from time import monotonic, sleep
from typing import Final, final
from urllib.parse import quote

from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.store.postgres.connections import Connection, connect
from erqiwang_grpc.testing.folder import guarded_folder

_PLACES: Final = "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"
_START_SECONDS: Final = 60.0
SUPERUSER: Final = "postgres"
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
        """Its socket is here, and its data. It is made if it is not there, and given to the server's user."""
        self.data = folder / "data"
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._was_killed = False

    def make(self) -> None:
        """Make the files of the cluster."""
        self._own()
        flags = ("-U", SUPERUSER, "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
        self._run("initdb", "-D", str(self.data), *flags)

    def copy(self, port: int) -> None:
        """Make the files anew as a standby of the server on that port, from which they are copied. It must be stopped."""
        self._own()
        shutil.rmtree(self.data, ignore_errors=True)
        source = ("-h", "127.0.0.1", "-p", str(port), "-U", SUPERUSER)
        self._run("pg_basebackup", "-D", str(self.data), *source, "-X", "stream", "-c", "fast", "-R", "--no-sync")

    def _own(self) -> None:
        self.folder.mkdir(exist_ok=True)
        owner = _user()
        if owner is not None:
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*_as_user(), str(self._bin / program), *arguments]
        done = subprocess.run(command, check=False, capture_output=True, cwd=self.folder)
        if done.returncode:
            raise RuntimeError(f"{program} ended with status {done.returncode}: {done.stderr.decode()[-2_000:]}")

    def start(self, settings: Mapping[str, str] | None = None, *, largest_file: int | None = None) -> None:
        """Start the server, and return when it takes connections. No file may grow beyond `largest_file` bytes."""
        options = (
            {"port": str(self.port), "unix_socket_directories": str(self.folder)} | _SETTINGS | dict(settings or {})
        )
        flags = [text for name, value in options.items() for text in ("-c", f"{name}={value}")]
        # In the blocks of 512 bytes that POSIX counts in.
        limit = "unlimited" if largest_file is None else str(largest_file // 512)
        limited = (*_as_user(), "sh", "-c", 'ulimit -S -f "$0"; exec "$@"', limit)
        command = [*limited, str(self._bin / "postgres"), "-D", str(self.data), *flags]
        until = monotonic() + _START_SECONDS
        process = self._process = self._spawn(command)
        while not self._is_ready():
            if monotonic() > until or (process.poll() is not None and not self._was_killed):
                raise RuntimeError(f"{process.poll()}: {(self.folder / 'log').read_text()[-2_000:]}")
            if process.poll() is not None:
                # The processes of a server that was killed end a moment after it, and hold its memory until then.
                process = self._process = self._spawn(command)
            sleep(0.02)
        self._was_killed = False

    def _spawn(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def _is_ready(self) -> bool:
        asked = [str(self._bin / "pg_isready"), "-q", "-h", str(self.folder), "-p", str(self.port)]
        return subprocess.run(asked, check=False).returncode == 0

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server by its process: SIGINT cuts its connections, SIGQUIT and SIGKILL are crashes."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_START_SECONDS)
            self._process = None
            self._was_killed = how == signal.SIGKILL

    def promote(self) -> None:
        """Make a standby the primary, and return when it may be written."""
        self._run("pg_ctl", "promote", "-w", "-D", str(self.data))

    def adopt(self, data: Path) -> None:
        """Serve these files, which lie in its folder, in place of its own."""
        user = _user()
        if user is not None:
            for path in (data, *data.rglob("*")):
                os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        self.data = data
        self.start()

    def address(self, database: str, *, user: str = SUPERUSER, hosts: str | None = None) -> Address:
        """The address of a database, over the network."""
        return Address(f"postgresql://{user}@{hosts or f'127.0.0.1:{self.port}'}/{database}")

    def socket_address(self, database: str) -> Address:
        """The address of a database, over the socket in the file system."""
        return Address(f"postgresql://{SUPERUSER}@/{database}?host={quote(str(self.folder))}&port={self.port}")

    @asynccontextmanager
    async def superuser(self, database: str = "postgres") -> AsyncIterator[Connection]:
        """A connection that may do everything. The server must not be a standby."""
        db = await connect(self.address(database))
        try:
            yield db
        finally:
            await asyncio.wait_for(db.close(), 10)


@contextmanager
def running(bin_folder: Path) -> Iterator[Cluster]:
    """A new cluster, while in the context."""
    with guarded_folder("erqiwang-pg-") as folder:
        cluster = Cluster(bin_folder, folder)
        try:
            cluster.make()
            cluster.start()
            yield cluster
        finally:
            cluster.stop()


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
