"""The clock of the database: a node whose own is more than a second off says so, once an hour at most."""

import time

import pytest

from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.store.postgres.connections import connect
from erqiwang_grpc.store.postgres.database_clock import DatabaseClock


class Clocks:
    """A wall clock that is off, and a monotonic one that is moved by hand."""

    def __init__(self) -> None:
        self.off = 0.0
        self.monotonic = 0.0

    def look_at(self) -> DatabaseClock:
        return DatabaseClock(lambda: time.time() + self.off, lambda: self.monotonic)


@pytest.mark.parametrize(("off", "is_said"), [(0.0, False), (0.5, False), (-0.5, False), (3.0, True), (-3.0, True)])
async def test_a_clock_that_is_off_is_said_to_be(
    database: Address, caplog: pytest.LogCaptureFixture, off: float, is_said: bool
) -> None:
    clocks = Clocks()
    clocks.off = off
    clock = clocks.look_at()
    db = await connect(database)
    await clock.look(db)
    db.terminate()
    assert clock.ahead == pytest.approx(off, abs=0.4)
    said = [record.__dict__["seconds"] for record in caplog.records if record.message == "clock off"]
    assert len(said) == is_said
    assert all(seconds == pytest.approx(off, abs=0.4) for seconds in said)


async def test_it_is_said_again_after_an_hour_and_when_it_is_right_again(
    database: Address, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    clocks = Clocks()
    clock = clocks.look_at()
    db = await connect(database)
    for off, passed, said in (
        (9.0, 0, "clock off"),
        (9.0, 3_599, None),
        (9.0, 1, "clock off"),
        (0.0, 1, "clock right again"),
        (0.0, 1, None),
        (9.0, 1, "clock off"),
    ):
        caplog.clear()
        clocks.off = off
        clocks.monotonic += passed
        await clock.look(db)
        assert [record.message for record in caplog.records if record.message.startswith("clock")] == (
            [] if said is None else [said]
        )
    db.terminate()


async def test_an_answer_that_takes_long_tells_nothing_for_sure(
    database: Address, caplog: pytest.LogCaptureFixture
) -> None:
    """Half of the time that the answer took is not known."""
    readings = iter((time.time(), time.time() + 4.0))
    clock = DatabaseClock(lambda: next(readings))
    db = await connect(database)
    await clock.look(db)
    db.terminate()
    assert [record.message for record in caplog.records] == []
