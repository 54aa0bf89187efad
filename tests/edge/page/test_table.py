"""What the table page shows and does besides the plain course of a deal."""

import asyncio
import json
import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from google.protobuf.json_format import MessageToDict
from playwright.async_api import Browser, Locator, Position, expect

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.edge.serving import running
from erqiwang_grpc.edge.settings import Settings
from erqiwang_grpc.testing import PLAYERS, holding, in_phase, play, seated
from erqiwang_grpc.v1 import playing_pb2, settlement_pb2, view_pb2
from tests.documents import REPOSITORY
from tests.edge.page.browsers import ASKED, PHONE, SETTLED, Person
from tests.edge.page.seats import HOSTILE, page_table, scripted
from tests.edge.sockets import edge_of
from tests.service.tables import Service, eventually

HEARTS: Final = tuple(card + copy for copy in (0, 54) for card in range(26, 39) if card not in (27, 28, 29, 32))
"""All hearts that are no trumps of themselves, and that the short deck has."""

CORNER: Final = Position(x=10, y=12)
"""Where a card is uncovered."""


async def test_a_token_in_the_address_is_taken_out_and_kept_for_the_tab_alone(browser: Browser) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.url(0), "token") as person,
    ):
        page = person.page
        await person.asked()
        assert page.url == table.page
        await page.reload()
        await person.asked()
        await person.press("leave")
        await page.locator("#seat-token").wait_for()
        await page.reload()
        await page.locator("#seat-token").wait_for()
        assert await page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]


async def test_a_token_in_the_address_of_an_open_page_leads_to_its_table(browser: Browser) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.url(0), "another") as person,
    ):
        page = person.page
        await person.asked()
        for seat in (1, 2):
            await page.evaluate("hash => { location.hash = hash; }", f"token={table.table.tokens[seat]}")
            await expect(page.locator(".seat.bottom")).to_have_attribute("data-seat", str(seat))
            assert page.url == table.page
        # The seat that was left is not played from here any more.
        await expect(page.locator('[data-seat="0"]')).to_contain_text("Away")
        await page.reload()
        await expect(page.locator(".seat.bottom")).to_have_attribute("data-seat", "2")


async def test_a_wrong_token_leads_to_the_door_and_a_right_one_in(browser: Browser) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, f"{table.page}#token=nonsense", "door") as person,
    ):
        page = person.page
        await expect(page.get_by_role("alert")).to_contain_text("The token is wrong or has expired.")
        await person.shot("english")
        assert await person.nameless() == []
        await page.get_by_role("button", name="中文").click()
        await expect(page.get_by_role("heading", name="观战")).to_be_visible()
        await person.shot("chinese")
        await page.locator("#seat-token").fill(table.table.tokens[0])
        await page.get_by_role("button", name="入座").click()
        await person.asked()
        await expect(page.locator(ASKED)).to_contain_text("请叫分")
        # The choice of the language is kept.
        await page.reload()
        await expect(page.locator(ASKED)).to_contain_text("请叫分")


async def test_the_connection_breaks_in_the_middle_and_comes_back(browser: Browser, service: Service) -> None:
    async with AsyncExitStack() as stack:
        platform = await stack.enter_async_context(service.platform)
        table = await seated(platform, players=PLAYERS)
        others = [await stack.enter_async_context(service.client(table.tokens[seat])) for seat in (1, 2)]
        playing = [asyncio.create_task(play(each)) for each in others]
        settings = Settings([service.address], service.gateway_key(), status_port=None)
        async with running(settings) as edge:
            port = edge.port
            await eventually(lambda: edge.edge.is_ready)
            url = f"http://127.0.0.1:{port}/#token={table.tokens[0]}"
            person = await stack.enter_async_context(Person.arrives(browser, url, "reconnect", viewport=PHONE))
            await person.asked()
            while await person.phase() != "PHASE_PLAYING":
                await person.answer()
                await person.asked()
            await person.answer()
            await person.asked()
        page = person.page
        await expect(page.locator(".banner")).to_contain_text("Reconnecting")
        await person.shot("lost")
        # What is done meanwhile waits, and is done once the connection is back.
        await person.press("suggest")
        chosen = await page.locator(".card.chosen").all()
        cards = [await card.get_attribute("data-card") for card in chosen]
        await person.press("play")
        await expect(page.locator(".prompt")).to_have_text("Sending…")
        async with running(Settings([service.address], settings.gateway_key, port=port, status_port=None)):
            await expect(page.locator(".banner")).to_have_count(0)
            for card in cards:
                await expect(page.locator(f'.hand [data-card="{card}"]')).to_have_count(0)
            await person.play_deal()
        for each in playing:
            each.cancel()
        # The browser says itself that it could not connect.
        person.wrong[:] = [said for said in person.wrong if "WebSocket connection" not in said]


async def test_a_seat_that_is_played_elsewhere_is_taken_back(browser: Browser) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.url(0), "displaced") as person,
    ):
        await person.asked()
        async with table.service.client(table.table.tokens[0]) as elsewhere:
            await elsewhere.until(lambda: elsewhere.version > 0)
            await expect(person.page.locator(".banner")).to_contain_text("somewhere else")
            await person.shot("banner")
            await person.press("take-back")
            await expect(person.page.locator(".banner")).to_have_count(0)
            await person.answer()


async def test_a_refused_lead_says_why_and_offers_a_legal_one(browser: Browser) -> None:
    """Hearts that are no pair and no tractor may not be led together unless hearts are trumps."""
    async with (
        page_table(0, shuffle=holding({0: [26, 38]})) as table,
        Person.arrives(browser, table.url(0), "refusal") as person,
    ):
        page = person.page
        await person.asked()
        await person.press("bid-5")
        await person.press("TRUMP_SPADES")
        await person.press("suggest")
        # The two hearts stay in the hand.
        for kept in (26, 38):
            if await person.has(f'.chosen[data-card="{kept}"]'):
                await page.locator(f'[data-card="{kept}"]').click()
                await page.locator(".card:not(.chosen):not([data-card='26']):not([data-card='38'])").last.click()
        await person.press("play")
        await page.locator('.felt[data-phase="PHASE_PLAYING"]').wait_for()
        for card in (26, 38):
            await _choose(person, card)
        await person.press("play")
        alert = page.get_by_role("alert")
        await expect(alert).to_contain_text("Only trumps may be thrown. Of hearts lead a single, a pair or a tractor.")
        await person.shot("lead")
        await page.get_by_role("button", name="中文").click()
        await expect(alert).to_contain_text("副牌不许甩")
        await person.press("legal")
        await expect(alert).to_have_text("")
        before = await page.locator(".hand .card").count()
        await person.press("play")
        await expect(page.locator(".hand .card")).not_to_have_count(before)


async def test_cards_that_must_or_may_not_be_played_are_marked(browser: Browser) -> None:
    """Seat 0 leads its one pair of hearts; seat 1 has one pair of hearts and a single one, and seat 2 all others."""
    pair = {0: [26, 80], 1: [38, 92, 34]}
    rest = [card for card in HEARTS if card not in {*pair[0], *pair[1]}]
    leads = scripted("TRUMP_SPADES", keeps=pair[0])
    async with (
        page_table(1, shuffle=holding({**pair, 2: rest}), chooses={0: leads}) as table,
        Person.arrives(browser, table.url(1), "marked") as person,
    ):
        await person.asked()
        await person.press("pass")
        await person.page.locator('.felt[data-phase="PHASE_PLAYING"] .prompt.mine').wait_for()
        for card in pair[1][:2]:
            await expect(_card(person, card)).to_have_attribute("aria-label", "king of hearts, must be played")
            await expect(_card(person, card)).to_have_attribute("aria-pressed", "true")
        barred = person.page.locator('.hand .card[aria-disabled="true"]').first
        await expect(barred).to_have_attribute("aria-label", re.compile("may not be played"))
        await barred.click(force=True)
        await expect(barred).to_have_attribute("aria-pressed", "false")
        await person.shot("follow")
        await person.press("play")
        await expect(_card(person, pair[1][0])).to_have_count(0)


async def _choose(person: Person, card: int) -> None:
    await _card(person, card).click(position=CORNER)


def _card(person: Person, card: int) -> Locator:
    return person.page.locator(f'.hand [data-card="{card}"]')


async def test_a_defender_is_told_and_tells(browser: Browser) -> None:
    """The declarer holds jokers and 7s, and seat 2 no trump: there is a disclosure, a void seat, and shown trumps."""
    high = [52, 53, 106, 107, 6, 19, 32, 45, 60, 73, 86, 99]
    black = [card for card in range(54) if card // 13 in (1, 3) and card % 13 not in (1, 2, 3, 6)]
    plain = [*black, *(card + 54 for card in black)][: -(len(black) * 2 - 28)]
    async with (
        page_table(
            1, shuffle=holding({0: high, 2: plain}), chooses={0: scripted("TRUMP_HEARTS", keeps=high[:1])}
        ) as table,
        Person.arrives(browser, table.url(1), "defender", viewport=PHONE) as person,
    ):
        heard = asyncio.create_task(_signal(table.others[2]))
        await person.asked()
        await person.press("pass")
        page = person.page
        await page.locator('.felt[data-phase="PHASE_PLAYING"] .prompt.mine').wait_for()
        declarer, partner = page.locator('[data-seat="0"]'), page.locator('[data-seat="2"]')
        await expect(declarer).to_contain_text("4 jokers")
        await expect(partner).to_contain_text("No trumps")
        await person.press("SIGNAL_KIND_HAS_POINTS")
        assert await heard == playing_pb2.SIGNAL_KIND_HAS_POINTS
        table.others[2].signal(playing_pb2.SIGNAL_KIND_CAN_BEAT)
        await expect(partner.locator(".bubble")).to_have_text("Can beat")
        await person.shot("told")
        await person.press("show-trumps")
        await expect(page.locator(".sheet")).to_contain_text("no trumps")
        await expect(page.locator(".sheet .card")).not_to_have_count(0)
        await person.shot("trumps")
        assert await person.fits()
        # They stay until they are closed, whatever is played meanwhile.
        await person.press("suggest")
        await person.press("play")
        await expect(page.locator(".hand .card")).to_have_count(27)
        await person.press("close-trumps")
        await expect(page.locator(".sheet")).to_have_count(0)


async def _signal(seat: SeatClient) -> int:
    async for message in seat.messages():
        if message.HasField("signal_received"):
            return message.signal_received.signal
    raise AssertionError("no signal came")


async def test_details_lie_over_the_table_of_a_phone(browser: Browser) -> None:
    async with (
        page_table(1) as table,
        Person.arrives(browser, table.url(1), "details", locale="zh-CN", viewport=PHONE) as person,
    ):
        page = person.page
        for _ in range(5):
            await person.asked()
            await person.answer()
        await page.locator("#details-opener").click()
        for shot, name, shows in (
            ("now", "本局", "三人玩法"),
            ("tricks", "查牌", "第 1 轮"),
            ("log", "经过", "坐庄"),
            ("scores", "比分", "累计"),
        ):
            await page.get_by_role("tab", name=name).click()
            await expect(page.get_by_role("tabpanel")).to_contain_text(shows)
            await person.shot(shot)
            assert await person.fits()
        await page.keyboard.press("ArrowRight")
        await expect(page.get_by_role("tab", name="本局")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.locator("#details-opener")).to_be_focused()
        await expect(page.get_by_role("tab", name="本局")).not_to_be_visible()


async def test_a_match_is_stepped_through_from_its_table_and_from_a_file(browser: Browser, tmp_path: Path) -> None:
    async with page_table(0) as table:
        async with table.service.client(table.table.tokens[0]) as own:
            await play(own, until=in_phase(view_pb2.PHASE_SETTLED))
        async with Person.arrives(browser, table.url(0), "record", viewport=PHONE) as person:
            await person.page.locator("#details-opener").click()
            await person.page.get_by_role("tab", name="Scores").click()
            await person.press("record")
            await _step_through(person)
            await person.press("back-to-table")
            await person.page.locator(SETTLED).wait_for()
        async with table.service.platform as platform:
            record = await platform.record(table.table.room_id)
        file = tmp_path / "match.jsonl"
        fields = MessageToDict(record, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
        file.write_text(json.dumps(fields) + "\n")
        async with Person.arrives(browser, table.page, "file") as person:
            await person.page.locator("#record-file").set_input_files(tmp_path / "match.jsonl")
            await _step_through(person)
            await person.press("back-to-table")
            (tmp_path / "other.json").write_text('{"summary": {}, "deals": [{}]}')
            await person.page.locator("#record-file").set_input_files(tmp_path / "other.json")
            await expect(person.page.get_by_role("alert")).to_contain_text("no record of a match")


async def _step_through(person: Person) -> None:
    """Go through the first deal, forwards, to its end and back."""
    page = person.page
    await expect(page.locator(".prompt")).to_contain_text("Deal 1 is dealt.")
    for _ in range(12):
        await person.press("next")
    await expect(page.locator(".trick .play")).not_to_have_count(0)
    await expect(page.locator(".hands .line")).to_have_count(len(PLAYERS) - 1 + 1)
    await person.shot("trick")
    assert await person.fits()
    assert await person.nameless() == []
    await person.press("last")
    await expect(page.locator(".fair")).to_contain_text("✓")
    await person.shot("end")
    await page.locator('[data-key="previous"]').focus()
    await page.keyboard.press("ArrowLeft")
    await expect(page.locator(".trick .play")).to_have_count(len(PLAYERS) - 1)


async def test_a_seat_waits_for_others_and_a_disbanded_match_has_its_account(
    browser: Browser, service: Service
) -> None:
    async with AsyncExitStack() as stack:
        platform = await stack.enter_async_context(service.platform)
        edge = await stack.enter_async_context(edge_of(service))
        room = (await platform.create_room("Anna")).room.room_id
        own = await platform.take_seat(room, "Anna")
        url = f"http://127.0.0.1:{edge.port}/#token={own.token}"
        person = await stack.enter_async_context(Person.arrives(browser, url, "account"))
        await expect(person.page.locator(".prompt")).to_contain_text("Waiting for the other seats")
        await person.shot("open")
        for player in ("Bao", HOSTILE):
            await platform.take_seat(room, player)
        await person.answer()
        await platform.disband_room(room, reason=settlement_pb2.DISBAND_REASON_OTHER, text=HOSTILE)
        await expect(person.page.locator(".sheet").first).to_contain_text(f"The match was disbanded {HOSTILE}")
        await person.shot("over")
        await person.press("door")
        await person.page.locator("#seat-token").wait_for()


async def test_the_page_knows_cards_as_the_published_table_does(browser: Browser) -> None:
    """Their order in a hand, their groups, their names in both languages, and their points."""
    published = json.loads((REPOSITORY / "docs" / "cards.json").read_text(encoding="utf-8"))
    names = [trump["trump"] for trump in published["trumps"]]
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.page, "cards") as person,
    ):
        told = await person.page.evaluate(_CARDS, names)
        assert told["orders"] == [trump["hand"] for trump in published["trumps"]]
        assert told["groups"] == [trump["groups"] for trump in published["trumps"]]
        assert told["points"] == [card["points"] for card in published["cards"]]
        assert told["en"] == [card["name"] for card in published["cards"]]
        assert told["zh"] == [card["name_zh"] for card in published["cards"]]


_CARDS: Final = """async (trumps) => {
  const cards = await import('/cards.js');
  const language = await import('/language.js');
  const all = Array.from({ length: 108 }, (_, card) => card);
  const names = (chosen) => { language.choose(chosen); return all.map(cards.cardName); };
  return {
    orders: trumps.map((trump) => cards.sorted(all, trump)),
    groups: trumps.map((trump) => all.slice(0, 54).map((card) => cards.group(card, trump))),
    points: all.map(cards.points),
    en: names('en'),
    zh: names('zh'),
  };
}"""
