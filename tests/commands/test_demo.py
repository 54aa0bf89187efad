"""`erqiwang demo`: a match in lines of text, the same for the same seed."""

import re

import pytest

from erqiwang_grpc.__main__ import main


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["demo", "--fast", *arguments]) == 0
    return capsys.readouterr().out


def test_shows_a_deal_and_ends_with_the_account(capsys: pytest.CaptureFixture[str]) -> None:
    said = shown(capsys, "--seed", "5", "--deals", "1")
    for line in ("Deal 1 of 6", "opens the bidding", "is the declarer 庄家 at", "Trump is", "buries", "captures"):
        assert line in said
    assert "Deal 1 is settled" in said
    assert re.search(r"base \d+ × multiplier \d+ = \d+", said)
    assert "The deck opens its commitment." in said
    assert "Disbanded after 1 of 6 deals, as asked." in said
    assert said.index("Deal 1 is settled") < said.index("The match was disbanded 解散.")
    assert "\x1b" not in said, "what is piped holds no escape sequence"


def test_every_trick_is_a_line_with_a_play_of_every_seat(capsys: pytest.CaptureFixture[str]) -> None:
    said = shown(capsys, "--seed", "5", "--deals", "1")
    tricks = [line for line in said.splitlines() if re.match(r"^ *\d+  \w", line)]
    assert tricks
    for number, line in enumerate(tricks, start=1):
        assert line.split()[0] == str(number)
        assert "→" in line
        for player in ("Anna", "Bao", "Chen"):
            assert re.search(rf"  {player} [♠♥♣♦🃏🃟]", line)


def test_the_same_seed_brings_the_same_lines_and_another_others(capsys: pytest.CaptureFixture[str]) -> None:
    first = shown(capsys, "--seed", "5", "--deals", "1")
    assert shown(capsys, "--seed", "5", "--deals", "1") == first
    assert shown(capsys, "--seed", "6", "--deals", "1") != first


@pytest.mark.parametrize("room", [(), ("--game", "four", "--deck", "full", "--no-review")], ids=["three", "four"])
def test_a_whole_match_adds_up(room: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    said = shown(capsys, "--seed", "2", *room)
    account = said[said.index("The match is over.") :]
    rows = [[int(number) for number in re.findall(r"[+-]\d+", line)] for line in account.splitlines()]
    *deals, totals = [row for row in rows[1:] if row]
    assert len(deals) == 6
    assert [sum(column) for column in zip(*deals, strict=True)] == totals
    assert all(sum(row) == 0 for row in (*deals, totals))


def test_options_that_do_not_fit_together_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--game", "four", "--climb"]) == 2
    assert "--climb" in capsys.readouterr().err
