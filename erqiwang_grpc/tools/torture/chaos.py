"""Chaos: everything that may happen to nodes and to their database, at random and at the same time."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from enum import Enum
from random import Random
from time import monotonic
from typing import Final, final

from erqiwang_grpc.testing.pair import Pair
from erqiwang_grpc.tools.torture.nodes import Node

_END_WAITS: Final = """SELECT count({how}(pid)) FROM pg_stat_activity
  WHERE wait_event = 'SyncRep' AND pid <> pg_backend_pid() AND application_name = 'erqiwang'"""
_HOW: Final = ("pg_terminate_backend", "pg_cancel_backend")


class Fault(Enum):
    """What was done, in words for the report."""

    NODE_KILLED = "nodes killed (-9) and started again"
    NODE_PAUSED = "nodes stopped for a while and continued"
    NODE_CUT = "nodes cut off from the database for a moment"
    NODE_STRANDED = "nodes whose network lost everything for a while"
    STANDBY_AWAY = "times that the standby was away for a while"
    RESTART = "restarts of the database"
    CRASH = "crashes of the database (-9), started again"
    FAILOVER = "failovers: the primary killed (-9), its standby promoted"
    TORN_FAILOVER = "failovers just after commits were not let wait for the standby"
    WAIT_ENDED = "commits not let wait for the standby"


@final
class Chaos:
    """Does all that. What it breaks it mends, one node and one database at a time."""

    def __init__(self, pair: Pair, nodes: list[Node], luck: Random) -> None:
        self._pair = pair
        self._nodes = nodes
        self._luck = luck
        self.survived: Counter[Fault] = Counter()

    async def run(self, seconds: float) -> None:
        """Torment nodes and database for so long. In the end all of them run."""
        deadline = monotonic() + seconds
        async with asyncio.TaskGroup() as tormenting:
            tormenting.create_task(self._torment(deadline, 0.5, 3.0, self._node_faults()))
            tormenting.create_task(self._torment(deadline, 2.0, 6.0, self._database_faults()))

    async def _torment(
        self, deadline: float, shortest: float, longest: float, faults: dict[Fault, Callable[[], Awaitable[None]]]
    ) -> None:
        # Each kind comes before any comes again, in the first round from the last one on: so a short run has the worst.
        due = list(faults)
        while True:
            await asyncio.sleep(min(self._luck.uniform(shortest, longest), max(0.0, deadline - monotonic())))
            if monotonic() >= deadline:
                return
            due = due or self._luck.sample(list(faults), len(faults))
            fault = due.pop()
            await faults[fault]()
            self.survived[fault] += 1

    # Nodes

    def _node_faults(self) -> dict[Fault, Callable[[], Awaitable[None]]]:
        return {
            Fault.NODE_PAUSED: self._pause_node,
            Fault.NODE_STRANDED: self._strand_node,
            Fault.NODE_CUT: self._cut_node,
            Fault.NODE_KILLED: self._kill_node,
        }

    async def _kill_node(self) -> None:
        node = self._luck.choice(self._nodes)
        await node.kill()
        await node.start()

    async def _pause_node(self) -> None:
        await self._luck.choice(self._nodes).pause(self._luck.choice((0.3, 1.0, 3.0, 12.0)))

    async def _cut_node(self) -> None:
        self._luck.choice(self._nodes).cut()

    async def _strand_node(self) -> None:
        await self._luck.choice(self._nodes).strand(self._luck.choice((0.3, 1.0, 3.0)))

    # The database

    def _database_faults(self) -> dict[Fault, Callable[[], Awaitable[None]]]:
        return {
            Fault.STANDBY_AWAY: self._lose_standby,
            Fault.RESTART: self._restart,
            Fault.CRASH: self._crash,
            Fault.FAILOVER: self._fail_over,
            Fault.TORN_FAILOVER: self._fail_over_torn,
        }

    async def _lose_standby(self) -> None:
        link = self._pair.link
        link.to_client = False
        try:
            await asyncio.sleep(self._luck.choice((1.0, 3.0, 12.0)))
        finally:
            link.cut()
            link.to_client = True
        await self._pair.streaming()

    async def _restart(self) -> None:
        await self._pair.stop_primary(self._luck.choice((signal.SIGINT, signal.SIGQUIT)))
        await self._back()

    async def _crash(self) -> None:
        await self._pair.kill_primary()
        await self._back()

    async def _back(self) -> None:
        await asyncio.sleep(self._luck.uniform(0, 1.0))
        await self._pair.start_primary()
        await self._pair.streaming()

    async def _fail_over(self) -> None:
        await self._pair.kill_primary()
        await asyncio.sleep(self._luck.uniform(0, 1.0))
        await self._pair.fail_over()
        await self._pair.make_standby()

    async def _fail_over_torn(self) -> None:
        """End the waits for the standby, so that the primary shows what it then takes with it."""
        link = self._pair.link
        link.to_client = False
        try:
            await self._end_waits(self._luck.uniform(0.2, 1.5))
            link.cut()
            await self._pair.kill_primary()
        finally:
            link.to_client = True
        await self._pair.fail_over()
        await self._pair.make_standby()

    async def _end_waits(self, seconds: float) -> None:
        deadline = monotonic() + seconds
        async with self._pair.primary.superuser() as db:
            while monotonic() < deadline:
                ended = await db.fetchval(_END_WAITS.format(how=self._luck.choice(_HOW)))
                self.survived[Fault.WAIT_ENDED] += ended
                await asyncio.sleep(self._luck.uniform(0, 0.1))
