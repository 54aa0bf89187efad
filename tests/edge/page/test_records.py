"""Records of matches at the table page, besides stepping through one."""

import json
from pathlib import Path

from google.protobuf.json_format import MessageToDict
from playwright.async_api import Browser, expect

from erqiwang_grpc.testing import in_phase, play
from erqiwang_grpc.v1 import view_pb2
from tests.edge.page.browsers import PHONE, Person
from tests.edge.page.seats import PageTable, page_table


async def _record(table: PageTable) -> dict[str, object]:
    """The record of a table whose first deal is played to its end."""
    async with table.service.client(table.table.tokens[0]) as own:
        await play(own, until=in_phase(view_pb2.PHASE_SETTLED))
    async with table.service.platform as platform:
        record = await platform.record(table.table.room_id)
    return MessageToDict(record, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)


async def test_the_slider_is_dragged_and_the_keyboard_stays(browser: Browser, tmp_path: Path) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.page, "slider") as person,
    ):
        page = person.page
        file = tmp_path / "match.json"
        file.write_text(json.dumps(await _record(table)))
        await page.locator("#record-file").set_input_files(file)
        # The arrow keys work at once.
        await page.locator(".count").wait_for()
        await page.keyboard.press("ArrowRight")
        await expect(page.locator(".count")).to_contain_text("2 / ")
        # They are the browser's own with a modifier.
        await page.locator(".record").press("Control+ArrowRight")
        await expect(page.locator(".count")).to_contain_text("2 / ")
        # To the end by the button, which is disabled there.
        await page.locator('[data-key="last"]').focus()
        await page.keyboard.press("Enter")
        await expect(page.locator('[data-key="last"]')).to_be_disabled()
        assert await page.evaluate("document.activeElement !== document.body")
        await page.keyboard.press("ArrowLeft")
        await expect(page.locator('[data-key="last"]')).to_be_enabled()
        # Click beside everything, and go on.
        await page.locator(".hands").click(position={"x": 2, "y": 2})
        await page.keyboard.press("ArrowRight")
        await expect(page.locator('[data-key="last"]')).to_be_disabled()
        box = await page.locator('[data-key="slider"]').bounding_box()
        assert box is not None
        y = box["y"] + box["height"] / 2
        await page.mouse.move(box["x"] + box["width"] - 8, y)
        await page.mouse.down()
        steps = set()
        for tenth in range(9, 0, -1):
            await page.mouse.move(box["x"] + box["width"] * tenth / 10, y)
            steps.add(await page.locator(".count").text_content())
        await page.mouse.up()
        assert len(steps) > 7
        await expect(page.locator('[data-key="slider"]')).to_be_focused()


async def test_every_match_of_an_export_can_be_chosen(browser: Browser, tmp_path: Path) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.page, "matches") as person,
    ):
        page = person.page
        record = await _record(table)
        other = json.loads(json.dumps(record).replace("Anna", "Zoë"))
        lines = [record, {"summary": {}, "deals": [{}]}, other]
        file = tmp_path / "export.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        await page.locator("#record-file").set_input_files(file)
        await expect(page.locator("#record-match option")).to_have_count(2)
        await expect(page.locator(".hands")).to_contain_text("Anna")
        await person.press("next")
        await page.locator("#record-match").select_option(index=1)
        await expect(page.locator(".hands")).to_contain_text("Zoë")
        await expect(page.locator(".count")).to_contain_text("1 / ")
        await expect(page.locator("#record-match")).to_have_js_property("selectedIndex", 1)
        assert await person.fits()
        assert await person.nameless() == []
        await person.shot("choice")
        await page.set_viewport_size(PHONE)
        assert await person.fits()
        await person.shot("choice-phone")
        await person.press("last")
        await expect(page.locator(".fair")).to_contain_text("✓")


async def test_the_table_leaves_a_record_that_is_read_alone(browser: Browser) -> None:
    """Neither a second record nor what happens at the table changes what the reader sees."""
    async with page_table(0) as table:
        await _record(table)
        async with Person.arrives(browser, table.url(0), "read") as person:
            page = person.page
            await page.get_by_role("tab", name="Scores").click()
            # Two presses before the answer to the first.
            await page.locator('[data-key="record"]').evaluate("each => { each.click(); each.click(); }")
            await page.locator(".count").wait_for()
            for _ in range(3):
                await person.press("next")
            async with table.service.platform as platform:
                await platform.disband_room(table.table.room_id)
            await expect(page.locator("#said")).to_contain_text("The match is disbanded.")
            await expect(page.locator(".count")).to_contain_text("4 / ")
            await expect(page.locator(".felt")).to_have_attribute("data-phase", "PHASE_BIDDING")
            assert await page.title() == "Record · Erqiwang 二七王"
            await person.press("back-to-table")
            await expect(page.locator('.felt[data-phase="PHASE_OVER"]')).to_be_visible()
