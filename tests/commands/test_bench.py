"""`erqiwang bench`: the figures it gives, on the smallest load."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.tools.bench.failure import BenchFailed
from erqiwang_grpc.tools.bench.figures import Figures, Result, percentile, shown


def test_measures_the_server_beside_the_relay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        "--rooms",
        "2",
        "--deals",
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
    assert [figures["name"] for figures in told["servers"]] == ["server", "server, on disk"]
    assert told["bytes_per_turn"] > 0
    for figures in (told["relay"], *told["servers"]):
        assert figures["failed"] == 0
        assert figures["idle_streams"] == 6
        assert figures["turns"] >= 2 * 3, "every room has played a deal"
        assert figures["cpu_us_per_turn"] > 0
        assert 0 < figures["p50_ms"] <= figures["p95_ms"] <= figures["p99_ms"]
    for figures in told["servers"]:
        assert figures["cpu_ratio"] == pytest.approx(
            figures["cpu_us_per_turn"] / told["relay"]["cpu_us_per_turn"], 0.01
        )


def test_the_four_player_game(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--game", "four", "--deck", "full", "--rooms", "2", "--deals", "1", "--rate", "0", "--idle-streams", "9"]
    assert main(["bench", "--json", *given]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["seats"] == 4
    for figures in (told["relay"], *told["servers"]):
        assert figures["failed"] == 0
        assert figures["idle_streams"] == 8, "whole rooms alone"
        assert figures["turns"] >= 2 * 4


def test_a_server_that_does_not_start_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "file"
    folder.touch()
    assert main(["bench", "--rooms", "1", "--deals", "1", "--rate", "0", "--data", str(folder)]) == 2
    assert "erqiwang bench: erqiwang_grpc did not start" in capsys.readouterr().err


def test_a_relay_that_took_no_time_is_nothing_to_compare_with() -> None:
    server = Figures("server", 1, 1.0, 150.0, 1.0, 2.0, 3.0, 0.0, 4.0, 0, 0)
    relay = replace(server, name="relay", cpu_us_per_turn=0.0)
    with pytest.raises(BenchFailed, match="play longer"):
        shown(Result(relay, (server,), rooms=1, seats=3, rate=1.0, relay_bytes_per_turn=800.0))


def test_an_option_of_the_other_game_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--deck", "full"]) == 2
    assert "--deck is an option of the four-player game" in capsys.readouterr().err


def test_a_rate_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--json", "--rooms", "4", "--seconds", "2", "--rate", "50"]) == 0
    told = json.loads(capsys.readouterr().out)
    for figures in (told["relay"], *told["servers"]):
        assert 0 < figures["turns_per_second"] <= 55


def test_a_table_for_people() -> None:
    relay = Figures("relay", 1000, 500.0, 100.0, 1.0, 2.0, 3.0, 0.0, 4.0, 30, 0)
    server = replace(relay, name="server", cpu_us_per_turn=150.0)
    console = Console(file=io.StringIO(), width=100)
    with console.capture() as said:
        console.print(shown(Result(relay, (server,), rooms=10, seats=3, rate=None, relay_bytes_per_turn=800.0)))
    last_row = next(line for line in said.get().splitlines() if "relay = 1" in line)
    assert "1.00" in last_row
    assert "1.50" in last_row


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
