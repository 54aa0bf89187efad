"""Packets from a seat: one class for each kind, and how they are read from JSON, strictly.

The five fields of the sender must have their types, or the packet is refused here. What a packet asks for is checked by
the server, in the order that the rules give: phase, turn, parameters, rules. So a parameter of a wrong type is kept as None
and becomes a command that the server refuses for its parameter, when its turn in that order comes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias, TypeGuard, final

from erqiwang_grpc.edge.packets.writing import Name
from erqiwang_grpc.edge.strict_json import loaded

MOST_CARDS: Final = 108
"""More cards than any packet may name: there are no more."""
_MOST: Final = 2**32 - 1
_MOST_REPEATED: Final = 64
"""Characters of a text that answers repeat: they are kept until the answer, for as many packets as wait for one."""


class Errcode(IntEnum):
    """Why a packet does not stand (`errcode`)."""

    PLAYER = 1
    NODESK = 2
    STEP = 3
    SEAT = 4
    PARAM = 5
    RULE = 6


@final
@dataclass(frozen=True, slots=True)
class Garbage:
    """A frame that is no packet at all, and why."""

    why: str


@final
@dataclass(frozen=True, slots=True)
class Frame:
    """A packet that is not read further yet: its name, and its data; None if that is no JSON object."""

    name: Name
    data: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class Sender:
    """What every packet from a seat begins with."""

    agentid: str
    playerid: int
    gameid: str
    roomcode: int
    seat: int


@final
@dataclass(frozen=True, slots=True)
class JiaofenAsked(Sender):
    """Bid, or with 0 pass."""

    call: int | None


@final
@dataclass(frozen=True, slots=True)
class TouxiangAsked(Sender):
    """Surrender."""


@final
@dataclass(frozen=True, slots=True)
class XuanzhuAsked(Sender):
    """Name trump."""

    flower: int | None


@final
@dataclass(frozen=True, slots=True)
class MaipaiAsked(Sender):
    """Bury these cards."""

    cards: tuple[int, ...] | None


@final
@dataclass(frozen=True, slots=True)
class ChupaiAsked(Sender):
    """Play these cards."""

    cards: tuple[int, ...] | None


@final
@dataclass(frozen=True, slots=True)
class MingpaiAsked(Sender):
    """See the other seats' trumps."""


@final
@dataclass(frozen=True, slots=True)
class TishiAsked(Sender):
    """Signal the other defender."""

    tip: int | None


@final
@dataclass(frozen=True, slots=True)
class ZhunbeiAsked(Sender):
    """Ready for the next deal."""


Asked: TypeAlias = (
    JiaofenAsked | TouxiangAsked | XuanzhuAsked | MaipaiAsked | ChupaiAsked | MingpaiAsked | TishiAsked | ZhunbeiAsked
)


def read(frame: str | bytes) -> Frame | Garbage:
    """The packet in a frame: a JSON object with the short texts `app`, `route` and `rpc`, and its `data`.

    What else stands in it is passed over, but for `conmode` and `fromid`, which an answer repeats if they are integers of at
    most 64 bits or short texts.
    """
    try:
        whole = loaded(frame)
    except ValueError:
        return Garbage("not JSON")
    if not isinstance(whole, dict):
        return Garbage("not a JSON object")
    app, route, rpc = (whole.get(key) for key in ("app", "route", "rpc"))
    if not (_is_short(app) and _is_short(route) and _is_short(rpc)):
        return Garbage("no packet: app, route and rpc must be texts of at most 64 characters")
    beside = tuple((key, whole[key]) for key in ("conmode", "fromid") if _is_repeated(whole.get(key)))
    data = whole.get("data")
    return Frame(Name(app, route, rpc, beside), data if isinstance(data, dict) else None)


def _is_short(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) <= _MOST_REPEATED


def _is_repeated(value: object) -> bool:
    number = integer(value)
    return _is_short(value) or (number is not None and number.bit_length() < 64)


def asked(rpc: str, data: Mapping[str, object] | None) -> Asked | Errcode:
    """The packet of the game that a seat has sent, or why it is none."""
    if rpc not in _READERS or data is None:
        return Errcode.PARAM
    sender = _sender(data)
    return sender if isinstance(sender, Errcode) else _READERS[rpc](sender, data)


def _sender(data: Mapping[str, object]) -> tuple[str, int, str, int, int] | Errcode:
    agentid, gameid = data.get("agentid"), data.get("gameid")
    playerid, roomcode, seat = (integer(data.get(key)) for key in ("playerid", "roomcode", "seat"))
    if not isinstance(agentid, str) or not isinstance(gameid, str) or playerid is None or roomcode is None:
        return Errcode.PLAYER
    return Errcode.SEAT if seat is None else (agentid, playerid, gameid, roomcode, seat)


def integer(value: object) -> int | None:
    """The value, if it is an integer that is no truth value; None otherwise."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> int | None:
    """An integer that a command can hold."""
    number = integer(value)
    return number if number is not None and 0 <= number <= _MOST else None


def _cards(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > MOST_CARDS:
        return None
    numbers = [_number(each) for each in value]
    cards = tuple(number for number in numbers if number is not None)
    return cards if len(cards) == len(numbers) else None


_Reader: TypeAlias = Callable[[tuple[str, int, str, int, int], Mapping[str, object]], Asked]
_READERS: Final[Mapping[str, _Reader]] = {
    "jiaofen": lambda sender, data: JiaofenAsked(*sender, call=_number(data.get("call"))),
    "touxiang": lambda sender, _: TouxiangAsked(*sender),
    "xuanzhu": lambda sender, data: XuanzhuAsked(*sender, flower=_number(data.get("flower"))),
    "maipai": lambda sender, data: MaipaiAsked(*sender, cards=_cards(data.get("cards"))),
    "chupai": lambda sender, data: ChupaiAsked(*sender, cards=_cards(data.get("cards"))),
    "mingpai": lambda sender, _: MingpaiAsked(*sender),
    "tishi": lambda sender, data: TishiAsked(*sender, tip=_number(data.get("tip"))),
    "zhunbei": lambda sender, _: ZhunbeiAsked(*sender),
}
