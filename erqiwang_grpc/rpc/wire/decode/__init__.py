"""Read: from the messages that a seat is sent to the core's values, so that the core's players can act on them.

All of it raises `NotUnderstood` for what this version does not know: the server is newer, or it is no server of ours.
"""

from erqiwang_grpc.rpc.wire.decode.known import NotUnderstood
from erqiwang_grpc.rpc.wire.decode.notices import aside, notice
from erqiwang_grpc.rpc.wire.decode.parts import parts, view
from erqiwang_grpc.rpc.wire.decode.refusals import refusal
from erqiwang_grpc.rpc.wire.decode.settlements import account, settlement

__all__ = ["NotUnderstood", "account", "aside", "notice", "parts", "refusal", "settlement", "view"]
