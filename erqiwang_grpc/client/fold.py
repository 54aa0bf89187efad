"""Folding: keeps a view up to date by replacing the parts that a notice changes."""

from erqiwang_grpc.v1 import view_pb2


def put(view: view_pb2.View, changed: view_pb2.Parts) -> None:
    """Replace each part of `view` that is set in `changed`, whole."""
    for field, part in changed.ListFields():
        getattr(view.parts, field.name).CopyFrom(part)
