"""A Chinese document that was not changed with its English twin is found, and what is to be translated is named."""

import tomllib
from pathlib import Path
from typing import Final

import pytest

from scripts.errors import CHINESE as SENTENCES, differing
from scripts.twins import english, faults, marker, sections, twins

TWIN: Final = Path("docs/place.zh.md")
ENGLISH: Final = """# Place

It is here.

## Way

```sh
# no heading
go
```

| one | two |
| --- | --- |
| 1 | 2 |
"""
CHINESE: Final = """# 地方

就在这里。

## 路

```sh
# 不是标题
go
```

| 一 | 二 |
| --- | --- |
| 1 | 2 |
"""
KEPT: Final = CHINESE + marker(TWIN, ENGLISH)


@pytest.mark.parametrize("twin", twins(), ids=str)
def test_every_chinese_document_follows_its_english_one(twin: Path) -> None:
    source = english(twin).read_text("utf-8")
    assert list(faults(twin, source, twin.read_text("utf-8"))) == []
    titles = [section.title for section in sections(source)]
    assert len(titles) == len(set(titles)), "a section is known by its title"


def test_what_integrators_need_is_there_in_chinese() -> None:
    assert {"rules", "packets", "errors", "languages", "operations"} <= {
        path.name.removesuffix(".zh.md") for path in Path("docs").glob("*.zh.md")
    }


@pytest.mark.parametrize(
    ("source", "translation", "said"),
    [
        pytest.param(ENGLISH, KEPT, [], id="nothing has changed"),
        pytest.param(ENGLISH.replace("It is here", "It\nis  here"), KEPT, [], id="lines break elsewhere"),
        pytest.param(ENGLISH.replace("here", "there"), KEPT, ["“Place” has changed"], id="a word"),
        pytest.param(ENGLISH.replace("| 1 |", "| 3 |"), KEPT, ["“Way” has changed"], id="a cell"),
        pytest.param(
            ENGLISH.replace("## Way", "## Road"), KEPT, ["“Road” is new", "“Way” is gone"], id="another title"
        ),
        pytest.param(ENGLISH, CHINESE, ["“Place” is new", "“Way” is new"], id="never translated"),
        pytest.param(
            ENGLISH,
            KEPT.replace("| 1 | 2 |\n", ""),
            ["“Way” has 1 code blocks and 3 lines of tables, “路” 1 and 2"],
            id="a row is missing",
        ),
        pytest.param(
            ENGLISH,
            KEPT.replace("## 路", "路"),
            ["where the English has “Way” the Chinese has “nothing”"],
            id="a heading is missing",
        ),
    ],
)
def test_what_is_said(source: str, translation: str, said: list[str]) -> None:
    assert list(faults(TWIN, source, translation))[: len(said) or 1] == said


def test_a_sentence_of_the_errors_that_changes_is_named() -> None:
    sentences = tomllib.loads(SENTENCES.read_text("utf-8"))
    assert differing(sentences) == []
    sentences["There is no room like that."] = sentences.pop("There is no such room.")
    assert differing(sentences) == [
        "has no Chinese: There is no such room.",
        "is not said any more: There is no room like that.",
    ]
