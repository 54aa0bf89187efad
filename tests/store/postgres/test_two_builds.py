"""Two builds of the program on one database: what both know they serve together, and the older leaves the rest to the newer."""

import asyncio
import re
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.client import CallRefused, Platform
from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.testing import ServerProcess, in_phase, play_all, seated
from erqiwang_grpc.v1 import room_pb2, view_pb2
from tests.store.postgres.processes import clients, in_tree, platform_of, serving
from tests.toy_game import tree as trees

PATIENCE = 120.0
TOY = room_pb2.RoomOptions.FromString(b"\x9a\x06\x00")
"""Options with the field 99, which is the toy game to the newer build and nothing to this one."""


def no_harm_is_said(node: ServerProcess) -> None:
    """Nothing was taken for damage, and nothing was not understood."""
    for message in ("room damaged", "room quarantined", "room unreadable", "call failed", "list contradicted"):
        assert node.said(message) == 0, node.log()


async def test_a_game_that_only_the_newer_build_knows_is_served_by_it_and_the_others_by_both(
    database: Address, tmp_path: Path
) -> None:
    tree = await asyncio.to_thread(_with_the_toy_game, tmp_path / "tree")
    async with serving(database, tmp_path, 2, befores=[(), in_tree(tree)]) as nodes, platform_of(nodes) as both:
        table = await seated(both)
        async with (
            clients(nodes, table) as seats,
            Platform([nodes[0].address], nodes[0].key) as older,
            Platform([nodes[1].address], nodes[0].key) as newer,
        ):
            async with asyncio.timeout(PATIENCE):
                await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
            assert [seat.connections for seat in seats] == [1, 1, 1], "both builds serve it to the end"
            made = await newer.create_room("alice", TOY)
            with pytest.raises(CallRefused) as refused:
                await older.room(made.room_id)
            assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.UNAVAILABLE, "WRITTEN_BY_NEWER")
            assert (await both.room(made.room_id)).room_id == made.room_id, "the next address"
            assert {room.room_id for room in await newer.rooms()} == {table.room_id, made.room_id}
            assert table.room_id in {room.room_id for room in await older.rooms()}
        assert nodes[0].said("room left to a newer version") == 0, "it never had the room"
        no_harm_is_said(nodes[0])


async def test_a_match_that_a_newer_build_goes_on_with_by_later_rules_leaves_the_older_node(
    database: Address, tmp_path: Path
) -> None:
    tree = await asyncio.to_thread(_with_later_rules, tmp_path / "tree")
    async with serving(database, tmp_path, 2, befores=[(), in_tree(tree)]) as nodes, platform_of(nodes) as platform:
        table = await seated(platform)
        watching = platform.watch()
        assert (await anext(watching)).room_id == table.room_id
        async with clients(nodes, table) as seats:
            async with asyncio.timeout(PATIENCE):
                await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
            assert [seat.ended for seat in seats] == [None] * 3
            assert {seat._servers.address for seat in seats} == {nodes[1].address}  # where they went
            assert len({seat.view.parts.progress.SerializeToString() for seat in seats}) == 1
        async with asyncio.timeout(PATIENCE):
            async for event in watching:
                if event.WhichOneof("event") == "deal_settled":
                    break
        assert nodes[0].said("room left to a newer version") >= 1
        no_harm_is_said(nodes[0])
        no_harm_is_said(nodes[1])


def _with_the_toy_game(folder: Path) -> Path:
    tree = trees.copy_to(folder)
    trees.apply(tree)
    trees.generate(tree)
    return tree


def _with_later_rules(folder: Path) -> Path:
    tree = trees.copy_to(folder)
    rules = tree / "core" / "erqiwang_core" / "rules.py"
    text, changed = re.subn(
        r"^RULES_VERSION: Final = (\d+)$", r"RULES_VERSION: Final = \1 + 1", rules.read_text(), flags=re.MULTILINE
    )
    assert changed == 1
    rules.write_text(text)
    return tree
