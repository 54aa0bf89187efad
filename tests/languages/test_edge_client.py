"""The WebSocket client in TypeScript: it plays over a real edge, comes back after a loss, and says why it was closed."""

from pathlib import Path

import pytest

from tests.edge.processes import edge_apart, gateway_key, taking
from tests.languages.test_clients import failed, played, server
from tests.languages.workshop import Workshop
from tests.service.processes import ServerProcess

__all__ = ["server"]

pytestmark = pytest.mark.languages


@pytest.mark.parametrize(
    ("frames", "game", "seats"), [("protobuf", "three", 3), ("json", "three", 3), ("json", "four", 4)]
)
async def test_a_web_client_plays_a_match_and_comes_back_in_its_middle(
    workshop: Workshop, server: ServerProcess, tmp_path: Path, frames: str, game: str, seats: int
) -> None:
    key = gateway_key(server.folder)
    await taking(server, key)
    flags = ("--messages-per-second", "10000")
    async with edge_apart([server.address], *flags, key=key, log=tmp_path / "log") as edge:
        url = f"ws://127.0.0.1:{edge.port}/v1/play"
        result = await played(workshop.client("TypeScript"), server, f"--edge {url} --frames {frames} --game {game}")
    assert (result.seats, result.deals) == (seats, 6)
    assert sum(result.totals) == 0


async def test_a_web_client_whose_token_is_refused_says_so(
    workshop: Workshop, server: ServerProcess, tmp_path: Path
) -> None:
    key = gateway_key(server.folder)
    await taking(server, key)
    async with edge_apart([server.address], key=key, log=tmp_path / "log") as edge:
        url = f"ws://127.0.0.1:{edge.port}/v1/play"
        said = await failed(workshop.client("TypeScript"), server, f"--edge {url} --token nonsense")
    assert "4005 NO_SUCH_ROOM" in said
