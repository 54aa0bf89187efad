"""`erqiwang simulate`: what it counts, and that a seed brings the same again."""

import json

import pytest

from erqiwang_grpc.__main__ import main

ARGUMENTS = {
    "three, sensible": ["--deals", "6"],
    "three, random": ["--deals", "12", "--policy", "random", "--climb", "--joker-bonus", "--no-review"],
    "four, by seat": [
        "--deals",
        "12",
        "--policy",
        "random,sensible,random,sensible",
        "--game",
        "four",
        "--length",
        "12",
    ],
    "rotated": [
        "--deals",
        "6",
        "--policy",
        "sensible,random,random,random",
        "--game",
        "four",
        "--deck",
        "full",
        "--rotate",
    ],
}

by_arguments = pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["simulate", *arguments]) == 0
    captured = capsys.readouterr()
    assert not captured.err, "no progress where nobody looks on"
    return captured.out


@by_arguments
def test_a_seed_brings_the_same_again(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    once, again, other = (said(capsys, *arguments, "--json", "--seed", seed) for seed in ("7", "7", "8"))
    assert once == again
    assert once != other


def test_processes_share_the_matches_and_count_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    alone, shared = (
        said(capsys, "--deals", "120", "--policy", "random", "--json", "--processes", processes)
        for processes in ("1", "3")
    )
    assert json.loads(alone)["decisions"] > 120 * 50
    assert alone == shared


@by_arguments
def test_chips_sum_to_nothing(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert sum(json.loads(said(capsys, *arguments, "--json"))["chips"].values()) == 0


@by_arguments
def test_every_deal_has_an_outcome(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    figures = json.loads(said(capsys, *arguments, "--json"))
    counted = sum(number for outcomes in figures["outcomes"].values() for number in outcomes.values())
    assert counted == figures["deals"] >= int(arguments[1])


def test_what_happened_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    printed = said(capsys, "--deals", "1", "--policy", "random")
    for word in ("bid", "shutout", "surrender", "tricks", "captured points", "failed throws", "ruffs", "random"):
        assert word in printed
    assert "6 deals in " in printed


def test_throws_and_captures_happen(capsys: pytest.CaptureFixture[str]) -> None:
    figures = json.loads(said(capsys, "--deals", "60", "--policy", "random", "--json"))
    assert figures["tricks"] > 60 * 10
    assert figures["throws"] > 0
    assert figures["failed_throws"] > 0
    assert figures["ruffs"] > 0
    assert figures["kitty_captures"]["1"] > 0


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--deck", "full"], "--deck is an option of the four-player game"),
        (["--game", "four", "--climb"], "--climb and --joker-bonus are options of the three-player game"),
        (["--policy", "random,random"], "--policy takes one name, or one for each of 3 seats: 2 were given"),
    ],
)
def test_arguments_that_do_not_fit(capsys: pytest.CaptureFixture[str], arguments: list[str], fault: str) -> None:
    assert main(["simulate", *arguments]) == 2
    assert capsys.readouterr().err == f"erqiwang simulate: {fault}\n"


def test_a_policy_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["simulate", "--policy", "clairvoyant"])
    assert "there is no policy 'clairvoyant'" in capsys.readouterr().err


def test_more_matches_narrow_the_interval(capsys: pytest.CaptureFixture[str]) -> None:
    mixed = ("--policy", "sensible,random,random", "--rotate", "--json", "--deals")
    few, many = (json.loads(said(capsys, *mixed, deals))["margins"]["sensible"] for deals in ("36", "360"))
    assert 0 < many < few


def test_one_set_of_decks_has_no_interval(capsys: pytest.CaptureFixture[str]) -> None:
    figures = json.loads(said(capsys, "--policy", "sensible,random,random", "--rotate", "--json", "--deals", "1"))
    assert figures["margins"] == {"random": None, "sensible": None}
