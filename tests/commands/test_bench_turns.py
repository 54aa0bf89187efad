"""When the bench stops measuring."""

import asyncio

from erqiwang_grpc.tools.bench.turns import Course


async def test_an_answer_that_does_not_come_any_more_does_not_lengthen_the_measurement() -> None:
    course = Course(rate=None)
    course.open()
    course.sent()
    answered = course.sent()
    closing = asyncio.create_task(course.close())
    await asyncio.sleep(0.01)
    course.answered(answered)
    async with asyncio.timeout(5):
        await closing
    assert course.played.turns == 1
    assert 0.01 <= course.played.seconds < 0.5, "up to the last answer, not to the end of the wait for another"


async def test_what_has_begun_is_waited_for() -> None:
    course = Course(rate=None)
    course.open()
    sent = course.sent()
    closing = asyncio.create_task(course.close())
    await asyncio.sleep(0.01)
    assert not closing.done()
    course.answered(sent)
    await closing
    assert course.played.turns == 1
