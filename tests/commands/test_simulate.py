"""`erqiwang simulate`: what it counts and writes, and that a seed brings the same again."""

import csv
import json
from itertools import groupby, pairwise
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest
from erqiwang_core.match import Command
from erqiwang_core.players import Budgets, Heard, Policy, RandomLegal, Sensible, Sight, nothing_heard
from erqiwang_core.playing import Signal

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.tools.table_arguments import POLICIES

Row: TypeAlias = dict[str, str]

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
    "compared": ["--deals", "2", "--policy", "sensible,random", "--against", "random"],
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


@by_arguments
def test_processes_share_the_matches_and_count_the_same(
    capsys: pytest.CaptureFixture[str], arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("erqiwang_grpc.tools.simulate.simulation._SHARE", 1)
    _, deals, *others = arguments
    given = ["--deals", str(2 * int(deals)), *others, "--json", "--csv"]
    alone, shared = tmp_path / "alone.csv", tmp_path / "shared.csv"
    once = said(capsys, *given, str(alone), "--processes", "1")
    assert said(capsys, *given, str(shared), "--processes", "2") == once
    assert alone.read_bytes() == shared.read_bytes()


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


def test_a_policy_against_itself_gains_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for name in POLICIES:
        figures = json.loads(
            said(capsys, "--policy", name, "--against", name, "--json", "--deals", "4", "--worlds", "2")
        )
        gains = figures["against"]["gains"][name]
        assert [(each["gain"], each["margin"]) for each in (gains, *gains["seats"])] == [(0, 0)] * 4


def test_a_better_policy_gains_on_every_seat(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--policy", "random,sensible,random", "--against", "random", "--json", "--deals", "40")
    against = json.loads(said(capsys, *given))["against"]
    assert (against["baseline"], against["deals"], [*against["gains"]]) == ("random", 40, ["random", "sensible"])
    gains = against["gains"]["sensible"]
    assert all(each["gain"] > each["margin"] > 0 for each in (gains, *gains["seats"]))


def test_gains_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    printed = said(capsys, "--deals", "2", "--policy", "random", "--against", "sensible")
    for word in ("all sensible", "gain a deal", "95 %", "declared", "contested", "surrenders", "won of", "ms to"):
        assert word in printed
    assert "8 deals in " in printed


def test_one_deal_has_no_interval_of_gains(capsys: pytest.CaptureFixture[str]) -> None:
    figures = json.loads(said(capsys, "--deals", "1", "--against", "sensible", "--json"))
    assert figures["against"]["gains"]["sensible"]["margin"] is None
    assert "±" not in said(capsys, "--deals", "1", "--against", "sensible")


def test_nothing_in_json_depends_on_time(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = said(capsys, "--deals", "6", "--json")
    times = iter(range(10**9))
    monkeypatch.setattr("erqiwang_grpc.tools.simulate.simulation.perf_counter", lambda: next(times))
    assert said(capsys, "--deals", "6", "--json") == before
    assert "1000.00" in said(capsys, "--deals", "6"), "each decision takes a second of this clock"


def test_every_seat_of_a_match_has_a_policy_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Policy] = []

    def one_more(_: Budgets) -> Policy:
        made.append(RandomLegal())
        return made[-1]

    monkeypatch.setitem(POLICIES, "random", one_more)
    said(capsys, "--deals", "12", "--policy", "random", "--processes", "1")
    assert len(made) == 2 * 3


class Wasteful:
    """A sensible player that takes random numbers and uses none."""

    def act(self, view: Sight, random: Random, heard: Heard = nothing_heard) -> Command | None:
        random.random()
        return Sensible().act(view, random, heard)

    def signal(self, view: Sight, random: Random) -> Signal | None:
        return Sensible().signal(view, random)


def test_nobody_s_luck_depends_on_how_much_of_it_others_need(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(POLICIES, "wasteful", lambda _: Wasteful())
    given = ("--policy", "sensible,wasteful", "--against", "random", "--deals", "3", "--processes", "1", "--json")
    gains = json.loads(said(capsys, *given))["against"]["gains"]
    assert gains["sensible"] == gains["wasteful"]


def written(capsys: pytest.CaptureFixture[str], file: Path, *arguments: str) -> tuple[dict[str, object], list[Row]]:
    """The figures of a simulation, and the rows of its file."""
    figures = json.loads(said(capsys, *arguments, "--json", "--csv", str(file)))
    with file.open(encoding="utf-8", newline="") as opened:
        return figures, list(csv.DictReader(opened))


def bids(row: Row) -> list[tuple[str, int]]:
    """The bids of a deal: seat and points."""
    calls = [call.split(":") for call in row["calls"].split()]
    return [(seat, int(call)) for seat, call in calls if call != "pass"]


def contested(row: Row) -> bool:
    return len({seat for seat, _ in bids(row)}) > 1


@by_arguments
def test_rows_of_deals(capsys: pytest.CaptureFixture[str], arguments: list[str], tmp_path: Path) -> None:
    figures, rows = written(capsys, tmp_path / "deals.csv", *arguments)
    assert len(rows) == figures["deals"]
    assert sum(int(row["captured"]) for row in rows) == figures["captured"]
    for row in rows:
        seats = [name.removeprefix("chips_") for name in row if name.startswith("chips_")]
        assert sum(int(row[f"chips_{seat}"]) for seat in seats) == 0
        assert row["calls"].startswith(f"{row['first_bidder']}:")
        assert bids(row)[-1] == (row["declarer"], int(row["bid"]))
        assert (row["trump"] == "") is (row["outcome"] == "surrender")
        assert row["trump"] in ("", "diamonds", "clubs", "hearts", "spades", "no trump")
        assert int(row["kitty_capture"] or 0) <= int(row["captured"])
        assert int(row["base"]) > 0
        if row["outcome"].startswith("upgrade"):
            assert row["outcome"] == f"upgrade {row['multiplier']}"


@by_arguments
def test_rows_hold_what_is_counted(capsys: pytest.CaptureFixture[str], arguments: list[str], tmp_path: Path) -> None:
    figures, rows = written(capsys, tmp_path / "deals.csv", *arguments)
    policies = {row[name] for row in rows for name in row if name.startswith("policy_")}
    counted = {}
    for policy in policies:
        declared = [row for row in rows if row[f"policy_{row['declarer']}"] == policy]
        played = [row for row in declared if row["outcome"] != "surrender"]
        won = sum(not row["outcome"].startswith("upgrade") for row in played)
        captured = sum(int(row["captured"]) for row in declared)
        counted[policy] = {
            "deals": len(declared),
            "contested": sum(contested(row) for row in declared),
            "surrenders": len(declared) - len(played),
            "won": won,
            "won_share": round(won / len(played), 3) if played else None,
            "captured": captured,
            "captured_per_deal": round(captured / len(played), 3) if played else None,
        }
    assert figures["declared"] == counted


def test_matches_and_deals_are_in_order(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, rows = written(capsys, tmp_path / "deals.csv", *ARGUMENTS["rotated"], "--deals", "30")
    places = [(row["match"], row["deal"], row["block"]) for row in rows]
    assert places == [(str(match), str(deal), str((match + 3) // 4)) for match in range(1, 9) for deal in range(1, 7)]
    for before, row in pairwise(rows):
        won = not before["outcome"].startswith(("upgrade", "surrender"))
        first = int(before["declarer"]) if won else (int(before["declarer"]) + 1) % 4
        assert int(row["first_bidder"]) == (0 if row["deal"] == "1" else first)


def test_tables_that_are_compared_play_the_same_deals(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "deals.csv"
    _, rows = written(capsys, file, "--deals", "5", "--policy", "random,sensible", "--against", "sensible")
    assert [row["block"] for row in rows] == [str(block) for block in range(1, 6) for _ in range(7)]
    assert all(row["deal"] == "1" and row["first_bidder"] == "0" for row in rows)
    for _, block in groupby(rows, lambda row: row["block"]):
        alone, *others = [{name: row[name] for name in row if name != "match"} for row in block]
        for seat, row in enumerate(others[:3]):
            assert [row[f"policy_{each}"] == "random" for each in range(3)] == [each == seat for each in range(3)]
        assert others[3:] == [alone] * 3


def test_a_file_is_replaced(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "deals.csv"
    file.write_text("what was here\n" * 100)
    _, rows = written(capsys, file, "--deals", "6")
    assert len(rows) == 6


def test_a_file_that_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["simulate", "--csv", str(tmp_path / "missing" / "deals.csv")]) == 2
    assert capsys.readouterr().err.startswith("erqiwang simulate: [Errno 2] No such file")


def test_rotating_and_comparing_do_not_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["simulate", "--rotate", "--against", "sensible"])
    assert "argument --against: not allowed with argument --rotate" in capsys.readouterr().err
