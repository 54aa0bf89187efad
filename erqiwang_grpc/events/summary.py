"""Room summaries: what lists show of a room. Stored with each batch, and read without the room's events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from erqiwang_core import match as matches
from erqiwang_core.match import Disbanding, Gathering, Match, Over, Player, Running
from erqiwang_core.refusals import Phase
from erqiwang_core.seats import BySeat
from erqiwang_core.units import Chips, Seat
from google.protobuf.message import DecodeError

from erqiwang_grpc.events.decode import UnclearError, Unreadable, disbanding, room_opened
from erqiwang_grpc.events.encode import disbanding_message, opened_message
from erqiwang_grpc.events.index import terms
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.events.standing import RoomState, Standing
from erqiwang_grpc.store import Listed, RoomId, Summary, TimeNs, Version
from erqiwang_grpc.stored.v1 import summary_pb2

_PHASES: Final = (
    Phase.OPEN,
    Phase.BIDDING,
    Phase.NAMING,
    Phase.BURYING,
    Phase.PLAYING,
    Phase.SETTLED,
    Phase.OVER,
)
_PHASE_NUMBERS: Final = {phase: number for number, phase in enumerate(_PHASES, start=1)}


@final
@dataclass(frozen=True, slots=True)
class RoomSummary:
    """A room without its events, as in a list."""

    room: RoomId
    version: Version
    opened: RoomOpened
    state: RoomState
    phase: Phase
    players: BySeat[Player | None]
    to_act: tuple[Seat, ...]
    """The seats that the match waits for, in seat order."""
    deal: int
    """Number of the deal in progress or last settled, from 1; 0 before the first deal."""
    settled_deals: int
    """The number of settled deals. A deal that a disband cut short is not counted."""
    totals: BySeat[Chips]
    disbanding: Disbanding | None
    """Who disbanded the match, and why; None if it was not disbanded."""
    created: TimeNs
    started: TimeNs | None
    """When the match began; None before that."""
    ended: TimeNs | None
    last: TimeNs
    """When the last event happened."""


def summary_of(room: RoomId, standing: Standing) -> RoomSummary:
    """The summary of a room with that standing."""
    match = standing.match
    return RoomSummary(
        room=room,
        version=standing.version,
        opened=standing.opened,
        state=standing.state,
        phase=matches.phase(match),
        players=match.chairs.map(lambda chair: chair.player),
        to_act=matches.to_act(match),
        deal=_deal(match),
        settled_deals=standing.settled_deals,
        totals=matches.totals(len(match.chairs), matches.scores(match)),
        disbanding=match.account.disbanding if isinstance(match, Over) else None,
        created=standing.created,
        started=standing.started,
        ended=standing.ended,
        last=standing.time,
    )


def _deal(match: Match) -> int:
    match match:
        case Gathering():
            return 0
        case Running(deal=deal):
            return deal.dealt.number
        case Over(last=last):
            return last.dealt.number if last else 0


def write(summary: RoomSummary) -> Summary:
    """The summary in the form in which the store keeps it."""
    message = summary_pb2.RoomSummary(
        opened=opened_message(summary.opened),
        state=summary.state.value,
        phase=_PHASE_NUMBERS[summary.phase],
        players=[player or "" for player in summary.players],
        to_act=summary.to_act,
        deal=summary.deal,
        settled_deals=summary.settled_deals,
        totals=summary.totals.values,
        disbanding=None if summary.disbanding is None else disbanding_message(summary.disbanding),
        created=summary.created,
        started=summary.started,
        ended=summary.ended,
        last=summary.last,
    )
    return Summary(
        terms=terms(summary.opened, summary.state, summary.players, was_played=summary.started is not None),
        created=summary.created,
        ended=summary.ended,
        body=message.SerializeToString(deterministic=True),
    )


def read(listed: Listed) -> RoomSummary | Unreadable:
    """The summary of a room in a list, or why it cannot be read. Never raises."""
    stored = summary_pb2.RoomSummary()
    try:
        stored.ParseFromString(listed.summary.body)
        return RoomSummary(
            room=listed.room,
            version=listed.version,
            opened=room_opened(stored.opened),
            state=RoomState(stored.state),
            phase=_PHASES[stored.phase - 1],
            players=BySeat(tuple(Player(player) if player else None for player in stored.players)),
            to_act=tuple(Seat(seat) for seat in stored.to_act),
            deal=stored.deal,
            settled_deals=stored.settled_deals,
            totals=BySeat(tuple(Chips(chips) for chips in stored.totals)),
            disbanding=disbanding(stored.disbanding) if stored.HasField("disbanding") else None,
            created=TimeNs(stored.created),
            started=TimeNs(stored.started) if stored.HasField("started") else None,
            ended=TimeNs(stored.ended) if stored.HasField("ended") else None,
            last=TimeNs(stored.last),
        )
    except (DecodeError, UnclearError, ValueError, IndexError) as error:
        return Unreadable(f"it is no stored summary: {error}")
