"""A real Chromium, and a person in it who plays at the table page."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

import pytest
from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

SHOTS: Final = Path(__file__).parents[3] / "build" / "screens"
"""Screenshots are build output: look at them after a change of the page."""
PHONE: Final = ViewportSize(width=360, height=740)
DESK: Final = ViewportSize(width=1280, height=800)
PATIENCE_MS: Final = 20_000
ASKED: Final = ".prompt.mine"
SETTLED: Final = '.felt[data-phase="PHASE_SETTLED"]'
_WATCHER: Final = """
addEventListener('securitypolicyviolation', (event) => {
  console.error(`violation of ${event.violatedDirective}: ${event.blockedURI}`);
});
"""

_NAMELESS: Final = """[...document.querySelectorAll('button, input, select, [tabindex="0"]')].filter((each) =>
  !(each.getAttribute('aria-label') || each.hasAttribute('aria-labelledby') || each.textContent.trim() || each.labels?.length)
).map((each) => each.outerHTML)"""

expect.set_options(timeout=PATIENCE_MS)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """The browser. The test fails where the machine has none."""
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if found is None:
        pytest.fail("these tests need Chromium: apt-get install chromium")
    # Chromium does not sandbox itself for root, whom it runs for in a container.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=arguments)
        try:
            yield browser
        finally:
            await browser.close()


@final
@dataclass
class Person:
    """Somebody at the page."""

    page: Page
    name: str
    wrong: list[str] = field(default_factory=list)
    """Errors, violations of the policy, and dialogs. There are to be none."""
    phases: set[str] = field(default_factory=set)
    """The phases in which the person was asked something."""

    @classmethod
    @asynccontextmanager
    async def arrives(
        cls, browser: Browser, url: str, name: str, *, locale: str = "en-GB", viewport: ViewportSize = DESK
    ) -> AsyncIterator[Person]:
        """A person with a browser of their own, at this address. Fails the test if anything was wrong in the end."""
        context = await browser.new_context(
            viewport=viewport, locale=locale, has_touch=viewport == PHONE, reduced_motion="reduce"
        )
        await context.add_init_script(_WATCHER)
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        person = cls(page, name)
        page.on("console", lambda said: person.wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: person.wrong.append(str(error)))
        page.on("dialog", lambda dialog: person.wrong.append(dialog.message))
        await page.goto(url)
        try:
            yield person
        finally:
            await context.close()
        assert person.wrong == []

    async def shot(self, what: str) -> None:
        """Take a screenshot."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        await self.page.screenshot(path=SHOTS / f"{self.name}-{what}.png")

    async def press(self, key: str) -> None:
        """Press the button with that `data-key`."""
        await self.page.locator(f'[data-key="{key}"]').click()

    async def has(self, selector: str) -> bool:
        """Whether an element is there now."""
        return await self.page.locator(selector).count() > 0

    async def asked(self) -> None:
        """Wait until the person is asked something, or the deal is settled, and nothing is on its way."""
        await self.page.locator(f"{ASKED}, {SETTLED}").first.wait_for()

    async def phase(self) -> str:
        """The phase that the page shows."""
        return await self.page.locator(".felt").get_attribute("data-phase") or ""

    async def answer(self, *, bid: int | None = None) -> None:
        """Do what is asked by clicking: bid, pass, name trump, or play what is suggested."""
        phase = await self.phase()
        if phase not in self.phases:
            self.phases.add(phase)
            assert await self.nameless() == []
            assert await self.fits()
            await self.shot(phase.removeprefix("PHASE_").lower())
        if await self.has(f'[data-key="bid-{bid}"]'):
            await self.press(f"bid-{bid}")
        elif await self.has('[data-key="pass"]'):
            await self.press("pass")
        elif await self.has(".bid"):
            await self.page.locator(".bid").first.click()
        elif await self.has(".button.trump"):
            await self.page.locator(".button.trump").nth(2).click()
        else:
            await self.press("suggest")
            await self.press("play")
        await self.told()

    async def told(self) -> None:
        """Wait until the answer to a command has come."""
        await self.page.wait_for_function(
            "sending => !sending.includes(document.querySelector('.prompt')?.textContent ?? '')",
            arg=["Sending…", "正在发送…"],
        )

    async def play_deal(self, *, bid: int | None = None) -> None:
        """Play until the deal is settled."""
        await self.asked()
        while not await self.has(SETTLED):
            await self.answer(bid=bid)
            await self.asked()
        await self.shot("settled")

    async def nameless(self) -> list[str]:
        """Whatever can be pressed or filled in, and has no name for a screen reader."""
        found: list[str] = await self.page.evaluate(_NAMELESS)
        return found

    async def fits(self) -> bool:
        """Whether nothing sticks out of the screen sideways."""
        widths: Sequence[int] = await self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        return widths[0] <= widths[1]
