"""docs/discovery.md with a real grpcurl, which knows nothing but what the server tells it."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from tests.documents import run, sections
from tests.load.ghz import TOOLS
from tests.service.processes import serving

pytestmark = pytest.mark.load


async def test_a_room_is_opened_and_looked_at_by_hand(tmp_path: Path) -> None:
    assert shutil.which("go"), "grpcurl is installed by the Go toolchain, and this machine has no go: docs/discovery.md"
    script = "\n".join(block for section in sections("discovery.md").values() for block in section.blocks)
    async with serving(tmp_path, "--in-memory") as server:
        environment = os.environ | {
            "ERQIWANG_ADDRESS": server.address,
            "ERQIWANG_KEY": server.key,
            "GOBIN": str(TOOLS),
            "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}",
        }
        told = await asyncio.to_thread(run, script, tmp_path, environment)
    for expected in (
        "grpc.reflection.v1.ServerReflection",
        "rpc Play ( stream .erqiwang.v1.PlayRequest ) returns ( stream .erqiwang.v1.PlayResponse );",
        "ROOM_STATE_OPEN",
        "ROOM_STATE_PLAYING",
        "ROOM_STATE_DISBANDED",
        "PHASE_BIDDING",
        "PHASE_SETTLED",
        '"deal": 2',
        '"deal_started": {',
    ):
        assert expected in told
