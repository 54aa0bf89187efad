"""Which appends go to the writing thread together."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from erqiwang_grpc.store import AppendAnswer, Appended, RoomId, Version
from erqiwang_grpc.store.batches import Prepared, prepare
from erqiwang_grpc.store.sqlite import grouping
from erqiwang_grpc.store.sqlite.grouping import Groups
from tests.store.contract import batch


class Disk:
    """A disk that writes a group once it may, and keeps the bodies of each."""

    def __init__(self) -> None:
        self.written: list[list[bytes]] = []
        self.may_write = Event()
        self.may_write.set()

    def commit(self, group: Sequence[Prepared]) -> list[AppendAnswer]:
        self.may_write.wait()
        self.written.append([one.batch.bodies[0] for one in group])
        return [Appended(Version(1)) for _ in group]


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
async def groups(disk: Disk) -> AsyncIterator[Groups]:
    with ThreadPoolExecutor(1) as writer:
        groups = Groups(asyncio.get_running_loop(), writer, disk.commit, lambda: None)
        yield groups
        await groups.done()


def appended(body: bytes) -> Prepared:
    return prepare(RoomId("room"), Version(0), batch(body))


async def crowd(groups: Groups, disk: Disk) -> None:
    """Let appends come while others are written, as where many rooms are played."""
    disk.may_write.clear()
    answers = [groups.add(appended(body)) for body in (b"first", b"second", b"third")]
    disk.may_write.set()
    await asyncio.gather(*answers)


async def test_what_comes_during_a_flush_is_the_next_group(groups: Groups, disk: Disk) -> None:
    await crowd(groups, disk)
    assert disk.written == [[b"first"], [b"second", b"third"]]


async def test_where_appends_come_together_a_group_waits_for_more(
    groups: Groups, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "_MOMENT", 0.3)
    await crowd(groups, disk)
    earlier = groups.add(appended(b"earlier"))
    await asyncio.sleep(0.05)
    later = groups.add(appended(b"later"))
    await asyncio.gather(earlier, later)
    assert disk.written[-1] == [b"earlier", b"later"]


async def test_one_that_waits_for_each_answer_is_never_delayed(
    groups: Groups, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "_MOMENT", 1_000.0)
    for number in range(50):
        await groups.add(appended(b"%d" % number))
    assert disk.written == [[b"%d" % number] for number in range(50)]


async def test_a_crowd_is_forgotten_after_a_while(groups: Groups, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "_MOMENT", 0.01)
    await crowd(groups, disk)
    for number in range(grouping._STILL_TOGETHER):
        await groups.add(appended(b"%d" % number))
    monkeypatch.setattr(grouping, "_MOMENT", 1_000.0)
    await groups.add(appended(b"alone"))
    assert disk.written[-1] == [b"alone"]


async def test_who_is_cancelled_does_not_hold_up_the_others(groups: Groups, disk: Disk) -> None:
    disk.may_write.clear()
    first, given_up, last = (groups.add(appended(body)) for body in (b"first", b"given up", b"last"))
    given_up.cancel()
    disk.may_write.set()
    assert await first == await last == Appended(Version(1))
    assert disk.written == [[b"first"], [b"given up", b"last"]]
