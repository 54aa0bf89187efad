"""The torture itself, for a bounded time; and its judge, who must notice whatever is lost, repeated or invented."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest
from erqiwang_core.match import Over
from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.fingerprint import command_key
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rpc.seat_stream import SeatStream
from erqiwang_grpc.store import Actor, CommandId, CommandKey, Damaged, Entry, TimeNs, Version
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.tools.torture.checking import faults
from erqiwang_grpc.tools.torture.command import torture
from erqiwang_grpc.tools.torture.transcript import CommandAnswer, Digest, RoomTranscript, SeatTranscript
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.durability.played import PLAYERS, act, next_command, node_on, seated

SECONDS = 20.0
TABLES = 40


def test_a_server_killed_at_any_moment_loses_repeats_and_invents_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = asyncio.run(torture(tmp_path, SECONDS, TABLES, Random().getrandbits(32)))
    print(report)
    assert report.compared.faults == 0, capsys.readouterr().err
    assert report.kills > 0
    assert report.compared.rooms >= TABLES
    assert report.compared.connections > 3 * TABLES, "clients came back by themselves"


async def hear(stream: SeatStream, transcript: SeatTranscript) -> None:
    for message in pb.PlayResponse.FromString(await stream.outbox.take()).messages:
        transcript.hear(message)


async def testimony() -> tuple[RoomTranscript, tuple[Entry, ...]]:
    """A match with what its seats were told, and its log."""
    store = MemoryStore()
    room = await seated(Rooms(node_on(store)))
    transcript = RoomTranscript(room.id, PLAYERS[:3], (SeatTranscript(), SeatTranscript(), SeatTranscript()))
    transcript.house |= {"room", "seat 0", "seat 1", "seat 2"}
    streams = [SeatStream(Seat(seat), 256, partial(room.audience.beginning, Seat(seat))) for seat in range(3)]
    for seat, stream in enumerate(streams):
        room.attach(Seat(seat), stream, None)
    luck = Random(2)
    for number in range(150):
        assert not isinstance(room.match, Over)
        seat, command = next_command(room.match, luck)
        key = command_key(f"{number}", command)
        assert key is not None
        answer = await act(room, seat, command, key.id)
        assert isinstance(answer, Accepted)
        sent = CommandAnswer(key.id, key.fingerprint, answer.first, answer.last, repeated=False)
        transcript.answers.setdefault(seat, []).append(sent)
        for stream, heard in zip(streams, transcript.seats, strict=True):
            await hear(stream, heard)
    return transcript, await store.read(room.id)


async def test_where_all_is_well_there_is_nothing_to_say() -> None:
    transcript, entries = await testimony()
    assert list(faults(transcript, entries)) == []


def again(last: Entry) -> Entry:
    """The same event once more."""
    return replace(last, version=Version(last.version + 1))


STRANGER = CommandKey(CommandId("never sent"), b"0" * 16)

SPOILT_LOGS = [
    pytest.param(lambda entries: entries[:-1], id="the last event is lost"),
    pytest.param(lambda entries: entries[:-20], id="the last twenty are lost"),
    pytest.param(lambda entries: entries[:0], id="the room is lost"),
    pytest.param(lambda entries: Damaged(entries[0].room, Version(3), "why"), id="it is damaged"),
    pytest.param(lambda entries: (*entries, again(entries[-1])), id="an event is there twice"),
    pytest.param(
        lambda entries: (*entries, replace(again(entries[-1]), command=STRANGER)), id="a command was never sent"
    ),
    pytest.param(
        lambda entries: (*entries, replace(again(entries[-1]), command=None)), id="a command has no sender's id"
    ),
    pytest.param(
        lambda entries: (*entries[:50], replace(entries[50], command=STRANGER), *entries[51:]),
        id="a command is another's",
    ),
    pytest.param(
        lambda entries: (*entries[:50], replace(entries[50], actor=Actor("seat 9 eve")), *entries[51:]),
        id="a command is another sender's",
    ),
    pytest.param(
        lambda entries: (*entries[:50], replace(entries[50], time=TimeNs(5)), *entries[51:]),
        id="a time is another than was told",
    ),
    pytest.param(
        lambda entries: (*entries[:50], replace(entries[50], body=entries[51].body), *entries[51:]),
        id="an event is another",
    ),
]


@pytest.mark.parametrize("spoil", SPOILT_LOGS)
async def test_a_log_that_is_not_what_was_told_is_noticed(
    spoil: Callable[[tuple[Entry, ...]], tuple[Entry, ...] | Damaged],
) -> None:
    transcript, entries = await testimony()
    assert list(faults(transcript, spoil(entries)))


def other_event(transcript: RoomTranscript) -> None:
    transcript.seats[1].notices[60] = Digest(b"other")


def other_view(transcript: RoomTranscript) -> None:
    version = next(iter(transcript.seats[2].snapshots))
    transcript.seats[2].snapshots[version] = Digest(b"other")


def later_event(transcript: RoomTranscript) -> None:
    transcript.seats[0].notices[10_000] = Digest(b"lost")


def lost_command(transcript: RoomTranscript) -> None:
    transcript.answers[0].append(CommandAnswer("lost", b"", 10_000, 10_001, repeated=False))


def other_versions(transcript: RoomTranscript) -> None:
    transcript.answers[0][3] = replace(transcript.answers[0][3], last=transcript.answers[0][3].last + 1)


def other_payload(transcript: RoomTranscript) -> None:
    transcript.answers[0][3] = replace(transcript.answers[0][3], fingerprint=b"another")


def unsent_seat(transcript: RoomTranscript) -> None:
    transcript.house.remove("seat 1")


@pytest.mark.parametrize(
    "spoil", [other_event, other_view, later_event, lost_command, other_versions, other_payload, unsent_seat]
)
async def test_a_client_that_was_told_what_is_not_logged_is_believed(spoil: Callable[[RoomTranscript], None]) -> None:
    transcript, entries = await testimony()
    spoil(transcript)
    assert list(faults(transcript, entries))
