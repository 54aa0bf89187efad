"""docs/rules.md and docs/rules.zh.md: the same sections, the core's tables, and a section for every reference."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.following import is_legal
from erqiwang_core.kernel.shapes import Lead, classify
from erqiwang_core.kernel.trump import SuitTrump, order
from erqiwang_core.options import FourPlayer, Game, ThreePlayer
from erqiwang_core.rules import game_rules
from erqiwang_core.scoring import Made, NearShutout, Played, outcome
from erqiwang_core.units import Points

from tests.documents import REPOSITORY
from tests.rules.written import cards, picked

DOCUMENTS: Final = {name: (REPOSITORY / "docs" / name).read_text("utf-8") for name in ("rules.md", "rules.zh.md")}
SECTIONS: Final = [*(str(number) for number in range(1, 16)), "B"]
HEADING: Final = re.compile(r"^## (?:§|Part )(\w+)\. (.+)$", re.MULTILINE)

WRITTEN: Final = {".py", ".pyi", ".proto", ".md", ".txt", ".toml", ".yaml", ".go", ".java", ".ts"}
"""The kinds of files in which something may refer to the rules."""
PLACE: Final = r"(?:§(?:\d+|[A-Z]\b)|[Pp]art [A-Z]\b)"
REFERENCE: Final = re.compile(rf"\b[Rr]ules?`?\s+\(?({PLACE}(?:(?:, | to | and |, and ){PLACE})*)")


def texts() -> Iterator[tuple[Path, str]]:
    """Every file of the project that somebody wrote, or that was generated from one."""
    roots = ("core", "erqiwang_grpc", "proto", "tests", "bench", "docs", "scripts")
    files = (path for root in roots for path in (REPOSITORY / root).rglob("*") if path.suffix in WRITTEN)
    for path in (*files, *REPOSITORY.glob("*.md")):
        # What a client's build fetched is not ours; and the examples below are no references.
        if not {"node_modules", "target"} & set(path.parts) and path != Path(__file__):
            yield path.relative_to(REPOSITORY), path.read_text("utf-8")


def numbers(reference: str) -> Iterator[str]:
    """The sections of `§6 to §9, §12` or `§4, part B`."""
    places = re.findall(r"( to )?(?:§|[Pp]art )(\w+)", reference)
    for index, (until, place) in enumerate(places):
        if until:
            yield from (str(number) for number in range(int(places[index - 1][1]) + 1, int(place)))
        yield place


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_sections_have_the_numbers_that_the_code_uses(document: str) -> None:
    assert [number for number, _ in HEADING.findall(DOCUMENTS[document])] == SECTIONS


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_section_is_without_a_number(document: str) -> None:
    assert len(re.findall(r"^## ", DOCUMENTS[document], re.MULTILINE)) == len(SECTIONS)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_reference_to_the_rules_leads_to_a_section(document: str) -> None:
    sections = {number for number, _ in HEADING.findall(DOCUMENTS[document])}
    found = [(path, place) for path, text in texts() for said in REFERENCE.findall(text) for place in numbers(said)]
    assert {place for _, place in found} >= {"2", "7", "15", "B"}, "references are not found"
    assert [(str(path), place) for path, place in found if place not in sections] == []


@pytest.mark.parametrize(
    ("written", "places"),
    [
        ("(rules §6 to §9, §12)", ["6", "7", "8", "9", "12"]),
        ("rules §11, part B", ["11", "B"]),
        ("the rules (§6, §12 and part B)", ["6", "12", "B"]),
        ("(rules\n§99)", ["99"]),
        ("rules part C", ["C"]),
    ],
)
def test_a_reference_is_read(written: str, places: list[str]) -> None:
    assert [place for said in REFERENCE.findall(written) for place in numbers(said)] == places


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_contents_lead_to_the_sections(document: str) -> None:
    titles = re.findall(r"^## (.+)$", DOCUMENTS[document], re.MULTILINE)
    anchors = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
    assert re.findall(r"\]\(#([^)]+)\)", DOCUMENTS[document]) == anchors


def row(document: str, *titles: str) -> list[int]:
    """The numbers of the table's row that begins with one of the titles."""
    (line,) = [line for line in DOCUMENTS[document].splitlines() if line.startswith(tuple(f"| {t} |" for t in titles))]
    return [int(cell) for cell in line.strip("|").split("|")[1:]]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_table_of_chips_is_the_cores(document: str) -> None:
    regular, climb = game_rules(ThreePlayer(), True).rows, game_rules(ThreePlayer(climb=True), True).rows
    text = DOCUMENTS[document].replace("（爬坡）|", "（爬坡） |")
    assert row(document, "bid", "叫分") == [each.bid for each in regular]
    assert row(document, "base chips", "基础子数") == [each.base for each in regular]
    assert row(document, "Q") == [each.step for each in regular]
    climbing = re.findall(
        r"^\| (?:base chips, climb|基础子数（爬坡）|Q, climb|Q（爬坡）)[^|]*\|(.*)\|$", text, re.MULTILINE
    )
    assert [[int(cell) for cell in line.split("|")] for line in climbing] == [
        [each.base for each in climb],
        [each.step for each in climb],
    ]


def bids_without(kind: type[Played], game: Game) -> list[int]:
    """The bids at which no number of captured points comes to that outcome."""
    grades = [Points(grade) for grade in range(0, 401, 5)]
    return [
        each.bid
        for each in game_rules(game, True).rows
        if not any(isinstance(outcome(each, grade), kind) for grade in grades)
    ]


@pytest.mark.parametrize(
    ("kind", "game", "bids"),
    [
        pytest.param(NearShutout, ThreePlayer(), [5], id="no near shutout"),
        pytest.param(NearShutout, ThreePlayer(climb=True), [10, 5], id="no near shutout with climb"),
        pytest.param(NearShutout, FourPlayer(), [5, 0], id="no near shutout with four players"),
        pytest.param(Made, ThreePlayer(), list(range(40, 0, -5)), id="nothing is merely made at Q or below"),
        pytest.param(Made, ThreePlayer(climb=True), [5], id="nor with climb"),
    ],
)
def test_outcomes_that_a_bid_cannot_have_are_those_named(kind: type[Played], game: Game, bids: list[int]) -> None:
    assert bids_without(kind, game) == bids


def test_the_example_of_following_a_throw_is_judged_as_it_says() -> None:
    tables = order(SuitTrump(Suit.HEARTS))
    lead = classify(tables, cards("♥A ♥A ♥K ♥K ♥Q ♥Q BJ BJ SJ SJ"))
    hand = cards("♥J ♥J ♥10 ♥10 ♥9 ♥9 ♥8 ♥8 ♥6 ♥6 ♠2 ♠2")
    assert isinstance(lead, Lead)
    assert is_legal(tables, lead, hand, picked(hand, "♥J ♥J ♥10 ♥10 ♥9 ♥9 ♥8 ♥8 ♥6 ♥6"))
    assert not is_legal(tables, lead, hand, picked(hand, "♥10 ♥10 ♥9 ♥9 ♥8 ♥8 ♥6 ♥6 ♠2 ♠2"))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_ten_names_of_the_rush_stand_in_their_order(document: str) -> None:
    rows = re.findall(r"^\|[^|]*\| (\S+) \| (\S+) \| (\d) \|$", DOCUMENTS[document], re.MULTILINE)
    assert rows == [
        ("冲关", "大冲关", "1"),
        ("主7冲关", "主7大冲关", "2"),
        ("全7冲关", "全7大冲关", "3"),
        ("主2冲关", "主2大冲关", "4"),
        ("皇后", "皇上", "5"),
    ]


@pytest.mark.parametrize(
    "document",
    ["docs/rules.zh.md", "README.zh.md", "docs/errors.zh.md", "docs/languages.zh.md", "docs/operations.zh.md"],
)
@pytest.mark.parametrize(
    ("word", "instead"),
    [
        ("应答", "跟牌"),
        ("裁定", "约定; of a play: 判定"),
        ("同伴", "对家, 其他闲家"),
        ("短牌", "去 3、4"),
        ("全副", "整副"),
        ("三种副", "三门副 7"),
        ("期号", "版本号"),
        ("裸中继", "纯转发"),
        ("静默流", "空闲连接"),
        ("冻结数据类", "不可变对象"),
    ],
)
def test_chinese_is_written_as_players_write_it(document: str, word: str, instead: str) -> None:
    assert word not in (REPOSITORY / document).read_text("utf-8"), f"write {instead}"
