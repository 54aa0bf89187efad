"""The data folder: nothing in it is lost without a word, nothing half made is in the way, and nobody else reads it."""

import asyncio
import fcntl
import os
import stat
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.auth.files import (
    FIRST_KEY,
    FIRST_PLATFORM,
    PLATFORM_KEYS,
    SIGNING_KEYS,
    add_platform_key,
    open_key_files,
    read_platform_keys,
    read_signing_keys,
    rotate_signing_key,
)
from erqiwang_grpc.auth.keys import PlatformId, PlatformKeys, SigningKeys
from erqiwang_grpc.commands import backup, export
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from tests.durability.test_damage import cannot_serve
from tests.service.processes import serving

LOCK = f"{STORE_FILE}.lock"


async def served(folder: Path) -> None:
    """Leave the folder of a server that had a room."""
    async with serving(folder) as server, grpc.aio.insecure_channel(server.address) as channel:
        await server.speaking(channel).platform.create_room("alice")
        await server.stop()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# A log that is gone.


def gone(folder: Path) -> None:
    (folder / STORE_FILE).unlink()


def empty(folder: Path) -> None:
    (folder / STORE_FILE).write_bytes(b"")


def all_but_its_keys(folder: Path) -> None:
    gone(folder)
    (folder / LOCK).unlink()


def all_but_its_lock(folder: Path) -> None:
    gone(folder)
    for name in (PLATFORM_KEYS, SIGNING_KEYS, FIRST_KEY):
        (folder / name).unlink()


@pytest.mark.parametrize("lose", [gone, empty, all_but_its_keys, all_but_its_lock])
async def test_a_log_that_is_lost_is_not_made_anew_without_a_word(tmp_path: Path, lose: Callable[[Path], None]) -> None:
    await served(tmp_path)
    lose(tmp_path)
    before = contents(tmp_path)
    said = await cannot_serve(tmp_path)
    assert str(tmp_path / STORE_FILE) in said
    assert "restore the rooms from a backup" in said
    assert "--new-rooms" in said
    assert contents(tmp_path) == before, "and nothing was made or changed"


async def test_a_loss_that_is_known_is_served(tmp_path: Path) -> None:
    await served(tmp_path)
    gone(tmp_path)
    async with serving(tmp_path, "--new-rooms") as server, grpc.aio.insecure_channel(server.address) as channel:
        assert await server.speaking(channel).platform.rooms() == []
        await server.stop()
    async with serving(tmp_path) as server:
        assert server.port


async def test_a_first_start_that_was_cut_off_is_taken_up(tmp_path: Path) -> None:
    """After the log was made and before the keys were; nothing is missed then."""
    store = await open_store(tmp_path / STORE_FILE)
    assert isinstance(store, SqliteStore)
    await store.close()
    (tmp_path / LOCK).write_bytes(b"4711")
    async with serving(tmp_path) as server:
        assert server.port


# Keys that are added at once.


def test_keys_added_at_once_are_all_there(tmp_path: Path) -> None:
    open_key_files(tmp_path, None, None)
    with ThreadPoolExecutor(8) as pool:
        added = list(
            pool.map(lambda number: add_platform_key(tmp_path / PLATFORM_KEYS, PlatformId(f"p{number}")), range(24))
        )
        rotated = list(pool.map(lambda _: rotate_signing_key(tmp_path / SIGNING_KEYS, keep=99), range(24)))
    known, signing = read_platform_keys(tmp_path / PLATFORM_KEYS), read_signing_keys(tmp_path / SIGNING_KEYS)
    assert isinstance(known, PlatformKeys)
    assert isinstance(signing, SigningKeys)
    assert [known.platform(str(key)) for key in added] == [f"p{number}" for number in range(24)]
    assert FIRST_PLATFORM in {key.platform for key in known.keys}
    assert rotated == [None] * 24
    assert len(signing.all) == 25


async def test_processes_that_add_keys_at_once_lose_none(tmp_path: Path) -> None:
    open_key_files(tmp_path, None, None)
    adding = [await keys_process(tmp_path, f"p{number}") for number in range(4)]
    printed = [(await process.communicate())[0].decode().strip() for process in adding]
    known = read_platform_keys(tmp_path / PLATFORM_KEYS)
    assert isinstance(known, PlatformKeys)
    assert [known.platform(key) for key in printed] == [f"p{number}" for number in range(4)]


async def keys_process(folder: Path, platform: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "erqiwang_grpc", "keys", "add", platform, "--data", str(folder),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip


# What a killed backup leaves.


async def store(folder: Path) -> None:
    store = await open_store(folder / STORE_FILE)
    assert isinstance(store, SqliteStore)
    await store.close()
    open_key_files(folder, None, None)


def test_what_a_killed_backup_left_is_in_no_ones_way(tmp_path: Path) -> None:
    asyncio.run(store(tmp_path))
    left = tmp_path / "copy.partial"
    left.mkdir()
    for name in (f"{STORE_FILE}.partial", f"{STORE_FILE}.partial-journal", STORE_FILE, PLATFORM_KEYS):
        (left / name).write_bytes(b"half of it")
    assert main(["backup", str(tmp_path / "copy"), "--data", str(tmp_path)]) == backup.DONE
    assert not left.exists()
    assert {path.name for path in (tmp_path / "copy").iterdir()} == {STORE_FILE, PLATFORM_KEYS, SIGNING_KEYS}
    assert main(["export", "--verify", "--data", str(tmp_path / "copy")]) == export.DONE


def test_a_backup_that_goes_on_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(store(tmp_path))
    left = tmp_path / "copy.partial"
    left.mkdir()
    (left / STORE_FILE).write_bytes(b"being written")
    other = os.open(left, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    assert main(["backup", str(tmp_path / "copy"), "--data", str(tmp_path)]) == backup.NOT_DONE
    assert "by another backup" in capsys.readouterr().err
    assert (left / STORE_FILE).read_bytes() == b"being written"
    os.close(other)


def test_a_folder_of_that_name_that_no_backup_made_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(store(tmp_path))
    left = tmp_path / "copy.partial"
    left.mkdir()
    (left / "thesis.txt").write_text("ours")
    (left / STORE_FILE).write_text("ours too")
    assert main(["backup", str(tmp_path / "copy"), "--data", str(tmp_path)]) == backup.NOT_DONE
    assert "'thesis.txt'" in capsys.readouterr().err
    assert sorted(path.name for path in left.iterdir()) == [STORE_FILE, "thesis.txt"]


# Who can read what holds cards and keys.


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("umask")
async def test_whatever_holds_cards_or_keys_is_its_owners_alone(tmp_path: Path) -> None:
    """Whatever the umask, in a folder that everybody may read; beside the running server, while `-wal` and `-shm` are there."""
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o777)
    async with serving(folder) as server, grpc.aio.insecure_channel(server.address) as channel:
        await server.speaking(channel).platform.create_room("alice")
        copy, lines = tmp_path / "copy", tmp_path / "matches.jsonl"
        (folder / PLATFORM_KEYS).chmod(0o644)  # a copy is private even where the original is not
        assert await asyncio.to_thread(main, ["backup", str(copy), "--data", str(folder)]) == backup.DONE
        (folder / PLATFORM_KEYS).chmod(0o600)
        assert await asyncio.to_thread(main, ["export", "--to", str(lines), "--data", str(folder)]) == export.DONE
        found = [path for path in folder.iterdir() if path.name != "standard-error.txt"]
        assert {path.name for path in found} == {
            STORE_FILE, f"{STORE_FILE}-wal", f"{STORE_FILE}-shm", LOCK, PLATFORM_KEYS, SIGNING_KEYS, FIRST_KEY,
        }  # fmt: skip
        assert {path.name: mode(path) for path in (*found, *copy.iterdir(), lines)} == {
            path.name: 0o600 for path in (*found, *copy.iterdir(), lines)
        }
        assert mode(copy) == 0o700
        opened = [line for line in server.lines() if line["message"] == "open to others"]
        assert [line["path"] for line in opened] == [str(folder)], "the folder, and no file of it"
        assert "chmod" in str(opened[0]["why"])


async def test_what_others_can_read_is_warned_of(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    await served(folder)
    for name, wide in ((STORE_FILE, 0o640), (SIGNING_KEYS, 0o604)):
        (folder / name).chmod(wide)
    async with serving(folder) as server:
        opened = [line["path"] for line in server.lines() if line["message"] == "open to others"]
        assert {str(folder / STORE_FILE), str(folder / SIGNING_KEYS)} <= set(opened)
        assert str(folder) not in opened


def test_an_export_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(store(tmp_path))
    kept = tmp_path / "kept"
    kept.write_text("kept")
    assert main(["export", "--to", str(kept), "--data", str(tmp_path)]) == export.CANNOT_READ
    assert str(kept) in capsys.readouterr().err
    assert kept.read_text() == "kept"
