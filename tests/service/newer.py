"""What a newer version of the program may write behind an older one's back."""

from dataclasses import dataclass, replace
from typing import Final, final

from erqiwang_core.rules import RULES_VERSION

from erqiwang_grpc.store import Actor, Appended, Batch, Entry, Listed, RoomId, Store, Version

_NO_FIELD: Final = b"\xfa\x7f\x01x"
"""A field, of a number that no message has."""


@final
@dataclass(frozen=True, slots=True)
class Newer:
    """Something newer: how it changes the last entry of a room."""

    body: bytes | None = None
    is_added: bool = False
    actor: str | None = None
    rules_version: int = RULES_VERSION


KINDS: Final = {
    "a later version of the rules": Newer(rules_version=RULES_VERSION + 1),
    "a new kind of event": Newer(body=_NO_FIELD),
    "a new field": Newer(body=_NO_FIELD, is_added=True),
    "a new kind of actor": Newer(actor="watcher 7"),
}


async def write(store: Store, room: RoomId, newer: Newer) -> Version:
    """Append something newer to a room; gives the version that it has."""
    entries, listed = await store.read(room), await store.summary(room)
    assert isinstance(entries, tuple)
    assert isinstance(listed, Listed)
    last: Entry = entries[-1]
    body = last.body if newer.body is None else (last.body + newer.body if newer.is_added else newer.body)
    batch = Batch(
        last.time,
        last.actor if newer.actor is None else Actor(newer.actor),
        None,
        newer.rules_version,
        (body,),
        replace(listed.summary),
        "local",
    )
    assert await store.append(room, last.version, batch) == Appended(Version(last.version + 1))
    return Version(last.version + 1)
