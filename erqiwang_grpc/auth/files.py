"""The two key files: created at the first start, checked strictly, and read again when the operator asks for it.

`platform-keys.json`:  {"platforms": {"NAME": ["SHA-256 of a key in hexadecimal digits", …], …}, "gateways": {…}}
                       The second holds the gateway keys in the same form, and is left out where there are none.
`signing-keys.json`:   {"keys": [{"id": "NAME", "secret": "32 bytes in base64url"}, …]}, oldest first. The last one signs.
  Beside "keys" there may be "next": one more key, which verifies and does not sign yet.

`platform-key.txt` is created together with `platform-keys.json`. It holds the key of the platform `local`, of which the
other file holds only the hash. The operator gives it to the platform and deletes it.
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

from erqiwang_grpc import file_owners
from erqiwang_grpc.auth import keys
from erqiwang_grpc.auth.keys import (
    SECRET_BYTES,
    PlatformId,
    PlatformKey,
    PlatformKeys,
    Scope,
    SigningKey,
    SigningKeys,
)
from erqiwang_grpc.auth.tokens import Tokens

T = TypeVar("T")

FIRST_PLATFORM: Final = PlatformId("local")
PLATFORM_KEYS: Final = "platform-keys.json"
SIGNING_KEYS: Final = "signing-keys.json"
FIRST_KEY: Final = "platform-key.txt"
_FIELDS: Final = {Scope.PLATFORM: "platforms", Scope.GATEWAY: "gateways"}
"""Where the platform key file holds the keys of each scope."""


@final
@dataclass(frozen=True, slots=True)
class KeyFileRefused:
    """A key file cannot be used. `why` says what to do, and reveals nothing of the file's content."""

    path: Path
    why: str


@final
@dataclass(frozen=True, slots=True)
class KeyPaths:
    """The paths of the two files."""

    platforms: Path
    signing: Path


@final
@dataclass(frozen=True, slots=True)
class Keys:
    """The content of the two files at one moment."""

    platforms: PlatformKeys
    tokens: Tokens


@final
class KeyFiles:
    """The keys in use. `reload` replaces both kinds together, or neither."""

    def __init__(self, paths: KeyPaths, current: Keys) -> None:
        self._paths = paths
        self._current = current

    @property
    def current(self) -> Keys:
        """The keys in use. Ask for them at each use, so that a reload takes effect."""
        return self._current

    def reload(self) -> KeyFileRefused | None:
        """Read both files again. If one is refused, the keys in use stay."""
        read = _read(self._paths)
        if isinstance(read, KeyFileRefused):
            return read
        self._current = read
        return None


@final
@dataclass(frozen=True, slots=True)
class Opened:
    """The keys, and the files that were created, which the operator should be told."""

    files: KeyFiles
    made: tuple[Path, ...]


def open_key_files(folder: Path, platforms: Path | None, signing: Path | None) -> Opened | KeyFileRefused:
    """Read the given files. A file that is not given is read from `folder`, and created there if it does not exist."""
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


def add_platform_key(path: Path, platform: PlatformId, scope: Scope = Scope.PLATFORM) -> str | KeyFileRefused:
    """Add a key for the platform and return it. Only its hash is stored. A running server needs a reload."""
    return _alone(path, lambda: _add_platform_key(path, platform, scope))


def _add_platform_key(path: Path, platform: PlatformId, scope: Scope) -> str | KeyFileRefused:
    current = read_platform_keys(path)
    if isinstance(current, KeyFileRefused):
        return current
    fresh = keys.new_platform_key(scope)
    return _replace(path, _platform_text(current.adding(platform, fresh, scope))) or fresh


def remove_platform_key(path: Path, fingerprint: str) -> PlatformKey | KeyFileRefused:
    """Remove the key of that fingerprint and return what was known of it. A running server needs a reload."""
    return _alone(path, lambda: _remove_platform_key(path, fingerprint))


def _remove_platform_key(path: Path, fingerprint: str) -> PlatformKey | KeyFileRefused:
    current = read_platform_keys(path)
    if isinstance(current, KeyFileRefused):
        return current
    found = [key for key in current.keys if key.fingerprint == fingerprint]
    if len(found) != 1:
        return KeyFileRefused(path, "it holds no key of that fingerprint: `erqiwang keys list` shows them")
    return _replace(path, _platform_text(current.removing(found[0]))) or found[0]


def rotate_signing_key(path: Path, keep: int) -> KeyFileRefused | None:
    """Add a fresh key, which signs from the next reload on. The last `keep` keys before it still verify."""
    return _alone(path, lambda: _changed(path, lambda known: known.rotated(keys.new_signing_key(), keep)))


def prepare_signing_key(path: Path) -> KeyFileRefused | None:
    """Add a fresh key that verifies from the next reload on and does not sign yet. `sign_with_prepared` lets it sign."""
    return _alone(path, lambda: _changed(path, lambda known: known.prepared(keys.new_signing_key())))


def sign_with_prepared(path: Path, keep: int) -> KeyFileRefused | None:
    """Sign with the key that was prepared. The last `keep` keys before it still verify."""
    return _alone(path, lambda: _changed(path, lambda known: known.promoted(keep)))


def _changed(path: Path, change: Callable[[SigningKeys], SigningKeys | None]) -> KeyFileRefused | None:
    current = read_signing_keys(path)
    if isinstance(current, KeyFileRefused):
        return current
    changed = change(current)
    if changed is None:
        return KeyFileRefused(path, "it holds no prepared key: run `erqiwang keys prepare-signing` first")
    return _replace(path, _signing_text(changed))


def _alone(path: Path, work: Callable[[], T]) -> T | KeyFileRefused:
    """Do `work` while no other process changes the file, because one of two changes at once would be lost.

    The lock is on the folder and not on the file, because the file itself is replaced.
    """
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        return KeyFileRefused(path, f"it cannot be read ({error.strerror}): name a file that this user can read")
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        done = work()
        os.fsync(folder)  # so that a key that was handed out survives a power cut
        return done
    finally:
        os.close(folder)


def read_platform_keys(path: Path) -> PlatformKeys | KeyFileRefused:
    """The file's keys. `KeyFileRefused` if it cannot be read, or holds anything that the module does not describe."""
    match _json(path):
        case KeyFileRefused() as refused:
            return refused
        case {"platforms": dict(platforms), **others} if others.keys() <= {_FIELDS[Scope.GATEWAY]}:
            gateways = others.get(_FIELDS[Scope.GATEWAY], {})
            found = [*_keys_of(platforms, Scope.PLATFORM), *_keys_of(gateways, Scope.GATEWAY)]
            known = tuple(key for key in found if key is not None)
            if len(known) == len(found) == len({key.digest for key in known}):
                return PlatformKeys(known)
        case _:
            pass
    why = (
        'it must be {"platforms": {NAME: [SHA-256 in hex, …], …}}, and "gateways" alike if there are any, each key once'
    )
    return KeyFileRefused(path, why)


def read_signing_keys(path: Path) -> SigningKeys | KeyFileRefused:
    """The file's keys. `KeyFileRefused` if it cannot be read, or holds anything that the module does not describe."""
    match _json(path):
        case KeyFileRefused() as refused:
            return refused
        case {"keys": [_, *_] as entries, **others} if not others.keys() - {"next"}:
            found = [_signing_key(entry) for entry in (*entries, *others.values())]
            known = tuple(key for key in found if key is not None)
            if len(known) == len(found) == len({key.id for key in known}):
                signed = known[: len(entries)]
                return SigningKeys(signed[:-1], signed[-1], known[-1] if others else None)
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
    return Keys(platforms, Tokens(signing))


def _json(path: Path) -> object:
    """The JSON in the file. Raises if it cannot be read, or if a name occurs twice: Python would keep only the last."""
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
    """`value` if it is a list with entries. For anything else a list whose one entry is no key, so that it is refused."""
    return value if isinstance(value, list) and value else [None]


def _keys_of(platforms: object, scope: Scope) -> list[PlatformKey | None]:
    """The keys of one scope; None for each that is no key."""
    if not isinstance(platforms, dict):
        return [None]
    return [_platform_key(name, digest, scope) for name, digests in platforms.items() for digest in _list(digests)]


def _platform_key(name: object, hexadecimal: object, scope: Scope) -> PlatformKey | None:
    platform = keys.platform_id(name) if isinstance(name, str) else None
    if platform is None or not isinstance(hexadecimal, str):
        return None
    try:
        digest = bytes.fromhex(hexadecimal)
    except ValueError:
        return None
    return PlatformKey(platform, digest, scope) if len(digest) == len(keys.digest("")) else None


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
    written: dict[str, dict[str, list[str]]] = {_FIELDS[Scope.PLATFORM]: {}}
    for key in known.keys:
        written.setdefault(_FIELDS[key.scope], {}).setdefault(key.platform, []).append(key.digest.hex())
    return json.dumps(written, indent=2) + "\n"


def _signing_text(known: SigningKeys) -> str:
    said: dict[str, object] = {"keys": [_signing_entry(key) for key in known.all]}
    if known.next is not None:
        said["next"] = _signing_entry(known.next)
    return json.dumps(said, indent=2) + "\n"


def _signing_entry(key: SigningKey) -> dict[str, str]:
    return {"id": key.id, "secret": base64.urlsafe_b64encode(key.secret).rstrip(b"=").decode()}


def _make_platform_keys(folder: Path) -> tuple[Path, ...]:
    """Create `platform-key.txt`, then the file with its hash. If the process stops in between, the next start goes on."""
    path, first = folder / PLATFORM_KEYS, folder / FIRST_KEY
    if path.exists():
        return ()
    if not first.exists():
        _create(first, keys.new_platform_key() + "\n")
    key = first.read_text().strip()
    if keys.scope(key) is not Scope.PLATFORM:
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
    """Create the file, whole or not at all. Raises `FileExistsError` if it exists, and never overwrites it."""
    folder = path.parent.stat()
    written = _written_beside(path, text, lambda descriptor: file_owners.give_to_owner(descriptor, folder))
    try:
        path.hardlink_to(written)
    finally:
        written.unlink()


def _replace(path: Path, text: str) -> KeyFileRefused | None:
    """Replace the file, so that a reader finds either the old or the new content. The same users may read it."""
    try:
        replaced = path.stat()
        _written_beside(path, text, lambda descriptor: file_owners.make_alike(descriptor, replaced)).replace(path)
    except PermissionError as error:
        return KeyFileRefused(path, f"it cannot be written ({error.strerror}): run this as its owner, or as root")
    except OSError as error:
        return KeyFileRefused(path, f"it cannot be written ({error.strerror}): see to its folder")
    return None


def _written_beside(path: Path, text: str, owned: Callable[[int], None]) -> Path:
    """A durable temporary file in the same folder. `owned` gives it its owner before anything is in it.

    mkstemp gives it mode 0600, so that only this user can read it.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w") as file:
            owned(descriptor)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        Path(name).unlink()
        raise
    return Path(name)
