"""The two key files: made at the first start, read strictly, read again when the operator says so.

`platform-keys.json`:  {"platforms": {"NAME": ["SHA-256 of a key in hexadecimal digits", …], …}}
`signing-keys.json`:   {"keys": [{"id": "NAME", "secret": "32 bytes in base64url"}, …]}, oldest first: the last signs
`platform-key.txt`:    made with the first of them: the key of the platform `local`, to be handed over and deleted
"""

from __future__ import annotations

import base64
import binascii
import fcntl
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar, final

from erqiwang_grpc.auth import keys
from erqiwang_grpc.auth.keys import SECRET_BYTES, PlatformId, PlatformKey, PlatformKeys, SigningKey, SigningKeys
from erqiwang_grpc.auth.tokens import SeatTokens

T = TypeVar("T")

FIRST_PLATFORM: Final = PlatformId("local")
PLATFORM_KEYS: Final = "platform-keys.json"
SIGNING_KEYS: Final = "signing-keys.json"
FIRST_KEY: Final = "platform-key.txt"


@final
@dataclass(frozen=True, slots=True)
class KeyFileRefused:
    """A key file cannot be used; `why` says what to do, and nothing of what the file holds."""

    path: Path
    why: str


@final
@dataclass(frozen=True, slots=True)
class KeyPaths:
    """Where the two files are."""

    platforms: Path
    signing: Path


@final
@dataclass(frozen=True, slots=True)
class Keys:
    """What the two files say, of one moment."""

    platforms: PlatformKeys
    tokens: SeatTokens


@final
class KeyFiles:
    """The keys in use. `reload` exchanges both at once, or neither."""

    def __init__(self, paths: KeyPaths, current: Keys) -> None:
        self._paths = paths
        self._current = current

    @property
    def current(self) -> Keys:
        """To be asked for each use, so that a reload is seen."""
        return self._current

    def reload(self) -> KeyFileRefused | None:
        """Read both files again. Where one is refused, the keys in use stay."""
        read = _read(self._paths)
        if isinstance(read, KeyFileRefused):
            return read
        self._current = read
        return None


@final
@dataclass(frozen=True, slots=True)
class Opened:
    """The keys, and the files that were made because there were none: to be told to the operator."""

    files: KeyFiles
    made: tuple[Path, ...]


def open_key_files(folder: Path, platforms: Path | None, signing: Path | None) -> Opened | KeyFileRefused:
    """Read the given files. One that is not given is looked for in `folder` and made there if it is not there."""
    paths = KeyPaths(platforms or folder / PLATFORM_KEYS, signing or folder / SIGNING_KEYS)
    try:
        made = (_make_platform_keys(folder) if platforms is None else ()) + (
            _make_signing_keys(folder) if signing is None else ()
        )
    except OSError as error:
        return KeyFileRefused(folder, f"no key file can be made in it ({error.strerror}): give another folder")
    except ValueError:
        return KeyFileRefused(folder / FIRST_KEY, "it holds no platform key: delete it, and a fresh one is made")
    read = _read(paths)
    return read if isinstance(read, KeyFileRefused) else Opened(KeyFiles(paths, read), made)


def add_platform_key(path: Path, platform: PlatformId) -> str | KeyFileRefused:
    """Give the platform one more key, which is returned and kept nowhere. A running server needs a reload."""
    return _alone(path, lambda: _add_platform_key(path, platform))


def _add_platform_key(path: Path, platform: PlatformId) -> str | KeyFileRefused:
    current = read_platform_keys(path)
    if isinstance(current, KeyFileRefused):
        return current
    fresh = keys.new_platform_key()
    return _replace(path, _platform_text(current.adding(platform, fresh))) or fresh


def rotate_signing_key(path: Path, keep: int) -> KeyFileRefused | None:
    """Sign with a fresh key from the next reload on; the last `keep` before it still verify."""
    return _alone(path, lambda: _rotate_signing_key(path, keep))


def _rotate_signing_key(path: Path, keep: int) -> KeyFileRefused | None:
    current = read_signing_keys(path)
    if isinstance(current, KeyFileRefused):
        return current
    return _replace(path, _signing_text(current.rotated(keys.new_signing_key(), keep)))


def _alone(path: Path, work: Callable[[], T]) -> T | KeyFileRefused:
    """Change a file of the folder while nobody else does: of two changes at once, one would be lost.

    The folder is locked, and not the file, which is exchanged for another.
    """
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        return KeyFileRefused(path, f"it cannot be read ({error.strerror}): name a file that this user can read")
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        done = work()
        os.fsync(folder)  # a key that was handed out is there after a power cut
        return done
    finally:
        os.close(folder)


def read_platform_keys(path: Path) -> PlatformKeys | KeyFileRefused:
    """The file's keys. Refused: what cannot be read, and anything in it that is not as described above."""
    match _json(path):
        case KeyFileRefused() as refused:
            return refused
        case {"platforms": dict(platforms), **others} if not others:
            found = [_platform_key(name, digest) for name, digests in platforms.items() for digest in _list(digests)]
            known = tuple(key for key in found if key is not None)
            if len(known) == len(found) == len({key.digest for key in known}):
                return PlatformKeys(known)
        case _:
            pass
    return KeyFileRefused(path, 'it must be {"platforms": {NAME: [SHA-256 in hex, …], …}}, each key once')


def read_signing_keys(path: Path) -> SigningKeys | KeyFileRefused:
    """The file's keys. Refused: what cannot be read, and anything in it that is not as described above."""
    match _json(path):
        case KeyFileRefused() as refused:
            return refused
        case {"keys": [*entries], **others} if not others:
            found = [_signing_key(entry) for entry in entries]
            known = tuple(key for key in found if key is not None)
            if known and len(known) == len(found) == len({key.id for key in known}):
                return SigningKeys(known[:-1], known[-1])
        case _:
            pass
    return KeyFileRefused(path, 'it must be {"keys": [{"id": NAME, "secret": 32 bytes in base64url}, …]}, each id once')


def _read(paths: KeyPaths) -> Keys | KeyFileRefused:
    platforms = read_platform_keys(paths.platforms)
    if isinstance(platforms, KeyFileRefused):
        return platforms
    signing = read_signing_keys(paths.signing)
    if isinstance(signing, KeyFileRefused):
        return signing
    return Keys(platforms, SeatTokens(signing))


def _json(path: Path) -> object:
    """What the file holds, or why it cannot be read. A name that stands twice in it is refused, not overwritten."""
    try:
        return json.loads(path.read_bytes(), object_pairs_hook=_unique)
    except OSError as error:
        return KeyFileRefused(path, f"it cannot be read ({error.strerror}): name a file that this user can read")
    except (ValueError, RecursionError):
        return KeyFileRefused(path, "it is no JSON, or a name stands twice in it: restore it or make a new one")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _list(value: object) -> list[object]:
    """The list, or for anything else one entry that cannot be a key."""
    return value if isinstance(value, list) and value else [None]


def _platform_key(name: object, hexadecimal: object) -> PlatformKey | None:
    platform = keys.platform_id(name) if isinstance(name, str) else None
    if platform is None or not isinstance(hexadecimal, str):
        return None
    try:
        digest = bytes.fromhex(hexadecimal)
    except ValueError:
        return None
    return PlatformKey(platform, digest) if len(digest) == len(keys.digest("")) else None


def _signing_key(entry: object) -> SigningKey | None:
    match entry:
        case {"id": str(name), "secret": str(text), **others} if not others:
            identity, secret = keys.key_id(name), _bytes(text)
            return None if identity is None or secret is None else SigningKey(identity, secret)
        case _:
            return None


def _bytes(text: str) -> bytes | None:
    try:
        secret = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return secret if len(secret) == SECRET_BYTES else None


def _platform_text(known: PlatformKeys) -> str:
    platforms: dict[str, list[str]] = {}
    for key in known.keys:
        platforms.setdefault(key.platform, []).append(key.digest.hex())
    return json.dumps({"platforms": platforms}, indent=2) + "\n"


def _signing_text(known: SigningKeys) -> str:
    entries = [
        {"id": key.id, "secret": base64.urlsafe_b64encode(key.secret).rstrip(b"=").decode()} for key in known.all
    ]
    return json.dumps({"keys": entries}, indent=2) + "\n"


def _make_platform_keys(folder: Path) -> tuple[Path, ...]:
    """The key comes first: a stop between the two leaves a key without its hash, which the next start finds."""
    path, first = folder / PLATFORM_KEYS, folder / FIRST_KEY
    if path.exists():
        return ()
    if not first.exists():
        _create(first, keys.new_platform_key() + "\n")
    key = first.read_text().strip()
    if not keys.is_platform_key(key):
        raise ValueError("no platform key")
    _create(path, _platform_text(PlatformKeys(()).adding(FIRST_PLATFORM, key)))
    return (path, first)


def _make_signing_keys(folder: Path) -> tuple[Path, ...]:
    path = folder / SIGNING_KEYS
    if path.exists():
        return ()
    _create(path, _signing_text(SigningKeys((), keys.new_signing_key())))
    return (path,)


def _create(path: Path, text: str) -> None:
    """Make the file, whole or not at all. `FileExistsError` rather than overwrite what somebody else made."""
    written = _written_beside(path, text)
    try:
        path.hardlink_to(written)
    finally:
        written.unlink()


def _replace(path: Path, text: str) -> KeyFileRefused | None:
    """Exchange the file for a new one, so that a reader finds the one or the other."""
    try:
        _written_beside(path, text).replace(path)
    except OSError as error:
        return KeyFileRefused(path, f"it cannot be written ({error.strerror}): see to its folder")
    return None


def _written_beside(path: Path, text: str) -> Path:
    """A durable file in the same folder that only this user can read: mkstemp makes it with mode 0600."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        Path(name).unlink()
        raise
    return Path(name)
