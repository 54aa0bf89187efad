"""What a command loads: the module of the one that is asked for, and no library of the tools for a server."""

import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

from erqiwang_grpc.commands import SUBCOMMANDS, Subcommand

REPOSITORY = Path(__file__).parents[2]

_LOADED = """
import sys
from erqiwang_grpc.__main__ import main
try:
    main({arguments!r})
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""
_WITHOUT = """
import sys
sys.modules[{library!r}] = None
from erqiwang_grpc.__main__ import main
sys.exit(main({arguments!r}))
"""


def ran(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )


def loaded(*arguments: str) -> set[str]:
    """The modules that a fresh process has loaded after this command."""
    return set(ran(_LOADED.format(arguments=arguments)).stderr.split())


def of_tools(modules: set[str]) -> set[str]:
    return {each for each in modules if each.startswith(("erqiwang_grpc.tools", "rich", "psutil"))}


def test_a_server_loads_no_tool_and_nothing_that_only_some_servers_need() -> None:
    modules = loaded("serve", "--help")
    assert "erqiwang_grpc.commands.serve" in modules
    assert not of_tools(modules)
    assert not modules & {"aiohttp", "cryptography", "erqiwang_core.players", "prometheus_client"}


def test_an_edge_loads_no_room_and_no_store() -> None:
    modules = loaded("edge", "--help")
    assert {"erqiwang_grpc.commands.edge", "aiohttp"} <= modules
    assert not of_tools(modules)
    assert not {
        each for each in modules if each.startswith(("erqiwang_grpc.rooms", "erqiwang_grpc.rpc", "erqiwang_grpc.store"))
    }


def test_a_tool_is_found_where_one_is_loaded() -> None:
    assert {"erqiwang_grpc.tools.bench.command", "rich", "psutil"} <= of_tools(loaded("bench", "--help"))


@pytest.mark.parametrize("subcommand", SUBCOMMANDS, ids=lambda each: each.name)
def test_every_subcommand_is_where_the_table_says(subcommand: Subcommand) -> None:
    parser = ArgumentParser()
    subcommand.add_arguments(parser)
    assert callable(parser.get_default("run")) or "action" in parser.format_usage()


def test_help_names_every_subcommand_and_loads_none() -> None:
    program = _LOADED.format(arguments=("--help",))
    result = ran(program)
    for subcommand in SUBCOMMANDS:
        assert f"    {subcommand.name} " in result.stdout
        assert subcommand.module not in result.stderr.split()


@pytest.mark.parametrize(
    ("command", "library", "extra"),
    [("play", "rich", "tools"), ("bench", "psutil", "tools"), ("edge", "aiohttp", "edge")],
)
def test_a_subcommand_without_its_library_says_what_to_install(command: str, library: str, extra: str) -> None:
    result = ran(_WITHOUT.format(library=library, arguments=(command, "--help")))
    assert result.returncode == 2
    said = f"erqiwang {command} needs {library}, which is not installed: pip install 'erqiwang-grpc[{extra}]'\n"
    assert result.stderr == said
