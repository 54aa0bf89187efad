"""Flags, then variables, then the file, then defaults: what holds, where it comes from, and what is refused."""

import re
import tomllib
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.commands import SUBCOMMANDS
from erqiwang_grpc.commands.configuration import CONFIGURABLE, Configuration
from tests.service.processes import serving

FILE: Final = """
[serve]
host = "::1"
metrics-port = 9464
in-memory = true

[serve.limits]
rooms = 77

[edge]
server = ["10.0.0.1:50051", "10.0.0.2:50051"]
trusted-proxy = ["10.0.0.0/8"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "erqiwang.toml"
    path.write_text(FILE)
    return path


Shown = Callable[..., dict[str, tuple[str, str]]]


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Shown:
    """What `erqiwang config` prints of each key: the value as it is written, and where it comes from."""

    def of(*arguments: str) -> dict[str, tuple[str, str]]:
        assert main(["config", *arguments]) == 0
        found: dict[str, tuple[str, str]] = {}
        for line in capsys.readouterr().out.splitlines():
            if line and not line.startswith("["):
                entry, _, source = line.rpartition("  # ")
                key, _, value = entry.partition(" = ")
                found[key] = (value, source)
        return found

    return of


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is said of a configuration with which the subcommand does not start, nor is shown."""
    assert main([*arguments]) == 2
    said = capsys.readouterr().err
    assert main(["config", *arguments]) == 2
    assert capsys.readouterr().err == said.replace(f"erqiwang {arguments[0]}: ", "erqiwang config: ")
    return said.removeprefix(f"erqiwang {arguments[0]}: ").strip()


def test_each_source_comes_before_the_next(file: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERQIWANG_SERVE_METRICS_PORT", "9000")
    monkeypatch.setenv("ERQIWANG_SERVE_HOST", "0.0.0.0")
    held = shown("serve", "--config", str(file), "--host", "127.0.0.2")
    assert held["host"] == ('"127.0.0.2"', "--host")
    assert held["metrics-port"] == ("9000", "ERQIWANG_SERVE_METRICS_PORT")
    assert held["rooms"] == ("77", str(file))
    assert held["port"] == ("50051", "default")


def test_the_file_is_named_by_a_variable_too(file: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERQIWANG_CONFIG", str(file))
    assert shown("serve")["rooms"] == ("77", str(file))
    other = file.with_name("other.toml")
    other.write_text("[serve.limits]\nrooms = 78\n")
    assert shown("serve", "--config", str(other))["rooms"] == ("78", str(other))


def test_a_switch_is_turned_off_by_what_comes_before(file: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown("serve", "--config", str(file))["in-memory"] == ("true", str(file))
    monkeypatch.setenv("ERQIWANG_SERVE_IN_MEMORY", "false")
    assert shown("serve", "--config", str(file))["in-memory"] == ("false", "ERQIWANG_SERVE_IN_MEMORY")
    assert shown("serve", "--config", str(file), "--in-memory")["in-memory"][0] == "true"
    monkeypatch.delenv("ERQIWANG_SERVE_IN_MEMORY")
    assert shown("serve", "--config", str(file), "--no-in-memory")["in-memory"][0] == "false"


def test_a_list_replaces_the_list_of_what_comes_after(
    file: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("edge", "--config", str(file))
    assert shown(*given)["server"] == ('["10.0.0.1:50051", "10.0.0.2:50051"]', str(file))
    monkeypatch.setenv("ERQIWANG_EDGE_TRUSTED_PROXY", "192.168.0.0/16, ::1/128")
    assert shown(*given)["trusted-proxy"][0] == '["192.168.0.0/16", "::1/128"]'
    assert shown(*given, "--trusted-proxy", "127.0.0.0/8")["trusted-proxy"] == ('["127.0.0.0/8"]', "--trusted-proxy")


def test_an_empty_variable_is_none(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERQIWANG_SERVE_PORT", "")
    assert shown("serve")["port"] == ("50051", "default")


@pytest.mark.parametrize("subcommand", CONFIGURABLE)
def test_what_is_printed_is_a_file_with_which_the_same_holds(
    subcommand: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", subcommand, "--config", str(file)]) == 0
    printed = capsys.readouterr().out
    again = tmp_path / "printed.toml"
    again.write_text(printed)
    assert main(["config", subcommand, "--config", str(again)]) == 0
    assert tomllib.loads(capsys.readouterr().out) == tomllib.loads(printed)


@pytest.mark.parametrize("subcommand", CONFIGURABLE)
def test_every_flag_can_be_configured(subcommand: str, shown: Shown) -> None:
    parser = ArgumentParser()
    next(each for each in SUBCOMMANDS if each.name == subcommand).add_arguments(parser)
    configuration: Configuration = parser.get_default("configuration")
    flags = {each.flag for each in configuration.settings}
    assert flags == {
        option
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--") and not option.startswith("--no-")
    } - {"--help", "--config"}
    assert len({each.variable for each in configuration.settings}) == len(flags)
    assert {key.removeprefix("# ").partition(" is ")[0] for key in shown(subcommand)} == {
        each.key for each in configuration.settings
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[serve]\nprot = 1", "FILE: serve.prot is unknown: is serve.port meant?"),
        ("[serve]\nrooms = 1", "FILE: serve.rooms is unknown: is serve.limits.rooms meant?"),
        ("[serve.limit]\nrooms = 1", "FILE: serve.limit is unknown"),
        ("[sever]\nport = 1", "FILE: [sever] is no table of it: is serve meant?"),
        ("port = 1", "FILE: [port] is no table of it"),
        ("serve = 1", "FILE: serve is unknown"),
        ("[serve]\nport = 65536", "FILE: serve.port: '65536' is no whole number from 0 to 65535"),
        ("[serve]\nport = true", "FILE: serve.port: one text or number is wanted"),
        ("[serve]\nport = [1]", "FILE: serve.port: one text or number is wanted"),
        ("[serve]\nport = 2026-01-01", "FILE: serve.port: one text or number is wanted"),
        ('[serve]\nin-memory = "yes"', "FILE: serve.in-memory: true or false is wanted"),
        (
            "[serve.limits]\ncommands-per-secnod = 1",
            "FILE: serve.limits.commands-per-secnod is unknown: is serve.limits.commands-per-second meant?",
        ),
        (
            "[serve.limits]\nmetrics-prot = 1",
            "FILE: serve.limits.metrics-prot is unknown: is serve.metrics-port meant?",
        ),
        ("[serve]\nlimits = 1", "FILE: serve.limits is unknown"),
        ("[serve]\nport = ", "FILE is no TOML: Invalid value (at end of document)"),
    ],
)
def test_what_a_file_may_not_say(text: str, why: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(text)
    assert refused(capsys, "serve", "--config", str(file)).startswith(why.replace("FILE", str(file)))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[edge]\nserver = "10.0.0.1:50051"', "edge.server: a list is wanted"),
        ("[edge]\ntrusted-proxy = [true]", "edge.trusted-proxy: a list of texts or numbers is wanted"),
        ('[edge]\ntrusted-proxy = ["10.0.0.1/8"]', "edge.trusted-proxy: 10.0.0.1/8 has host bits set"),
    ],
)
def test_what_a_file_may_not_say_of_lists(text: str, why: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(text)
    assert refused(capsys, "edge", "--config", str(file)) == f"{file}: {why}"


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.toml"
    assert refused(capsys, "serve", "--config", str(path)) == f"{path}: No such file or directory"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("PROT", "1", "ERQIWANG_SERVE_PROT is no variable of serve: is ERQIWANG_SERVE_PORT meant?"),
        ("CONFIG", "x", "ERQIWANG_SERVE_CONFIG is no variable of serve: is ERQIWANG_CONFIG meant?"),
        ("PORT", "x", "ERQIWANG_SERVE_PORT: 'x' is no whole number from 0 to 65535"),
        ("IN_MEMORY", "yes", "ERQIWANG_SERVE_IN_MEMORY: 'yes' is neither true nor false"),
    ],
)
def test_what_a_variable_may_not_say(
    name: str, text: str, why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(f"ERQIWANG_SERVE_{name}", text)
    assert refused(capsys, "serve") == why


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ERQIWANG_EDGE_CONFIG", "ERQIWANG_CONFIG"),
        ("ERQIWANG_EDGE_CONFG", "ERQIWANG_CONFIG"),
        ("ERQIWANG_EDGE_GATEWAY_KEY", "ERQIWANG_GATEWAY_KEY"),
        ("ERQIWANG_EDGE_KEYFILE", "ERQIWANG_EDGE_KEY_FILE"),
    ],
)
def test_a_variable_that_is_not_called_after_the_subcommand_may_be_meant(
    name: str, meant: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, "x")
    assert refused(capsys, "edge") == f"{name} is no variable of edge: is {meant} meant?"


def test_what_kubernetes_says_of_a_service_is_nobodys_variable(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service of the name `erqiwang` gives its pods these."""
    monkeypatch.setenv("ERQIWANG_SERVICE_HOST", "10.0.0.9")
    monkeypatch.setenv("ERQIWANG_PORT", "tcp://10.0.0.9:50051")
    assert shown("serve")["port"] == ("50051", "default")


def test_what_only_a_variable_may_hold_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ERQIWANG_STORE", "postgresql://me:hunter2@db/rooms")
    monkeypatch.setenv("ERQIWANG_GATEWAY_KEY", "erqg_hunter2")
    file = tmp_path / "erqiwang.toml"
    file.write_text('[serve]\nstore = "elsewhere"\n[edge]\nkey-file = "elsewhere"\n')
    for subcommand in CONFIGURABLE:
        assert main(["config", subcommand, "--config", str(file)]) == 0
    said = capsys.readouterr().out
    assert "hunter2" not in said
    assert "elsewhere" not in said, "a variable comes before the file"
    assert "# store is in a variable  # ERQIWANG_STORE" in said
    assert "# key-file is in a variable  # ERQIWANG_GATEWAY_KEY" in said


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@db/rooms",
        "postgresql://me:hun@ter2@db/rooms",
        "postgresql://me:hunter2/hunter2@db/rooms",
        "postgresql://me:hunter2?hunter2#hunter2@db/rooms",
        "postgresql://me@db/rooms?password=hunter2",
        "postgresql://db/rooms?sslpassword=hunter2&sslmode=require",
    ],
)
def test_a_password_of_a_store_is_refused_and_not_shown(
    url: str, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(f"[serve]\nstore = '{url}'\n")
    for given in (("--store", url), ("--config", str(file))):
        said = refused(capsys, "serve", *given)
        assert said.startswith("a password in --store is seen by everybody")
        assert "ter2" not in said
    monkeypatch.setenv("ERQIWANG_SERVE_STORE", url)
    assert "ter2" not in refused(capsys, "serve")


def test_a_url_without_a_password_is_shown(shown: Shown) -> None:
    url = "postgresql://me@db/rooms?sslmode=require"
    assert shown("serve", "--store", url)["store"][0] == f'"{url}"'


MISTYPED: Final = (
    "postgresql:/u:hunter2@127.0.0.1:1/db",
    "postgres//u:hunter2@db/rooms",
    "postgresql:u:hunter2@db/rooms",
    "postgresql;//u:hunter2@db/rooms",
    "postgresql/u:hunter2@db/rooms",
    "u:hunter2@127.0.0.1:1/db",
    "u:hunter2/rooms",
    "://u:hunter2@db/rooms",
    "//u:hunter2@db/rooms",
    "/postgresql://u:hunter2@db/rooms",
    '"postgresql://u:hunter2@db/rooms"',
    " postgresql://u:hunter2@db/rooms",
    "jdbc:postgresql://u:hunter2@db/rooms",
    "db/rooms?password=hunter2",
)
"""Addresses of databases in which something is wrong."""


@pytest.mark.parametrize("text", MISTYPED)
@pytest.mark.parametrize("variable", ["ERQIWANG_STORE", "ERQIWANG_SERVE_STORE", "ERQIWANG_SERVE_DATA"])
def test_a_mistyped_url_is_no_folder_and_is_not_shown(
    variable: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(variable, text)
    said = refused(capsys, "serve", "--port", "0")
    assert re.search("it looks like a mistyped URL of a database|keywords such as dbname=", said)
    assert "hunter2" not in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["host=db password=hunter2 dbname=rooms", "password = 'hun ter2'", "dbname=rooms"])
def test_a_database_by_keywords_is_refused_and_not_repeated(
    text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = refused(capsys, "serve", "--store", text)
    assert "keywords such as dbname=" in said
    assert "ter2" not in said


def test_what_may_be_a_secret_is_told_without_it_and_only_in_a_comment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file in which something is left out would say something else."""
    players = ("--packet-players", "https://me:hunter2@players.example/seat?key=hunter2#hunter2")
    told = '# packet-players is told without what may be a secret: "https://…@players.example/seat?…"'
    assert main(["config", "edge", *players]) == 0
    said = capsys.readouterr().out
    assert f"{told}  # {players[-2]}" in said
    assert "hunter2" not in said
    again = tmp_path / "again.toml"
    again.write_text(said)
    assert main(["config", "edge", "--config", str(again)]) == 0
    assert "players.example" not in capsys.readouterr().out


def test_a_callback_without_a_secret_is_shown(shown: Shown) -> None:
    url = "https://players.example/seat"
    assert shown("edge", "--packet-players", url)["packet-players"][0] == f'"{url}"'


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("serve --tls-cert x.pem", "--tls-cert and --tls-key go together"),
        ("serve --tls-key x.pem", "--tls-cert and --tls-key go together"),
        ("serve --client-ca x.pem", "--client-ca goes with --tls-cert and --tls-key"),
        ("serve --in-memory --store postgresql://h/db", "--in-memory keeps rooms nowhere: leave it out, or --store"),
        ("serve --new-rooms --store postgresql://h/db", "--new-rooms is for a folder whose rooms are gone"),
        ("serve --traces-endpoint http://127.0.0.1:4317", "--traces-endpoint is for --traces otlp: give that too"),
        ("serve --store postgresql://h:x/db", "the URL of the database cannot be read: a port in it is no number"),
        ("serve --store mysql://me:hunter2@db/rooms", "mysql:// is no store that this program knows"),
        ("edge --tls-cert x.pem", "--tls-cert and --tls-key go together"),
        ("edge --client-cert x.pem", "--client-cert and --client-key go together"),
        ("edge --client-cert x.pem --client-key x.pem", "--client-cert goes with --ca"),
        ("edge --packet-players http://:8080/seat", "--packet-players: the callback has an address without a host"),
    ],
)
def test_what_does_not_fit_together_is_refused_by_both(
    given: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, *given.split()).startswith(why)


def test_what_does_not_fit_together_may_come_from_several_places(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("[serve]\ntls-cert = 'x.pem'\nnew-rooms = true\n")
    assert refused(capsys, "serve", "--config", str(file)) == "--tls-cert and --tls-key go together"
    monkeypatch.setenv("ERQIWANG_SERVE_TLS_KEY", "x.pem")
    assert main(["config", "serve", "--config", str(file)]) == 0, "whether the files are there is seen at the start"
    capsys.readouterr()
    monkeypatch.setenv("ERQIWANG_STORE", "postgresql://me:hunter2@h/db")
    assert refused(capsys, "serve", "--config", str(file)).startswith("--new-rooms is for a folder")
    monkeypatch.setenv("ERQIWANG_STORE", "postgresql://me:hunter2@h:x/db")
    assert refused(capsys, "serve", "--config", str(file)).startswith("the URL of the database cannot be read")


async def test_a_server_runs_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "erqiwang.toml"
    file.write_text("[serve]\nin-memory = true\n")
    async with serving(tmp_path, "--config", str(file)):
        assert (tmp_path / "signing-keys.json").exists()
        assert not (tmp_path / "rooms.sqlite").exists()


def test_the_values_reach_the_subcommand(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = ArgumentParser()
    next(each for each in SUBCOMMANDS if each.name == "serve").add_arguments(parser)
    monkeypatch.setenv("ERQIWANG_SERVE_LAME_DUCK", "1.5")
    given = parser.parse_args(["--config", str(file), "--port", "0"])
    ran: list[Namespace] = []

    def run(arguments: Namespace) -> int:
        ran.append(arguments)
        return 7

    assert given.run.__class__(given.configuration, run)(given) == 7
    (held,) = ran
    assert (held.port, held.lame_duck, held.rooms, held.host, held.keep_days) == (0, 1.5, 77, "::1", None)
