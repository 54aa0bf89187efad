"""Commands that root runs on the folder of a server which is another user: the server can still read and write all of it."""

import asyncio
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.auth.files import (
    FIRST_KEY,
    PLATFORM_KEYS,
    SIGNING_KEYS,
    KeyFileRefused,
    add_platform_key,
    open_key_files,
    read_platform_keys,
)
from erqiwang_grpc.auth.keys import PlatformId, PlatformKeys
from erqiwang_grpc.store.sqlite import STORE_FILE
from tests.commands.stores import stored

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
USER: Final = 61234
GROUP: Final = 61235


def served_by_another(folder: Path) -> Path:
    """The folder of a server that is another user: its store, its keys and its lock."""
    asyncio.run(stored(folder))
    open_key_files(folder, None, None)
    for path in (folder, *folder.iterdir()):
        os.chown(path, USER, GROUP)
    return folder


def owners(folder: Path) -> dict[str, tuple[int, int, int]]:
    """User, group and mode of each file."""
    found = {path.name: path.stat() for path in folder.iterdir()}
    return {name: (about.st_uid, about.st_gid, stat.S_IMODE(about.st_mode)) for name, about in found.items()}


def fingerprint(folder: Path) -> str:
    known = read_platform_keys(folder / PLATFORM_KEYS)
    assert isinstance(known, PlatformKeys)
    return known.keys[0].fingerprint


@as_root
@pytest.mark.parametrize(
    "given",
    [
        ("keys", "add", "another"),
        ("keys", "add", "edge1", "--scope", "gateway"),
        ("keys", "remove", "FINGERPRINT"),
        ("keys", "prepare-signing"),
        ("keys", "rotate-signing"),
        ("keys", "list"),
        ("compact", "--keep-days", "0"),
        ("store", "rebuild"),
        ("store", "new-identity"),
        ("export", "--verify"),
    ],
    ids=" ".join,
)
def test_everything_still_belongs_to_the_user_of_the_server(given: tuple[str, ...], tmp_path: Path) -> None:
    folder = served_by_another(tmp_path)
    arguments = [fingerprint(folder) if each == "FINGERPRINT" else each for each in given]
    assert main([*arguments, "--data", str(folder)]) == 0
    assert set(owners(folder).values()) == {(USER, GROUP, 0o600)}


@as_root
def test_what_is_made_anew_belongs_to_the_owner_of_the_folder(tmp_path: Path) -> None:
    """The store, its lock and the key files, whether a start makes them or a move."""
    source, target = tmp_path / "source", tmp_path / "target"
    for folder in (source, target):
        folder.mkdir(mode=0o700)
        os.chown(folder, USER, GROUP)
    asyncio.run(stored(source))
    open_key_files(source, None, None)
    assert main(["move", "--from", str(source), "--to", str(target)]) == 0
    assert {STORE_FILE, f"{STORE_FILE}.lock", PLATFORM_KEYS, SIGNING_KEYS} <= owners(source).keys()
    assert {STORE_FILE, f"{STORE_FILE}.lock"} <= owners(target).keys()
    assert {*owners(source).values(), *owners(target).values()} == {(USER, GROUP, 0o600)}


@as_root
def test_a_key_file_that_its_group_reads_is_still_read_by_it(tmp_path: Path) -> None:
    """As where root owns the file, and the server is in a group that may read it."""
    open_key_files(tmp_path, None, None)
    path = tmp_path / PLATFORM_KEYS
    os.chown(path, 0, GROUP)
    path.chmod(0o640)
    assert main(["keys", "add", "another", "--platform-keys", str(path)]) == 0
    assert owners(tmp_path)[PLATFORM_KEYS] == (0, GROUP, 0o640)


@as_root
def test_who_may_not_give_the_file_to_its_owner_leaves_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user who may write in the folder, and read the file of another user there."""
    open_key_files(tmp_path, None, None)
    path = tmp_path / PLATFORM_KEYS
    os.chown(path, USER, GROUP)
    path.chmod(0o640)
    os.chown(tmp_path, USER, GROUP)
    tmp_path.chmod(0o770)
    before = path.read_bytes()
    monkeypatch.chdir(tmp_path)  # the folders above are closed to that user
    with another_user():
        refused = add_platform_key(Path(PLATFORM_KEYS), PlatformId("another"))
    assert isinstance(refused, KeyFileRefused)
    assert "run this as its owner, or as root" in refused.why
    assert path.read_bytes() == before
    assert set(owners(tmp_path)) == {PLATFORM_KEYS, SIGNING_KEYS, FIRST_KEY}


@contextmanager
def another_user() -> Iterator[None]:
    """Be a user of the group, and not the one that owns the files."""
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(GROUP)
    os.seteuid(USER + 1)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
