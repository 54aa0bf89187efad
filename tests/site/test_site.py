"""The site of the documents: every document is there, both languages lead to each other, and the search finds both."""

import re
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, expect

from scripts.documents import contents, documents, linked

SHOTS: Final = Path(__file__).parents[2] / "build" / "screens"


def test_every_document_stands_once_in_the_contents() -> None:
    listed = [name for names in contents().values() for name in names]
    written = [path.with_suffix("").as_posix() for path in documents() if path.parent.name != "decisions"]
    assert sorted(listed) == sorted([*written, "api/index", "docs/decisions/index"])


def test_every_document_has_a_page_that_the_contents_lead_to(site: Path) -> None:
    front = (site / "index.html").read_text("utf-8")
    for path in documents():
        page = path.with_suffix(".html").as_posix()
        assert (site / page).is_file(), path
        if path.parent.name != "decisions":
            assert f'href="{page}"' in front, path
    decisions = (site / "docs/decisions/index.html").read_text("utf-8")
    assert all(f'href="{path.stem}.html"' in decisions for path in documents() if path.parent.name == "decisions")


def test_documents_in_two_languages_lead_to_each_other(site: Path) -> None:
    chinese = [path for path in documents() if path.name.endswith(".zh.md")]
    assert PurePosixPath("docs/rules.zh.md") in chinese
    for path in chinese:
        page = (site / path.with_suffix(".html")).read_text("utf-8")
        twin = path.with_name(path.name.replace(".zh.md", ".html"))
        assert 'lang="zh-CN"' in page.split(">", 3)[1] + page.split(">", 3)[2], path
        assert f'<a href="{twin.name}" lang="en"' in page
        assert f'<a href="{path.stem}.html" lang="zh-CN"' in (site / twin).read_text("utf-8")


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        pytest.param("errors.md#refused-commands", "errors.md#refused-commands", id="a document, as on GitHub"),
        pytest.param("../proto/erqiwang/v1/room_service.proto", "../api/room_service.md", id="a schema"),
        pytest.param("../proto/erqiwang/v1", "../api/index.md", id="all schemas"),
        pytest.param("decisions/", "decisions/index.md", id="the decisions"),
        pytest.param("https://example.com/a.md", "https://example.com/a.md", id="another site"),
    ],
)
def test_a_link_leads_to_the_same_on_the_site(link: str, leads: str) -> None:
    assert linked(PurePosixPath("docs/operations.md"), f"See [it]({link}).") == f"See [it]({leads})."


def test_of_a_link_to_a_folder_the_text_is_left() -> None:
    assert linked(PurePosixPath("docs/operations.md"), "See [`tests`](../tests).") == "See `tests`."


def test_a_link_in_a_block_of_code_is_no_link() -> None:
    text = "```text\n[it](../proto/erqiwang/v1)\n```\n"
    assert linked(PurePosixPath("docs/operations.md"), text) == text


def test_a_line_that_breaks_inside_a_chinese_sentence_breaks_no_sentence() -> None:
    text = (
        "服务器要停了，\n流就结束。\n\n- 一个座位\n- 两个，\n  三个\n\n| 一 |\n| --- |\n| 二 |\n\nA line\nof English\n"
    )
    joined = "服务器要停了，流就结束。\n\n- 一个座位\n- 两个，三个\n\n| 一 |\n| --- |\n| 二 |\n\nA line\nof English\n"
    assert linked(PurePosixPath("docs/operations.zh.md"), text) == joined


def test_a_link_to_nothing_is_an_error() -> None:
    with pytest.raises(SystemExit, match=r"docs/operations\.md: nothing\.md"):
        linked(PurePosixPath("docs/operations.md"), "See [it](nothing.md).")


@pytest.mark.parametrize(
    ("query", "page"),
    [
        pytest.param("heartbeats", "api/seat_service.html", id="an English word, by its stem"),
        pytest.param("OUTCOME_UNKNOWN", "docs/errors.html", id="a name of the schemas"),
        pytest.param("埋牌底牌", "docs/rules.zh.html", id="a term without spaces"),
        pytest.param("甩牌 拖拉机", "docs/rules.zh.html", id="two Chinese words"),
        pytest.param("庄", "docs/rules.zh.html", id="one character"),
        pytest.param("errcode 阶段", "docs/packets.zh.html", id="both languages"),
    ],
)
async def test_the_search_finds(address: str, browser: Browser, query: str, page: str) -> None:
    tab = await browser.new_page(viewport={"width": 1280, "height": 900})
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    await tab.goto(f"{address}/index.html")
    await tab.locator("input[name=q]").first.fill(query)
    await tab.keyboard.press("Enter")
    await expect(tab.locator(f'#search-results li > a[href*="{page}"]').first).to_be_visible()
    SHOTS.mkdir(parents=True, exist_ok=True)
    await tab.screenshot(path=SHOTS / f"site-search-{quote(query)}.png")
    assert wrong == []


async def test_the_search_finds_nothing_where_there_is_nothing(address: str, browser: Browser) -> None:
    tab = await browser.new_page()
    await tab.goto(f"{address}/search.html?q={quote('麻将胡牌')}")
    await expect(tab.locator("#search-results")).to_contain_text(re.compile("did not match|found 0"))
