"""Whether pages of lists and of feeds depend on the number of matches that a PostgreSQL database holds.

python -m bench.stored_matches_bench [--most N] [--store URL]    (by default on a server of its own, in a temporary folder)

The matches are short, so that a million of them fit: an opening, and the events up to the first deal. They are written
by COPY, in the form in which the engine itself writes them.
"""

import argparse
import asyncio
import os
import time
from collections.abc import Iterator
from functools import partial

from bench.database import OWN, database
from bench.stored_rooms_bench import LISTS, fastest, standing_after, template
from erqiwang_grpc.events.index import terms
from erqiwang_grpc.events.standing import RoomState
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.store import NOTHING, START, Batch, Entry, RoomId, Summary, TimeNs, Version, chain
from erqiwang_grpc.store.batches import prepare
from erqiwang_grpc.store.postgres import Address, PostgresStore, advice, cursors, lists, moving, open_store
from erqiwang_grpc.store.postgres.connections import connect
from erqiwang_grpc.store.rows import BatchRow, HeadRow

STEPS = (10_000, 100_000, 1_000_000)
WRITTEN_AT_ONCE = 5_000
FEED = "local"


def rows(first: int, last: int, entries: tuple[Entry, ...]) -> Iterator[tuple[list[BatchRow], HeadRow]]:
    """The rows of the rooms with these numbers: the opening in one batch, all others in another."""
    standing = standing_after(entries)
    players = [chair.player for chair in standing.match.chairs]
    found_by = terms(standing.opened, RoomState.FINISHED, players, was_played=True)
    body = SummaryWriter().write(standing).body
    for number in range(first, last):
        room = RoomId(f"room{number:07}")
        created = TimeNs(standing.created + number * 1_000_000_000)
        summary = Summary(found_by, created, TimeNs(created + 600_000_000_000), body)
        yield _rows(room, entries, summary)


def _rows(room: RoomId, entries: tuple[Entry, ...], summary: Summary) -> tuple[list[BatchRow], HeadRow]:
    link, head, made = chain.origin(room), NOTHING, list[BatchRow]()
    for part in (entries[:1], entries[1:]):
        first = part[0]
        feed = FEED if head == NOTHING else None
        bodies = tuple(entry.body for entry in part)
        batch = Batch(summary.created, first.actor, first.command, first.rules_version, bodies, summary, feed)
        prepared = prepare(room, head, batch)
        link = chain.link(link, Version(head + 1), prepared.encoded)
        command = first.command
        last = Version(head + len(bodies))
        made.append(
            BatchRow(
                room=room.encode(),
                first_version=head + 1,
                last_version=last,
                time_ns=batch.time,
                actor=first.actor.encode(),
                command=None if command is None else command.id.encode(),
                fingerprint=None if command is None else command.fingerprint,
                rules_version=batch.rules_version,
                bodies=prepared.bodies,
                feed=None if feed is None else feed.encode(),
                chain=link,
            )
        )
        head = last
    framed = chain.framed_terms(summary.terms)
    seal = chain.seal(link, head, summary, framed)
    return made, HeadRow(room.encode(), head, link, framed, summary.created, summary.ended, summary.body, seal)


async def fill(target: moving.PostgresTarget, first: int, last: int, entries: tuple[Entry, ...]) -> None:
    for start in range(first, last, WRITTEN_AT_ONCE):
        made = list(rows(start, min(start + WRITTEN_AT_ONCE, last), entries))
        await target.write_batches([row for batches, _ in made for row in batches])
        await target.write_heads([head for _, head in made])


async def measured(store: PostgresStore, stored: int) -> str:
    """The milliseconds of each page, the fastest of several."""
    costs = [await fastest(partial(store.summaries, search, 200)) for search in LISTS.values()]
    page = await store.summaries(LISTS["all"], min(5_000, stored // 2))
    assert not hasattr(page, "why"), page
    costs.append(await fastest(partial(store.summaries, LISTS["all"], 200, getattr(page, "next", START) or START)))
    # Each room has two batches, of which the first one is in the feed.
    costs.append(await fastest(partial(store.feed, FEED, START, 100)))
    costs.append(await fastest(partial(store.feed, FEED, cursors.after((moving.EARLIER[0], stored)), 100)))
    costs.append(await fastest(partial(store.read, RoomId(f"room{stored // 2:07}"))))
    costs.append(await fastest(partial(store.summary, RoomId(f"room{stored // 2:07}"))))
    return " ".join(f"{cost:>11.2f}" for cost in costs)


async def plans(address: Address) -> None:
    """Say how the statements are carried out: each one by indexes alone."""
    db = await connect(address)
    for name, statement in {
        "all": lists._BY_MOMENT[LISTS["all"].moment] + lists._NEWEST[LISTS["all"].moment] + " LIMIT 200",
        "ended": lists._BY_MOMENT[LISTS["ended"].moment] + lists._NEWEST[LISTS["ended"].moment] + " LIMIT 200",
        "feed": lists._FEED,
        "old": lists._OLD,
    }.items():
        count = max(number for number in range(1, 10) if f"${number}" in statement)
        await db.execute(f"PREPARE measured AS {statement}")
        steps = await db.fetch(f"EXPLAIN EXECUTE measured({', '.join(['NULL'] * count)})")
        await db.execute("DEALLOCATE measured")
        plan = [row[0].strip() for row in steps]
        used = sorted({step.split(" using ")[1].split()[0] for step in plan if " using " in step})
        bad = [step for step in plan if "Seq Scan" in step or "Sort" in step]
        print(f"  {name:>6}: by {', '.join(used)}{'; BUT ' + '; '.join(bad) if bad else ''}", flush=True)
    await db.close()


async def measure(address: Address, most: int) -> None:
    entries = (await template(0))[:4]
    names = (*LISTS, "inside all", "feed: first", "feed: inside", "one room", "its summary")
    print("milliseconds of a page of 200, of 100 batches of the feed, and of one room; the fastest of 20")
    print(f"{'matches':>10} {'MB':>6} {'written in, s':>13} {' '.join(f'{name:>11}' for name in names)} {'load':>6}")
    filled = 0
    target = await moving.target(address)
    if not isinstance(target, moving.PostgresTarget):
        raise SystemExit(f"{address} holds rooms already, or: {target}")
    for stored in (step for step in STEPS if step <= most):
        start = time.perf_counter()
        await fill(target, filled, stored, entries)
        seconds, filled = time.perf_counter() - start, stored
        store = await target.written()
        assert isinstance(store, PostgresStore)
        figures = await measured(store, stored)
        await store.close()
        db = await connect(address)
        size = await db.fetchval("SELECT pg_database_size(current_database())")
        await db.close()
        print(f"{stored:>10,} {size / 1e6:>6,.0f} {seconds:>13.1f} {figures} {os.getloadavg()[0]:>6.1f}", flush=True)
    await target.finish()
    await target.close()
    opening = time.perf_counter()
    store_again = await open_store(address)
    if not isinstance(store_again, PostgresStore):
        raise SystemExit(advice(store_again))
    print(f"a node opens the database in {1000 * (time.perf_counter() - opening):.0f} ms")
    await store_again.close()
    print("plans:")
    await plans(address)


async def _main(named: str, most: int) -> None:
    async with database(named) as address:
        await measure(address, most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=STEPS[-1], help="most matches to store, up to 1,000,000")
    parser.add_argument("--store", default=OWN, help="the URL of an empty database (default: a server of its own)")
    options = parser.parse_args()
    asyncio.run(_main(options.store, options.most))


if __name__ == "__main__":
    main()
