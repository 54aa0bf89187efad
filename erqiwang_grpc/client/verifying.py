"""Checks that the deck of a settled deal matches the commitment given before its first bid."""

from erqiwang_grpc.shuffling import opens
from erqiwang_grpc.v1 import view_pb2


def deck_is_opened(view: view_pb2.View) -> bool:
    """Whether the settlement in the view opens the deal's commitment. The view must hold a settled deal."""
    settled = view.parts.settlement
    return opens(view.parts.progress.commitment, settled.salt, settled.deck)
