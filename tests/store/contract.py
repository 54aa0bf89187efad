"""What every backend of the two ports must do: a backend's test inherits these and gives the fixture."""

import asyncio
from collections.abc import Callable

import pytest

from erqiwang_grpc.store import (
    NOTHING,
    START,
    Actor,
    Appended,
    Batch,
    CommandId,
    CommandKey,
    Conflict,
    Duplicate,
    Entry,
    Mark,
    Period,
    Position,
    RoomId,
    Store,
    StoreReader,
    Tag,
    TimeNs,
    Unavailable,
    Version,
    Wakeup,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.wakeup import Bell

ROOM, OTHER = RoomId("room-1"), RoomId("room-2")
ALICE, BOB = Actor("alice"), Actor("bob")
FINISHED = Tag("finished", "p1")
EVER = Period(TimeNs(0), TimeNs(2**62))


def key(command: str, payload: bytes = b"print") -> CommandKey:
    return CommandKey(CommandId(command), payload)


def batch(
    *bodies: bytes,
    actor: Actor = ALICE,
    command: CommandKey | None = None,
    time: int = 1,
    tags: tuple[Tag, ...] = (),
) -> Batch:
    return Batch(TimeNs(time), actor, command, 7, bodies, tags)


async def bodies(log: StoreReader, room: RoomId, after: Version = NOTHING) -> list[bytes]:
    entries = await log.read(room, after)
    assert isinstance(entries, tuple), entries
    return [entry.body for entry in entries]


async def marks(
    log: StoreReader, after: Position = START, limit: int = 100, tag: Tag | None = None
) -> tuple[Mark, ...]:
    found = await log.feed(after, limit, tag)
    assert isinstance(found, tuple), found
    return found


async def is_silent(bell: Bell) -> bool:
    """Whether a wait does not return within a few turns of the loop."""
    waiting = asyncio.create_task(bell.wait())
    for _ in range(5):
        await asyncio.sleep(0)
    return waiting.cancel()


class EventLogContract:
    async def test_a_store_says_which_one_it_is_and_goes_on_saying_so(self, log: Store) -> None:
        identity = log.identity
        assert identity.isalnum()
        await log.append(ROOM, NOTHING, batch(b"1"))
        assert log.identity == identity
        assert MemoryStore().identity != identity

    async def test_a_batch_is_read_as_it_was_appended(self, log: Store) -> None:
        command = key("c1", b"\x00\xff")
        written = Batch(TimeNs(5), ALICE, command, 3, (b"one", b"", b"three"))
        assert await log.append(ROOM, NOTHING, written) == Appended(Version(3))
        assert await log.read(ROOM) == tuple(
            Entry(ROOM, Version(version), TimeNs(5), ALICE, command, 3, body)
            for version, body in enumerate([b"one", b"", b"three"], start=1)
        )

    async def test_the_first_payload_is_that_of_the_whole(self, log: Store) -> None:
        assert await log.first(ROOM) is None
        await log.append(OTHER, NOTHING, batch(b"another"))
        for head, written in ((NOTHING, batch(b"one", b"two", command=key("c1"))), (Version(2), batch(b"three"))):
            await log.append(ROOM, head, written)
            entries = await log.read(ROOM)
            assert isinstance(entries, tuple)
            assert await log.first(ROOM) == entries[0]

    async def test_a_room_that_is_not_there_is_empty(self, log: Store) -> None:
        assert await log.head(ROOM) == NOTHING
        assert await log.read(ROOM) == ()
        assert await log.find(ROOM, ALICE, CommandId("c")) is None
        assert await log.rooms(RoomId(""), 10) == ()

    async def test_a_stale_append_is_told_the_head_and_writes_nothing(self, log: Store) -> None:
        await log.append(ROOM, NOTHING, batch(b"1", b"2"))
        assert await log.append(ROOM, NOTHING, batch(b"x")) == Conflict(Version(2))
        assert await log.append(ROOM, Version(9), batch(b"x")) == Conflict(Version(2))
        assert await bodies(log, ROOM) == [b"1", b"2"]

    async def test_a_known_command_is_looked_at_before_the_version(self, log: Store) -> None:
        await log.append(ROOM, NOTHING, batch(b"1"))
        await log.append(ROOM, Version(1), batch(b"2", b"3", command=key("c", b"first")))
        known = Duplicate(Version(2), Version(3), b"first")
        for expected in (NOTHING, Version(1), Version(3), Version(99)):
            assert await log.append(ROOM, expected, batch(b"x", command=key("c", b"second"))) == known
        assert await log.find(ROOM, ALICE, CommandId("c")) == known
        assert await log.head(ROOM) == Version(3)

    async def test_a_command_is_scoped_to_its_room_and_actor(self, log: Store) -> None:
        await log.append(ROOM, NOTHING, batch(b"1", command=key("c")))
        assert await log.append(ROOM, Version(1), batch(b"2", actor=BOB, command=key("c"))) == Appended(Version(2))
        assert await log.append(OTHER, NOTHING, batch(b"1", command=key("c"))) == Appended(Version(1))

    async def test_batches_without_a_command_are_never_duplicates(self, log: Store) -> None:
        assert await log.append(ROOM, NOTHING, batch(b"1")) == Appended(Version(1))
        assert await log.append(ROOM, Version(1), batch(b"1")) == Appended(Version(2))

    async def test_reading_goes_on_behind_any_version_also_within_a_batch(self, log: Store) -> None:
        await log.append(ROOM, NOTHING, batch(b"1", b"2"))
        await log.append(ROOM, Version(2), batch(b"3", b"4", b"5"))
        for after in range(7):
            assert await bodies(log, ROOM, Version(after)) == [b"1", b"2", b"3", b"4", b"5"][after:]

    async def test_of_appends_that_race_one_wins_and_none_hurts_another_room(self, log: Store) -> None:
        racing = [log.append(ROOM, NOTHING, batch(b"%d" % i)) for i in range(20)]
        apart = [log.append(RoomId(f"apart-{i}"), NOTHING, batch(b"a")) for i in range(20)]
        answers = await asyncio.gather(*racing, *apart)
        assert answers[20:] == [Appended(Version(1))] * 20
        assert sorted(type(answer).__name__ for answer in answers[:20]) == ["Appended"] + ["Conflict"] * 19
        assert len(await bodies(log, ROOM)) == 1

    async def test_of_the_same_command_sent_twice_at_once_one_is_the_duplicate(self, log: Store) -> None:
        one, two = await asyncio.gather(*(log.append(ROOM, NOTHING, batch(b"1", command=key("c"))) for _ in "12"))
        assert (one, two) == (Appended(Version(1)), Duplicate(Version(1), Version(1), b"print"))

    async def test_a_cancelled_append_hurts_nobody(self, log: Store) -> None:
        given_up = asyncio.create_task(log.append(ROOM, NOTHING, batch(b"1")))
        kept = asyncio.create_task(log.append(OTHER, NOTHING, batch(b"1")))
        await asyncio.sleep(0)
        given_up.cancel()
        assert await kept == Appended(Version(1))
        assert await log.append(OTHER, Version(1), batch(b"2")) == Appended(Version(2))

    async def test_rooms_are_paged_by_id(self, log: Store) -> None:
        names = ["b", "a", "二七王", "c", "😀", "Z"]
        for name in names:
            await log.append(RoomId(name), NOTHING, batch(b"1"))
        seen: list[str] = []
        while page := await log.rooms(RoomId(seen[-1] if seen else ""), 2):
            assert isinstance(page, tuple)
            seen += page
        assert seen == sorted(names)

    async def test_the_feed_is_in_commit_order_and_goes_on_from_any_mark(self, log: Store) -> None:
        await log.append(OTHER, NOTHING, batch(b"1", b"2", time=9, tags=(FINISHED,)))
        await log.append(ROOM, NOTHING, batch(b"1", time=5))
        await log.append(OTHER, Version(2), batch(b"3", time=7, tags=(FINISHED, Tag("player", "alice"))))
        whole = await marks(log)
        assert [(mark.room, mark.version, mark.time) for mark in whole] == [(OTHER, 2, 9), (ROOM, 1, 5), (OTHER, 3, 7)]
        assert await marks(log, limit=2) == whole[:2]
        assert await marks(log, after=whole[1].position) == whole[2:]
        assert await marks(log, tag=FINISHED) == (whole[0], whole[2])
        assert await marks(log, after=whole[0].position, tag=FINISHED) == whole[2:]
        assert await marks(log, tag=Tag("player", "bob")) == ()

    async def test_the_latest_position_is_the_last_of_the_feed(self, log: Store) -> None:
        assert await log.latest() == START
        for number, (room, time) in enumerate(((OTHER, 9), (ROOM, 5), (ROOM, 7))):
            await log.append(room, Version(max(0, number - 1)), batch(b"x", time=time))
            assert await log.latest() == (await marks(log))[-1].position
        latest = await log.latest()
        assert isinstance(latest, int)
        assert await marks(log, after=latest) == ()
        await log.append(OTHER, Version(1), batch(b"y", time=1))
        assert [mark.room for mark in await marks(log, after=latest)] == [OTHER]

    async def test_a_feed_that_is_followed_while_rooms_grow_misses_nothing(self, log: Store) -> None:
        async def grow(room: RoomId) -> None:
            for version in range(20):
                assert await log.append(room, Version(version), batch(b"x")) == Appended(Version(version + 1))

        growing = asyncio.gather(*(grow(RoomId(f"r{i}")) for i in range(10)))
        seen: list[Mark] = []
        while len(seen) < 200:
            seen += await marks(log, seen[-1].position if seen else START, limit=7)
            await asyncio.sleep(0)
        await growing
        assert tuple(seen) == await marks(log, limit=1_000)

    async def test_a_listing_is_by_time_newest_first_and_paged(self, log: Store) -> None:
        times = [30, 10, 20, 20, 40]
        for number, time in enumerate(times):
            await log.append(RoomId(f"r{number}"), NOTHING, batch(b"1", time=time, tags=(FINISHED,)))
        await log.append(ROOM, NOTHING, batch(b"1", time=25))
        seen: list[Mark] = []
        while page := await log.listing(FINISHED, EVER, 2, seen[-1] if seen else None):
            assert isinstance(page, tuple)
            seen += page
        assert [(mark.room, mark.time) for mark in seen] == [
            ("r4", 40),
            ("r0", 30),
            ("r3", 20),
            ("r2", 20),
            ("r1", 10),
        ]
        some = await log.listing(FINISHED, Period(TimeNs(20), TimeNs(40)), 10)
        assert some == tuple(mark for mark in seen if 20 <= mark.time < 40)

    async def test_a_cursor_outside_the_period_lists_no_more_than_the_period(self, log: Store) -> None:
        await log.append(ROOM, NOTHING, batch(b"1", time=5, tags=(FINISHED,)))
        later = Mark(Position(99), ROOM, Version(1), Version(1), TimeNs(50))
        assert await log.listing(FINISHED, Period(TimeNs(0), TimeNs(5)), 10, later) == ()

    async def test_old_rooms_are_deleted_whole(self, log: Store) -> None:
        await log.append(ROOM, NOTHING, batch(b"1", command=key("c"), tags=(Tag("player", "alice"),)))
        await log.append(ROOM, Version(1), batch(b"2", time=10, tags=(FINISHED,)))
        await log.append(OTHER, NOTHING, batch(b"1", time=20, tags=(FINISHED,)))
        (last,) = [mark for mark in await marks(log) if mark.room == OTHER]
        assert await log.delete_rooms(FINISHED, TimeNs(20), 10) == (ROOM,)
        assert await log.delete_rooms(FINISHED, TimeNs(20), 10) == ()
        assert await log.head(ROOM) == NOTHING
        assert await log.find(ROOM, ALICE, CommandId("c")) is None
        assert await marks(log) == await log.listing(FINISHED, EVER, 10) == (last,)
        assert await marks(log, tag=Tag("player", "alice")) == ()

    async def test_positions_are_not_used_again_after_a_deletion(self, log: Store) -> None:
        await log.append(ROOM, NOTHING, batch(b"1", tags=(FINISHED,)))
        (deleted,) = await marks(log)
        await log.delete_rooms(FINISHED, TimeNs(2), 10)
        await log.append(ROOM, NOTHING, batch(b"1"))
        (new,) = await marks(log)
        assert new.position > deleted.position

    async def test_deletion_is_bounded(self, log: Store) -> None:
        for number in range(5):
            await log.append(RoomId(f"r{number}"), NOTHING, batch(b"1", tags=(FINISHED,)))
        counts = []
        while deleted := await log.delete_rooms(FINISHED, TimeNs(2), 2):
            assert isinstance(deleted, tuple)
            counts.append(len(deleted))
        assert counts == [2, 2, 1]

    async def test_a_closed_log_refuses_appends_and_may_be_closed_again(self, log: Store) -> None:
        await log.close()
        assert isinstance(await log.append(ROOM, NOTHING, batch(b"1")), Unavailable)
        await log.close()

    async def test_what_was_handed_in_before_closing_is_answered(self, log: Store) -> None:
        handed_in = asyncio.create_task(log.append(ROOM, NOTHING, batch(b"1")))
        await asyncio.sleep(0)
        await log.close()
        assert await handed_in == Appended(Version(1))

    @pytest.mark.parametrize("build", [batch, lambda: batch(b"1", tags=(FINISHED, FINISHED))])
    def test_what_is_no_batch_cannot_be_made(self, build: Callable[[], Batch]) -> None:
        with pytest.raises(ValueError, match="a batch"):
            build()


class WakeupContract:
    async def test_a_hint_reaches_everyone_who_listens_with_its_room_and_version(self, wakeup: Wakeup) -> None:
        here: list[tuple[RoomId, Version]] = []
        there: list[tuple[RoomId, Version]] = []
        with wakeup.listen(lambda *hint: here.append(hint)), wakeup.listen(lambda *hint: there.append(hint)):
            wakeup.hint(ROOM, Version(3))
            wakeup.hint(OTHER, Version(1))
            await asyncio.sleep(0)
        assert here == there == [(ROOM, 3), (OTHER, 1)]

    async def test_a_bell_that_rang_before_the_wait_is_heard_and_several_rings_count_as_one(
        self, wakeup: Wakeup
    ) -> None:
        bell = Bell()
        with wakeup.listen(bell.ring):
            wakeup.hint(ROOM, Version(1))
            wakeup.hint(ROOM, Version(2))
            await asyncio.wait_for(bell.wait(), 5)
            assert await is_silent(bell)

    async def test_whoever_has_left_hears_nothing_more(self, wakeup: Wakeup) -> None:
        wakeup.hint(ROOM, Version(1))
        heard: list[tuple[RoomId, Version]] = []
        with wakeup.listen(lambda *hint: heard.append(hint)):
            pass
        wakeup.hint(ROOM, Version(2))
        assert not heard
