"""Goodbyes: the last message of a seat's stream."""

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rpc.wire.status import drawn
from erqiwang_grpc.v1 import seat_service_pb2 as pb


def goodbye(closing: Closing) -> pb.SeatMessage | None:
    """The last message of a stream; None if its status says enough. The retry delay is random, another for each stream."""
    why = closing.value
    if why is None or not why.value.goodbye:
        return None
    message = pb.Goodbye(reason=pb.Goodbye.Reason.Value(f"REASON_{why.name}"))
    if why.value.retry is not None:
        message.retry_delay.CopyFrom(drawn(why.value.retry))
    return pb.SeatMessage(goodbye=message)
