"""What plays prove of a seat (rules §12)."""

import pytest
from erqiwang_core.inference import Proven
from erqiwang_core.kernel.trump import Group, NoTrump, Trump

from tests.rules.positions import EAST, SOUTH, SPADES, WEST, after, endgame, in_play

H, S, T = Group.HEARTS, Group.SPADES, Group.TRUMPS
NOTHING = Proven()


@pytest.mark.parametrize(
    ("trump", "lead", "hand", "play", "proven"),
    [
        pytest.param(SPADES, "♥K", "♥5 ♥5", "♥5", NOTHING, id="a single followed proves nothing"),
        pytest.param(SPADES, "♥K", "♣5 ♣6", "♣5", Proven((H,), (H,)), id="a single not followed: void, and no pair"),
        pytest.param(SPADES, "♥K", "♠5 ♣6", "♠5", Proven((H,), (H,)), id="a ruff: void"),
        pytest.param(SPADES, "♥K ♥K", "♥5 ♥5 ♥6", "♥5 ♥5", NOTHING, id="a pair by a pair proves nothing"),
        pytest.param(SPADES, "♥K ♥K", "♥5 ♥8 ♥6", "♥5 ♥6", Proven((), (H,)), id="a pair by two singles: no pair"),
        pytest.param(SPADES, "♥K ♥K", "♥5 ♣8 ♣9", "♥5 ♣8", Proven((H,), (H,)), id="one card short: void and no pair"),
        pytest.param(
            SPADES, "♥J ♥J ♥Q ♥Q", "♥5 ♥5 ♥8 ♥9 ♥10", "♥5 ♥5 ♥8 ♥9", Proven((), (H,)), id="a pair too few: no pair left"
        ),
        pytest.param(
            SPADES, "♥J ♥J ♥Q ♥Q", "♥5 ♥5 ♥8 ♥8 ♥10 ♥10", "♥5 ♥5 ♥8 ♥8", NOTHING, id="as many pairs proves nothing"
        ),
        pytest.param(SPADES, "♠K ♠K", "♥7 ♦7 ♣5", "♥7 ♦7", Proven((), (T,)), id="trump: two off-suit 7s are no pair"),
        pytest.param(SPADES, "♠K", "♥5 ♥6", "♥5", Proven((T,), (T,)), id="trump: void of all trumps"),
        pytest.param(SPADES, "BJ ♠K ♠K", "♠5 ♠6 ♠8 ♥5", "♠5 ♠6 ♠8", Proven((), (T,)), id="a throw with a pair"),
        pytest.param(SPADES, "BJ ♠K", "♠5 ♠5 ♥5", "♠5 ♠5", NOTHING, id="a throw of singles"),
        pytest.param(NoTrump(), "♠K ♠K", "♠5 ♠6 ♥7", "♠5 ♠6", Proven((), (S,)), id="no trump: spades are a side suit"),
        pytest.param(NoTrump(), "BJ", "♠5 ♠6", "♠5", Proven((T,), (T,)), id="no trump: the trumps are the fifth"),
    ],
)
def test_what_a_play_proves(trump: Trump, lead: str, hand: str, play: str, proven: Proven) -> None:
    others = "♦9 ♦9 ♦10 ♦10 ♦J ♦J"
    deal = in_play(after(endgame(f"{lead} ♦5", hand, others, trump=trump), lead, play))
    assert deal.proven[SOUTH] == proven
    assert deal.proven[EAST] == deal.proven[WEST] == NOTHING


def test_what_is_proven_adds_up_in_the_order_of_groups_and_stays() -> None:
    texts = ("♥K ♦K ♥A ♦A", "♣5 ♣6 ♣8 ♣9", "♥5 ♦5 ♥6 ♦6")
    deal = in_play(after(endgame(*texts), "♥K", "♣5", "♥5", "♦K", "♣6", "♦5"))
    assert deal.proven[SOUTH] == Proven((Group.DIAMONDS, H), (Group.DIAMONDS, H))
    before = deal.proven
    assert in_play(after(deal, "♥A", "♣8")).proven is before


def test_the_leader_proves_nothing_by_leading() -> None:
    deal = in_play(after(endgame("♥K ♦K", "♥5 ♣6", "♥6 ♦6"), "♥K"))
    assert set(deal.proven) == {NOTHING}
