"""Key files: made once, private, read strictly, exchanged while the server runs."""

import json
import stat
from pathlib import Path

import pytest
from erqiwang_core.match import Player
from erqiwang_core.units import Seat
from hypothesis import given, strategies as st

from erqiwang_grpc.auth import files
from erqiwang_grpc.auth.bearer import credential
from erqiwang_grpc.auth.files import (
    FIRST_KEY,
    FIRST_PLATFORM,
    PLATFORM_KEYS,
    SIGNING_KEYS,
    KeyFileRefused,
    Opened,
    open_key_files,
)
from erqiwang_grpc.auth.keys import PlatformId, PlatformKeys, Scope, digest, new_platform_key, platform_id, scope
from erqiwang_grpc.auth.tokens import Epoch, Fault, SeatClaims, TokenRefused, UnixSeconds
from erqiwang_grpc.store import RoomId

CLAIMS = SeatClaims(PlatformId("p"), RoomId("r"), Seat(0), Player("a"), Epoch(0), UnixSeconds(9))
NOW = UnixSeconds(1)


def opened(folder: Path) -> Opened:
    found = open_key_files(folder, None, None)
    assert isinstance(found, Opened), found
    return found


def test_the_first_start_makes_private_files_and_says_which(tmp_path: Path) -> None:
    made = opened(tmp_path).made
    assert sorted(path.name for path in made) == [FIRST_KEY, PLATFORM_KEYS, SIGNING_KEYS]
    assert sorted(made) == sorted(tmp_path.iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}


def test_the_key_that_was_made_is_good_and_kept_only_as_a_hash(tmp_path: Path) -> None:
    keys = opened(tmp_path).files.current
    key = (tmp_path / FIRST_KEY).read_text().strip()
    assert keys.platforms.platform(key) == FIRST_PLATFORM
    assert key not in (tmp_path / PLATFORM_KEYS).read_text()


def test_the_second_start_makes_nothing_and_knows_the_first_ones_tokens(tmp_path: Path) -> None:
    token = opened(tmp_path).files.current.tokens.issue(CLAIMS)
    (tmp_path / FIRST_KEY).unlink()
    again = opened(tmp_path)
    assert again.made == ()
    assert again.files.current.tokens.verify(token, NOW) == CLAIMS


def test_a_start_cut_off_between_key_and_hash_is_taken_up(tmp_path: Path) -> None:
    opened(tmp_path)
    key = (tmp_path / FIRST_KEY).read_text().strip()
    (tmp_path / PLATFORM_KEYS).unlink()
    assert opened(tmp_path).files.current.platforms.platform(key) == FIRST_PLATFORM


def test_a_first_key_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / FIRST_KEY).write_text("hunter2")
    refused = open_key_files(tmp_path, None, None)
    assert isinstance(refused, KeyFileRefused)
    assert refused.path == tmp_path / FIRST_KEY
    assert "hunter2" not in refused.why


def test_given_files_are_read_and_none_is_made(tmp_path: Path) -> None:
    opened(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    found = open_key_files(elsewhere, tmp_path / PLATFORM_KEYS, tmp_path / SIGNING_KEYS)
    assert isinstance(found, Opened)
    assert found.made == ()
    assert list(elsewhere.iterdir()) == []


def test_a_given_file_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    refused = open_key_files(tmp_path, missing, None)
    assert isinstance(refused, KeyFileRefused)
    assert refused.path == missing
    assert not missing.exists()


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert isinstance(open_key_files(tmp_path / "none", None, None), KeyFileRefused)


def test_a_platform_has_several_keys_while_they_are_exchanged(tmp_path: Path) -> None:
    key_files = opened(tmp_path).files
    first = (tmp_path / FIRST_KEY).read_text().strip()
    second = files.add_platform_key(tmp_path / PLATFORM_KEYS, FIRST_PLATFORM)
    other = files.add_platform_key(tmp_path / PLATFORM_KEYS, PlatformId("other"))
    assert isinstance(second, str)
    assert isinstance(other, str)
    assert key_files.current.platforms.platform(second) is None
    assert key_files.reload() is None
    known = key_files.current.platforms
    assert [known.platform(key) for key in (first, second, other)] == [FIRST_PLATFORM, FIRST_PLATFORM, "other"]
    assert stat.S_IMODE((tmp_path / PLATFORM_KEYS).stat().st_mode) == 0o600


def test_a_key_opens_what_its_scope_says_and_nothing_else(tmp_path: Path) -> None:
    key_files = opened(tmp_path).files
    first = (tmp_path / FIRST_KEY).read_text().strip()
    gateway = files.add_platform_key(tmp_path / PLATFORM_KEYS, FIRST_PLATFORM, Scope.GATEWAY)
    assert isinstance(gateway, str)
    assert key_files.reload() is None
    known = key_files.current.platforms
    assert [known.platform(key, Scope.PLATFORM) for key in (first, gateway)] == [FIRST_PLATFORM, None]
    assert [known.platform(key, Scope.GATEWAY) for key in (first, gateway)] == [None, FIRST_PLATFORM]
    assert [scope(key) for key in (first, gateway, gateway[:-1])] == [Scope.PLATFORM, Scope.GATEWAY, None]
    assert gateway not in (tmp_path / PLATFORM_KEYS).read_text()


def test_a_gateway_key_does_not_stand_for_the_first_platform_key(tmp_path: Path) -> None:
    (tmp_path / FIRST_KEY).write_text(new_platform_key(Scope.GATEWAY))
    assert isinstance(open_key_files(tmp_path, None, None), KeyFileRefused)


def test_a_rotated_signing_key_signs_after_a_reload_and_the_old_one_verifies(tmp_path: Path) -> None:
    key_files = opened(tmp_path).files
    old = key_files.current.tokens
    assert files.rotate_signing_key(tmp_path / SIGNING_KEYS, keep=1) is None
    assert key_files.reload() is None
    assert key_files.current.tokens.verify(old.issue(CLAIMS), NOW) == CLAIMS
    assert old.verify(key_files.current.tokens.issue(CLAIMS), NOW) == TokenRefused(Fault.UNKNOWN_KEY)


def test_servers_that_share_a_store_verify_each_other_at_every_moment_of_a_rotation_in_two_steps(
    tmp_path: Path,
) -> None:
    """Whichever of them has read the file already: one that signs with a key is never ahead of one that must know it."""
    path = tmp_path / SIGNING_KEYS
    servers = [opened(tmp_path).files for _ in range(3)]

    def all_verify() -> None:
        tokens = [server.current.tokens for server in servers]
        assert all(other.verify(each.issue(CLAIMS), NOW) == CLAIMS for each in tokens for other in tokens)

    def reload_one_after_the_other() -> None:
        for server in servers:
            assert server.reload() is None
            all_verify()

    first = servers[0].current.tokens.issue(CLAIMS)
    assert isinstance(files.sign_with_prepared(path, keep=1), KeyFileRefused), "none is prepared"
    assert files.prepare_signing_key(path) is None
    reload_one_after_the_other()
    assert servers[0].current.tokens.issue(CLAIMS) == first, "the prepared key does not sign"
    assert files.sign_with_prepared(path, keep=1) is None
    reload_one_after_the_other()
    assert servers[0].current.tokens.issue(CLAIMS) != first
    assert servers[0].current.tokens.verify(first, NOW) == CLAIMS
    assert isinstance(files.sign_with_prepared(path, keep=1), KeyFileRefused), "it is prepared no longer"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", [PLATFORM_KEYS, SIGNING_KEYS])
def test_a_reload_of_a_bad_file_changes_nothing(tmp_path: Path, name: str) -> None:
    key_files = opened(tmp_path).files
    before = key_files.current
    files.add_platform_key(tmp_path / PLATFORM_KEYS, PlatformId("other"))
    (tmp_path / name).write_text("{")
    refused = key_files.reload()
    assert isinstance(refused, KeyFileRefused)
    assert refused.path.name == name
    assert key_files.current is before


HASH, SECRET = digest("x").hex(), "A" * 43
WORDS = {"HASH": HASH, "SECRET": SECRET, "SHORT": "A" * 42}


def filled(text: str) -> str:
    for word, meaning in WORDS.items():
        text = text.replace(word, meaning)
    return text


BAD_PLATFORMS = [
    "",
    "[]",
    "{}",
    "[" * 100_000,
    '{"platforms": []}',
    '{"platforms": {"a": "HASH"}}',
    '{"platforms": {"a": []}}',
    '{"platforms": {"a": ["SHORT"]}}',
    '{"platforms": {"a": ["key"]}}',
    '{"platforms": {"A b": ["HASH"]}}',
    '{"platforms": {"a": ["HASH"], "b": ["HASH"]}}',
    '{"platforms": {"a": ["HASH"], "a": []}}',
    '{"platforms": {"a": ["HASH"]}, "more": 1}',
    '{"gateways": {"a": ["HASH"]}}',
    '{"platforms": {}, "gateways": ["HASH"]}',
    '{"platforms": {}, "gateways": {"a": "HASH"}}',
    '{"platforms": {"a": ["HASH"]}, "gateways": {"a": ["HASH"]}}',
]
BAD_SIGNING = [
    "",
    '{"keys": []}',
    '{"keys": {}}',
    '{"keys": [{"id": "a"}]}',
    '{"keys": [{"id": "a", "secret": "SHORT"}]}',
    '{"keys": [{"id": "a", "secret": "SHORT!"}]}',
    '{"keys": [{"id": "a b", "secret": "SECRET"}]}',
    '{"keys": [{"id": "a", "secret": "SECRET", "alg": "none"}]}',
    '{"keys": [{"id": "a", "secret": "SECRET"}, {"id": "a", "secret": "SECRET"}]}',
]


@pytest.mark.parametrize("text", BAD_PLATFORMS)
def test_a_platform_key_file_is_read_strictly(tmp_path: Path, text: str) -> None:
    path = tmp_path / PLATFORM_KEYS
    path.write_text(filled(text))
    refused = files.read_platform_keys(path)
    assert isinstance(refused, KeyFileRefused)
    assert files.add_platform_key(path, PlatformId("a")) == refused
    assert path.read_text() == filled(text)


@pytest.mark.parametrize("text", BAD_SIGNING)
def test_a_signing_key_file_is_read_strictly(tmp_path: Path, text: str) -> None:
    path = tmp_path / SIGNING_KEYS
    path.write_text(filled(text))
    refused = files.read_signing_keys(path)
    assert isinstance(refused, KeyFileRefused)
    assert SECRET not in refused.why
    assert files.rotate_signing_key(path, keep=1) == refused


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["keys", "platforms", "id", "secret", "a"]), inner),
)


@given(JSON)
def test_no_json_is_taken_for_keys_by_accident(tmp_path_factory: pytest.TempPathFactory, data: object) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(data))
    assert isinstance(files.read_signing_keys(path), KeyFileRefused)
    platforms = files.read_platform_keys(path)
    assert platforms == PlatformKeys(()) if data == {"platforms": {}} else isinstance(platforms, KeyFileRefused)


@given(st.text())
def test_nobody_has_a_key_that_was_not_given_out(presented: str) -> None:
    known = PlatformKeys(()).adding(PlatformId("a"), new_platform_key())
    assert known.platform(presented) is None
    assert known.platform("\ud800" + presented) is None


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("a", True),
        ("a-1", True),
        ("", False),
        ("A", False),
        ("-a", False),
        ("a/b", False),
        ("a" * 63, True),
        ("a" * 64, False),
        ("a\n", False),
    ],
)
def test_names_of_platforms(name: str, is_one: bool) -> None:
    assert platform_id(name) == (name if is_one else None)


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),
        ("Basic abc", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("Bearer  abc", None),
        ("Bearer abc ", None),
        ("abc", None),
        ("", None),
    ],
)
def test_a_credential_stands_behind_bearer(header: str, found: str | None) -> None:
    assert credential(header) == found
