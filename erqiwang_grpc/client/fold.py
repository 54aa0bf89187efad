"""Folding: keeps a view up to date by putting the parts that a notice changes in their places."""

from erqiwang_grpc.v1 import view_pb2


def put(view: view_pb2.View, changed: view_pb2.Parts) -> None:
    """Replace each part of `view` that is set in `changed`, whole; finished tricks are added to those that are kept."""
    for field, part in changed.ListFields():
        if field.name != "history":
            getattr(view.parts, field.name).CopyFrom(part)
    if changed.HasField("history"):
        tricks = view.parts.history.tricks
        del tricks[changed.history.kept :]
        tricks.extend(changed.history.tricks)
