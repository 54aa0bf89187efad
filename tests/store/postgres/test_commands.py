"""The commands that look at rooms, on a database."""

import asyncio
from random import Random

import pytest
from erqiwang_core.match import Over

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store import RoomId, StoreId
from erqiwang_grpc.store.postgres import Address
from tests.durability.played import act, next_command, node_on, seated
from tests.store.postgres.conftest import opened


async def played(database: Address) -> tuple[RoomId, StoreId]:
    """A match that was played to its end on the database."""
    node = await opened(database)
    room = await seated(Rooms(node_on(node)))
    luck = Random(4)
    while not isinstance(room.match, Over):
        await act(room, *next_command(room.match, luck))
    await node.close()
    return room.id, node.identity


def test_a_match_in_a_database_is_exported_replayed_and_checked(
    database: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    on = ["--store", database.url]
    assert main(["export", *on]) == 2
    assert "was not served by this version of erqiwang yet" in capsys.readouterr().err
    room, identity = asyncio.run(played(database))
    assert main(["store", "identity", *on]) == 0
    assert capsys.readouterr().out.strip() == identity
    assert main(["export", "--verify", *on]) == 0
    exported = capsys.readouterr()
    assert room in exported.out
    assert "1 written, 1 verified, 0 faulty" in exported.err
    assert main(["store", "rebuild", *on]) == 0
    assert capsys.readouterr().out.startswith("1 sound, 0 ")
    assert main(["replay", room, "--deal", "1", *on]) == 0
    assert capsys.readouterr().out
    assert main(["replay", "another", *on]) == 2
    assert f"there is no room another in {database}" in capsys.readouterr().err
    assert main(["store", "new-identity", *on]) == 2
