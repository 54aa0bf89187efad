"""The two ways to write requests and responses on a socket: protobuf in binary frames, or proto JSON in text frames."""

from collections.abc import Sequence
from typing import Final, Protocol, final

from google.protobuf.message import DecodeError

from erqiwang_grpc.edge import closes, json_text
from erqiwang_grpc.edge.closes import Close
from erqiwang_grpc.edge.json_request import NotJson, WrongField, play_request
from erqiwang_grpc.v1 import seat_service_pb2 as pb


class Frames(Protocol):
    """How messages stand in frames."""

    subprotocol: str
    is_text: bool

    def request(self, data: str | bytes) -> pb.PlayRequest | WrongField | Close:
        """The request in a frame; what is wrong with it; or the close for what cannot be read at all."""

    def chunk(self, messages: Sequence[pb.SeatMessage]) -> bytes:
        """Messages, encoded so that several chunks can be put into one frame."""

    def response(self, chunks: Sequence[bytes]) -> bytes:
        """A `PlayResponse` with the messages of all chunks."""


@final
class Protobuf:
    """`PlayRequest` and `PlayResponse` as protobuf."""

    subprotocol: str = "erqiwang.v1.protobuf"
    is_text: bool = False

    def request(self, data: str | bytes) -> pb.PlayRequest | WrongField | Close:
        if isinstance(data, str):
            return closes.WRONG_KIND
        try:
            request = pb.PlayRequest.FromString(data)
        except DecodeError:
            return closes.MALFORMED
        # What no server understands goes to none. Unknown fields that are nested as deep as can be read here would be one
        # level deeper in the message to the server, which could not be read there: all seats on the stream would be lost.
        request.DiscardUnknownFields()
        return request

    def chunk(self, messages: Sequence[pb.SeatMessage]) -> bytes:
        return pb.PlayResponse(messages=messages).SerializeToString()

    def response(self, chunks: Sequence[bytes]) -> bytes:
        # Two encoded messages in a row are one with the lists of both.
        return b"".join(chunks)


@final
class ProtoJson:
    """`PlayRequest` and `PlayResponse` as proto JSON, fields with their default values included."""

    subprotocol: str = "erqiwang.v1.json"
    is_text: bool = True

    def request(self, data: str | bytes) -> pb.PlayRequest | WrongField | Close:
        if isinstance(data, bytes):
            return closes.WRONG_KIND
        request = play_request(data)
        return closes.UNREADABLE if isinstance(request, NotJson) else request

    def chunk(self, messages: Sequence[pb.SeatMessage]) -> bytes:
        return b",".join([json_text.written(message) for message in messages])

    def response(self, chunks: Sequence[bytes]) -> bytes:
        return b'{"messages":[' + b",".join(chunks) + b"]}"


def size(data: str | bytes) -> int:
    """The bytes of a frame. Characters are not counted: one takes up to four bytes."""
    return len(data.encode() if isinstance(data, str) else data)


FRAMES: Final[dict[str | None, Frames]] = {each.subprotocol: each for each in (Protobuf(), ProtoJson())}
"""By subprotocol."""
DEFAULT: Final[Frames] = FRAMES[ProtoJson.subprotocol]
"""For a client that names no subprotocol."""
