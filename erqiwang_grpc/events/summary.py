"""Room summaries: what lists show of a room. Stored with each batch, and read without the room's events."""

from __future__ import annotations

from dataclasses import dataclass
from operator import is_
from typing import Final, final

from erqiwang_core import match as matches
from erqiwang_core.match import Disbanding, Gathering, Match, Over, Player, Running
from erqiwang_core.refusals import Phase
from erqiwang_core.seats import BySeat
from erqiwang_core.units import Chips, Seat
from google.protobuf.message import DecodeError

from erqiwang_grpc.events.decode import UnclearError, Unreadable, disbanding, has_unknown_fields, room_opened
from erqiwang_grpc.events.encode import disbanding_message, opened_message
from erqiwang_grpc.events.index import terms
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.events.standing import RoomState, Standing
from erqiwang_grpc.store import Listed, RoomId, Summary, Term, TimeNs, Version
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
_PHASES_BY_NUMBER: Final = dict(enumerate(_PHASES, start=1))


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
        disbanding=_disbanding(match),
        created=standing.created,
        started=standing.started,
        ended=standing.ended,
        last=standing.time,
    )


def _disbanding(match: Match) -> Disbanding | None:
    return match.account.disbanding if isinstance(match, Over) else None


def _deal(match: Match) -> int:
    match match:
        case Gathering():
            return 0
        case Running(deal=deal):
            return deal.dealt.number
        case Over(last=last):
            return last.dealt.number if last else 0


@final
class SummaryWriter:
    """Writes the summary of one room after each batch. What seldom changes is kept, and not encoded again each time."""

    def __init__(self) -> None:
        self._message = summary_pb2.RoomSummary()
        self._frame: tuple[object, ...] = ()
        """The values from which the kept part of the message and the terms were made."""
        self._terms: tuple[Term, ...] = ()

    def write(self, standing: Standing) -> Summary:
        """The summary of a room with that standing, as it is stored."""
        match, state = standing.match, standing.state
        scores, asked = matches.scores(match), _disbanding(match)
        # An end that could not be stored is decided again: at another time, and perhaps for another reason.
        frame = (standing.opened, state, match.chairs, scores, standing.started, standing.ended, asked)
        if not self._is_kept(frame):
            self._keep(standing, state)
            self._frame = frame
        message = self._message
        message.phase = _PHASE_NUMBERS[matches.phase(match)]
        del message.to_act[:]
        message.to_act.extend(matches.to_act(match))
        message.deal = _deal(match)
        message.last = standing.time
        return Summary(self._terms, standing.created, standing.ended, message.SerializeToString(deterministic=True))

    def _is_kept(self, frame: tuple[object, ...]) -> bool:
        """Whether these are the kept objects themselves. An event replaces only what it changes, so that is enough."""
        return len(self._frame) == len(frame) and all(map(is_, self._frame, frame))

    def _keep(self, standing: Standing, state: RoomState) -> None:
        match = standing.match
        asked = _disbanding(match)
        players = match.chairs.map(lambda chair: chair.player)
        self._message = summary_pb2.RoomSummary(
            opened=opened_message(standing.opened),
            state=state.value,
            players=[player or "" for player in players],
            settled_deals=standing.settled_deals,
            totals=matches.totals(len(match.chairs), matches.scores(match)).values,
            disbanding=None if asked is None else disbanding_message(asked),
            created=standing.created,
            started=standing.started,
            ended=standing.ended,
        )
        self._terms = terms(standing.opened, state, players, was_played=standing.started is not None)


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
            phase=_PHASES_BY_NUMBER[stored.phase],
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
    except (DecodeError, UnclearError, ValueError, KeyError) as error:
        return Unreadable(f"it is no stored summary: {error}", has_unknown_fields(stored))
