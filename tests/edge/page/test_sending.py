"""What becomes of a command of the table page: it is done at the table that the player saw, or not at all."""

import json
from contextlib import AsyncExitStack
from typing import final

from playwright.async_api import Browser, WebSocketRoute, expect

from erqiwang_grpc.testing import Chooser, suggested
from erqiwang_grpc.v1 import bidding_pb2, seat_service_pb2 as pb, view_pb2
from tests.edge.page.browsers import ASKED, Person
from tests.edge.page.seats import page_table


@final
class Wires:
    """The page's sockets to the edge, where a command or a notice of some kind can be lost."""

    def __init__(self, *, command: str = "", notice: str = "") -> None:
        self.command = command
        self.notice = notice
        self.is_cut = False
        self.lost = 0
        self.attached = 0

    def connect(self, page: WebSocketRoute) -> None:
        """Stand between a socket of the page and the edge."""
        self.now = page
        if self.is_cut:
            return
        edge = page.connect_to_server()

        def said(text: str | bytes) -> None:
            request = json.loads(text)
            self.attached += "attach" in request
            if not self._is_lost(self.command in request.get("command", {})):
                edge.send(text)

        def heard(text: str | bytes) -> None:
            messages = json.loads(text)["messages"]
            kept = [each for each in messages if not self._is_lost(self.notice in each.get("notice", {}))]
            if kept:
                page.send(json.dumps({"messages": kept}))

        page.on_message(said)
        edge.on_message(heard)

    def _is_lost(self, is_lost: bool) -> bool:
        self.lost += is_lost
        return is_lost


def bidding(*bids: int) -> Chooser:
    """Makes these bids in turn, and passes then; otherwise it does what is suggested."""
    left = list(bids)

    def choose(view: view_pb2.View) -> pb.Command | None:
        if not view.parts.advice.HasField("call"):
            return suggested(view)
        if left:
            return pb.Command(bid=bidding_pb2.Bid(points=left.pop(0)))
        return pb.Command(pass_bid=bidding_pb2.PassBid())

    return choose


async def test_a_command_that_was_lost_is_not_done_in_a_later_turn(browser: Browser) -> None:
    """A bid of 60 is lost on its way. The seat bids elsewhere, and 60 could stand when it is asked again."""
    async with page_table(0, chooses={1: bidding(65), 2: bidding()}) as table, AsyncExitStack() as stack:
        person = await stack.enter_async_context(Person.arrives(browser, "about:blank", "lost"))
        page = person.page
        wires = Wires(command="bid")
        await page.route_web_socket("**/v1/play", wires.connect)
        await page.goto(table.url(0))
        await person.asked()
        await person.press("bid-60")
        await expect(page.locator(".prompt")).to_have_text("Sending…")
        async with table.service.client(table.table.tokens[0]) as elsewhere:
            await elsewhere.until(lambda: elsewhere.version > 0)
            await elsewhere.act(pb.Command(bid=bidding_pb2.Bid(points=70)))
            await elsewhere.until(lambda: elsewhere.view.parts.auction.standing == 65)
            await elsewhere.until(lambda: elsewhere.view.parts.advice.HasField("call"))
            await expect(page.locator(".banner")).to_contain_text("somewhere else")
            await expect(page.locator(".prompt")).not_to_have_text("Sending…")
            assert wires.lost == 1
            wires.command = ""
            await person.press("take-back")
            await expect(page.get_by_role("alert")).to_contain_text("The table has moved on")
            await expect(page.locator(ASKED)).to_contain_text("65")
            await person.press("bid-5")
            await page.locator(".button.trump").first.wait_for()


async def test_nothing_is_queued_for_a_seat_that_is_played_elsewhere(browser: Browser) -> None:
    async with (
        page_table(0) as table,
        Person.arrives(browser, table.url(0), "elsewhere") as person,
    ):
        page = person.page
        await person.asked()
        async with table.service.client(table.table.tokens[0]) as elsewhere:
            await elsewhere.until(lambda: elsewhere.version > 0)
            await expect(page.locator(".banner")).to_contain_text("somewhere else")
            await expect(page.locator(".choices button:enabled")).to_have_count(0)
            await expect(page.locator("#said")).to_contain_text("somewhere else")
            await person.press("take-back")
        await expect(page.locator(".choices button:enabled")).not_to_have_count(0)
        await person.answer(bid=5)


async def test_a_signal_is_not_sent_later_and_nothing_says_that_it_was_sent(browser: Browser) -> None:
    async with (
        page_table(1, chooses={0: bidding(70), 2: bidding()}) as table,
        Person.arrives(browser, "about:blank", "signals") as person,
    ):
        page = person.page
        wires = Wires()
        await page.route_web_socket("**/v1/play", wires.connect)
        await page.goto(table.url(1))
        await person.asked()
        await person.press("pass")
        await expect(page.locator(".asides button:enabled")).to_have_count(3)
        await person.press("SIGNAL_KIND_HAS_POINTS")
        await expect(page.locator("#said")).to_contain_text("You signalled")
        wires.is_cut = True
        await wires.now.close(code=1013)
        await expect(page.locator(".banner")).to_contain_text("Reconnecting")
        await expect(page.locator("#said")).to_contain_text("Reconnecting")
        await expect(page.locator(".asides button:disabled")).to_have_count(3)
        # What would be done at this turn may be given all the same.
        await person.asked()
        await person.press("suggest")
        await expect(page.locator('[data-key="play"]')).to_be_enabled()


async def test_a_notice_that_was_lost_is_told_after_all(browser: Browser) -> None:
    """One snapshot is asked for, with what was missed since the last notice that was taken."""
    async with page_table(0, chooses={1: bidding(), 2: bidding()}) as table, AsyncExitStack() as stack:
        person = await stack.enter_async_context(Person.arrives(browser, "about:blank", "missed"))
        page = person.page
        wires = Wires(notice="bidPassed")
        await page.route_web_socket("**/v1/play", wires.connect)
        await page.goto(table.url(0))
        await person.asked()
        await person.press("bid-70")
        # Both others pass, and a trump is named only by a page that knows it.
        await page.locator(".button.trump").first.wait_for()
        assert wires.lost > 0
        assert wires.attached == 2
        await page.get_by_role("tab", name="Log").click()
        await expect(page.get_by_role("tabpanel")).to_contain_text("Anna passes")
