"""Histories: the finished tricks of a deal, which every trick makes one longer.

To encode them all again for each would be most of the work of telling a play. So the message of every deal in play is
kept, and grows by the tricks that it does not hold yet.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, final

from erqiwang_core.kernel.trick import Trick

from erqiwang_grpc.rpc.wire.encode.cards import put_trick
from erqiwang_grpc.v1 import view_pb2

_DEALS: Final = 4096
"""How many are kept, about 4 kB each; the one that was not asked for longest goes first."""


@final
@dataclass(slots=True)
class _Kept:
    tricks: tuple[Trick, ...]
    message: view_pb2.HistoryPart


_kept: Final[OrderedDict[int, _Kept]] = OrderedDict()
"""By the identity of a deal's first trick, which stays its own for as long as it is kept here."""


def history(tricks: tuple[Trick, ...]) -> view_pb2.HistoryPart:
    """The finished tricks of a deal. The message is not the caller's: it is to be copied from, and not changed."""
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
        # An earlier state of the deal, or another course of it, as in tests: nothing is known of that one.
        kept.message, known = view_pb2.HistoryPart(), 0
    for played in tricks[known:]:
        put_trick(kept.message.tricks.add(), played)
    kept.tricks = tricks
