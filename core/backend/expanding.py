"""Writes out what `@dataclass` would generate, so that mypyc compiles it.

mypyc leaves `__init__`, `__eq__` and `__hash__` of a dataclass to `dataclasses`, which generates interpreted functions: a
value is then built no faster than in plain Python, and building values is most of what the core does. So the sources
are compiled from copies in which each frozen dataclass has these written out. They do what the generated ones do.
"""

import ast
from pathlib import Path
from typing import Final

_DECORATOR: Final = "@dataclass(frozen=True, slots=True)"
_EXPANDED: Final = "@dataclass(frozen=True, slots=True, init=False)"


def expand(source: Path) -> None:
    """Rewrite one file, with the methods written out of each of its frozen dataclasses."""
    lines = source.read_text(encoding="utf-8").splitlines()
    classes = [node for node in ast.walk(ast.parse("\n".join(lines))) if isinstance(node, ast.ClassDef)]
    # From the last class up, so that the line numbers of those above stay right.
    for each in sorted(classes, key=lambda node: -node.lineno):
        place = each.lineno - 2
        if lines[place] == _DECORATOR and not _is_particular(each):
            end = _end_of_fields(each)
            lines[end:end] = _methods(each)
            lines[place] = _EXPANDED
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _fields(of: ast.ClassDef) -> list[tuple[str, str, str]]:
    """The name of each field, its type, and its default as ` = …` or an empty text."""
    return [
        (ast.unparse(node.target), ast.unparse(node.annotation), f" = {ast.unparse(node.value)}" if node.value else "")
        for node in of.body
        if isinstance(node, ast.AnnAssign)
    ]


def _is_particular(of: ast.ClassDef) -> bool:
    """Whether `field` says more of a field than its default. Then what `@dataclass` generates stays."""
    return any("field(" in default for _, _, default in _fields(of))


def _end_of_fields(of: ast.ClassDef) -> int:
    """The number of lines up to the first method: the fields and what is said of them."""
    before = [node for node in of.body if not isinstance(node, ast.FunctionDef)]
    assert all(node.end_lineno is not None for node in before)
    return max(node.end_lineno or 0 for node in before)


def _methods(of: ast.ClassDef) -> list[str]:
    fields = _fields(of)
    arguments = "".join(f", {name}: {kind}{default}" for name, kind, default in fields)
    equal = "".join(f" and self.{name} == other.{name}" for name, _, _ in fields)
    values = "".join(f"self.{name}, " for name, _, _ in fields)
    return [
        "",
        f"    def __init__(self{arguments}) -> None:",
        # The class is frozen for everybody else: this is where its fields get their values.
        *(f"        self.{name} = {name}  # type: ignore[misc]  # frozen for all others" for name, _, _ in fields),
        *([] if fields else ["        pass"]),
        "",
        "    def __eq__(self, other: object) -> bool:",
        f"        return self is other or (isinstance(other, {of.name}){equal})",
        "",
        "    def __hash__(self) -> int:",
        f"        return hash(({values}))",
        "",
        # Without it a compiled value can be neither copied nor pickled.
        "    def __reduce__(self) -> tuple[object, tuple[object, ...]]:",
        f"        return {of.name}, ({values})",
        "",
    ]
