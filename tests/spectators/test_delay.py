"""Nothing younger than the delay is ever told, by the times of the log; and what is old enough is told in full."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Final

import pytest
from erqiwang_core.match import DealStarted, MatchEnded, Over
from erqiwang_core.options import FourPlayer, RoomOptions
from erqiwang_core.settlement import DealSettled
from erqiwang_core.view import view
from erqiwang_core.viewer import PUBLIC
from hypothesis import given, strategies as st

from erqiwang_grpc.auth.tokens import Delayed, Lateness, Milliseconds, SettledDeals
from erqiwang_grpc.events.history import RoomHistory
from erqiwang_grpc.events.standing import Standing
from erqiwang_grpc.rooms.listener import Missed
from erqiwang_grpc.store import TimeNs
from tests.deals.plans import examples
from tests.durability.played import play, seated
from tests.spectators.ears import Ear, listening
from tests.spectators.scene import SECOND, Scene

DELAYS: Final = (0, 1, 40, 1_500, 60_000)
GAMES: Final = (RoomOptions(), RoomOptions(FourPlayer(), review=False))


def times(ear: Ear) -> list[tuple[TimeNs, TimeNs]]:
    """Every time of the log that the spectator was told, with the moment at which it was."""
    found: list[tuple[TimeNs, TimeNs]] = []
    for at, entrance in ear.entrances:
        found += [(at, entrance.server_time), (at, entrance.scene.turn_began)]
        found += [(at, missed.time) for missed in entrance.missed]
    for at, told in ear.told:
        found += [(at, told.time), (at, told.turn_began)]
    return found + [(at, heartbeat.server_time) for at, heartbeat in ear.heartbeats]


def told_versions(ear: Ear) -> list[tuple[TimeNs, int]]:
    """Every version that the spectator was told, with the moment at which it was."""
    return [
        *((at, entrance.scene.version) for at, entrance in ear.entrances),
        *((at, told.version) for at, told in ear.told),
        *((at, heartbeat.version) for at, heartbeat in ear.heartbeats),
    ]


def check(ear: Ear, lateness: Lateness, standings: Sequence[Standing], now: int) -> None:
    """The law: of what it was told, nothing was younger than the delay; and all that is older was told by now."""
    assert isinstance(lateness, Delayed)
    delay = lateness.milliseconds * 1_000_000
    assert all(time <= at - delay for at, time in times(ear))
    assert all(version == 0 or standings[version - 1].time <= at - delay for at, version in told_versions(ear))
    due = sum(standing.time <= now - delay for standing in standings)
    assert ear.version == due
    if due:
        assert ear.view == view(standings[due - 1].match, PUBLIC)


@examples(0.2)
@given(
    options=st.sampled_from(GAMES),
    delays=st.lists(st.sampled_from(DELAYS), min_size=1, max_size=4),
    waits=st.lists(st.integers(0, 5_000), min_size=15, max_size=30),
    seed=st.integers(0, 1_000),
)
def test_nothing_younger_than_the_delay_is_told_and_all_that_is_older(
    options: RoomOptions, delays: list[int], waits: list[int], seed: int
) -> None:
    async def played() -> None:
        scene, luck = Scene(), Random(seed)
        room = await seated(scene.rooms, options=options)
        joining = [Delayed(Milliseconds(delay)) for delay in delays]
        for wait in waits:
            if joining and luck.random() < 0.2:
                await scene.watch(room, joining.pop(), luck.choice([None, 0, 3, 10_000]))
            await play(room, luck.randint(0, 6), luck)
            # Wait in small steps, as time does.
            for _ in range(4):
                await scene.forward(wait * 250_000)
            if luck.random() < 0.3:
                scene.broadcasts.look_after()
        for left in joining:
            await scene.watch(room, left)
        await scene.forward(SECOND)
        for ear, lateness in scene.ears:
            check(ear, lateness, await scene.standings(room), scene.wall.at)
        scene.broadcasts.close()

    asyncio.run(played())


async def test_an_event_is_told_at_its_moment_and_not_a_nanosecond_before() -> None:
    scene = Scene()
    room = await seated(scene.rooms)
    await scene.forward(100 * SECOND)
    ear = await scene.watch(room, Delayed(Milliseconds(60_000)))
    dealt = room.version
    assert ear.version == dealt
    await play(room, 1)
    happened = scene.wall.at
    await scene.forward(60 * SECOND - 1)
    assert ear.version == dealt
    await scene.forward(1)
    assert ear.version > dealt
    assert ear.told[0][0] == happened + 60 * SECOND
    scene.broadcasts.close()


async def test_a_clock_that_is_set_back_makes_it_later_and_never_earlier() -> None:
    scene = Scene()
    room = await seated(scene.rooms)
    await scene.forward(100 * SECOND)
    lateness = Delayed(Milliseconds(10_000))
    ear = await scene.watch(room, lateness)
    await play(room, 3)
    scene.wall.at -= 3_600 * SECOND
    for _ in range(20):
        await scene.forward(SECOND)
    assert not ear.told
    scene.wall.at += 3_600 * SECOND
    await scene.forward(6 * SECOND)
    check(ear, lateness, await scene.standings(room), scene.wall.at)
    assert ear.version == room.version
    scene.broadcasts.close()


async def test_a_room_younger_than_the_delay_begins_once_its_opening_is_old_enough() -> None:
    scene = Scene()
    room = await seated(scene.rooms)
    ear = await scene.watch(room, Delayed(Milliseconds(60_000)))
    assert not ear.entrances
    await scene.forward(30 * SECOND)
    scene.broadcasts.look_after()
    assert [beat.version for _, beat in ear.heartbeats] == [0, 0]
    await scene.forward(30 * SECOND)
    assert ear.version == room.version
    scene.broadcasts.close()


@pytest.mark.parametrize("options", GAMES, ids=["three", "four"])
async def test_up_to_the_last_settled_deal_no_event_of_a_deal_is_told_before_it_is_settled(
    options: RoomOptions,
) -> None:
    scene, luck = Scene(), Random(5)
    room = await seated(scene.rooms, options=options)
    ear = await scene.watch(room, SettledDeals())
    while not isinstance(room.match, Over):
        await play(room, luck.randint(1, 9), luck)
        await scene.forward(6 * SECOND)
        standings = await scene.standings(room)
        assert ear.version == settled(await scene.history(room))
        assert ear.view == view(standings[ear.version - 1].match, PUBLIC)
        late, broadcast, admission = await listening(scene.broadcasts, room.id, SettledDeals(), scene.wall)
        assert (late.version, late.view) == (ear.version, ear.view)
        broadcast.detach(admission)
    assert ear.version == room.version
    scene.broadcasts.close()


def settled(history: RoomHistory) -> int:
    """The last version at which no deal is in play."""
    found, in_play = 1, False
    for number, happened in enumerate(history.later, start=2):
        match happened.event:
            case DealStarted():
                in_play = True
            case DealSettled() | MatchEnded():
                in_play = False
            case _:
                pass
        found = found if in_play else number
    return found


async def test_what_was_missed_is_told_as_far_as_it_may_be_told_by_now() -> None:
    scene = Scene()
    room = await seated(scene.rooms)
    await play(room, 2)
    await scene.forward(60 * SECOND)
    known = room.version
    await play(room, 4)
    for since, missed in ((5, list(range(6, known + 1))), (known, []), (known + 2, []), (10_000, [])):
        ear = await scene.watch(room, Delayed(Milliseconds(1_000)), since)
        ((_, entrance),) = ear.entrances
        assert [each.version for each in entrance.missed] == missed
        assert all(isinstance(each, Missed) for each in entrance.missed)
    scene.broadcasts.close()


async def test_many_spectators_are_told_in_portions_and_each_of_them_everything_once() -> None:
    """In between a slow one begins again, others leave, and a caller gives up while it attaches."""
    scene, luck = Scene(), Random(11)
    room = await seated(scene.rooms)
    lateness = Delayed(Milliseconds(0))
    ears = [await listening(scene.broadcasts, room.id, lateness, scene.wall) for _ in range(170)]
    for _ in range(12):
        await play(room, 1, luck)
        giving_up = asyncio.create_task(listening(scene.broadcasts, room.id, lateness, scene.wall))
        for _ in range(luck.randint(0, 6)):
            await asyncio.sleep(0)
        giving_up.cancel()
        ear, broadcast, admission = luck.choice(ears)
        again = broadcast.entrance(admission, ear.version)
        assert again is not None
        ear.version, ear.view = again.scene.version, again.scene.view
        left = ears.pop(luck.randrange(len(ears)))
        left[1].detach(left[2])
        await asyncio.gather(giving_up, return_exceptions=True)
        await scene.forward(SECOND)
    (broadcast,) = {broadcast for _, broadcast, _ in ears}
    now = view(room.match, PUBLIC)
    for ear, _, _ in ears:
        assert (ear.version, ear.view) == (room.version, now)
    for _, _, admission in ears:
        broadcast.detach(admission)
    await scene.settle()
    assert not broadcast.in_use, "who gave up is not in it"
    scene.broadcasts.close()
