"""`erqiwang bench`: the figures it gives, on the smallest load."""

import io
import json
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.commands.version import core_build, service_build
from erqiwang_grpc.tools.bench.command import add_arguments
from erqiwang_grpc.tools.bench.failure import BenchFailed
from erqiwang_grpc.tools.bench.figures import Case, Figures, Machine, Result, percentile
from erqiwang_grpc.tools.bench.orders import Way
from erqiwang_grpc.tools.bench.shown import shown

RELAY = Case("relay", "streams", None)
STREAMS = Case("in memory", "streams", None)
GATEWAY = Case("in memory", "gateway", None)
FIGURES = Figures(
    turns=1000,
    turns_per_second=500.0,
    core_percent=20.0,
    cpu_us_per_turn=100.0,
    p50_ms=1.0,
    p95_ms=2.0,
    p99_ms=3.0,
    kib_per_room=0.0,
    kib_per_seat=4.0,
    failed=0,
)


def result(*rounds: Mapping[Case, Figures]) -> Result:
    machine = Machine("interpreted", "interpreted", "3.11.9", cores=2, load_before=0.5, load_after=1.5)
    return Result(rounds, machine, rooms=10, seats=3, seconds=4, idle_seats=0, bytes_per_turn=800.0)


def costing(microseconds: float) -> Figures:
    return replace(FIGURES, cpu_us_per_turn=microseconds)


def text(of: Result) -> str:
    console = Console(file=io.StringIO(), width=80)
    with console.capture() as said:
        console.print(shown(of))
    return said.get()


def test_measures_the_server_beside_the_relay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        "--rooms",
        "2",
        "--deals",
        "1",
        "--rounds",
        "1",
        "--rate",
        "0",
        "--idle-streams",
        "6",
        "--processes",
        "2",
        "--data",
        str(tmp_path),
    ]
    assert main(["bench", "--json", *given]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(each["way"], each["served"]) for each in told["measurements"]] == [
        ("streams", "relay"),
        ("streams", "in memory"),
        ("streams", "on disk"),
        ("gateway", "relay"),
        ("gateway", "in memory"),
        ("gateway", "on disk"),
    ]
    assert (told["core"], told["service"]) == (core_build(), service_build())
    assert told["bytes_per_turn"] > 0
    assert told["idle_seats"] == 6
    base = told["measurements"][0]["cpu_us_per_turn"]
    for figures in told["measurements"]:
        assert figures["failed"] == 0
        assert figures["rate"] is None
        assert figures["turns"] >= 2 * 3, "every room has played a deal"
        assert figures["cpu_us_per_turn"] > 0
        assert 0 < figures["p50_ms"] <= figures["p95_ms"] <= figures["p99_ms"]
        assert figures["cpu_ratio"] == pytest.approx(figures["cpu_us_per_turn"] / base, 0.01)
    assert "platform-keys.json" not in {each.name for each in tmp_path.iterdir()}, "no key of a bench stays"


def test_the_four_player_game(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--game", "four", "--deck", "full", "--rooms", "2", "--deals", "1", "--rate", "0", "--idle-streams", "9"]
    assert main(["bench", "--json", "--rounds", "1", "--ways", "gateway", *given]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["seats"] == 4
    assert told["idle_seats"] == 8, "whole rooms alone"
    for figures in told["measurements"]:
        assert figures["failed"] == 0
        assert figures["turns"] >= 2 * 4


def test_rooms_of_any_number_begin_at_all_parts_of_a_deal(capsys: pytest.CaptureFixture[str]) -> None:
    """So a room counts from its first measured turn, and a match may end while it is measured."""
    given = ["--rooms", "30", "--seconds", "2", "--rate", "0", "--rounds", "1", "--ways", "gateway"]
    assert main(["bench", "--json", *given]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(each["way"], each["served"]) for each in told["measurements"]] == [
        ("streams", "relay"),
        ("gateway", "relay"),
        ("gateway", "in memory"),
    ]
    for figures in told["measurements"]:
        assert figures["failed"] == 0
        assert figures["turns"] == pytest.approx(figures["turns_per_second"] * 2, 0.25)


def test_a_server_that_does_not_start_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "file"
    folder.touch()
    assert main(["bench", "--rooms", "1", "--deals", "1", "--rate", "0", "--data", str(folder)]) == 2
    assert "erqiwang bench: erqiwang_grpc did not start" in capsys.readouterr().err


def test_a_relay_that_took_no_time_is_nothing_to_compare_with() -> None:
    with pytest.raises(BenchFailed, match="play longer"):
        shown(result({RELAY: costing(0.0), STREAMS: costing(150.0)}))


def test_an_option_of_the_other_game_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--deck", "full"]) == 2
    assert "--deck is an option of the four-player game" in capsys.readouterr().err


def test_a_rate_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--rooms", "4", "--seconds", "2", "--rate", "50", "--rounds", "1", "--ways", "streams"]
    assert main(["bench", "--json", *given]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [figures["rate"] for figures in told["measurements"]] == [None, None, 50, 50]
    for figures in told["measurements"][2:]:
        assert 0 < figures["turns_per_second"] <= 55
        assert figures["turns_per_second"] < told["measurements"][0]["turns_per_second"]


def test_the_ratio_is_the_median_of_the_rounds_own_ratios() -> None:
    """A round on a machine that is slow for a while counts as much as any other."""
    found = result(
        {RELAY: costing(100.0), STREAMS: costing(150.0)},
        {RELAY: costing(1000.0), STREAMS: costing(1600.0)},
        {RELAY: costing(200.0), STREAMS: costing(340.0)},
    )
    assert found.ratios(STREAMS) == [1.5, 1.6, 1.7]
    assert found.ratios(RELAY) == [1.0, 1.0, 1.0]
    assert found.figures(STREAMS).cpu_us_per_turn == 340.0


def test_failed_rooms_of_all_rounds_are_counted_and_named() -> None:
    failing = replace(FIGURES, failed=2)
    found = result({RELAY: FIGURES, STREAMS: failing}, {RELAY: FIGURES, STREAMS: failing})
    assert found.failed == 4
    assert "Rooms that failed: 4 as fast as they can, streams, in memory." in text(found)
    assert "failed" not in text(result({RELAY: FIGURES, STREAMS: FIGURES}))


def test_a_table_for_people() -> None:
    at_a_rate = {replace(case, rate=500.0): costing(300.0) for case in (RELAY, STREAMS)}
    found = result({RELAY: costing(12_345.0), STREAMS: costing(150.0), GATEWAY: costing(123_450.0), **at_a_rate})
    said = text(found)
    assert "…" not in said
    rows = {row.strip().partition("  ")[0]: row.split() for row in reversed(said.splitlines())}
    assert {"1.00", "1.00–1.00", "12,345", "500", "20%", "1.0", "3.0"} <= set(rows["relay over streams"])
    assert {"10.00", "123,450"} <= set(rows["gateway, in memory"])
    assert said.index("As fast as they can") < said.index("At 500 turns a second") < said.index("Memory")
    machine = "Core interpreted, service interpreted, Python 3.11.9, 2 cores; load average 0.5 before, 1.5 after."
    assert machine in " ".join(said.split())


@pytest.mark.parametrize(
    ("given", "ways"), [(["--ways", "gateway"], ("gateway",)), (["--ways", "gateway,streams"], ("streams", "gateway"))]
)
def test_ways_are_measured_in_one_order(given: list[str], ways: tuple[Way, ...]) -> None:
    parser = ArgumentParser()
    add_arguments(parser)
    assert parser.parse_args(given).ways == ways


def test_an_unknown_way_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--ways", "streams,pigeons"])
    assert "name streams or gateway, or both" in capsys.readouterr().err


@pytest.mark.parametrize("given", [["--rooms", "0"], ["--rooms", "many"], ["--seconds", "601"], ["--rate", "-1"]])
def test_what_is_out_of_bounds_is_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", *given])
    assert "is no whole number from" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("percent", "value"), [(0, 1), (50, 51), (99, 100), (100, 100)], ids=["lowest", "middle", "p99", "highest"]
)
def test_percentile(percent: float, value: float) -> None:
    assert percentile(range(1, 101), percent) == value
    assert percentile([], percent) == 0
