"""ghz: installed by the Go toolchain, run with a configuration of this folder, and what it reports."""

import asyncio
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, final

from tests.documents import REPOSITORY

VERSION: Final = "github.com/bojand/ghz/cmd/ghz@v0.120.0"
FOLDER: Final = Path(__file__).parent
TOOLS: Final = REPOSITORY / "build" / "tools"
MILLISECOND: Final = 1_000_000
"""In nanoseconds, as ghz measures."""

Schemas: TypeAlias = Literal["reflection", "proto"]
"""Where ghz learns what a call looks like: it asks the server, or reads proto/."""


@final
@dataclass(frozen=True, slots=True)
class Report:
    """What ghz measured of one call."""

    call: str
    count: int
    per_second: float
    latencies: dict[int, float]
    """Percentile to milliseconds."""
    statuses: dict[str, int]
    """gRPC status to how many calls had it."""
    errors: dict[str, int]

    @property
    def all_ok(self) -> bool:
        """Whether every call was answered OK."""
        return self.statuses == {"OK": self.count} and not self.errors


async def install() -> Path:
    """The path of ghz at the pinned version, built where that was not done before."""
    if shutil.which("go") is None:
        raise FileNotFoundError("ghz is installed by the Go toolchain, and this machine has no go: docs/load.md")
    ghz = TOOLS / "ghz"
    if not ghz.exists():
        await _output(["go", "install", VERSION], os.environ | {"GOBIN": str(TOOLS)})
    return ghz


async def load(
    ghz: Path, name: str, address: str, metadata: Path, total: int, schemas: Schemas = "reflection"
) -> Report:
    """Make `total` calls as `name`.json in this folder says, with the metadata of a file.

    A call's metadata may differ by its number: it is a template, as ghz has it.
    """
    known = ["--import-paths", "proto", "--proto", f"proto/erqiwang/v1/{_schema(name)}"] if schemas == "proto" else []
    config = FOLDER / f"{name}.json"
    command = [str(ghz), "--config", str(config), "--metadata-file", str(metadata), "--total", str(total), *known]
    return _report(await _output([*command, "--format", "json", address], os.environ))


def _schema(name: str) -> str:
    service = json.loads((FOLDER / f"{name}.json").read_text())["call"].split(".")[2]
    return {"RoomService": "room_service.proto", "SeatService": "seat_service.proto"}[service]


async def _output(command: list[str], environment: Mapping[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=REPOSITORY, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, (output + errors).decode()
    return output.decode()


def _report(text: str) -> Report:
    said = json.loads(text)
    return Report(
        call=said["options"]["call"].removeprefix("erqiwang.v1."),
        count=said["count"],
        per_second=said["rps"],
        latencies={each["percentage"]: each["latency"] / MILLISECOND for each in said["latencyDistribution"] or ()},
        statuses=said["statusCodeDistribution"],
        errors=said["errorDistribution"],
    )
