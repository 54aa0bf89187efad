"""A short load, as docs/load.md makes a long one: every answer is OK, and what may not change has not changed."""

from pathlib import Path
from typing import get_args

import pytest

from tests.load.ghz import Schemas, install, load
from tests.load.run import credentials, run, table
from tests.service.processes import serving

pytestmark = pytest.mark.load

CALLS = 300
ROOMS = 30


@pytest.mark.parametrize("schemas", get_args(Schemas))
async def test_every_answer_is_ok(tmp_path: Path, schemas: Schemas) -> None:
    reports = await run(tmp_path, CALLS, ROOMS, schemas)
    print(table(reports))
    methods = ["RoomService.CreateRoom", "SeatService.GetView", "SeatService.Act", "SeatService.Play"]
    assert [(report.call, report.count) for report in reports] == list(zip(methods, [CALLS] * 3 + [ROOMS], strict=True))
    assert all(report.all_ok for report in reports), reports


async def test_an_answer_that_is_not_ok_is_seen(tmp_path: Path) -> None:
    metadata = tmp_path / "seats.json"
    metadata.write_text(credentials(["no token"]))
    async with serving(tmp_path, "--in-memory") as server:
        report = await load(await install(), "get_view", server.address, metadata, total=20)
    assert not report.all_ok
    assert report.statuses == {"Unauthenticated": 20}
