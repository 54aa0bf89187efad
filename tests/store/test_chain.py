"""The checksum, as it is: a change to it makes every stored room unreadable, so it is made knowingly or not at all."""

from dataclasses import replace
from typing import Final

import pytest

from erqiwang_grpc.store import Actor, Batch, CommandId, CommandKey, RoomId, Tag, TimeNs, Version, chain

ROOM: Final = RoomId("room-二七王")
WHOLE: Final = Batch(
    TimeNs(1_700_000_000_123_456_789),
    Actor("seat 2 carol"),
    CommandKey(CommandId("c-1"), bytes(range(16))),
    3,
    (b"one", b"", b"three"),
    (Tag("public", "p1"), Tag("ended", "")),
)
BARE: Final = Batch(TimeNs(0), Actor("house"), None, 1, (b"x",))

ORIGIN: Final = "7f30368c2dce371a0aa99b39d105b972e40435a38ebab39b696bb3dddcdfc06f"
FIRST: Final = "e2c54e9d2d91f696bf23961c8190cf4c4ac6ece4c002d2b643c5ae1331bcda06"
SECOND: Final = "c5aeeca032e797fac429a7b14ec4b981464cccb66b9566b64d82f765d5cd531e"


def test_the_links_of_a_room() -> None:
    origin = chain.origin(ROOM)
    first = chain.link(origin, Version(1), chain.encode(WHOLE))
    second = chain.link(first, Version(4), chain.encode(BARE))
    assert [link.hex() for link in (origin, first, second)] == [ORIGIN, FIRST, SECOND]


@pytest.mark.parametrize(
    "other",
    [
        replace(WHOLE, time=TimeNs(WHOLE.time + 1)),
        replace(WHOLE, actor=Actor("seat 2 caro")),
        replace(WHOLE, command=None),
        replace(WHOLE, command=CommandKey(CommandId("c-2"), bytes(range(16)))),
        replace(WHOLE, command=CommandKey(CommandId("c-1"), bytes(16))),
        replace(WHOLE, rules_version=4),
        replace(WHOLE, bodies=(b"one", b"three", b"")),
        replace(WHOLE, bodies=(b"onet", b"hree", b"")),
        replace(WHOLE, tags=WHOLE.tags[:1]),
        replace(WHOLE, tags=WHOLE.tags[::-1]),
    ],
    ids=repr,
)
def test_every_field_of_a_batch_is_in_it(other: Batch) -> None:
    assert chain.encode(other) != chain.encode(WHOLE)


def test_the_first_version_the_room_and_what_came_before_are_in_it() -> None:
    encoded = chain.encode(WHOLE)
    links = {
        chain.link(chain.origin(ROOM), Version(1), encoded),
        chain.link(chain.origin(ROOM), Version(2), encoded),
        chain.link(chain.origin(RoomId("another")), Version(1), encoded),
        chain.link(chain.link(chain.origin(ROOM), Version(1), encoded), Version(1), encoded),
    }
    assert len(links) == 4
