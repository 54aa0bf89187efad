"""What every backend of the two ports must do. The test of a backend inherits a contract and gives its fixture."""

import asyncio
from collections.abc import Callable

import pytest

from erqiwang_grpc.store import (
    NOTHING,
    START,
    Actor,
    Appended,
    BadCursor,
    Batch,
    CommandId,
    CommandKey,
    Conflict,
    Cursor,
    Damaged,
    Duplicate,
    Entry,
    Fed,
    Listed,
    Moment,
    NodeId,
    NodeLeft,
    Page,
    Period,
    Rewritten,
    RoomId,
    Roster,
    Search,
    SeatHere,
    SideMessage,
    SideMessages,
    SignalGiven,
    Store,
    StoreReader,
    Summary,
    Term,
    TimeNs,
    Unavailable,
    Version,
    Wakeup,
    pages,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.wakeup import Bell

ROOM, OTHER = RoomId("room-1"), RoomId("room-2")
ALICE, BOB = Actor("alice"), Actor("bob")
FEED, FINISHED, PLAYED = "p1", Term("finished", "p1"), Term("player", "alice")
EVER = Period(TimeNs(0), TimeNs(2**62))


def key(command: str, payload: bytes = b"print") -> CommandKey:
    return CommandKey(CommandId(command), payload)


def summary(
    *terms: Term, created: int = 1, ended: int | None = None, body: bytes = b"what lists say of the room"
) -> Summary:
    return Summary(terms, TimeNs(created), None if ended is None else TimeNs(ended), body)


PLAIN = summary()


def batch(
    *bodies: bytes,
    actor: Actor = ALICE,
    command: CommandKey | None = None,
    time: int = 1,
    summary: Summary = PLAIN,
    feed: str | None = None,
) -> Batch:
    return Batch(TimeNs(time), actor, command, 7, bodies, summary, feed)


def ended(*bodies: bytes, time: int = 1, feed: str | None = None) -> Batch:
    """A batch that ends a match. The room is created and ended at the same `time`."""
    return batch(*bodies, time=time, summary=summary(FINISHED, created=time, ended=time), feed=feed)


async def head(store: StoreReader, room: RoomId) -> Version | Damaged:
    entries = await store.read(room)
    if isinstance(entries, Damaged):
        return entries
    assert not isinstance(entries, Unavailable), entries
    return entries[-1].version if entries else NOTHING


async def bodies(store: StoreReader, room: RoomId, after: Version = NOTHING) -> list[bytes]:
    entries = await store.read(room, after)
    assert isinstance(entries, tuple), entries
    return [entry.body for entry in entries]


async def fed(store: StoreReader, after: Cursor = START, limit: int = 100, feed: str = FEED) -> tuple[Fed, ...]:
    found = await store.feed(feed, after, limit)
    assert isinstance(found, tuple), found
    return found


async def listed(
    store: StoreReader,
    *terms: Term,
    moment: Moment = Moment.CREATED,
    period: Period = EVER,
    limit: int = 100,
    after: Cursor = START,
) -> Page:
    page = await store.summaries(Search(terms, moment, period), limit, after)
    assert isinstance(page, Page), page
    return page


async def names(store: StoreReader, *terms: Term, moment: Moment = Moment.CREATED, period: Period = EVER) -> list[str]:
    return [each.room for each in (await listed(store, *terms, moment=moment, period=period)).rooms]


async def is_silent(bell: Bell) -> bool:
    """Whether a wait does not return within a few turns of the loop."""
    waiting = asyncio.create_task(bell.wait())
    for _ in range(5):
        await asyncio.sleep(0)
    return waiting.cancel()


class StoreContract:
    async def test_a_store_says_which_one_it_is_and_goes_on_saying_so(self, store: Store) -> None:
        identity = store.identity
        assert identity.isalnum()
        await store.append(ROOM, NOTHING, batch(b"1"))
        assert store.identity == identity
        assert MemoryStore().identity != identity

    async def test_a_batch_is_read_as_it_was_appended(self, store: Store) -> None:
        command = key("c1", b"\x00\xff")
        written = Batch(TimeNs(5), ALICE, command, 3, (b"one", b"", b"three"), summary())
        assert await store.append(ROOM, NOTHING, written) == Appended(Version(3))
        assert await store.read(ROOM) == tuple(
            Entry(ROOM, Version(version), TimeNs(5), ALICE, command, 3, body)
            for version, body in enumerate([b"one", b"", b"three"], start=1)
        )

    async def test_the_first_payload_is_that_of_the_whole(self, store: Store) -> None:
        assert await store.first(ROOM) is None
        await store.append(OTHER, NOTHING, batch(b"another"))
        for head, written in ((NOTHING, batch(b"one", b"two", command=key("c1"))), (Version(2), batch(b"three"))):
            await store.append(ROOM, head, written)
            entries = await store.read(ROOM)
            assert isinstance(entries, tuple)
            assert await store.first(ROOM) == entries[0]

    async def test_a_room_that_is_not_there_is_empty(self, store: Store) -> None:
        assert await store.read(ROOM) == ()
        assert await store.first(ROOM) is None
        assert await store.summary(ROOM) is None
        assert await store.rooms(RoomId(""), 10) == ()

    async def test_a_stale_append_is_told_the_head_and_writes_nothing(self, store: Store) -> None:
        await store.append(ROOM, NOTHING, batch(b"1", b"2"))
        assert await store.append(ROOM, NOTHING, batch(b"x")) == Conflict(Version(2))
        assert await store.append(ROOM, Version(9), batch(b"x")) == Conflict(Version(2))
        assert await bodies(store, ROOM) == [b"1", b"2"]

    async def test_a_known_command_is_looked_at_before_the_version(self, store: Store) -> None:
        await store.append(ROOM, NOTHING, batch(b"1"))
        await store.append(ROOM, Version(1), batch(b"2", b"3", command=key("c", b"first")))
        known = Duplicate(Version(2), Version(3), b"first")
        for expected in (NOTHING, Version(1), Version(3), Version(99)):
            assert await store.append(ROOM, expected, batch(b"x", command=key("c", b"second"))) == known
        assert await head(store, ROOM) == Version(3)

    async def test_a_command_is_scoped_to_its_room_and_actor(self, store: Store) -> None:
        await store.append(ROOM, NOTHING, batch(b"1", command=key("c")))
        assert await store.append(ROOM, Version(1), batch(b"2", actor=BOB, command=key("c"))) == Appended(Version(2))
        assert await store.append(OTHER, NOTHING, batch(b"1", command=key("c"))) == Appended(Version(1))

    async def test_batches_without_a_command_are_never_duplicates(self, store: Store) -> None:
        assert await store.append(ROOM, NOTHING, batch(b"1")) == Appended(Version(1))
        assert await store.append(ROOM, Version(1), batch(b"1")) == Appended(Version(2))

    async def test_reading_goes_on_behind_any_version_also_within_a_batch(self, store: Store) -> None:
        await store.append(ROOM, NOTHING, batch(b"1", b"2"))
        await store.append(ROOM, Version(2), batch(b"3", b"4", b"5"))
        for after in range(7):
            assert await bodies(store, ROOM, Version(after)) == [b"1", b"2", b"3", b"4", b"5"][after:]

    async def test_of_appends_that_race_one_wins_and_none_hurts_another_room(self, store: Store) -> None:
        racing = [store.append(ROOM, NOTHING, batch(b"%d" % i)) for i in range(20)]
        apart = [store.append(RoomId(f"apart-{i}"), NOTHING, batch(b"a")) for i in range(20)]
        answers = await asyncio.gather(*racing, *apart)
        assert answers[20:] == [Appended(Version(1))] * 20
        assert sorted(type(answer).__name__ for answer in answers[:20]) == ["Appended"] + ["Conflict"] * 19
        assert len(await bodies(store, ROOM)) == 1

    async def test_of_the_same_command_sent_twice_at_once_one_is_the_duplicate(self, store: Store) -> None:
        one, two = await asyncio.gather(*(store.append(ROOM, NOTHING, batch(b"1", command=key("c"))) for _ in "12"))
        assert (one, two) == (Appended(Version(1)), Duplicate(Version(1), Version(1), b"print"))

    async def test_a_cancelled_append_hurts_nobody(self, store: Store) -> None:
        given_up = asyncio.create_task(store.append(ROOM, NOTHING, batch(b"1")))
        kept = asyncio.create_task(store.append(OTHER, NOTHING, batch(b"1")))
        await asyncio.sleep(0)
        given_up.cancel()
        assert await kept == Appended(Version(1))
        assert await store.append(OTHER, Version(1), batch(b"2")) == Appended(Version(2))

    async def test_rooms_are_paged_by_id(self, store: Store) -> None:
        names = ["b", "a", "二七王", "c", "😀", "Z"]
        for name in names:
            await store.append(RoomId(name), NOTHING, batch(b"1"))
        seen: list[str] = []
        while page := await store.rooms(RoomId(seen[-1] if seen else ""), 2):
            assert isinstance(page, tuple)
            seen += page
        assert seen == sorted(names)

    async def test_a_feed_is_in_commit_order_with_its_payloads_and_goes_on_from_any_cursor(self, store: Store) -> None:
        await store.append(OTHER, NOTHING, batch(b"1", b"2", time=9, feed=FEED))
        await store.append(ROOM, NOTHING, batch(b"1", time=5, feed="another"))
        await store.append(ROOM, Version(1), batch(b"2", time=6))
        await store.append(OTHER, Version(2), batch(b"3", time=7, feed=FEED))
        whole = await fed(store)
        assert [[entry.body for entry in each.entries] for each in whole] == [[b"1", b"2"], [b"3"]]
        entries = await store.read(OTHER)
        assert tuple(entry for each in whole for entry in each.entries) == entries
        assert await fed(store, limit=1) == whole[:1]
        for number, each in enumerate(whole):
            assert await fed(store, each.before) == whole[number:]
            assert await fed(store, each.cursor) == whole[number + 1 :]
        assert [each.entries[0].room for each in await fed(store, feed="another")] == [ROOM]
        assert await fed(store, feed="nobody's") == ()

    async def test_the_latest_cursor_is_behind_everything(self, store: Store) -> None:
        assert await store.latest() == START
        await store.append(ROOM, NOTHING, batch(b"1", feed=FEED))
        await store.append(ROOM, Version(1), batch(b"2"))
        latest = await store.latest()
        assert not isinstance(latest, Unavailable)
        assert await fed(store, latest) == ()
        await store.append(OTHER, NOTHING, batch(b"1", feed=FEED))
        assert [each.entries[0].room for each in await fed(store, latest)] == [OTHER]

    @pytest.mark.parametrize("cursor", ["x", "-1", "1.", "١", "9" * 20, "1.2.3 ", " 1"])
    async def test_a_cursor_that_no_store_made_is_refused(self, store: Store, cursor: str) -> None:
        assert isinstance(await store.feed(FEED, Cursor(cursor), 1), BadCursor)

    @pytest.mark.parametrize("cursor", ["x", "-1", "1", "١.room", "9" * 20 + ".room"])
    async def test_a_cursor_of_no_list_is_refused(self, store: Store, cursor: str) -> None:
        search = Search((FINISHED,), Moment.CREATED, EVER)
        assert isinstance(await store.summaries(search, 1, Cursor(cursor)), BadCursor)

    async def test_a_feed_that_is_followed_while_rooms_grow_misses_nothing(self, store: Store) -> None:
        async def grow(room: RoomId) -> None:
            for version in range(20):
                answer = await store.append(room, Version(version), batch(b"x", feed=FEED))
                assert answer == Appended(Version(version + 1))

        growing = asyncio.gather(*(grow(RoomId(f"r{i}")) for i in range(10)))
        seen: list[Fed] = []
        while len(seen) < 200:
            seen += await fed(store, seen[-1].cursor if seen else START, limit=7)
            await asyncio.sleep(0)
        await growing
        assert tuple(seen) == await fed(store, limit=1_000)

    async def test_a_list_gives_each_room_with_its_newest_summary(self, store: Store) -> None:
        await store.append(ROOM, NOTHING, batch(b"1", summary=summary(FINISHED, created=3, body=b"old")))
        newest = summary(FINISHED, PLAYED, created=3, body=b"new")
        await store.append(ROOM, Version(1), batch(b"2", b"3", summary=newest))
        told = Listed(ROOM, Version(3), newest)
        assert await listed(store, FINISHED) == await listed(store, PLAYED) == Page((told,), None, (), 1)
        assert await store.summary(ROOM) == told
        await store.append(ROOM, Version(3), batch(b"4", summary=summary(created=3)))
        assert await listed(store, FINISHED) == await listed(store, PLAYED) == Page((), None, (), 0)

    async def test_a_list_is_newest_first_and_paged(self, store: Store) -> None:
        times = [30, 10, 20, 20, 40]
        for number, time in enumerate(times):
            await store.append(RoomId(f"r{number}"), NOTHING, ended(b"1", time=time))
        await store.append(ROOM, NOTHING, batch(b"1", time=25, summary=summary(PLAYED, created=25)))
        for moment in Moment:
            assert await names(store, FINISHED, moment=moment) == ["r4", "r0", "r3", "r2", "r1"]
            some = await names(store, FINISHED, moment=moment, period=Period(TimeNs(20), TimeNs(40)))
            assert some == ["r0", "r3", "r2"]
            for size in (1, 2, 4, 5, 6):
                assert await self._paged(store, moment, size) == ["r4", "r0", "r3", "r2", "r1"]
        assert await names(store, PLAYED, moment=Moment.ENDED) == [], "it has not ended"

    async def _paged(self, store: Store, moment: Moment, size: int) -> list[str]:
        seen: list[str] = []
        after: Cursor | None = START
        while after is not None:
            page = await listed(store, FINISHED, moment=moment, limit=size, after=after)
            assert 0 < len(page.rooms) <= size
            seen += [each.room for each in page.rooms]
            after = page.next
        return seen

    async def test_a_room_of_a_list_carries_every_term_that_is_asked_for(self, store: Store) -> None:
        terms = {"a": (FINISHED,), "b": (PLAYED,), "c": (FINISHED, PLAYED), "d": (Term("finished", "alice"), PLAYED)}
        for time, (name, carried) in enumerate(terms.items()):
            of_room = summary(*carried, created=time, ended=time)
            await store.append(RoomId(name), NOTHING, batch(b"1", summary=of_room))
        for moment in Moment:
            assert await names(store, FINISHED, PLAYED, moment=moment) == ["c"]
            assert await names(store, PLAYED, FINISHED, moment=moment) == ["c"]
            assert await names(store, PLAYED, moment=moment) == ["d", "c", "b"]

    async def test_a_page_says_how_many_rooms_were_looked_at_for_it(self, store: Store) -> None:
        for number in range(10):
            terms = (FINISHED, PLAYED) if number in (2, 5) else (FINISHED,)
            of_room = summary(*terms, created=number, ended=number)
            await store.append(RoomId(f"r{number}"), NOTHING, batch(b"1", summary=of_room))
        nobody = Term("player", "nobody")
        for moment in Moment:
            assert (await listed(store, FINISHED, moment=moment)).looked_at == 10
            assert await listed(store, FINISHED, nobody, moment=moment) == Page((), None, (), 10)
            assert await listed(store, nobody, FINISHED, moment=moment) == Page((), None, (), 0)
            assert (await listed(store, FINISHED, PLAYED, moment=moment)).looked_at == 10
            assert (await listed(store, PLAYED, FINISHED, moment=moment)).looked_at == 2
            assert (await listed(store, FINISHED, moment=moment, limit=4)).looked_at >= 5
            narrow = await listed(store, FINISHED, PLAYED, moment=moment, limit=1)
            assert narrow.looked_at >= 8, "the second one shows that there is a next page"
            assert narrow.next is not None
            assert (await listed(store, FINISHED, PLAYED, moment=moment, limit=1, after=narrow.next)).looked_at == 5
            some = Period(TimeNs(3), TimeNs(8))
            assert (await listed(store, FINISHED, nobody, moment=moment, period=some)).looked_at == 5

    async def test_a_narrow_search_finds_each_room_however_few_rooms_a_page_may_look_at(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pages, "MOST_SCANNED", 2)
        for number in range(7):
            terms = (FINISHED, PLAYED) if number in (0, 3, 4) else (FINISHED,)
            of_room = summary(*terms, created=number, ended=number)
            await store.append(RoomId(f"r{number}"), NOTHING, batch(b"1", summary=of_room))
        for moment in Moment:
            read = await self._narrowed(store, moment)
            assert [each.room for page in read for each in page.rooms] == ["r4", "r3", "r0"]
            if not isinstance(store, MemoryStore):
                assert [page.looked_at for page in read] == [2, 2, 2, 1]

    async def _narrowed(self, store: Store, moment: Moment) -> list[Page]:
        read: list[Page] = []
        after: Cursor | None = START
        while after is not None:
            read.append(await listed(store, FINISHED, PLAYED, moment=moment, after=after))
            after = read[-1].next
        return read

    async def test_a_cursor_outside_the_period_lists_no_more_than_the_period(self, store: Store) -> None:
        for name, time in ((ROOM, 5), (OTHER, 50)):
            await store.append(name, NOTHING, ended(b"1", time=time))
        after = (await listed(store, FINISHED, limit=1)).next
        assert after is not None
        assert (await listed(store, FINISHED, period=Period(TimeNs(0), TimeNs(5)), after=after)).rooms == ()

    async def test_a_summary_is_made_anew_at_the_version_it_was_made_of(self, store: Store) -> None:
        await store.append(ROOM, NOTHING, batch(b"1", b"2", summary=summary(FINISHED)))
        anew = summary(PLAYED, created=4, ended=5, body=b"anew")
        for version in (NOTHING, Version(1), Version(3)):
            assert await store.summarise(ROOM, version, anew) == Conflict(Version(2))
        assert await store.summarise(OTHER, NOTHING, anew) == Conflict(NOTHING)
        assert await store.summarise(ROOM, Version(2), anew) == Rewritten()
        assert await store.summary(ROOM) == Listed(ROOM, Version(2), anew)
        assert await names(store, FINISHED) == []
        assert await names(store, PLAYED, moment=Moment.ENDED) == [ROOM]
        assert await bodies(store, ROOM) == [b"1", b"2"]
        assert await store.append(ROOM, Version(2), batch(b"3")) == Appended(Version(3))

    async def test_old_rooms_are_deleted_whole(self, store: Store) -> None:
        await store.append(ROOM, NOTHING, batch(b"1", command=key("c"), feed=FEED))
        await store.append(ROOM, Version(1), ended(b"2", time=10, feed=FEED))
        await store.append(OTHER, NOTHING, ended(b"1", time=20, feed=FEED))
        await store.append(RoomId("goes on"), NOTHING, batch(b"1", summary=summary(FINISHED)))
        *_, last = await fed(store)
        assert await store.delete_rooms(FINISHED, TimeNs(20), 10) == (ROOM,)
        assert await store.delete_rooms(FINISHED, TimeNs(20), 10) == ()
        assert await store.read(ROOM) == ()
        assert await store.summary(ROOM) is None
        assert await fed(store) == (last,)
        assert await names(store, FINISHED) == [OTHER, "goes on"]
        assert await store.append(ROOM, NOTHING, batch(b"1", command=key("c"))) == Appended(Version(1))

    async def test_cursors_are_not_used_again_after_a_deletion(self, store: Store) -> None:
        await store.append(ROOM, NOTHING, ended(b"1", feed=FEED))
        (deleted,) = await fed(store)
        await store.delete_rooms(FINISHED, TimeNs(2), 10)
        await store.append(ROOM, NOTHING, batch(b"2", feed=FEED))
        (new,) = await fed(store, deleted.cursor)
        assert await fed(store, new.before) == (new,)
        assert new.before != deleted.before, "a place within the deleted batch is none within the new one"
        assert new.cursor != deleted.cursor

    async def test_deletion_is_bounded(self, store: Store) -> None:
        for number in range(5):
            await store.append(RoomId(f"r{number}"), NOTHING, ended(b"1"))
        counts = []
        while deleted := await store.delete_rooms(FINISHED, TimeNs(2), 2):
            assert isinstance(deleted, tuple)
            counts.append(len(deleted))
        assert counts == [2, 2, 1]

    async def test_a_closed_store_refuses_appends_and_may_be_closed_again(self, store: Store) -> None:
        await store.close()
        assert isinstance(await store.append(ROOM, NOTHING, batch(b"1")), Unavailable)
        await store.close()

    async def test_what_was_handed_in_before_closing_is_answered(self, store: Store) -> None:
        handed_in = asyncio.create_task(store.append(ROOM, NOTHING, batch(b"1")))
        await asyncio.sleep(0)
        await store.close()
        assert await handed_in == Appended(Version(1))

    @pytest.mark.parametrize(
        "build",
        [
            batch,
            lambda: summary(FINISHED, FINISHED),
            lambda: Search((), Moment.CREATED, EVER),
        ],
    )
    def test_what_holds_nothing_or_one_thing_twice_cannot_be_made(self, build: Callable[[], object]) -> None:
        with pytest.raises(ValueError, match=r"at least one|once"):
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


ONE, TWO = NodeId("one"), NodeId("two")
SAID: tuple[SideMessage, ...] = (
    Roster(ONE, ROOM, (SeatHere(0, 1_700_000_000_000, True), SeatHere(3, 7, False))),
    Roster(ONE, RoomId('二七王 "a,b" \0'), ()),
    Roster(TWO, ROOM, (SeatHere(1, 2**62, True),)),
    SignalGiven(ONE, ROOM, Version(12), 2, 3),
    NodeLeft(TWO),
)


class SideMessagesContract:
    """`nodes` are two nodes on one store."""

    async def test_a_message_reaches_the_other_node_as_it_was_said(
        self, nodes: tuple[SideMessages, SideMessages]
    ) -> None:
        here, there = nodes
        heard: list[SideMessage] = []
        with there.listen(heard.append):
            for message in SAID:
                here.say(message)
            await all_heard(heard, len(SAID))
        assert sorted(heard, key=repr) == sorted(SAID, key=repr)

    async def test_both_ways_and_to_everyone_who_listens(self, nodes: tuple[SideMessages, SideMessages]) -> None:
        here, there = nodes
        first: list[SideMessage] = []
        second: list[SideMessage] = []
        with here.listen(first.append), here.listen(second.append):
            there.say(SAID[0])
            await all_heard(first, 1)
        assert first == second == [SAID[0]]

    async def test_of_rosters_that_follow_each_other_the_last_is_heard(
        self, nodes: tuple[SideMessages, SideMessages]
    ) -> None:
        here, there = nodes
        heard: list[SideMessage] = []
        last = Roster(ONE, ROOM, (SeatHere(1, 99, True),))
        with there.listen(heard.append):
            for order in range(99):
                here.say(Roster(ONE, ROOM, (SeatHere(1, order, True),)))
            here.say(last)
            async with asyncio.timeout(20):
                while last not in heard:  # noqa: ASYNC110  # a list rings no bell
                    await asyncio.sleep(0.01)
        assert heard[-1] == last

    async def test_who_does_not_listen_any_more_hears_nothing(self, nodes: tuple[SideMessages, SideMessages]) -> None:
        here, there = nodes
        gone: list[SideMessage] = []
        heard: list[SideMessage] = []
        with there.listen(gone.append):
            pass
        with there.listen(heard.append):
            here.say(SAID[3])
            await all_heard(heard, 1)
        assert not gone


async def all_heard(heard: list[SideMessage], number: int) -> None:
    async with asyncio.timeout(20):
        while len(heard) < number:  # noqa: ASYNC110  # a list rings no bell
            await asyncio.sleep(0.01)
