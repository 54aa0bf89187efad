"""Counted trees: the ends of golden deals, played out in every legal way (the perft of this game)."""

import pytest
from erqiwang_core.kernel.hand import count
from erqiwang_core.match import Running
from erqiwang_core.playing import Playing

from tests.deals.decks import never_shuffled
from tests.deals.walk import Step, advance
from tests.vectors.scripts import FOLDER, SeatRequest, line, parse, seated
from tests.vectors.trees import Tree, counted, endgame, twin_counted

LIMIT = 20_000
"""No tree has more plays: each is counted in less than a second."""


def after_tricks(name: str, tricks: int) -> Playing:
    """A golden deal once so many tricks are finished."""
    script = parse((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    match = seated(script)
    for text in script.lines:
        move = line(match, text)
        step = move if isinstance(move, SeatRequest) else advance(match, move, never_shuffled)
        match = step.after if isinstance(step, Step) else match
        deal = match.deal if isinstance(match, Running) else None
        if isinstance(deal, Playing) and len(deal.finished) == tricks and deal.to_follow is None:
            return deal
    raise AssertionError(f"{name} has no trick {tricks} with another after it")


@pytest.mark.parametrize(
    ("name", "tricks", "cards", "tree"),
    [
        ("three_capture_by_pair", 4, 2, Tree(plays=41, ends=9, grades=965)),
        ("three_capture_by_single", 3, 4, Tree(plays=15_212, ends=2_705, grades=472_360)),
        ("three_failed_throws", 12, 3, Tree(plays=1_269, ends=271, grades=10_840)),
        ("three_shutout", 1, 2, Tree(plays=41, ends=9, grades=0)),
        ("four_bid_0_lost", 6, 3, Tree(plays=11_221, ends=1_764, grades=88_200)),
        ("four_no_trump", 6, 3, Tree(plays=1_216, ends=198, grades=30_690)),
    ],
)
def test_the_tree_of_an_endgame(name: str, tricks: int, cards: int, tree: Tree) -> None:
    deal = after_tricks(name, tricks)
    assert {count(hand) for hand in deal.hands} == {cards}
    assert tree.plays <= LIMIT
    assert counted(deal) == tree
    assert twin_counted(endgame(deal)) == tree
