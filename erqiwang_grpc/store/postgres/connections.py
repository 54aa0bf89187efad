"""The connections of a node to its database: made when they are needed, and made again when they are lost."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias, TypeVar, final
from weakref import WeakSet

import asyncpg

from erqiwang_grpc.store.address import Address, Host
from erqiwang_grpc.store.port import StoreId, Unavailable
from erqiwang_grpc.store.postgres import failures, schema

log = logging.getLogger(__name__)

T = TypeVar("T")
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

_READERS: Final = 4
"""Most reads at once. They are short, and more would only wait for one another in the database."""
_CONNECT_SECONDS: Final = 5.0
"""How long a host may take to answer, until it counts as gone."""
_HEAD_START_SECONDS: Final = 0.25
"""How long one host may take to answer, until the next one is asked too."""
ANSWER_SECONDS: Final = 10.0
"""How long a statement may take. Then the connection is dropped: the network may have lost it without a word."""
_PATIENCE_SECONDS: Final = 2.0
"""How long a call waits while a lost connection is made again, until it is told that the database is away."""
_FIRST_DELAY: Final = 0.05
_LONGEST_DELAY: Final = 2.0
"""Seconds between two attempts to reach a database that is away."""

_SETTINGS: Final = {
    "application_name": "erqiwang",
    "search_path": schema.SCHEMA,
    "default_transaction_isolation": "read committed",
    # A statement that is cancelled while it waits for a standby is committed here and perhaps not there. So nothing may
    # cancel a statement. The three limits below turn off what an operator may have set for all programs.
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    # Every statement looks up a few rows by an index. Plans made while a table was small would read it whole for ever.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}


_ON_DISK: Final = (
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)


class Unreachable(Exception):
    """The database is away. The text says why."""


class AnotherStoreError(Exception):
    """The database that was reached is not the one that this node began with."""


@final
@dataclass(slots=True)
class Session:
    """One connection."""

    db: Connection
    generation: int
    warned: bool = False
    """Whether the server has warned of something since this was set to False."""

    def hear(self, _: object, message: asyncpg.PostgresLogMessage) -> None:
        """Note a warning. Notices are none."""
        self.warned = self.warned or message.severity_en == "WARNING"

    async def ask(self, query: Callable[[Connection], Coroutine[object, object, T]]) -> T:
        """The answer to a query. It is never cancelled: where none comes in time, the connection is dropped.

        To cancel it would be to ask the server to cancel the statement, which may wait for its standby just then.
        """
        asking = asyncio.ensure_future(query(self.db))
        answered, _ = await asyncio.wait((asking,), timeout=ANSWER_SECONDS)
        if not answered:
            self.db.terminate()
        return await asking


async def connect(address: Address) -> Connection:
    """A connection to the first host of the address that may be written. Raises one of `failures.ERRORS`.

    Raises `BadAddress` if the URL cannot be read.
    """
    hosts = list(address.hosts)
    if not hosts:
        return await _connect(address, None)
    refused: list[BaseException] = []
    asked: set[asyncio.Task[Connection]] = set()
    try:
        # A machine that is gone does not answer at all. So the next host is asked a moment later, beside it.
        while hosts or asked:
            if hosts:
                asked.add(asyncio.create_task(_connect(address, hosts.pop(0))))
            answered, asked = await asyncio.wait(
                asked, timeout=_HEAD_START_SECONDS if hosts else None, return_when=asyncio.FIRST_COMPLETED
            )
            for each in answered:
                error = each.exception()
                if error is None:
                    asked |= answered - {each}
                    return each.result()
                refused.append(error)
    finally:
        for each in asked:
            _left.add(each)
            each.add_done_callback(_let_go)
    # Where one host could not be reached and the other refused, the refusal says more.
    raise next((error for error in refused if not isinstance(error, OSError)), refused[0])


_left: Final = set[asyncio.Task[Connection]]()
"""Connections that are not needed any more, and are still being made. To cancel one while TLS is agreed on would make
asyncpg log an error that nobody can hear."""


def _let_go(made: asyncio.Task[Connection]) -> None:
    _left.discard(made)
    if not made.cancelled() and made.exception() is None:
        made.result().terminate()


async def _connect(address: Address, host: Host | None) -> Connection:
    db = await asyncpg.connect(
        address.url,
        host=None if host is None else host.name,
        port=None if host is None else host.port,
        timeout=_CONNECT_SECONDS,
        target_session_attrs=asyncpg.connect_utils.SessionAttribute.read_write,
        server_settings=_SETTINGS,
    )
    try:
        # Nobody may be told of what is not on a disk, whatever the operator has set for other programs.
        await db.execute(_ON_DISK)
    except BaseException:
        db.terminate()
        raise
    return db


@final
class Connections:
    """The connections to one database. Use them only in the event loop that made them."""

    def __init__(self, address: Address, identity: StoreId, first: Connection) -> None:
        self._address = address
        self._identity = identity
        self._generation = 0
        self._idle: list[Session] = []
        self._made: WeakSet[Connection] = WeakSet()
        self._reading = asyncio.Semaphore(_READERS)
        self._reads: set[asyncio.Task[object]] = set()
        self._is_up = asyncio.Event()
        self._is_up.set()
        self._lost_at = 0.0
        self._healing: asyncio.Task[None] | None = None
        self._is_closed = False
        self.outage: str | None = None
        """Why the database is away; None if it is not."""
        self.give_back(self._session(first))

    @property
    def idle(self) -> int:
        """Connections that wait for their next caller."""
        return sum(not session.db.is_closed() for session in self._idle)

    @property
    def in_use(self) -> int:
        """Connections on which something is under way."""
        return sum(not db.is_closed() for db in self._made) - self.idle

    async def read(self, query: Callable[[Connection], Coroutine[object, object, T]]) -> T | Unavailable:
        """The answer to a query that changes nothing. It is asked again if a connection is lost over it."""
        reading = asyncio.create_task(self._read(query))
        self._reads.add(reading)
        reading.add_done_callback(self._reads.discard)
        return await asyncio.shield(reading)  # a caller that leaves must not cancel the statement

    async def _read(self, query: Callable[[Connection], Coroutine[object, object, T]]) -> T | Unavailable:
        why = ""
        async with self._reading:
            for _ in range(2):
                try:
                    session = await self.take()
                except Unreachable as away:
                    return Unavailable(str(away))
                try:
                    answer = await session.ask(query)
                except failures.ERRORS as error:
                    why = f"{self._address}: {failures.sentence(error)}"
                    if failures.is_answer(error):
                        self.give_back(session)
                        return Unavailable(why)
                    self.lose(session)
                except BaseException:  # a bug, or an index out of order
                    session.db.terminate()
                    raise
                else:
                    self.give_back(session)
                    return answer
        return Unavailable(why)

    async def take(self) -> Session:
        """A connection, for this caller alone. Raises `Unreachable` if the database is away for longer than a moment."""
        loop = asyncio.get_running_loop()
        while True:
            if self._is_closed:
                raise Unreachable("this store is closed: open it again")
            while self._idle:
                session = self._idle.pop()
                if not session.db.is_closed():
                    return session
            if self._healing is None:
                generation = self._generation
                try:
                    db = await self.another()
                except (*failures.ERRORS, AnotherStoreError):
                    self.heal()
                else:
                    if generation == self._generation:
                        return self._session(db)
                    db.terminate()  # another one was lost meanwhile, and this one may be no better
                    continue
            left = self._lost_at + _PATIENCE_SECONDS - loop.time()
            if left <= 0:
                raise Unreachable(self.outage or f"{self._address}: it does not answer in time")
            await _first_of(self._is_up.wait(), left)

    def give_back(self, session: Session) -> None:
        """Keep a connection for the next caller."""
        if session.db.is_closed() or session.generation != self._generation or self._is_closed:
            session.db.terminate()
        else:
            self._idle.append(session)

    def lose(self, session: Session) -> None:
        """Drop a connection that failed, and all that are as old: their host may not be the primary any more."""
        session.db.terminate()
        self.heal()

    async def close(self) -> None:
        """Finish the reads that are running, then close all connections."""
        self._is_closed = True
        self._is_up.set()
        if self._healing is not None:
            self._healing.cancel()
            await asyncio.wait((self._healing,))
        if self._reads:
            await asyncio.wait(self._reads)
        for session in self._idle:
            session.db.terminate()
        self._idle.clear()

    async def is_at_it(self, session: Session) -> bool:
        """Whether the server is still at what it was asked on this connection; False also if it does not say so soon."""
        asking = asyncio.create_task(self.read(partial(_is_active, process=session.db.get_server_pid())))
        answered, _ = await asyncio.wait((asking,), timeout=_PATIENCE_SECONDS)
        return bool(answered) and asking.result() is True

    def _session(self, db: Connection) -> Session:
        self._made.add(db)
        session = Session(db, self._generation)
        db.add_log_listener(session.hear)
        return session

    async def another(self) -> Connection:
        """A new connection to the same store, for the caller alone. Raises one of `failures.ERRORS`, or `AnotherStoreError`."""
        db = await connect(self._address)
        try:
            found = await schema.identity(db)
        except schema.NotAStoreError:
            found = None
        except BaseException:
            db.terminate()
            raise
        if found != self._identity:
            db.terminate()
            raise AnotherStoreError
        return db

    def heal(self) -> None:
        """Drop the connections that nobody uses, and see whether the database is there. Until it is, there is an outage."""
        self._generation += 1
        for session in self._idle:
            session.db.terminate()
        self._idle.clear()
        if self._healing is None and not self._is_closed:
            self._is_up.clear()
            self._lost_at = asyncio.get_running_loop().time()
            self._healing = asyncio.create_task(self._made_again())

    async def _made_again(self) -> None:
        """Connect again, at once and then more and more slowly, until it succeeds."""
        delay = _FIRST_DELAY
        while True:
            try:
                db = await self.another()
            except (*failures.ERRORS, AnotherStoreError) as failed:
                self._note_outage(failed)
                await asyncio.sleep(delay * random.uniform(0.5, 1))  # nodes that lost it together come one by one
                delay = min(2 * delay, _LONGEST_DELAY)
                continue
            break
        if self.outage is not None:
            log.info("database back", extra={"address": str(self._address)})
        self.outage = None
        self._healing = None
        self.give_back(self._session(db))
        self._is_up.set()

    def _note_outage(self, error: Exception) -> None:
        why = "it is another store than before" if isinstance(error, AnotherStoreError) else failures.sentence(error)
        outage = f"{self._address}: {why}"
        if outage != self.outage:
            log.error("database away", extra={"address": str(self._address), "why": why})
        self.outage = outage


async def _is_active(db: Connection, process: int) -> bool:
    found = await db.fetchval("SELECT state = 'active' FROM pg_stat_activity WHERE pid = $1", process)
    return found is True


async def _first_of(waiting: Awaitable[object], seconds: float) -> None:
    """Wait, but no longer than so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            await waiting
    except TimeoutError:
        pass
