"""Checking: compares the stored events of a room with what its clients were told."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from erqiwang_core import notices, view as views
from erqiwang_core.match import Player
from erqiwang_core.units import Seat

from erqiwang_grpc.archive import audit
from erqiwang_grpc.events.actor import PLATFORM, SeatActor, stored
from erqiwang_grpc.events.history import RoomHistory, UnreadableEntry, read
from erqiwang_grpc.events.standing import steps
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import Damaged, Entry
from erqiwang_grpc.tools.torture.transcript import CommandAnswer, RoomTranscript, SeatTranscript, digest


def faults(transcript: RoomTranscript, entries: tuple[Entry, ...] | Damaged) -> Iterator[str]:
    """The differences between a room's entries and what its clients were told, as sentences; none if all is well."""
    yield from transcript.faults
    for seat, heard in enumerate(transcript.seats):
        yield from (f"seat {seat} {fault}" for fault in heard.faults)
    if isinstance(entries, Damaged):
        yield f"its events are damaged from version {entries.version} on: {entries.why}"
        return
    if not entries:
        yield "the store does not hold it"
        return
    wrong = audit.mismatch(entries)
    if wrong is not None:
        yield f"version {wrong.version}: {wrong.why}"
        return
    yield from _faulty_commands(transcript, entries)
    history = read(entries)
    assert isinstance(history, RoomHistory), "the audit has read every entry"
    for number, heard in enumerate(transcript.seats):
        yield from _faulty_seat(history, Seat(number), heard)


def _faulty_commands(transcript: RoomTranscript, entries: tuple[Entry, ...]) -> Iterator[str]:
    """A fault for each stored command that was not accepted, and for each accepted one that is not stored just once."""
    answers = {
        (stored(SeatActor(Seat(seat), Player(transcript.players[seat]))), answer.command_id): answer
        for seat, sent in transcript.answers.items()
        for answer in sent
    }
    for (actor, command), group in groupby(entries, key=lambda entry: (entry.actor, entry.command)):
        batch = list(group)
        first, last = batch[0].version, batch[-1].version
        if command is None:
            yield f"versions {first} to {last} are of no command"
        elif actor == stored(PLATFORM):
            if command.id not in transcript.house:
                yield f"versions {first} to {last} were not sent by the platform"
        else:
            answer = answers.pop((actor, command.id), None)
            if answer is None:
                yield f"versions {first} to {last} were not sent by {actor}, or are stored twice"
            elif not _is_told(answer, first, last, command.fingerprint):
                yield f"versions {first} to {last} are not what {actor} was told that its command had caused"
    yield from (f"versions {lost.first} to {lost.last} were accepted and are lost" for lost in answers.values())


def _is_told(answer: CommandAnswer, first: int, last: int, fingerprint: bytes) -> bool:
    return (answer.first, answer.last, answer.fingerprint) == (first, last, fingerprint)


def _faulty_seat(history: RoomHistory, seat: Seat, heard: SeatTranscript) -> Iterator[str]:
    """A fault for each version at which a seat was told something other than what is stored, or that is not stored."""
    last = history.opening.version
    for step in steps(history):
        assert not isinstance(step, UnreadableEntry), "the audit has read every entry"
        state, entry, event = step.after, step.happened.entry, step.happened.event
        version = last = entry.version
        if version in heard.notices:
            notice = notices.notice(step.before.match, event, state.match, seat)
            if digest(encode.notice(notice, version, entry.time, state.turn_began)) != heard.notices[version]:
                yield f"version {version}: seat {seat} was told another {type(event).__name__}"
        if version in heard.snapshots:
            view = encode.view(views.view(state.match, seat), history.opening.room, state.turn_began)
            if digest(view) != heard.snapshots[version]:
                yield f"version {version}: seat {seat} was shown another view"
    told = {*heard.notices, *heard.snapshots}
    yield from (f"version {lost}: seat {seat} was told of it, and it is lost" for lost in told if lost > last)
