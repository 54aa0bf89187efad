"""Group commit: the appends that arrive while one statement is under way share the next one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from time import perf_counter
from typing import Final, TypeVar, final

from erqiwang_grpc.store.batches import Prepared
from erqiwang_grpc.store.figures import Commits
from erqiwang_grpc.store.port import (
    AppendAnswer,
    Appended,
    RoomId,
    Unavailable,
    Unsure,
    Version,
)
from erqiwang_grpc.store.postgres import connections, failures, statements
from erqiwang_grpc.store.postgres.connections import Connection, Connections, Session, Unreachable
from erqiwang_grpc.store.postgres.statements import Again

log = logging.getLogger(__name__)

T = TypeVar("T")

_MOST: Final = 200
"""Most appends in one statement."""
_ATTEMPTS: Final = 8
"""Most times that one append is tried. It is tried again when another node was writing its room just then."""


_LOOK_SECONDS: Final = 2.0
"""Seconds between two looks whether the server is still at a write."""
_HELD_UP: Final = (
    "the database: a commit is not done in time: see whether its standby is there (synchronous_standby_names)"
)
_BUSY: Final = Unavailable("other nodes write this room all the time: send it again")


class WriteFailed(Exception):
    """The write failed. The text says why."""

    def __init__(self, why: str, *, is_unsure: bool, is_alone: bool, is_crossed: bool) -> None:
        super().__init__(why)
        self.is_unsure = is_unsure
        """Whether it may have been carried out all the same."""
        self.is_alone = is_alone
        """Whether the server refused this statement and goes on: others may succeed."""
        self.is_crossed = is_crossed
        """Whether two writers got in each other's way, so that the next attempt may succeed."""

    @property
    def answer(self) -> Unavailable | Unsure:
        """The answer to the append."""
        return Unsure(str(self)) if self.is_unsure else Unavailable(str(self))


@final
class Committer:
    """Writes for one node."""

    def __init__(self, connections: Connections, commits: Commits) -> None:
        """Each commit of appends is counted in `commits`."""
        self._connections = connections
        self._commits = commits
        self._waiting: list[tuple[Prepared, asyncio.Future[AppendAnswer]]] = []
        self._committing: asyncio.Task[None] | None = None
        self._writing: set[asyncio.Task[object]] = set()
        self._beside = asyncio.Lock()
        """Held by the one write that goes on beside the appends: after a failure many rooms want one each at once."""
        self._held_up: set[asyncio.Task[None]] = set()
        """Writes that got no answer in time, and that the server is still at."""

    @property
    def outage(self) -> str | None:
        """Why nothing can be written though the database answers; None if it can."""
        return _HELD_UP if self._held_up else None

    def append(self, wanted: Prepared) -> asyncio.Future[AppendAnswer]:
        """The answer to an append, when it comes."""
        answer: asyncio.Future[AppendAnswer] = asyncio.get_running_loop().create_future()
        self._waiting.append((wanted, answer))
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit_all())
        return answer

    async def write(self, query: Callable[[Connection], Coroutine[object, object, T]]) -> T:
        """Carry out another write than an append; gives what it gives. Raises `WriteFailed`."""
        writing = asyncio.create_task(self._write_beside(query))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        return await asyncio.shield(writing)  # a caller that leaves must not cancel the statement

    async def finish(self) -> None:
        """Return when everything that was begun is answered."""
        if self._committing is not None:
            await self._committing
        if self._writing:
            await asyncio.wait(self._writing)
        for each in self._held_up:
            each.cancel()
        if self._held_up:
            await asyncio.wait(self._held_up)

    async def _write_beside(self, query: Callable[[Connection], Coroutine[object, object, T]]) -> T:
        async with self._beside:
            return await self._write(query)

    async def _write(self, query: Callable[[Connection], Coroutine[object, object, T]]) -> T:
        if self._held_up:
            raise WriteFailed(_HELD_UP, is_unsure=False, is_alone=False, is_crossed=False)
        try:
            session = await self._connections.take()
        except Unreachable as away:
            raise WriteFailed(str(away), is_unsure=False, is_alone=False, is_crossed=False) from away
        session.warned = False
        asking = asyncio.ensure_future(query(session.db))
        answered, _ = await asyncio.wait((asking,), timeout=connections.ANSWER_SECONDS)
        if not answered:
            self._hold_up(session, asking)
            raise WriteFailed(_HELD_UP, is_unsure=True, is_alone=False, is_crossed=False)
        try:
            done = await asking
        except failures.ERRORS as error:
            is_answer, is_read_only = failures.is_answer(error), failures.is_read_only(error)
            if is_answer and not is_read_only:
                self._connections.give_back(session)
            else:
                self._connections.lose(session)
            raise WriteFailed(
                f"the database: {failures.sentence(error)}",
                is_unsure=not is_answer,
                is_alone=is_answer and not is_read_only,
                is_crossed=failures.is_crossed(error),
            ) from error
        except BaseException:  # a bug
            session.db.terminate()
            raise
        if session.warned:
            # The wait for the standby was given up: it is committed here, and nobody knows about there.
            self._connections.lose(session)
            why = "the database warned that it did not wait for its standby: nobody knows whether it is there"
            raise WriteFailed(why, is_unsure=True, is_alone=False, is_crossed=False)
        self._connections.give_back(session)
        return done

    def _hold_up(self, session: Session, asking: asyncio.Future[T]) -> None:
        """Wait for an answer beside everything else. Until it comes, nothing more is written.

        To drop the connection would leave its process in the server, which waits for the standby or for another node
        that does. Every ten seconds there would be one more, until the server takes no more connections.
        """
        waiting = asyncio.create_task(self._wait_on(session, asking))
        self._held_up.add(waiting)
        waiting.add_done_callback(self._held_up.discard)
        log.error("commits held up", extra={"why": _HELD_UP})

    async def _wait_on(self, session: Session, asking: asyncio.Future[T]) -> None:
        try:
            while not asking.done() and await self._connections.is_at_it(session):
                await asyncio.wait((asking,), timeout=_LOOK_SECONDS)
        finally:
            self._connections.lose(session)
            await asyncio.gather(asking, return_exceptions=True)

    async def _commit_all(self) -> None:
        """Commit group after group."""
        while self._waiting:
            group, began = self._next_group(), perf_counter()
            await self._commit(group)
            self._commits.count(len(group), perf_counter() - began)
        self._committing = None

    def _next_group(self) -> list[tuple[Prepared, asyncio.Future[AppendAnswer]]]:
        """The appends that have waited longest, of each room one at most, in the order of their rooms."""
        group: dict[bytes, tuple[Prepared, asyncio.Future[AppendAnswer]]] = {}
        left: list[tuple[Prepared, asyncio.Future[AppendAnswer]]] = []
        for each in self._waiting:
            room = each[0].room.encode()
            if len(group) < _MOST and room not in group:
                group[room] = each
            else:
                left.append(each)
        self._waiting = left
        return [group[room] for room in sorted(group)]

    async def _commit(self, group: list[tuple[Prepared, asyncio.Future[AppendAnswer]]]) -> None:
        # Tell every caller of a bug: an append without an answer would be worse.
        (done,) = await asyncio.gather(self._answers([wanted for wanted, _ in group]), return_exceptions=True)
        for index, (_, waiter) in enumerate(group):
            if waiter.done():
                continue  # its caller was cancelled
            if isinstance(done, BaseException):
                waiter.set_exception(done)
            else:
                waiter.set_result(done[index])

    async def _answers(self, group: Sequence[Prepared]) -> list[AppendAnswer]:
        """Store the appends of a group together; where the server refuses that, each alone."""
        answers: dict[RoomId, AppendAnswer] = {}
        left = list(group)
        for _ in range(_ATTEMPTS):
            try:
                places = await self._write(partial(statements.append, group=left))
            except WriteFailed as failed:
                if failed.is_alone and len(left) > 1:
                    for one in left:
                        (answers[one.room],) = await self._answers([one])
                elif not failed.is_crossed:
                    answers |= {each.room: failed.answer for each in left}
                places = set()
            answers |= {left[place].room: _appended(left[place]) for place in places}
            left = [each for each in left if each.room not in answers]
            if left:
                answers |= await self._looked_at(left)
                left = [each for each in left if each.room not in answers]
            if not left:
                break
        return [answers.get(each.room, _BUSY) for each in group]

    async def _looked_at(self, left: list[Prepared]) -> dict[RoomId, AppendAnswer]:
        """The answers to appends that were not stored, but for those that should be tried again."""
        looked = await self._connections.read(partial(statements.look, group=left))
        if isinstance(looked, Unavailable):
            return {each.room: looked for each in left}
        return {each.room: why for each, why in zip(left, looked, strict=True) if not isinstance(why, Again)}


def _appended(wanted: Prepared) -> Appended:
    return Appended(Version(wanted.expected + len(wanted.batch.bodies)))
