"""The laws of an answer: what a node says agrees with the store at some moment between question and answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from erqiwang_core.playing import Signalled, TrumpsShown
from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.command import Accepted, Answer, Answered, Asked, SeatAsks
from erqiwang_grpc.rooms.listener import Beginning
from erqiwang_grpc.rooms.refusals import CommandIdReused, OutcomeUnknown, Refused, StaleVersion, StoreUnavailable
from erqiwang_grpc.store import RoomId, Version
from tests.simulation.ledger import Decision, decision
from tests.simulation.scene import Scene


@final
class Question:
    """A command that has reached a node. What the store holds at this moment, the answer must know."""

    def __init__(self, scene: Scene, room: RoomId, asked: Asked) -> None:
        self._fail = scene.trace.fail
        self._ledger = scene.ledger
        self._room = room
        self._asked = asked
        self._seen = scene.ledger.head(room)
        self._known = scene.ledger.known(room, asked)
        self._sent = scene.ledger.send(room, asked)
        self._sent.begun += 1

    def answered(self, answer: Answer) -> None:
        """The node gives this answer."""
        match answer:
            case Accepted(first=0):
                self._is_repeated(answer)
                self._agrees(answer, lambda decided: decided == ())
            case Accepted():
                self._accepted(answer)
            case Answered(shown):
                reply = Signalled if shown is None else TrumpsShown
                self._agrees(answer, lambda decided: isinstance(decided, reply) and shown in (None, decided))
            case OutcomeUnknown():
                pass
            case _:
                self._sent.refused += 1
                self._refused(answer)

    def _accepted(self, answer: Accepted) -> None:
        if answer.last > self._ledger.head(self._room):
            self._fail(f"{answer.first} to {answer.last} are acknowledged, and not in the store")
        brought = self._ledger.known(self._room, self._asked)
        if self._asked.key is not None:
            stored = None if brought is None else (brought.first, brought.last, brought.key)
            if stored != (answer.first, answer.last, self._asked.key):
                self._fail(f"{answer.first} to {answer.last} are acknowledged, but {brought} is stored")
        if answer.repeated:
            return
        if answer.first <= self._seen or self._known is not None:
            self._fail(f"{answer.first} to {answer.last} are acknowledged as new, and were stored before")
        if [told.version for told in answer.told] != list(range(answer.first, answer.last + 1)):
            self._fail("an answer does not tell the events that the command brought about")

    def _refused(self, refusal: Refused) -> None:
        self._is_undone(refusal)
        head = self._ledger.head(self._room)
        match refusal:
            case StoreUnavailable():
                pass
            case CommandIdReused():
                known = self._ledger.known(self._room, self._asked)
                if known is None or known.key == self._asked.key:
                    self._fail("an id is said to be another command's, and is not")
            case StaleVersion(version):
                self._is_repeated(refusal)
                expected = self._asked.expected_version if isinstance(self._asked, SeatAsks) else None
                if expected in (None, version) or not self._seen <= version <= head:
                    self._fail(f"{refusal}, but {expected} was expected, and the room went from {self._seen} to {head}")
            case _:
                self._is_repeated(refusal)
                self._agrees(refusal, lambda decided: decided == refusal)

    def _is_undone(self, refusal: Refused) -> None:
        """If no node has ever said anything else of the command, or is still at it, nothing of it is stored."""
        known = self._ledger.known(self._room, self._asked)
        if self._sent.begun == self._sent.refused and known is not None and known.key == self._asked.key:
            self._fail(f"a command is refused by {refusal}, and is stored as {known}")

    def _is_repeated(self, answer: Answer) -> None:
        known = self._known
        if known is not None and known.key == self._asked.key:
            self._fail(f"a repeated command is answered by {answer}: it is stored as {known}")

    def _agrees(self, answer: Answer, holds: Callable[[Decision], bool]) -> None:
        """The core decides so at one of the versions that the room had meanwhile."""
        log = self._ledger.logs[self._room]
        stood = (Version(at) for at in range(self._seen, log.head + 1) if at in log.ends)
        if not any(holds(decision(log.at(at), self._asked)) for at in stood):
            self._fail(f"the answer {answer} is of no version from {self._seen} to {log.head}")


def begins(scene: Scene, beginning: Beginning, seat: Seat, seen: Version, last_version: int | None) -> None:
    """A beginning is at a version that the room has had since it was asked for, and shows what follows from the store."""
    log = scene.ledger.logs[beginning.room]
    version = beginning.version
    if not seen <= version <= log.head or version not in log.ends:
        scene.trace.fail(f"a listener begins at {version}, but the room went from {seen} to {log.head}")
        return
    if beginning.view != log.view(version, seat):
        scene.trace.fail(f"the view of seat {seat} at version {version} is not what the events make")
    missed = [] if last_version is None else log.missed(version, seat, last_version)
    if [(told.version, told.time, told.cause) for told in beginning.missed] != missed:
        scene.trace.fail(
            f"seat {seat} is told {beginning.missed} for {missed}, which it has missed since {last_version}"
        )
    if beginning.turn_began != log.at(version).turn_began:
        scene.trace.fail("a turn is said to have begun at another time than its events say")
