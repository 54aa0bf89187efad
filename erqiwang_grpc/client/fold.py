"""Folding: a view kept up to date by putting the parts of every notice in the place of the old ones."""

from erqiwang_grpc.v1 import view_pb2


def put(view: view_pb2.View, changed: view_pb2.Parts) -> None:
    """Put every part of `changed` into `view`, whole, in the place of the old one."""
    for field, part in changed.ListFields():
        getattr(view.parts, field.name).CopyFrom(part)
