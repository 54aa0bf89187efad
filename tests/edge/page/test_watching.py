"""A spectator at the table page sees what everybody at the table sees, and has nothing to do."""

from contextlib import AsyncExitStack
from dataclasses import replace

from playwright.async_api import Browser, expect

from erqiwang_grpc.testing import served
from tests.edge.page.browsers import PHONE, SETTLED, Person
from tests.edge.page.seats import page_table
from tests.edge.sockets import edge_of
from tests.service import spectating
from tests.service.tables import ROOMY


async def test_a_table_is_watched(browser: Browser) -> None:
    async with page_table(1) as table:
        token = await spectating.watch_token(table.service, table.table.room_id)
        url = f"{table.page}#watch={token}"
        async with (
            Person.arrives(browser, url, "watching", locale="zh-CN", viewport=PHONE) as spectator,
            Person.arrives(browser, table.url(1), "watched") as person,
        ):
            page = spectator.page
            await expect(page.locator(".banner")).to_have_text("观战中")
            assert page.url == table.page
            while await person.phase() != "PHASE_PLAYING":
                await person.asked()
                await person.answer()
            await expect(page.locator(".trick .play")).not_to_have_count(0)
            await expect(page.locator(".seat")).to_have_count(len(table.table.tokens))
            # A spectator has no hand, and nothing to press but what is for looking.
            await expect(page.locator(".hand")).to_be_hidden()
            await expect(page.locator(".choices")).to_have_count(0)
            await spectator.shot("trick")
            assert await spectator.fits()
            await person.play_deal()
            await page.locator(SETTLED).wait_for()
            await spectator.shot("settled")
            async with table.service.platform as platform:
                await platform.disband_room(table.table.room_id)
            # The match is over, and the server says no more: the account stays, and nothing reconnects.
            await expect(page.locator(".sheet").first).to_contain_text("大局解散")
            await expect(page.locator(".banner")).to_have_count(0)


async def test_a_table_of_which_nothing_may_be_told_yet_says_so(browser: Browser) -> None:
    """The first sign of the server is a heartbeat. It comes early here."""
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(served(limits=replace(ROOMY, heartbeat_seconds=0.5)))
        edge = await stack.enter_async_context(edge_of(service))
        platform = await stack.enter_async_context(service.platform)
        room = (await platform.create_room("Anna")).room.room_id
        token = await spectating.watch_token(service, room, 10.0)
        url = f"http://127.0.0.1:{edge.port}/#watch={token}"
        spectator = await stack.enter_async_context(Person.arrives(browser, url, "young"))
        await expect(spectator.page.locator(".middle")).to_contain_text("nothing may be told of it")
        await spectator.shot("nothing-yet")
        # It appears by itself once it is old enough.
        await expect(spectator.page.locator(".seat")).to_have_count(3)
