"""Data folders for the commands that read one."""

from pathlib import Path

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.rooms.registry import Rooms, room_id
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from tests.durability.played import node_on, play, seated


async def stored(folder: Path, rooms: int = 1, steps: int = 10) -> str:
    """Store rooms in which so many commands were carried out; gives the id of the last one."""
    store = await open_store(folder / STORE_FILE)
    assert isinstance(store, SqliteStore)
    here = Rooms(node_on(store))
    for number in range(rooms):
        await play(await seated(here, f"room {number}"), steps)
    await store.close()
    return room_id(PlatformId("local"), f"room {rooms - 1}")
