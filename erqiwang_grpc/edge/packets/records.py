"""What a platform keeps of a match, as the old server gave it: `gameinfo1` of the match, `gameinfo2` of its deals.

They are no packets of a client. A platform makes them of `Platform.record`, once the match is over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Final, TypeAlias, final

from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc.edge.packets.numbers import NOTHING, by_seat, upgrade
from erqiwang_grpc.edge.packets.to_seat import BySeat, Cards
from erqiwang_grpc.v1 import record_pb2

Call: TypeAlias = tuple[int, int]
"""A seat, and what it bid; 0 for a pass."""
NOBODY: Final[Mapping[str, "Member"]] = {}


@final
@dataclass(frozen=True, slots=True)
class Member:
    """A player as only the platform knows it."""

    playerid: int
    name: str = ""
    avatar: str = ""


@final
@dataclass(frozen=True, slots=True)
class GamePlayer:
    """One seat of a match."""

    seat: int
    playerid: int
    name: str
    avatar: str
    score: int


@final
@dataclass(frozen=True, slots=True)
class Gameinfo1:
    """A match (大局列表)."""

    roomcode: int
    asetcount: int
    createtime: str
    makewartime: str
    players: tuple[GamePlayer, ...]


@final
@dataclass(frozen=True, slots=True)
class Gameinfo2:
    """A deal (大局)."""

    starttime: str
    endtime: str
    seatlist: tuple[int, ...]
    callproc: tuple[Call, ...]
    banker: int
    call: int
    flower: int
    result: int
    cards: tuple[BySeat, Cards, Cards, tuple[BySeat, ...]]
    """The hands as dealt, the kitty, the buried cards, and the tricks, each by seat."""


def gameinfo1(
    record: record_pb2.MatchRecord, roomcode: int, members: Mapping[str, Member] = NOBODY, zone: tzinfo = UTC
) -> Gameinfo1:
    """The match of a record. `members` are the players by the names that took the seats.

    A player that is not among them has that name as its number if it is one, or else 0, and no name and avatar.
    """
    summary = record.summary
    return Gameinfo1(
        roomcode=roomcode,
        asetcount=summary.settled_deals,
        createtime=_time(summary.create_time, zone),
        makewartime=_time(summary.start_time, zone),
        players=tuple(
            _player(seat, members.get(player) or _unknown(player), score)
            for seat, (player, score) in enumerate(zip(summary.players, summary.totals, strict=True))
        ),
    )


def _unknown(player: str) -> Member:
    return Member(int(player) if player.isascii() and player.isdigit() else 0)


def _player(seat: int, member: Member, score: int) -> GamePlayer:
    return GamePlayer(seat, member.playerid, member.name, member.avatar, score)


def gameinfo2(record: record_pb2.MatchRecord, zone: tzinfo = UTC) -> tuple[Gameinfo2, ...]:
    """The deals of a record, in order."""
    return tuple(_deal(deal, zone) for deal in record.deals)


def _deal(deal: record_pb2.DealRecord, zone: tzinfo) -> Gameinfo2:
    settlement = deal.settlement
    return Gameinfo2(
        starttime=_time(deal.start_time, zone),
        endtime=_time(deal.end_time, zone),
        seatlist=tuple(seat.score for seat in settlement.seats),
        callproc=tuple((call.seat, call.points if call.HasField("points") else 0) for call in deal.calls),
        banker=settlement.declarer if settlement.HasField("declarer") else NOTHING,
        call=settlement.bid if settlement.HasField("bid") else NOTHING,
        flower=settlement.trump or NOTHING,
        result=upgrade(settlement),
        cards=(
            tuple(tuple(hand.cards) for hand in deal.hands),
            tuple(deal.kitty),
            tuple(settlement.buried),
            tuple(by_seat(played.trick) for played in deal.tricks),
        ),
    )


def _time(stamp: Timestamp, zone: tzinfo) -> str:
    """A time as the old platform wrote it, in a time zone."""
    return stamp.ToDatetime(tzinfo=UTC).astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")
