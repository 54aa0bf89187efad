"""Encodes histories: the complete tricks of a deal, one more after each trick.

Encoding all of them again after each trick would be most of the work of telling a play. So the message of each deal in
play is kept, and only new tricks are added to it.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, final

from erqiwang_core.kernel.trick import Trick

from erqiwang_grpc.rpc.wire.encode.cards import put_trick
from erqiwang_grpc.v1 import view_pb2

_DEALS: Final = 4096
"""Most messages kept, about 4 kB each. The one not asked for longest is dropped first."""


@final
@dataclass(slots=True)
class _Kept:
    tricks: tuple[Trick, ...]
    message: view_pb2.HistoryPart


_kept: Final[OrderedDict[int, _Kept]] = OrderedDict()
"""Keyed by the identity of a deal's first trick. The trick is kept here too, so no other object gets its identity."""


def history(tricks: tuple[Trick, ...]) -> view_pb2.HistoryPart:
    """The complete tricks of a deal. The message is shared: copy from it, and never change it."""
    if not tricks:
        return view_pb2.HistoryPart()
    kept = _kept.get(id(tricks[0]))
    if kept is None:
        kept = _kept[id(tricks[0])] = _Kept((), view_pb2.HistoryPart())
        if len(_kept) > _DEALS:
            _kept.popitem(last=False)
    else:
        _kept.move_to_end(id(tricks[0]))
    if tricks is not kept.tricks:
        _bring_up(kept, tricks)
    return kept.message


def _bring_up(kept: _Kept, tricks: tuple[Trick, ...]) -> None:
    known = len(kept.tricks)
    if known > len(tricks) or (known and tricks[known - 1] is not kept.tricks[-1]):
        # This is an earlier state of the deal or a different course of it, as in tests. Begin from nothing.
        kept.message, known = view_pb2.HistoryPart(), 0
    for played in tricks[known:]:
        put_trick(kept.message.tricks.add(), played)
    kept.tricks = tricks
