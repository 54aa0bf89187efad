"""An attacker in a process of its own: so many connections, one kind of flood on each, for so many seconds.

`python -m tests.attacks.attacker HOST PORT FLOOD CONNECTIONS SECONDS`. It says `ready` once its connections stand, and at the end
how many frames it got rid of and how many connections the server closed.
"""

import selectors
import socket
import sys
from collections.abc import Iterator
from time import monotonic, sleep
from typing import Final, final

from tests.attacks.frames import FLOODS, Flood

BYTES_A_SECOND: Final = 12_500_000
"""What a line of 100 Mbit/s carries. Over the loopback it could be a hundred times as much: no stranger has that."""
_READ: Final = 256 * 1024


@final
class _Line:
    """One connection, and what of its flood is not yet sent."""

    def __init__(self, address: tuple[str, int], flood: Flood) -> None:
        self.socket = socket.create_connection(address)
        self.socket.setblocking(False)
        self.flood: Iterator[tuple[int, bytes]] = flood()
        self.rest = memoryview(b"")
        self.frames = 0
        self.bytes = 0
        self.done = False

    def send(self) -> int:
        """Send what the connection takes now; gives how many frames are through."""
        if not self.rest:
            following = next(self.flood, None)
            if following is None:
                self.done = True
                return 0
            self.frames, rest = following
            self.rest = memoryview(rest)
        sent = self.socket.send(self.rest)
        self.bytes += sent
        self.rest = self.rest[sent:]
        return 0 if self.rest else self.frames


@final
class Attack:
    """All of them."""

    def __init__(self, address: tuple[str, int], flood: Flood, connections: int, *, reads: bool) -> None:
        self._address = address
        self._flood = flood
        self._reads = reads
        self._selector = selectors.DefaultSelector()
        self.frames = 0
        self.closed = 0
        self._bytes = 0
        for _ in range(connections):
            self._connect()

    def _connect(self) -> None:
        line = _Line(self._address, self._flood)
        self._selector.register(line.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, line)

    def run(self, seconds: float) -> None:
        """Flood, and come back on a new connection for each that the server closes."""
        began = monotonic()
        while (now := monotonic() - began) < seconds:
            if self._bytes > BYTES_A_SECOND * now:
                sleep(0.01)
                continue
            for key, events in self._selector.select(0.1):
                try:
                    self._step(key.data, events)
                except OSError:
                    self._again(key.data)

    def _step(self, line: _Line, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            before = line.bytes
            self.frames += line.send()
            self._bytes += line.bytes - before
            if line.done:
                self._selector.modify(line.socket, selectors.EVENT_READ, line)
        if events & selectors.EVENT_READ:
            if self._reads or line.done:
                if not line.socket.recv(_READ):
                    self._again(line)
            else:
                self._selector.modify(line.socket, selectors.EVENT_WRITE, line)

    def _again(self, line: _Line) -> None:
        self.closed += 1
        self._selector.unregister(line.socket)
        line.socket.close()
        self._connect()


def main(host: str, port: str, flood: str, connections: str, seconds: str, reads: str) -> None:
    """Attack, between two lines on standard output."""
    attack = Attack((host, int(port)), FLOODS[flood], int(connections), reads=reads == "reads")
    print("ready", flush=True)
    attack.run(float(seconds))
    print(attack.frames, attack.closed, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
