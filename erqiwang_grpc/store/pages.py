"""Pages of lists as engines on disk make them: each room that an index leads to is held against its sealed summary.

An index may be damaged. So each page is checked to be in order: a page might otherwise come before the last one, and a
loop over pages would never end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar, final

from erqiwang_grpc.store import chain, keyset
from erqiwang_grpc.store.chain import Link, Seal
from erqiwang_grpc.store.keyset import Place
from erqiwang_grpc.store.port import Listed, Moment, Page, RoomId, Search, Summary, Term, TimeNs, Version

_MOST_DOUBTFUL: Final = 20
"""Most doubtful rooms of one page. Its reader waits until their summaries are rebuilt, then asks for the next page."""
MOST_SCANNED: Final = 10_000
"""Most rooms with the first term that are looked at for one page, if the search has more terms: about 20 ms."""
EARLIEST: Final[Place] = (TimeNs(-(2**63)), RoomId(""))
"""A place before all rooms."""

BROKEN_SEAL: Final = "its summary fails its checksum: rebuild it with `erqiwang store rebuild`"
NOT_FOUND: Final = "lists do not find it by what its summary says: rebuild it with `erqiwang store rebuild`"

K = TypeVar("K", str, int, tuple[int, str], tuple[int, int])


class OutOfOrderError(Exception):
    """An index is out of order. A page of it might come before the last one, and a loop over pages would never end."""


@final
@dataclass(frozen=True, slots=True)
class Candidate:
    """A room that the index leads to."""

    place: Place
    listed: Listed | None
    """The room with its summary; None if that is missing or fails its checksum."""


def page(candidates: Iterable[Candidate], search: Search, end: Place, limit: int) -> Page:
    """The next page of at most `limit` rooms. `end` is the place before its first one.

    It says that the candidates were looked at. If the search has more terms, its engine has looked at more rooms.
    Raises `OutOfOrderError` if the candidates are not in order.
    """
    listed: list[Listed] = []
    doubtful: list[RoomId] = []
    last = end
    looked_at = 0
    for each in candidates:
        looked_at += 1
        if len(listed) == limit or len(doubtful) == _MOST_DOUBTFUL:
            return Page(tuple(listed), keyset.behind(last), tuple(doubtful), looked_at)
        ascending((each.place, last))
        last = each.place
        if each.listed is not None and _belongs(each, search):
            listed.append(each.listed)
        else:
            doubtful.append(each.place[1])
    return Page(tuple(listed), None, tuple(doubtful), looked_at)


def _belongs(candidate: Candidate, search: Search) -> bool:
    """Whether the summary itself agrees with the index."""
    listed = candidate.listed
    if listed is None or not set(search.terms).issubset(listed.summary.terms):
        return False
    match search.moment:
        case Moment.CREATED:
            return candidate.place == (listed.summary.created, listed.room)
        case Moment.ENDED:
            return candidate.place == (listed.summary.ended, listed.room)


def candidates(rows: Iterable[tuple[object, ...]]) -> Iterator[Candidate]:
    """The candidates in rows of a moment, a room, and what `listed` takes. Rows that cannot be read are left out."""
    for time, room, *row in rows:
        match time, room:
            case (int(time), str(room)):
                yield Candidate((TimeNs(time), RoomId(room)), listed(tuple(row)))
            case _:
                pass  # a check of the whole store says that the table of terms is damaged


def listed(row: tuple[object, ...]) -> Listed | None:
    """The room in a row; None if its summary is missing or fails its checksum.

    A row holds room, version, link, terms, the moments of creation and end, body and seal.
    """
    match row:
        case (
            str(room),
            int(version),
            bytes(link),
            bytes(terms_blob),
            int(created),
            (int() | None) as ended,
            bytes(body),
            bytes(seal),
        ):
            terms = chain.unframed_terms(terms_blob)
            if terms is None or len(set(terms)) != len(terms):
                return None
            found = Summary(terms, TimeNs(created), None if ended is None else TimeNs(ended), body)
            if chain.seal(Link(link), Version(version), found, terms_blob) != Seal(seal):
                return None
            return Listed(RoomId(room), Version(version), found)
        case _:
            return None


def is_old(candidate: Candidate, term: Term, before: TimeNs) -> bool:
    """Whether the summary itself says that the match is old, because a damaged index must not delete a match."""
    listed = candidate.listed
    if listed is None or term not in listed.summary.terms:
        return False
    return listed.summary.ended is not None and listed.summary.ended < before


def found_by(summary: Summary) -> list[tuple[str, str, int, int | None]]:
    """What the index holds of a room with this summary: key, value and both moments, in order."""
    return [(term.key, term.value, summary.created, summary.ended) for term in sorted(summary.terms)]


def ascending(keys: Sequence[K]) -> None:
    """Check that each key is above the one before. Raises `OutOfOrderError` if not."""
    if any(not earlier < later for earlier, later in pairwise(keys)):
        raise OutOfOrderError("an index is out of order")
