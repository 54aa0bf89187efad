"""How spectators end: each one is told why, also one that still waits for its turn, and none outlives its room or its token."""

import asyncio
from typing import Final

import pytest

from erqiwang_grpc.auth.tokens import Delayed, Milliseconds, UnixSeconds
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.refusals import RoomQuarantined
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.spectators.broadcast import Admission, Broadcast
from erqiwang_grpc.spectators.broadcasts import LATENESSES
from erqiwang_grpc.store import NOTHING
from tests.durability.played import play, seated
from tests.spectators.ears import NEVER, Ear, listening
from tests.spectators.scene import SECOND, Scene, store_nonsense

AT_ONCE: Final = Delayed(Milliseconds(0))


async def crowd(scene: Scene, room: Room, expires: UnixSeconds) -> "asyncio.Future[list[Ear]]":
    """Spectators with as many latenesses as a room takes. They have waited for a minute while other logs are read."""
    for _ in range(2):
        await scene.broadcasts._opening.acquire()  # as two long logs do
    tasks = []
    for late in range(LATENESSES):
        lateness = Delayed(Milliseconds(late))
        assert scene.broadcasts.has_place(room.id, lateness)
        attaching = listening(scene.broadcasts, room.id, lateness, scene.wall, expires=expires)
        tasks.append(asyncio.create_task(attaching))
        await scene.settle()
    assert not scene.broadcasts.has_place(room.id, Delayed(Milliseconds(LATENESSES))), "who waits has a place too"
    await scene.forward(61 * SECOND)
    scene.broadcasts.look_after()

    async def ears() -> list[Ear]:
        return [ear for ear, _, _ in await asyncio.gather(*tasks)]

    return asyncio.ensure_future(ears())


async def come_in(scene: Scene, waiting: "asyncio.Future[list[Ear]]") -> list[Ear]:
    """The others' logs are read: those that waited are let in."""
    for _ in range(2):
        scene.broadcasts._opening.release()
    ears = await waiting
    await scene.settle()
    return ears


async def test_who_waits_for_its_turn_is_looked_after_later_as_every_other() -> None:
    scene = Scene()
    room = await seated(scene.rooms)
    waiting = await crowd(scene, room, UnixSeconds(scene.wall.at // SECOND + 65))
    ears = await come_in(scene, waiting)
    assert [ear.version for ear in ears] == [room.version] * LATENESSES
    assert {ear.ended for ear in ears} == {None}
    await scene.forward(5 * SECOND)
    scene.broadcasts.look_after()
    assert [ear.ended for ear in ears] == [Closing.EXPIRED] * LATENESSES
    scene.broadcasts.close()


async def test_who_waits_for_its_turn_is_told_that_the_server_leaves() -> None:
    scene = Scene()
    room = await seated(scene.rooms)
    waiting = await crowd(scene, room, NEVER)
    scene.broadcasts.end_streams(Closing.DRAINING)
    assert [ear.ended for ear in await come_in(scene, waiting)] == [Closing.DRAINING] * LATENESSES
    scene.broadcasts.close()


async def test_who_waits_for_its_turn_is_told_that_the_match_was_deleted() -> None:
    scene = Scene()
    room = await seated(scene.rooms)
    waiting = await crowd(scene, room, NEVER)
    scene.broadcasts.forget([room.id])
    ears = await come_in(scene, waiting)
    assert [ear.ended for ear in ears] == [Closing.DELETED] * LATENESSES
    assert not any(ear.entrances for ear in ears)
    scene.broadcasts.close()


async def test_who_gave_up_while_it_waited_holds_no_place() -> None:
    scene = Scene()
    room = await seated(scene.rooms)
    waiting = await crowd(scene, room, NEVER)
    await scene.settle()
    waiting.cancel()
    await scene.settle()
    assert scene.broadcasts.has_place(room.id, Delayed(Milliseconds(LATENESSES)))
    scene.broadcasts.close()


@pytest.mark.parametrize("delay", [0, 30])
async def test_an_event_that_cannot_be_followed_ends_it_as_late_as_everything_is_told(delay: int) -> None:
    scene, lateness = Scene(), Delayed(Milliseconds(1_000 * delay))
    room = await seated(scene.rooms)
    await scene.forward(60 * SECOND)
    ear = await scene.watch(room, lateness)
    await play(room, 2)
    sound = room.version
    await store_nonsense(scene.store, room.id, scene.wall())
    for _ in range(delay):
        assert ear.ended is None
        await scene.forward(SECOND - 1)
        scene.broadcasts.look_after()
    await scene.forward(6 * SECOND)
    assert (ear.version, ear.ended) == (sound, Closing.QUARANTINED)
    assert all(beat.version <= sound for _, beat in ear.heartbeats)
    late = Admission(Ear(scene.wall), NEVER, 0.0)
    refused = await scene.broadcasts.attach(room.id, lateness, late, None)
    assert refused == RoomQuarantined(NOTHING), "who comes later is told so too"
    scene.broadcasts.close()


async def test_who_comes_upon_an_event_that_cannot_be_followed_is_not_the_only_one_to_be_told() -> None:
    scene = Scene()
    room = await seated(scene.rooms)
    ear, broadcast, _ = await listening(scene.broadcasts, room.id, AT_ONCE, scene.wall)
    await scene.settle()
    await store_nonsense(scene.store, room.id, scene.wall())
    refused = await broadcast.attach(Admission(Ear(scene.wall), NEVER, 0.0), None)
    assert refused == RoomQuarantined(NOTHING)
    assert ear.ended is Closing.QUARANTINED
    scene.broadcasts.close()


async def test_an_error_while_one_attaches_ends_the_others_rather_than_leave_a_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene()
    room = await seated(scene.rooms)
    ear, broadcast, _ = await listening(scene.broadcasts, room.id, AT_ONCE, scene.wall)
    await play(room, 2)

    async def fail(self: Broadcast, state: object, entry: object) -> None:  # noqa: ARG001  # in place of a method
        raise RuntimeError("a bug")

    monkeypatch.setattr(Broadcast, "_follow", fail)
    with pytest.raises(RuntimeError):
        await broadcast.attach(Admission(Ear(scene.wall), NEVER, 0.0), None)
    monkeypatch.undo()
    assert ear.ended is Closing.FAILED
    await play(room, 2)
    await scene.forward(6 * SECOND)
    assert not ear.told, "nothing after the gap"
    again, other, _ = await listening(scene.broadcasts, room.id, AT_ONCE, scene.wall)
    assert (again.version, again.ended) == (room.version, None)
    assert other is not broadcast
    scene.broadcasts.close()
