"""Searches: from the filters of a list request to a search of the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.index import (
    in_state,
    of_platform,
    played,
    with_label,
    with_player,
    with_reference,
)
from erqiwang_grpc.events.model import Label
from erqiwang_grpc.rooms.bounds import (
    LONGEST_NAME,
    LONGEST_REFERENCE,
    choice_fault,
    labels_fault,
    length_fault,
    text_fault,
)
from erqiwang_grpc.rooms.limits import SECOND
from erqiwang_grpc.rooms.refusals import InvalidField
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import Moment, Period, Search, Term, TimeNs
from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb

_FOREVER: Final = TimeNs(2**63 - 1)
_STATES: Final[Mapping[room_pb2.RoomState.ValueType, Callable[[PlatformId], Term]]] = {
    room_pb2.ROOM_STATE_UNSPECIFIED: of_platform,
    **{on_the_wire: partial(in_state, state=state) for state, on_the_wire in encode.STATES.items()},
}
"""The term that finds a platform's rooms in a given state; without a state, all its rooms."""
_ENDINGS: Final = (room_pb2.ROOM_STATE_UNSPECIFIED, room_pb2.ROOM_STATE_FINISHED, room_pb2.ROOM_STATE_DISBANDED)
"""The states that a search for matches may name. An expired room never had a match."""


def rooms(platform: PlatformId, request: pb.ListRoomsRequest) -> Search | InvalidField:
    """The search for `ListRooms`, newest room first. `InvalidField` if a filter has a bad value."""
    if request.state not in room_pb2.RoomState.values():
        return choice_fault("state", request.state, tuple(sorted(room_pb2.RoomState.values())))
    terms = _named(platform, request)
    if isinstance(terms, InvalidField):
        return terms
    return Search((*terms, _STATES[request.state](platform)), Moment.CREATED, Period(TimeNs(0), _FOREVER))


def matches(platform: PlatformId, request: pb.ListMatchRecordsRequest) -> Search | InvalidField:
    """The search for `ListMatchRecords`, last to end first, of matches that began. `InvalidField` for a bad filter."""
    if request.state not in _ENDINGS:
        return choice_fault("state", request.state, _ENDINGS)
    terms = _named(platform, request)
    if isinstance(terms, InvalidField):
        return terms
    # A disbanded room need not have had a match, so the state does not make up for `played`.
    ending = (_STATES[request.state](platform),) if request.state else ()
    until = _nanoseconds(request.until) if request.HasField("until") else _FOREVER
    return Search((*terms, *ending, played(platform)), Moment.ENDED, Period(_nanoseconds(request.since), until))


def _named(
    platform: PlatformId, request: pb.ListRoomsRequest | pb.ListMatchRecordsRequest
) -> tuple[Term, ...] | InvalidField:
    """The terms of the request's filters, rarest first, because the store looks rooms up by the first term."""
    wrong = (
        length_fault("player", request.player, 0, LONGEST_NAME)
        or text_fault("reference", request.reference, LONGEST_REFERENCE)
        or labels_fault(request.labels)
    )
    if wrong is not None:
        return wrong
    return (
        *((with_reference(platform, request.reference),) if request.reference else ()),
        *((with_player(platform, request.player),) if request.player else ()),
        *(with_label(platform, Label(key, value)) for key, value in sorted(request.labels.items())),
    )


def _nanoseconds(moment: Timestamp) -> TimeNs:
    """A moment in nanoseconds since 1970. One that the store cannot hold becomes the nearest that it can."""
    return TimeNs(min(max(0, moment.seconds * SECOND + moment.nanos), _FOREVER))
