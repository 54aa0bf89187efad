"""Folding: keeps a view up to date by putting the parts that a notice changes in their places."""

from typing import final

from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2


def put(view: view_pb2.View, changed: view_pb2.Parts) -> None:
    """Replace each part of `view` that is set in `changed`, whole; finished tricks are added to those that are kept."""
    for field, part in changed.ListFields():
        if field.name != "history":
            getattr(view.parts, field.name).CopyFrom(part)
    if changed.HasField("history"):
        tricks = view.parts.history.tricks
        del tricks[changed.history.kept :]
        tricks.extend(changed.history.tricks)


@final
class Folded:
    """What a seat knows from all that it was told. It is the same on every transport."""

    def __init__(self) -> None:
        self.view = view_pb2.View()
        self.version = 0
        self.present: tuple[bool, ...] = ()
        """Whether each seat is present, seat 0 first."""

    def take(self, message: pb.SeatMessage) -> None:
        """Take in the next message."""
        match message.WhichOneof("message"):
            case "snapshot":
                self.version = message.snapshot.version
                self.view.CopyFrom(message.snapshot.view)
            case "notice":
                self.version = message.notice.version
                put(self.view, message.notice.changed)
            case "presence":
                self.present = tuple(message.presence.present)
            case _:
                pass
