"""The checksum, as it is: a change to it makes every stored room unreadable, so it is made knowingly or not at all."""

from dataclasses import replace
from typing import Final

import pytest

from erqiwang_grpc.store import Actor, Batch, CommandId, CommandKey, RoomId, Summary, Term, TimeNs, Version, chain

ROOM: Final = RoomId("room-二七王")
WHOLE: Final = Batch(
    TimeNs(1_700_000_000_123_456_789),
    Actor("seat 2 carol"),
    CommandKey(CommandId("c-1"), bytes(range(16))),
    3,
    (b"one", b"", b"three"),
    Summary((Term("state", "p1/2"), Term("waiting", "")), TimeNs(1_700_000_000_000_000_000), None, b"told"),
    "p1",
)
BARE: Final = Batch(TimeNs(0), Actor("house"), None, 1, (b"x",), Summary((), TimeNs(0), TimeNs(5), b""))

ORIGIN: Final = "5d143cf9614b44281a93ebbd5ff96b96a4f04376f70829f79f48af6fdfb8283f"
FIRST: Final = "df1614e2720434f7ad5a63b7de399486893e69e455d00d9710c738dee55eb560"
SEAL: Final = "2c2107c1b25f8e87f21eb5be3452174772fc4d2be603272b4fbffb7980d51d37"
BARE_SEAL: Final = "276321aca3cf3505040437605718ea2392f7a0b003b276444ee4102656b10409"
SECOND: Final = "c576deda73783ebcbcdf854f3ee0b876dec48a3d12fd8e2ae7bf0b145b947b52"


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
        replace(WHOLE, feed="p2"),
        replace(WHOLE, feed=""),
        replace(WHOLE, feed=None),
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


def sealed(head: chain.Link, version: Version, summary: Summary) -> chain.Seal:
    return chain.seal(head, version, summary, chain.framed_terms(summary.terms))


def test_the_seals_of_summaries() -> None:
    seals = [sealed(chain.origin(ROOM), Version(4), batch.summary).hex() for batch in (WHOLE, BARE)]
    assert seals == [SEAL, BARE_SEAL]


@pytest.mark.parametrize(
    "other",
    [
        replace(WHOLE.summary, terms=WHOLE.summary.terms[:1]),
        replace(WHOLE.summary, terms=WHOLE.summary.terms[::-1]),
        replace(WHOLE.summary, terms=(Term("state", "p1/2waiting"), Term("", ""))),
        replace(WHOLE.summary, created=TimeNs(0)),
        replace(WHOLE.summary, ended=TimeNs(0)),
        replace(WHOLE.summary, body=b""),
    ],
    ids=repr,
)
def test_every_field_of_a_summary_is_under_its_seal(other: Summary) -> None:
    origin = chain.origin(ROOM)
    assert sealed(origin, Version(4), other) != sealed(origin, Version(4), WHOLE.summary)
    assert sealed(origin, Version(5), WHOLE.summary) != sealed(origin, Version(4), WHOLE.summary)
    another = chain.link(origin, Version(1), chain.encode(WHOLE))
    assert sealed(another, Version(4), WHOLE.summary) != sealed(origin, Version(4), WHOLE.summary)
