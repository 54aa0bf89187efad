"""What stands on the table page stays the same while messages come: presses, the focus, the place in a list, and what is read aloud."""

from typing import Final

import pytest
from playwright.async_api import Browser, Locator, expect

from erqiwang_grpc.testing import holding
from erqiwang_grpc.v1 import settlement_pb2
from tests.edge.page.browsers import Person
from tests.edge.page.seats import PageTable, page_table

_CENTRE: Final = (
    "each => { const box = each.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }"
)


async def _message(table: PageTable, person: Person) -> None:
    """Have a message come to the page: another seat is away."""
    async with table.service.client(table.table.tokens[1]) as again:
        await again.until(lambda: again.version > 0)
    await expect(person.page.locator('[data-seat="1"]')).to_contain_text("Away")


async def test_a_press_is_not_lost_when_a_message_comes_in_the_middle(browser: Browser) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.url(0), "press") as person,
    ):
        page = person.page
        await person.asked()
        x, y = await page.locator('[data-key="bid-5"]').evaluate(_CENTRE)
        await page.mouse.move(x, y)
        await page.mouse.down()
        await _message(table, person)
        await page.mouse.up()
        await page.locator(".button.trump").first.wait_for()


async def test_a_press_of_a_key_is_not_lost_either(browser: Browser) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.url(0), "space") as person,
    ):
        page = person.page
        await person.asked()
        await page.locator('[data-key="bid-5"]').focus()
        await page.keyboard.down("Space")
        await _message(table, person)
        await page.keyboard.up("Space")
        await page.locator(".button.trump").first.wait_for()


async def test_a_message_leaves_the_reader_of_the_details_where_they_are(browser: Browser) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.url(0), "reader") as person,
    ):
        page = person.page
        for _ in range(6):
            await person.asked()
            await person.answer(bid=5)
        await person.asked()
        await page.set_viewport_size({"width": 1280, "height": 420})
        await page.get_by_role("tab", name="Log").click()
        panel = page.get_by_role("tabpanel")
        await panel.focus()
        await panel.evaluate("each => { each.scrollTop = 40; }")
        await _message(table, person)
        assert await panel.evaluate("each => each.scrollTop") > 0
        await expect(panel).to_be_focused()
        # Another tab begins at its top.
        await page.get_by_role("tab", name="Tricks").click()
        assert await panel.evaluate("each => each.scrollTop") == 0


async def test_a_refusal_is_read_aloud_from_an_element_that_stands(browser: Browser) -> None:
    """Screen readers tell what changes in an alert that they know already."""
    async with (
        page_table(0, shuffle=holding({0: [26, 38]})) as table,
        Person.arrives(browser, table.url(0), "alert") as person,
    ):
        page = person.page
        alert = page.get_by_role("alert")
        await person.asked()
        await alert.evaluate("each => { each.mark = 'the same'; }")
        await expect(alert).to_have_text("")
        await person.press("bid-5")
        await person.press("TRUMP_SPADES")
        await page.locator('[data-key="play"]').wait_for()
        for card in await page.locator(".hand .card").all():
            if await card.get_attribute("data-card") not in ("26", "38") and await page.locator(".chosen").count() < 8:
                await card.click(position={"x": 10, "y": 12})
        await person.press("play")
        await page.locator('.felt[data-phase="PHASE_PLAYING"]').wait_for()
        for number in ("26", "38"):
            await page.locator(f'[data-card="{number}"]').click(position={"x": 10, "y": 12})
        await person.press("play")
        await expect(alert).to_contain_text("Only trumps may be thrown")
        assert await alert.evaluate("each => each.mark") == "the same"


async def test_the_focus_is_never_lost(browser: Browser) -> None:
    """Not when the match ends under the button that has it, and not when the player leaves."""
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.url(0), "focus") as person,
    ):
        page = person.page
        await person.asked()
        await page.locator('[data-key="bid-5"]').focus()
        async with table.service.platform as platform:
            await platform.disband_room(table.table.room_id, reason=settlement_pb2.DISBAND_REASON_AGREED)
        heading = page.get_by_role("heading", name="The match was disbanded")
        await expect(heading).to_be_focused()
        await page.locator('[data-key="leave"]').focus()
        await page.keyboard.press("Enter")
        await page.locator("#seat-token").wait_for()
        assert await page.evaluate("document.activeElement !== document.body")


async def test_keys_with_a_modifier_are_the_browsers_own(browser: Browser) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.url(0), "modifiers") as person,
    ):
        page = person.page
        await person.asked()
        for where in (page.locator('.hand [tabindex="0"]'), page.get_by_role("tab", name="This deal")):
            await where.focus()
            for modifier in ("altKey", "ctrlKey", "metaKey"):
                assert not await _is_taken(where, modifier)
            assert await _is_taken(where, "")


async def _is_taken(element: Locator, modifier: str) -> bool:
    """Whether the page keeps an arrow key with that modifier from the browser."""
    taken: bool = await element.evaluate(
        """(each, modifier) => !each.dispatchEvent(
            new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true, [modifier]: true }))""",
        modifier,
    )
    return taken


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_unknown_value_of_an_enum_is_told_without_its_name(browser: Browser, language: str) -> None:
    """A server that is newer than the page sends it as a number."""
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.page, "unknown") as person,
    ):
        told = await person.page.evaluate(
            """async (language) => {
              const { choose, t } = await import('/language.js');
              choose(language);
              return ['award_77', 'award_AWARD_KIND_NEW', 'signal_9', 'why_12', 'nothing_like_it'].map((key) => t(key, { n: 3 }));
            }""",
            language,
        )
        award = {"en": "award 3", "zh": "奖 3"}[language]
        assert told == [award, award, "?", "", "nothing_like_it"]
