"""Checking: a room's log against what its clients were told, event for event."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from erqiwang_core import notices, view as views
from erqiwang_core.match import Player
from erqiwang_core.units import Seat

from erqiwang_grpc.archive import audit as redeciding
from erqiwang_grpc.events.actor import PLATFORM, SeatActor, read as read_actor, stored
from erqiwang_grpc.events.history import RoomLog, read
from erqiwang_grpc.events.standing import opened
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import Damaged, Entry
from erqiwang_grpc.tools.torture.told import Answered, RoomTold, SeatTold, digest


def faults(told: RoomTold, entries: tuple[Entry, ...] | Damaged) -> Iterator[str]:
    """Everything in which a room's whole log is not what its clients were told; nothing where all is well."""
    yield from told.faults
    for seat, heard in enumerate(told.seats):
        yield from (f"seat {seat} {fault}" for fault in heard.faults)
    if isinstance(entries, Damaged):
        yield f"the log is damaged at version {entries.version}: {entries.why}"
        return
    if not entries:
        yield "the log does not hold the room"
        return
    wrong = redeciding.mismatch(entries)
    if wrong is not None:
        yield f"version {wrong.version}: {wrong.why}"
        return
    yield from _faulty_commands(told, entries)
    log = read(entries)
    assert isinstance(log, RoomLog), "every decision in it was made again"
    for number, heard in enumerate(told.seats):
        yield from _faulty_seat(log, Seat(number), heard)


def _faulty_commands(told: RoomTold, entries: tuple[Entry, ...]) -> Iterator[str]:
    """Whether the log holds what was sent and accepted, all of it once, and nothing else."""
    answers = {
        (stored(SeatActor(Seat(seat), Player(told.players[seat]))), answer.command_id): answer
        for seat, sent in told.answers.items()
        for answer in sent
    }
    for (actor, command), group in groupby(entries, key=lambda entry: (entry.actor, entry.command)):
        batch = list(group)
        first, last = batch[0].version, batch[-1].version
        if command is None:
            yield f"versions {first} to {last} were sent by nobody"
        elif actor == stored(PLATFORM):
            if command.id not in told.house:
                yield f"versions {first} to {last} were not sent by the platform"
        else:
            answer = answers.pop((actor, command.id), None)
            if answer is None:
                yield f"versions {first} to {last} were not sent by {actor}, or are there twice"
            elif not _is_told(answer, first, last, command.fingerprint):
                yield f"versions {first} to {last} are not what {actor} was told that it had brought"
    yield from (f"versions {lost.first} to {lost.last} were accepted and are lost" for lost in answers.values())


def _is_told(answer: Answered, first: int, last: int, fingerprint: bytes) -> bool:
    return (answer.first, answer.last, answer.fingerprint) == (first, last, fingerprint)


def _faulty_seat(log: RoomLog, seat: Seat, heard: SeatTold) -> Iterator[str]:
    """Whether a seat was told what the log says, each version of it that it was told."""
    state = opened(log.opened, log.opening.time)
    for logged in log.later:
        before, time = state.match, logged.entry.time
        state = state.after(logged.event, time, read_actor(logged.entry.actor))
        version = state.version
        if version in heard.notices:
            notice = notices.notice(before, logged.event, state.match, seat)
            if digest(encode.notice(notice, version, time, state.turn_began)) != heard.notices[version]:
                yield f"version {version}: seat {seat} was told another {type(logged.event).__name__}"
        if version in heard.snapshots:
            view = encode.view(views.view(state.match, seat), log.opening.room, state.turn_began)
            if digest(view) != heard.snapshots[version]:
                yield f"version {version}: seat {seat} was shown another view"
    told = {*heard.notices, *heard.snapshots}
    yield from (f"version {lost}: seat {seat} was told of it, and it is lost" for lost in told if lost > state.version)
