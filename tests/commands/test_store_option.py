"""`--store` and ERQIWANG_STORE: a folder, a URL, or a file that holds one; and never a password where others see it."""

from pathlib import Path

import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.commands import data_folder, stores
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.commands.stores import InDatabase, InFolder
from erqiwang_grpc.store.address import Address
from tests.commands.test_loading import _WITHOUT, loaded, ran

DATA = Path("data")
URL = "postgresql://me@db/rooms"
WITH_PASSWORD = "postgresql://me:s3cret@db/rooms"


def test_without_both_rooms_are_in_the_data_folder() -> None:
    assert stores.place(None, DATA, {}) == InFolder(DATA)
    assert stores.place(None, DATA, {"ERQIWANG_STORE": ""}) == InFolder(DATA)


def test_the_flag_is_stronger_than_the_environment(tmp_path: Path) -> None:
    environment = {"ERQIWANG_STORE": WITH_PASSWORD}
    assert stores.place(None, DATA, environment) == InDatabase(Address(WITH_PASSWORD))
    assert stores.place(URL, DATA, environment) == InDatabase(Address(URL))
    assert stores.place(str(tmp_path), DATA, environment) == InFolder(tmp_path)
    assert stores.place(str(tmp_path / "new"), DATA, environment) == InFolder(tmp_path / "new")


def test_a_file_holds_the_url(tmp_path: Path) -> None:
    file = tmp_path / "store"
    file.write_text(f"{WITH_PASSWORD}\n")
    assert stores.place(str(file), DATA, {}) == InDatabase(Address(WITH_PASSWORD), file)
    for otherwise in (b"", b"\xff", b"/srv/rooms"):
        file.write_bytes(otherwise)
        with pytest.raises(NoStore, match="holds no postgresql:// URL"):
            stores.place(str(file), DATA, {})


@pytest.mark.parametrize(
    "text",
    [
        "rooms",
        ".",
        "..",
        "srv/rooms-1.2_new",
        "backups/2026-12-01T05:54",
        "/srv/a@b:c?d",
        "/srv//rooms",
        "./odd@name",
        "./2026-12-01T05:54",
        "../a:b/c",
        "postgres",
        "postgresql/data",
        "C",
        "房间",
        "my rooms",
        "year=2026",
    ],
)
def test_a_path_is_taken_for_a_folder(text: str) -> None:
    assert stores.place(text, DATA, {}) == stores.place(None, DATA, {"ERQIWANG_STORE": text}) == InFolder(Path(text))
    assert data_folder.named_folder(text) == Path(text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--store", WITH_PASSWORD], "a password in --store is seen by everybody"),
        (["--store", "mysql://me:s3cret@db/rooms"], "mysql:// is no store that this program knows"),
        (["--store", URL, "--in-memory"], "--in-memory keeps rooms nowhere"),
        (["--store", URL, "--new-rooms"], "--new-rooms is for a folder"),
    ],
)
def test_what_is_refused_without_telling_the_password(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--data", str(tmp_path / "data"), *arguments]) == 2
    told = capsys.readouterr()
    assert f"erqiwang serve: {said}" in told.err
    assert "s3cret" not in told.err + told.out


def test_a_folder_needs_no_driver_and_a_database_says_that_it_does(tmp_path: Path) -> None:
    assert not {each for each in loaded("serve", "--help") if each.startswith("asyncpg")}
    arguments = ["serve", "--data", str(tmp_path), "--store", URL]
    missing = ran(_WITHOUT.format(library="asyncpg", arguments=arguments))
    assert missing.returncode == 2
    assert "a database needs asyncpg, which is not installed: pip install 'erqiwang-grpc[postgres]'" in missing.stderr
