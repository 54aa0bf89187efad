"""Where a subcommand's values come from: its flags, then variables, then a TOML file, then its defaults.

The names of all three follow from the flags: `--metrics-port` of `serve` is the variable `ERQIWANG_SERVE_METRICS_PORT` and
the key `metrics-port` of the table `[serve]`. A flag of the group `limits` is a key of `[serve.limits]`.
"""

import os
import sys
import tomllib
from argparse import (
    SUPPRESS,
    Action,
    ArgumentParser,
    ArgumentTypeError,
    BooleanOptionalAction,
    Namespace,
)
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final, TypeAlias, final

from erqiwang_grpc.commands.arguments import BadArguments

FILE_VARIABLE: Final = "ERQIWANG_CONFIG"
_PREFIX: Final = "ERQIWANG_"
_REFUSED: Final = 2
"""The exit status for a value that is refused, the same as for a flag."""

Value: TypeAlias = object
"""A value as its flag's parser gives it. The subcommand knows its type."""

Run: TypeAlias = Callable[[Namespace], int]

Check: TypeAlias = Callable[[Namespace, Mapping[str, str]], None]
"""Raises `BadArguments` for values that do not fit together, given the environment. It looks at no file."""


class ConfigurationRefused(Exception):
    """A variable or the file says what cannot be taken. The text is for the operator."""


@final
@dataclass(frozen=True, slots=True)
class FromFlag:
    """A value of the command line."""

    flag: str


@final
@dataclass(frozen=True, slots=True)
class FromVariable:
    """A value of an environment variable."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class InVariable:
    """An environment variable that holds what no flag may hold: a key, or a URL with its password. It is never shown."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class FromFile:
    """A value of the file."""

    path: Path


@final
@dataclass(frozen=True, slots=True)
class ByDefault:
    """The subcommand's own value."""


Source: TypeAlias = FromFlag | FromVariable | InVariable | FromFile | ByDefault


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """A flag that can be configured, under each of its names."""

    action: Action
    subcommand: str
    table: str
    """The table of the file that its key stands in: `serve`, or `serve.limits` for a flag of that group."""
    default: Value

    @property
    def dest(self) -> str:
        """Its name in the parsed arguments."""
        return self.action.dest

    @property
    def flag(self) -> str:
        """The flag, such as `--metrics-port`."""
        return next(each for each in self.action.option_strings if each.startswith("--"))

    @property
    def key(self) -> str:
        """The key in the file, such as `metrics-port`."""
        return self.flag.removeprefix("--")

    @property
    def variable(self) -> str:
        """The environment variable, such as `ERQIWANG_SERVE_METRICS_PORT`."""
        return f"{_PREFIX}{self.subcommand}_{self.key}".upper().replace("-", "_")

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off, and takes no value."""
        return isinstance(self.action, BooleanOptionalAction)

    @property
    def is_list(self) -> bool:
        """Whether it takes several values."""
        return isinstance(self.default, list)

    def parsed(self, text: str) -> Value:
        """The value of a text, by the flag's own parser. Raises `ConfigurationRefused` without the place of the text."""
        parser = self.action.type
        try:
            value: Value = parser(text) if callable(parser) else text
        except ArgumentTypeError as refused:
            raise ConfigurationRefused(str(refused)) from refused
        except ValueError as refused:
            raise ConfigurationRefused(f"{text!r} is no value of {self.flag}") from refused
        if self.action.choices is not None and value not in self.action.choices:
            raise ConfigurationRefused(f"{text!r} is none of {', '.join(map(str, self.action.choices))}")
        return value

    def of_variable(self, text: str) -> Value:
        """The value of a variable. Several values have commas between. Raises `ConfigurationRefused` without the place."""
        if self.is_switch:
            if text not in _SWITCHED:
                raise ConfigurationRefused(f"{text!r} is neither true nor false")
            return _SWITCHED[text]
        if self.is_list:
            return [self.parsed(each.strip()) for each in text.split(",")]
        return self.parsed(text)

    def of_key(self, value: object) -> Value:
        """The value of a key of the file. Raises `ConfigurationRefused` without the place."""
        match value:
            case bool() if self.is_switch:
                return value
            case list() if self.is_list:
                return [self.parsed(_scalar(each)) for each in value]
            case str() | int() | float() if not (self.is_switch or self.is_list or isinstance(value, bool)):
                return self.parsed(str(value))
            case _:
                wanted = "true or false" if self.is_switch else "a list" if self.is_list else "one text or number"
                raise ConfigurationRefused(f"{wanted} is wanted")


_SWITCHED: Final = {"true": True, "1": True, "false": False, "0": False}


def _scalar(value: object) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    raise ConfigurationRefused("a list of texts or numbers is wanted")


@final
@dataclass(frozen=True, slots=True)
class Held:
    """A setting, the value that holds, and where it comes from."""

    setting: Setting
    value: Value
    source: Source


@final
@dataclass(frozen=True, slots=True)
class Configuration:
    """What of a subcommand can be configured."""

    subcommand: str
    settings: tuple[Setting, ...]
    held_by_variables: Mapping[str, str]
    """The variables that hold what a flag only names, by the flag's name in the parsed arguments."""
    check: Check

    def holds(self, given: Namespace, environment: Mapping[str, str] = os.environ) -> Iterator[Held]:
        """Each setting with the value that holds, from flags that were given, variables, the file and defaults.

        Raises `ConfigurationRefused`.
        """
        named = given.config or environment.get(FILE_VARIABLE)
        path = Path(named) if named else None
        from_variables = self._variables(environment)
        from_file = {} if path is None else self._file(path)
        for setting in self.settings:
            holder = self.held_by_variables.get(setting.dest)
            if hasattr(given, setting.dest):
                yield Held(setting, getattr(given, setting.dest), FromFlag(setting.flag))
            elif setting.dest in from_variables:
                yield Held(setting, from_variables[setting.dest], FromVariable(setting.variable))
            elif holder is not None and environment.get(holder):
                yield Held(setting, setting.default, InVariable(holder))
            elif path is not None and setting.dest in from_file:
                yield Held(setting, from_file[setting.dest], FromFile(path))
            else:
                yield Held(setting, setting.default, ByDefault())

    def complete(self, given: Namespace, environment: Mapping[str, str] = os.environ) -> Namespace:
        """The arguments with the values that hold. Raises `ConfigurationRefused`, also if they do not fit together."""
        values = {each.setting.dest: each.value for each in self.holds(given, environment)}
        arguments = Namespace(**{**vars(given), **values})
        try:
            self.check(arguments, environment)
        except BadArguments as bad:
            raise ConfigurationRefused(str(bad)) from bad
        return arguments

    def _variables(self, environment: Mapping[str, str]) -> dict[str, Value]:
        """The values of variables. An empty one counts as none."""
        known = {each.variable: each for each in self.settings}
        values: dict[str, Value] = {}
        for name, text in environment.items():
            if not name.startswith(f"{_PREFIX}{self.subcommand.upper()}_") or not text:
                continue
            if name not in known:
                raise ConfigurationRefused(f"{name} is no variable of {self.subcommand}{self._nearest_variable(name)}")
            with _said_in(name):
                values[known[name].dest] = known[name].of_variable(text)
        return values

    def _nearest_variable(self, name: str) -> str:
        """Advice for a variable that is not known. Some variables are not called after the subcommand."""
        own = f"{_PREFIX}{self.subcommand.upper()}_"
        meant = {each: each.removeprefix(_PREFIX) for each in (FILE_VARIABLE, *self.held_by_variables.values())}
        meant |= {each.variable: each.variable.removeprefix(own) for each in self.settings}
        return _nearest(name.removeprefix(own), meant)

    def _file(self, path: Path) -> dict[str, Value]:
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigurationRefused(f"{path}: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigurationRefused(f"{path} is no TOML: {error}") from error
        for name in tables:
            if name not in CONFIGURABLE:
                raise ConfigurationRefused(f"{path}: [{name}] is no table of it{_nearest_key(name, CONFIGURABLE)}")
        known = {f"{each.table}.{each.key}": each for each in self.settings}
        groups = {each.table for each in self.settings}
        values: dict[str, Value] = {}
        for name, value in _keys(self.subcommand, tables.get(self.subcommand, {}), groups):
            if name not in known:
                raise ConfigurationRefused(f"{path}: {name} is unknown{_nearest_key(name, known)}")
            with _said_in(f"{path}: {name}"):
                values[known[name].dest] = known[name].of_key(value)
        return values


CONFIGURABLE: Final = ("serve", "edge")
"""The subcommands that can be configured. One file may hold the tables of both."""


def _keys(table: str, held: object, groups: set[str]) -> Iterator[tuple[str, object]]:
    """The keys of a table and of the tables in it, under their full names."""
    if not isinstance(held, dict):
        yield table, held
        return
    for key, value in held.items():
        name = f"{table}.{key}"
        if name in groups:
            yield from _keys(name, value, groups)
        else:
            yield name, value


def _nearest_key(name: str, known: Iterable[str]) -> str:
    """Advice for a key or table that is not known: the one that looks most like it, in another table too."""
    return _nearest(name.rpartition(".")[2], {each: each.rpartition(".")[2] for each in known})


def _nearest(part: str, known: Mapping[str, str]) -> str:
    """Advice: which of the known names is meant, by the part of it that tells it from others."""
    by_part = {its_part: name for name, its_part in known.items()}
    near = get_close_matches(part, by_part, n=1)
    return f": is {by_part[near[0]]} meant?" if near else ""


@contextmanager
def _said_in(place: str) -> Iterator[None]:
    """Name the place of what is refused."""
    try:
        yield
    except ConfigurationRefused as refused:
        raise ConfigurationRefused(f"{place}: {refused}") from refused


def make_configurable(
    parser: ArgumentParser, subcommand: str, run: Run, check: Check, held_by_variables: Mapping[str, str]
) -> None:
    """Let the flags that the parser has by now be configured too, and `run` be called with the values that hold.

    `check` has seen them then. `held_by_variables` names the variables that hold what a flag only names. Afterwards the
    parser gives a flag only if it was given; `run` is called with all of them.
    """
    settings = tuple(_settings(parser, subcommand))
    configuration = Configuration(subcommand, settings, held_by_variables, check)
    for setting in settings:
        setting.action.default = SUPPRESS
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help=f"TOML file of values for flags that are not given (default: the variable {FILE_VARIABLE}, or none)",
    )
    parser.set_defaults(run=_Configured(configuration, run), configuration=configuration)


def _settings(parser: ArgumentParser, subcommand: str) -> Iterator[Setting]:
    """The flags of a parser, by group. argparse has no public list of them."""
    for group in parser._action_groups:
        table = subcommand if group.title == "options" else f"{subcommand}.{group.title}"
        for action in group._group_actions:
            if action.dest != "help":
                yield Setting(action, subcommand, table, action.default)


@final
@dataclass(frozen=True, slots=True)
class _Configured:
    """Runs a subcommand with the values that hold."""

    configuration: Configuration
    run: Run

    def __call__(self, given: Namespace) -> int:
        try:
            arguments = self.configuration.complete(given)
        except ConfigurationRefused as refused:
            print(f"erqiwang {self.configuration.subcommand}: {refused}", file=sys.stderr)
            return _REFUSED
        return self.run(arguments)
