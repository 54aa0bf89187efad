"""The door `/`: what is served, with which headers, and what may be kept."""

import gzip
import re
from pathlib import Path
from typing import Final

import pytest

from erqiwang_grpc.edge.page import DOCUMENT, pages
from tests.edge.sockets import ServedEdge

FILES: Final = Path(__file__).parents[3] / "erqiwang_grpc" / "edge" / "page" / "files"
LINKS: Final = re.compile(r"""(?:from|src=|href=)\s*['"]\.?/?([\w.]+)['"]""")


async def test_the_document_comes_with_a_policy_that_lets_no_foreign_script_in(edge: ServedEdge) -> None:
    async with edge.session.get(f"http://127.0.0.1:{edge.port}/") as answer:
        text = await answer.text()
        assert answer.content_type == "text/html"
        policy = answer.headers["Content-Security-Policy"].split("; ")
        assert {"default-src 'none'", "script-src 'self'", "style-src 'self'"} <= set(policy)
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    # Nothing stands in the document that the policy would have to allow.
    assert not re.search(r"<script(?! type=\"module\" src=)|<style| style=| on\w+=|https?:", text)


async def test_a_copy_is_kept_until_the_page_changes(edge: ServedEdge) -> None:
    url = f"http://127.0.0.1:{edge.port}/main.js"
    async with edge.session.get(url) as answer:
        tag = answer.headers["ETag"]
        assert answer.headers["Cache-Control"] == "no-cache"
    async with edge.session.get(url, headers={"If-None-Match": tag}) as answer:
        assert (answer.status, await answer.read()) == (304, b"")
    async with edge.session.get(url, headers={"If-None-Match": '"another"'}) as answer:
        assert answer.status == 200


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br", "gzip"),
        ("br;q=1, GZIP;q=0.5", "gzip"),
        ("*", "gzip"),
        ("gzip;q=0", "identity"),
        ("gzip ; q=0.000, *", "identity"),
        ("*;q=0", "identity"),
        ("br", "identity"),
        ("xgzip", "identity"),
    ],
)
async def test_gzip_is_sent_to_those_who_take_it_under_a_tag_of_its_own(
    edge: ServedEdge, accepted: str, coding: str
) -> None:
    url = f"http://127.0.0.1:{edge.port}/main.js"
    tags = {}
    for each in (accepted, "gzip", "identity"):
        async with edge.session.get(url, headers={"Accept-Encoding": each}) as answer:
            tags[each] = answer.headers["ETag"]
            if each == accepted:
                assert answer.headers.get("Content-Encoding", "identity") == coding
    assert tags["gzip"] != tags["identity"]
    assert tags[accepted] == tags[coding]
    async with edge.session.get(url, headers={"Accept-Encoding": "identity", "If-None-Match": tags["gzip"]}) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("coding", ["gzip", "identity"])
async def test_each_file_is_served_as_it_lies_there(edge: ServedEdge, coding: str) -> None:
    for name in pages():
        url = f"http://127.0.0.1:{edge.port}/{'' if name == DOCUMENT else name}"
        async with edge.session.get(url, headers={"Accept-Encoding": coding}) as answer:
            assert answer.headers.get("Content-Encoding", "identity") == coding
            assert await answer.read() == (FILES / name).read_bytes()


@pytest.mark.parametrize(
    "path", ["/messages.d.ts", "/index.html", "/../doors.py", "/%2e%2e/doors.py", "/files/main.js", "/v1"]
)
async def test_nothing_else_is_served(edge: ServedEdge, path: str) -> None:
    async with edge.session.get(f"http://127.0.0.1:{edge.port}{path}") as answer:
        assert answer.status == 404


def test_every_file_that_another_names_is_served() -> None:
    served = pages()
    named = {
        link
        for name, page in served.items()
        if name.endswith((".js", ".html"))
        for link in LINKS.findall(page.body.decode())
        if not link.endswith(".d.ts")
    }
    assert named
    assert named <= set(served)
    assert set(served) == named | {DOCUMENT}


def test_the_page_is_small() -> None:
    """A phone far from the server loads it in a moment."""
    assert sum(len(page.compressed) for page in pages().values()) < 64 * 1024
    assert all(gzip.decompress(page.compressed) == page.body for page in pages().values())
