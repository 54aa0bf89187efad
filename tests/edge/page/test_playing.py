"""Whole deals at the table page, played by clicking in a real browser."""

import pytest
from playwright.async_api import Browser, ViewportSize, expect

from erqiwang_grpc.v1 import room_pb2
from tests.edge.page.browsers import DESK, PHONE, Person
from tests.edge.page.seats import HOSTILE, page_table
from tests.service.tables import FOUR_PLAYERS


@pytest.mark.parametrize(
    ("options", "seat", "bid", "locale", "viewport", "name"),
    [
        pytest.param(
            room_pb2.RoomOptions(), 0, 5, "zh-CN", PHONE, "three-zh-phone", id="three, declarer, phone, Chinese"
        ),
        pytest.param(
            room_pb2.RoomOptions(), 1, None, "en-GB", DESK, "three-en-desk", id="three, defender, desk, English"
        ),
        pytest.param(FOUR_PLAYERS, 0, 0, "en-GB", PHONE, "four-en-phone", id="four, declarer, phone, English"),
        pytest.param(FOUR_PLAYERS, 2, None, "zh-CN", DESK, "four-zh-desk", id="four, defender, desk, Chinese"),
    ],
)
async def test_a_whole_deal_is_played_by_clicking(
    browser: Browser,
    options: room_pb2.RoomOptions,
    seat: int,
    bid: int | None,
    locale: str,
    viewport: ViewportSize,
    name: str,
) -> None:
    async with (
        page_table(seat, options) as table,
        Person.arrives(browser, table.url(seat), name, locale=locale, viewport=viewport) as person,
    ):
        await person.play_deal(bid=bid)
        declares = {"PHASE_NAMING", "PHASE_BURYING"} if bid is not None else set[str]()
        assert person.phases == {"PHASE_BIDDING", "PHASE_PLAYING"} | declares
        assert await person.fits()
        page = person.page
        assert await page.locator("html").get_attribute("lang") == ("zh-CN" if locale == "zh-CN" else "en")
        # Every seat has a row, and the sums of the deal are there to be understood.
        await expect(page.locator(".sheet tbody tr")).to_have_count(len(table.table.tokens))
        await expect(page.locator(".sums dd").first).to_be_visible()
        await expect(page.locator(".fair")).to_contain_text("✓")
        # The name is text, wherever it stands.
        assert await page.locator("img").count() == 0
        await expect(page.locator(".name", has_text=HOSTILE)).to_have_count(1)
        await person.press("ready")
        await page.locator('.felt[data-phase="PHASE_BIDDING"]').wait_for()


async def test_a_person_plays_with_the_keyboard_alone(browser: Browser) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.url(0), "keyboard") as person,
    ):
        page = person.page
        await person.asked()
        await _tab_to(person, "bid-5")
        await page.keyboard.press("Enter")
        await page.locator(".button.trump").first.wait_for()
        await _tab_to(person, "TRUMP_HEARTS")
        await page.keyboard.press("Space")
        # Bury the first eight cards: the hand is one stop of the Tab key, and arrows go from card to card.
        await page.locator('[data-key="play"]').wait_for()
        await _tab_to_hand(person)
        for _ in range(8):
            await page.keyboard.press("Space")
            await page.keyboard.press("ArrowRight")
        await expect(page.locator(".card.chosen")).to_have_count(8)
        await _tab_to(person, "play")
        await page.keyboard.press("Enter")
        await page.locator('.felt[data-phase="PHASE_PLAYING"]').wait_for()
        await expect(page.locator(".hand .card")).to_have_count(28)
        # The focus is still in the page, where the next thing is asked.
        assert await page.evaluate("document.activeElement !== document.body")
        await _tab_to_hand(person)
        await page.keyboard.press("End")
        await page.keyboard.press("Enter")
        await _tab_to(person, "play")
        await page.keyboard.press("Enter")
        await expect(page.locator(".hand .card")).to_have_count(27)
        # What happened was said aloud.
        await expect(page.locator("#said")).to_contain_text("Your turn: You lead.")


async def _tab_to(person: Person, key: str) -> None:
    for _ in range(60):
        if await person.page.evaluate("document.activeElement?.dataset.key") == key:
            return
        await person.page.keyboard.press("Tab")
    raise AssertionError(f"the Tab key does not reach {key}")


async def _tab_to_hand(person: Person) -> None:
    for _ in range(60):
        if await person.page.evaluate("document.activeElement?.dataset.card !== undefined"):
            return
        await person.page.keyboard.press("Tab")
    raise AssertionError("the Tab key does not reach the hand")


@pytest.mark.parametrize(("locale", "said"), [("en-GB", "A sensible player would: "), ("zh-CN", "支招：")])
async def test_a_hint_is_told_and_its_cards_are_chosen(browser: Browser, locale: str, said: str) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.url(0), f"hint-{locale}", locale=locale) as person,
    ):
        page = person.page
        while await person.phase() != "PHASE_PLAYING":
            await person.asked()
            await person.press("hint")
            await expect(page.locator('[data-key="hinted"]')).to_contain_text(said)
            await person.answer()
        await person.asked()
        await person.press("hint")
        await expect(page.locator('[data-key="hinted"]')).to_contain_text(said)
        await person.press("play")
        await person.told()


async def test_a_room_that_forbids_hints_has_no_button_for_them(browser: Browser) -> None:
    async with (
        page_table(0, room_pb2.RoomOptions(no_hints=True)) as table,
        Person.arrives(browser, table.url(0), "no-hints") as person,
    ):
        await person.asked()
        assert await person.has(".bid")
        assert not await person.has('[data-key="hint"]')
