"""The way of one command, from its bytes to every notice, goes down through the house: no module is entered again from below."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.testing import accepted
from erqiwang_grpc.v1 import bidding_pb2, seat_service_pb2 as pb
from tests.service.tables import attached, seated, served

BID: Final = pb.Command(bid=bidding_pb2.Bid(points=70))
PACKAGES: Final = (
    "erqiwang_core.",
    "erqiwang_grpc.rpc.",
    "erqiwang_grpc.rooms.",
    "erqiwang_grpc.events.",
    "erqiwang_grpc.store.",
)


class Trace:
    """Every chain of calls, as the modules it leads through."""

    def __init__(self) -> None:
        self.chains: set[tuple[str, ...]] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and module(frame) is not None:
            self.chains.add(chain(frame))


def module(frame: FrameType) -> str | None:
    """The module of ours that a frame runs in; None for another's, and for a function without a name.

    Such a one is handed down for each seat of a table: it is called from below, and leads nowhere.
    """
    if frame.f_code.co_name.startswith("<"):
        return None
    name = frame.f_globals.get("__name__", "")
    return name if isinstance(name, str) and name.startswith(PACKAGES) else None


def chain(frame: FrameType) -> tuple[str, ...]:
    """Our modules from the outermost frame to this one, each once as long as it is not left."""
    found: list[str] = []
    at: FrameType | None = frame
    while at is not None:
        name = module(at)
        if name is not None and (not found or found[-1] != name):
            found.append(name)
        at = at.f_back
    return tuple(reversed(found))


@contextmanager
def traced() -> Iterator[Trace]:
    trace = Trace()
    sys.setprofile(trace)
    try:
        yield trace
    finally:
        sys.setprofile(None)


async def until(seat: SeatClient, version: int) -> None:
    await seat.until(lambda: seat.version >= version)


async def test_no_module_is_entered_left_and_entered_again(tmp_path: Path) -> None:
    store = await open_store(tmp_path / STORE_FILE)
    assert isinstance(store, SqliteStore)
    async with served(tmp_path, store=store) as service:
        table = await seated(service.platform)
        async with attached(service, table) as seats:
            with traced() as trace:
                answer = accepted(await seats[0].act(BID))
                for seat in seats:
                    await until(seat, answer.last_version)
    await store.close()
    assert "erqiwang_grpc.rooms.room" in {name for chain in trace.chains for name in chain}, "the command was seen"
    again = [each for each in sorted(trace.chains) if len(set(each)) < len(each)]
    assert again == [], "\n".join(map(str, again))
