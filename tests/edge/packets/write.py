"""Write the transcripts again: `python -m tests.edge.packets.write`. What changed is for a reviewer to judge."""

import asyncio
from pathlib import Path
from typing import Final

from tests.edge.packets.rendering import Transcript
from tests.edge.packets.scenes import SCENES, Scene
from tests.edge.packets.stage import stage
from tests.service.tables import served

FOLDER: Final = Path(__file__).parent / "transcripts"


async def render(scene: Scene) -> str:
    """The text of a scene, played on a server of its own."""
    async with (
        served(shuffle=scene.shuffle) as service,
        stage(service, scene.roomtype, scene.manner, seed=scene.seed) as on_stage,
    ):
        transcript = Transcript(on_stage, scene.remark, scene.roomtype)
        await scene.play(transcript)
        return transcript.text()


async def main() -> None:
    """Play every scene, and write it down."""
    FOLDER.mkdir(exist_ok=True)
    for name, scene in SCENES.items():
        (FOLDER / f"{name}.txt").write_text(await render(scene), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
