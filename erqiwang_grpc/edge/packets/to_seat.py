"""Packets to a seat: one class for each kind, with the protocol's own field names in the protocol's order.

A field that is None is left out of the JSON, as the protocol asks where it says that a packet has no such attribute. Cards
are ids, and a card list is a tuple of ids. Flags are 0 and 1, as integers.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Final, TypeAlias, final

APP: Final = "youle"
GAME: Final = "erqiwang"
ROOM: Final = "room"

Cards: TypeAlias = tuple[int, ...]
BySeat: TypeAlias = tuple[Cards, ...]
"""Cards of each seat, seat 0 first."""
Paikuang: TypeAlias = tuple[tuple[int, int], ...]
"""What is known of a seat (座位牌况): for each suit the flags "void" and "no pair", then its numbers of trumps and of pairs
among them, or -1 and -1."""


@final
@dataclass(frozen=True, slots=True)
class Fapai:
    """A deal has been dealt (发牌)."""

    rpc: ClassVar = "fapai"
    asetidx: int
    asetcount: int
    cards: Cards
    seat: int
    countdown: int


@final
@dataclass(frozen=True, slots=True)
class Jiaofen:
    """A seat has bid or passed, and the bidding goes on (叫分)."""

    rpc: ClassVar = "jiaofen"
    seat: int
    call: int
    currcall: int
    multiple: int
    nextseat: int
    countdown: int


@final
@dataclass(frozen=True, slots=True)
class Shangzhuang:
    """The last call, and the declarer that it has made (上庄)."""

    rpc: ClassVar = "shangzhuang"
    seat: int
    call: int
    banker: int
    grade: int
    multiple: int
    bottomcards: Cards | None
    ancard3s: int | None
    cards: Cards | None
    countdown: int
    touxiang: int
    curmultiple: int


@final
@dataclass(frozen=True, slots=True)
class Xuanzhu:
    """Trump is named (选主)."""

    rpc: ClassVar = "xuanzhu"
    banker: int
    flower: int
    countdown: int
    cards: Cards


@final
@dataclass(frozen=True, slots=True)
class Liangpai:
    """The declarer's disclosure (亮牌). Each number stands only where it is high enough to be told."""

    zhu: int | None
    zhupair: int | None
    zhutuo: int | None
    wang: int | None
    qi: int | None
    er: int | None


@final
@dataclass(frozen=True, slots=True)
class Maipai:
    """The declarer has buried (埋牌)."""

    rpc: ClassVar = "maipai"
    cards: Cards | None
    burycards: Cards | None
    seat: int
    countdown: int
    liangpai: Liangpai | None


@final
@dataclass(frozen=True, slots=True)
class Shuai:
    """What a throw is made of (甩牌)."""

    tractors: tuple[int, ...]
    pairs: int
    singles: int


@final
@dataclass(frozen=True, slots=True)
class Chupai1:
    """The first play of a trick."""

    rpc: ClassVar = "chupai1"
    seat: int
    cards: Cards
    shuaicuo: int | None
    seatlist: tuple[Paikuang, ...] | None
    count: int
    flower: int
    cardtype: int
    shuai: Shuai | None
    nextseat: int
    countdown: int
    baozhu: int
    cardsinhand: Cards | None
    curmultiple: int
    mustcard: Cards | None


@final
@dataclass(frozen=True, slots=True)
class Chupai2:
    """The second play of a trick."""

    rpc: ClassVar = "chupai2"
    seat: int
    cards: Cards
    seatlist: tuple[Paikuang, ...] | None
    nextseat: int
    countdown: int
    baozhu: int
    cardsinhand: Cards | None
    mustcard: Cards | None


@final
@dataclass(frozen=True, slots=True)
class Chupai3:
    """The third play of a trick. The last one of a deal is told in `Jiesuan` instead."""

    rpc: ClassVar = "chupai3"
    seat: int
    cards: Cards
    seatlist: tuple[Paikuang, ...] | None
    nextseat: int
    countdown: int
    baozhu: int
    cardsinhand: Cards | None
    maxseat: int
    grade: int | None
    curmultiple: int


@final
@dataclass(frozen=True, slots=True)
class OtherTrumps:
    """The trumps of one other seat."""

    seat: int
    zhucards: Cards


@final
@dataclass(frozen=True, slots=True)
class Mingpai:
    """The other seats' trumps, to the seat that asked (明牌)."""

    rpc: ClassVar = "mingpai"
    seat: int
    others: tuple[OtherTrumps, ...]


@final
@dataclass(frozen=True, slots=True)
class Tishi:
    """The other defender's signal (提示)."""

    rpc: ClassVar = "tishi"
    seat: int
    tip: int


@final
@dataclass(frozen=True, slots=True)
class LastChupai:
    """The last play of a deal."""

    seat: int
    cards: Cards
    maxseat: int
    grade: int
    gradecards: Cards | None = None
    """Never there: the protocol names the field and says that no packet carries it."""


@final
@dataclass(frozen=True, slots=True)
class Bottom:
    """The buried cards, and what the defenders got for them (抠底)."""

    cards: Cards
    multiple: int | None
    grade1: int | None
    grade2: int | None


@final
@dataclass(frozen=True, slots=True)
class AsetSeat:
    """One seat's part of a settled deal."""

    cards: Cards
    chongguan: int
    wang: int
    naward: int
    grade_aw: int
    grade_jf: int
    grade: int
    score: int


@final
@dataclass(frozen=True, slots=True)
class Aset:
    """A settled deal (单局结算)."""

    banker: int
    call: int
    multiple: int
    flower: int
    grade: int
    upgrade: int
    bangwang: int
    climb: int
    seatlist: tuple[AsetSeat, ...]


Account: TypeAlias = tuple[tuple[int, tuple[int, ...]], ...]
"""A settled match (大局结算): the total of each seat, and its score of each deal."""


@final
@dataclass(frozen=True, slots=True)
class Jiesuan:
    """A deal is settled, and with the last one the match (结算)."""

    rpc: ClassVar = "jiesuan"
    chupai: LastChupai | None
    bottom: Bottom | None
    aset: Aset
    account: Account | None


@final
@dataclass(frozen=True, slots=True)
class Zhunbei:
    """A seat is ready for the next deal (准备)."""

    rpc: ClassVar = "zhunbei"
    seat: int


@final
@dataclass(frozen=True, slots=True)
class DisbandedMatch:
    """The settlement of a disbanded match. It says of itself that it succeeded."""

    success: bool
    aset: Aset
    account: Account


@final
@dataclass(frozen=True, slots=True)
class DeskFree:
    """What the game says when its room is disbanded."""

    rpc: str
    data: DisbandedMatch


@final
@dataclass(frozen=True, slots=True)
class FreeRoom:
    """The match is disbanded (解散). It is a packet of the room, not of the game."""

    rpc: ClassVar = "free_room"
    route: ClassVar = ROOM
    seats: tuple[()]
    """Always empty: what stands in it is the platform's, and the protocol does not say what that is."""
    deskfree: DeskFree | None


@final
@dataclass(frozen=True, slots=True)
class CallRunGroup:
    """The bidding."""

    seat: int
    countdown: int
    nowcall: int
    multiple: int
    call: tuple[int | None, ...]


@final
@dataclass(frozen=True, slots=True)
class ChooseMainGroup:
    """The declarer is to name trump, or surrenders."""

    banker: int
    call: int
    multiple: int
    countdown: int
    bottomcards: Cards | None
    touxiang: int


@final
@dataclass(frozen=True, slots=True)
class BuryCardsGroup:
    """The declarer is to bury."""

    banker: int
    call: int
    multiple: int
    flower: int
    countdown: int
    bottomcards: Cards | None


@final
@dataclass(frozen=True, slots=True)
class Playproc:
    """The trick in progress."""

    round: int
    start: int
    currseat: int
    startcount: int
    startflower: int
    starttype: int
    maxseat: int
    maxcard: int
    cards: BySeat
    shuai_demand: Shuai | None = field(metadata={"null": True})
    """Null unless a throw was led."""


@final
@dataclass(frozen=True, slots=True)
class PushCardsGroup:
    """The play of a deal."""

    banker: int
    call: int
    multiple: int
    flower: int
    countdown: int
    burycards: Cards | None
    grade: int
    gradecards: Cards | None
    playproc: Playproc
    seatlist: tuple[Paikuang, ...] | None
    liangpai: Liangpai | None
    pushlist: tuple[BySeat, ...] | None
    curmultiple: int
    mustcard: Cards | None


@final
@dataclass(frozen=True, slots=True)
class BalanceGroup:
    """A settled deal, until all are ready."""

    readystate: tuple[int, ...]
    aset: Aset | None


@final
@dataclass(frozen=True, slots=True)
class Deskinfo:
    """The table as it stands, on entering and after a reconnect (断线重连). One group, that of the step, is there."""

    count: int
    idx: int
    PlayerInfo: tuple[int, ...]
    step: int
    MyCards: Cards
    CallRun: CallRunGroup | None = None
    ChooseMain: ChooseMainGroup | None = None
    BuryCards: BuryCardsGroup | None = None
    PushCards: PushCardsGroup | None = None
    Balance: BalanceGroup | None = None


@final
@dataclass(frozen=True, slots=True)
class Entered:
    """The seat is entered. Its rpc is that of the packet which entered it."""

    deskinfo: Deskinfo | None
    """None before the first deal."""


GamePacket: TypeAlias = (
    Fapai
    | Jiaofen
    | Shangzhuang
    | Xuanzhu
    | Maipai
    | Chupai1
    | Chupai2
    | Chupai3
    | Mingpai
    | Tishi
    | Jiesuan
    | Zhunbei
    | FreeRoom
)
"""A packet whose kind says what it is called."""


@final
@dataclass(frozen=True, slots=True)
class Shibai:
    """A packet of this seat did not stand (失败). It has the name of that packet."""

    errcode: int


Packet: TypeAlias = GamePacket | Entered | Shibai
