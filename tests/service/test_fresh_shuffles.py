"""The real shuffle: every deal of a process has a salt and an order of its own, and so has every process."""

import asyncio
import subprocess
import sys
from pathlib import Path

from erqiwang_core.options import FourPlayer, ThreePlayer
from erqiwang_core.rules import game_rules

from erqiwang_grpc import shuffling
from tests.service.tables import Service, attached, play_all, seated

PROGRAM = """
from erqiwang_core.options import ThreePlayer
from erqiwang_core.rules import game_rules
from erqiwang_grpc.shuffling import shuffle
print(shuffle(game_rules(ThreePlayer(), True)).commitment.hex())
"""


async def test_every_deal_of_a_server_is_shuffled_afresh(service: Service) -> None:
    rooms = [(await seated(service.platform, command_id=f"{number}")).room_id for number in range(12)]
    whole = await seated(service.platform, command_id="whole")
    async with attached(service, whole) as seats:
        await play_all(seats)
    for room in rooms:
        await service.platform.disband_room(room)
    deals = [deal for room in (*rooms, whole.room_id) for deal in (await service.platform.record(room)).deals]
    assert len(deals) == 12 + 6
    assert len({deal.salt for deal in deals}) == len({tuple(deal.deck) for deal in deals}) == len(deals)
    assert all(len(deal.salt) == 32 for deal in deals), "the bytes of SHA-256: a shorter one could be guessed"
    assert all(shuffling.opens(deal.commitment, deal.salt, deal.deck) for deal in deals)


def test_every_shuffle_is_another_one() -> None:
    for game in (ThreePlayer(), FourPlayer()):
        made = [shuffling.shuffle(game_rules(game, review=True)) for _ in range(200)]
        assert len({each.salt for each in made}) == len({each.order for each in made}) == 200
        # A card that never leaves its place, or a salt of which a part stands still, would be no shuffle.
        assert all(len({each.order[place] for each in made}) > 40 for place in range(len(made[0].order)))
        assert all(len({each.salt[place] for each in made}) > 60 for place in range(shuffling.SALT_BYTES))


async def test_every_process_shuffles_otherwise(tmp_path: Path) -> None:
    async def committed() -> bytes:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROGRAM, stdout=subprocess.PIPE, cwd=tmp_path
        )
        return (await process.communicate())[0]

    made = [await committed() for _ in range(3)]
    assert len(set(made)) == 3
    assert all(len(line) == 65 for line in made)
