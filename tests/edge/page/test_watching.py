"""A spectator at the table page sees what everybody at the table sees, and has nothing to do."""

from playwright.async_api import Browser, expect

from tests.edge.page.browsers import PHONE, SETTLED, Person
from tests.edge.page.seats import page_table
from tests.service import spectating


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
