"""Nodes on one database: `erqiwang serve` in processes of their own, with the same keys."""

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from erqiwang_grpc.auth.files import FIRST_KEY, PLATFORM_KEYS, SIGNING_KEYS
from erqiwang_grpc.client import Platform, SeatClient
from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.testing import ServerProcess, Table, served_apart

_FAST: Final = ("--commands-per-second", "1000", "--platform-calls-per-second", "1000")
_KEYS: Final = (PLATFORM_KEYS, SIGNING_KEYS, FIRST_KEY)


def in_tree(tree: Path) -> tuple[str, ...]:
    """What goes before the command of a node that is to run the program in another tree."""
    return ("env", "-C", str(tree), f"PYTHONPATH={tree}:{tree / 'core'}")


@asynccontextmanager
async def serving(
    database: Address, folder: Path, count: int, *flags: str, befores: Sequence[tuple[str, ...]] = ()
) -> AsyncIterator[list[ServerProcess]]:
    """So many nodes. `befores` are what goes before the command of each, if anything does."""
    async with AsyncExitStack() as stack:
        nodes: list[ServerProcess] = []
        for number in range(count):
            data = folder / f"node{number}"
            if nodes:
                data.mkdir(mode=0o700)
                for name in _KEYS:
                    shutil.copy(nodes[0].folder / name, data / name)
            before = befores[number] if befores else ()
            arguments = ("--store", database.url, *_FAST, *flags)
            node = served_apart(data, *arguments, log=folder / f"log{number}", before=before)
            nodes.append(await stack.enter_async_context(node))
        yield nodes


def platform_of(nodes: Sequence[ServerProcess]) -> Platform:
    """A platform that knows all nodes, the first one first."""
    return Platform([node.address for node in nodes], nodes[0].key)


@asynccontextmanager
async def clients(nodes: Sequence[ServerProcess], table: Table) -> AsyncIterator[list[SeatClient]]:
    """A client on every seat, each at another node first; each knows all nodes."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                SeatClient(
                    [nodes[(seat + each) % len(nodes)].address for each in range(len(nodes))],
                    token,
                    options=(("grpc.use_local_subchannel_pool", 1),),
                )
            )
            for seat, token in enumerate(table.tokens)
        ]
