"""The packets of whole matches are those that a reviewer has read (`transcripts/`, written by `write`)."""

import pytest

from tests.edge.packets.scenes import SCENES
from tests.edge.packets.write import FOLDER, render


@pytest.mark.parametrize("name", SCENES)
async def test_a_match_is_told_as_written(name: str) -> None:
    assert await render(SCENES[name]) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_every_transcript_has_its_scene() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(SCENES)
