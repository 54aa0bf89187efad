"""How Sphinx makes the site out of the documents, which `scripts/documents.py` lays out for it: `make docs`."""

import re
from collections.abc import Iterator
from typing import Final

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

project = "erqiwang"
author = "the authors of erqiwang"
language = "en"
extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
html_theme = "furo"
html_title = "erqiwang"
html_copy_source = False
html_use_index = False
html_show_sphinx = False
html_search_language = "erqiwang"
# Examples of JSON leave out what does not matter with "…", which is no JSON.
suppress_warnings = ["misc.highlighting_failure"]

# Wide tables, such as that of the errors, want more room than the theme gives.
_STYLE: Final = "<style>.content { width: 64em; max-width: 100%; }</style>"
_RUNS: Final = re.compile(r"[一-鿿]+|[^\W一-鿿]+")


class BothLanguages(SearchEnglish):
    """English words by their stems, and Chinese by each character and each pair of neighbours.

    Sphinx's own Chinese search needs jieba, a dictionary of words, which knows few words of this game, and the browser does not
    have it: there a query of two words found nothing. Pairs need no dictionary, and both sides split alike.
    """

    lang = "erqiwang"
    js_splitter_code = """
var splitQuery = (query) =>
  (query.match(/[\\u4e00-\\u9fff]+|(?:(?![\\u4e00-\\u9fff])[\\p{L}\\p{N}_])+/gu) || []).flatMap((run) =>
    !/[\\u4e00-\\u9fff]/.test(run) || run.length === 1
      ? [run]
      : Array.from({ length: run.length - 1 }, (_, place) => run.slice(place, place + 2)));
"""

    def split(self, input: str) -> list[str]:
        """The words that a text is found by."""
        return [word for run in _RUNS.findall(input) for word in _words(run)]


def _words(run: str) -> Iterator[str]:
    if not "一" <= run[0] <= "鿿":
        yield run
        return
    yield from run
    yield from (run[place : place + 2] for place in range(len(run) - 1))


def _wide(_app: Sphinx, _page: str, _template: str, context: dict[str, object], _doctree: object) -> None:
    """Give tables room."""
    context["metatags"] = f"{context.get('metatags', '')}{_STYLE}"


def _in_its_language(app: Sphinx, page: str, _template: str, context: dict[str, object], _doctree: object) -> None:
    """Name the language of a Chinese page, for fonts and screen readers, and lead to its twin in the other language."""
    chinese = page.endswith(".zh")
    if chinese:
        context["language"] = "zh-CN"
    twin = page.removesuffix(".zh") if chinese else f"{page}.zh"
    body = context.get("body")
    if twin in app.env.found_docs and isinstance(body, str):
        address = app.builder.get_relative_uri(page, twin)
        name, code = ("English", "en") if chinese else ("中文", "zh-CN")
        context["body"] = f'<p class="twin"><a href="{address}" lang="{code}" hreflang="{code}">{name}</a></p>{body}'


def setup(app: Sphinx) -> dict[str, bool]:
    """Add what is ours."""
    app.add_search_language(BothLanguages)
    app.connect("html-page-context", _wide)
    app.connect("html-page-context", _in_its_language)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
