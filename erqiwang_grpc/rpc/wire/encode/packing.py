"""Packs messages for streams: each becomes the bytes of a response that holds it alone.

The bytes of several, joined, are one response, because a repeated field goes on where it is met again. So what waits for
a stream is bytes, and what all seats are told alike of an event is serialised once for all of them.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple, final

from erqiwang_core.notices import Cause
from erqiwang_core.viewer import Public, Viewer

from erqiwang_grpc.rooms.listener import Beginning, Told
from erqiwang_grpc.rpc.wire.encode.notices import beginning, missed, put_cause
from erqiwang_grpc.rpc.wire.encode.parts import parts, put_time, timestamp, view
from erqiwang_grpc.spectators.spectator import Entrance, Scene
from erqiwang_grpc.v1 import seat_service_pb2 as pb


class Packed(NamedTuple):
    """A message of a stream."""

    response: bytes
    """A `PlayResponse` that holds this message alone."""
    version: int = 0
    """The version that its reader has then seen; 0 if the message is about none."""


def packed(message: pb.SeatMessage) -> Packed:
    """One message, as a response of its own. It counts as seen at the version that it names, if it names one."""
    version = message.notice.version or message.snapshot.version
    return Packed(pb.PlayResponse(messages=(message,)).SerializeToString(), version)


def packed_beginning(begun: Beginning) -> tuple[Packed, ...]:
    """The messages that a stream begins with."""
    return tuple(map(packed, beginning(begun)))


@final
@dataclass(frozen=True, slots=True)
class _Alike:
    """What all seats are told alike of an event: fields of `Notice`, and of `Parts`, as bytes."""

    head: bytes
    """The version and the time."""
    parts: bytes
    """The shared parts, without those of any seat."""
    cause: Cause
    """The public's cause, which most seats are told too."""
    of_cause: bytes
    whole: Packed
    """The message for the public, and for a seat that is told the public's cause and has no changed part of its own."""


def packed_entrance(entrance: Entrance) -> Packed:
    """The snapshot that a spectator begins with. The view in it is serialised once for all that begin at its version."""
    scene = entrance.scene
    seen = scene.encoded
    if not isinstance(seen, bytes):
        seen = scene.encoded = _scene(scene)
    own = pb.Snapshot(
        missed=[missed(told) for told in entrance.missed], server_time=timestamp(entrance.server_time)
    ).SerializeToString()
    snapshot = seen + own
    message = b"".join((_SNAPSHOT, varint(len(snapshot)), snapshot))
    return Packed(b"".join((_MESSAGES, varint(len(message)), message)), scene.version)


def _scene(scene: Scene) -> bytes:
    seen = view(scene.view, scene.room, scene.turn_began)
    return pb.Snapshot(version=scene.version, view=seen).SerializeToString()


def packed_notice(told: Told, viewer: Viewer) -> Packed:
    """The notice of an event for a viewer, to the byte what it is when it is encoded for this viewer alone."""
    alike = told.encoded
    if not isinstance(alike, _Alike):
        alike = told.encoded = _alike(told)
    if isinstance(viewer, Public):
        return alike.whole
    own = told.telling.own[viewer]
    is_told_alike = own.cause == alike.cause
    if is_told_alike and not own.changed:
        return alike.whole
    changed = alike.parts + parts(own.changed, told.turn_began).SerializeToString()
    return _joined(told, alike.head, changed, alike.of_cause if is_told_alike else _of_cause(own.cause))


def _alike(told: Told) -> _Alike:
    notice = pb.Notice(version=told.version)
    put_time(notice.time, told.time)
    head = notice.SerializeToString()
    shared = parts(told.telling.shared, told.turn_began).SerializeToString()
    cause = told.telling.public
    of_cause = _of_cause(cause)
    return _Alike(head, shared, cause, of_cause, _joined(told, head, shared, of_cause))


def _of_cause(cause: Cause) -> bytes:
    notice = pb.Notice()
    put_cause(notice, cause)
    return notice.SerializeToString()


def _joined(told: Told, head: bytes, changed: bytes, of_cause: bytes) -> Packed:
    # `changed` must occur only once. By the specification two would be merged, but protobufjs and ts-proto keep the last.
    notice = b"".join((head, _CHANGED, varint(len(changed)), changed, of_cause))
    message = b"".join((_NOTICE, varint(len(notice)), notice))
    return Packed(b"".join((_MESSAGES, varint(len(message)), message)), told.version)


def varint(number: int) -> bytes:
    """A number in the base-128 form of protobuf."""
    if number < 1 << 7:
        return number.to_bytes()
    if number < 1 << 14:
        return bytes((number & 0x7F | 0x80, number >> 7))
    return bytes((number & 0x7F | 0x80,)) + varint(number >> 7)


def tag(field: int) -> bytes:
    """What stands before the length of a message in that field."""
    return varint(field << 3 | 2)


_CHANGED: Final = tag(pb.Notice.CHANGED_FIELD_NUMBER)
_SNAPSHOT: Final = tag(pb.SeatMessage.SNAPSHOT_FIELD_NUMBER)
_NOTICE: Final = tag(pb.SeatMessage.NOTICE_FIELD_NUMBER)
_MESSAGES: Final = tag(pb.PlayResponse.MESSAGES_FIELD_NUMBER)
