"""Decode: from the messages that a client receives to values of the core, so that the core's players can use them.

Every function raises `NotUnderstood` for a value that this version does not know: the server is newer or different.
"""

from erqiwang_grpc.rpc.wire.decode.known import NotUnderstood
from erqiwang_grpc.rpc.wire.decode.notices import aside, notice
from erqiwang_grpc.rpc.wire.decode.parts import parts, view
from erqiwang_grpc.rpc.wire.decode.refusals import refusal
from erqiwang_grpc.rpc.wire.decode.settlements import account, settlement

__all__ = ["NotUnderstood", "account", "aside", "notice", "parts", "refusal", "settlement", "view"]
