"""Hold each Chinese document (`NAME.zh.md`) against the English one that it translates (`NAME.md`).

A Chinese document ends with a comment that has a digest of each section of the English one as it was when it was translated.
`--check` names the sections that have changed since, and where both are built alike, those in which the number of code blocks or
of rows of tables differs. Translate what is named, and run `python -m scripts.twins docs/NAME.zh.md`, which writes the comment anew.
"""

import argparse
import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final, final

ROOT: Final = Path(__file__).resolve().parents[1]
GENERATED: Final = frozenset({Path("docs/errors.zh.md")})
"""Made together with its English twin by scripts/errors.py, which sees to it itself."""
ARRANGED_OTHERWISE: Final = frozenset({Path("README.zh.md"), Path("docs/rules.zh.md")})
"""Only the digests are compared: the readme has sections of its own, and the rules have more words to explain in one language
than in the other (tests/rules/test_rules_documents.py compares the two)."""
_HEADING: Final = re.compile(r"^(#{1,3}) +(.+?) *$")
_FENCE: Final = re.compile(r"^ *(```|~~~)")
_ROW: Final = re.compile(r"^ *\|")
_MARKER: Final = re.compile(r"\n*<!-- Translates [^\n]*\n((?:.*\n)*?)-->\n?\Z")
_LINE: Final = re.compile(r"^([0-9a-f]{8}) (.+)$", re.MULTILINE)
_TOP: Final = "(before the first heading)"


@final
@dataclass(frozen=True, slots=True)
class Section:
    """A heading of the first three levels, and all below it until the next."""

    title: str
    level: int
    digest: str
    """Of its words: where its lines break does not matter."""
    blocks: int
    """How many code blocks it has."""
    rows: int
    """How many lines of tables it has."""


def sections(text: str) -> list[Section]:
    """The sections of a document, without the comment of a Chinese one."""
    found: list[tuple[str, int, list[str]]] = [(_TOP, 0, [])]
    in_code = False
    for line in _MARKER.sub("\n", text).split("\n"):
        in_code ^= _FENCE.match(line) is not None
        heading = None if in_code else _HEADING.match(line)
        if heading is not None:
            found.append((heading.group(2), len(heading.group(1)), []))
        found[-1][2].append(line)
    return [_section(title, level, lines) for title, level, lines in found if " ".join(lines).strip()]


def _section(title: str, level: int, lines: Sequence[str]) -> Section:
    words = " ".join(" ".join(lines).split())
    fences = sum(_FENCE.match(line) is not None for line in lines)
    rows = sum(_ROW.match(line) is not None for line in lines)
    return Section(title, level, hashlib.sha256(words.encode()).hexdigest()[:8], fences // 2, rows)


def twins() -> list[Path]:
    """The Chinese documents that are translated by hand, by their paths in the repository."""
    found = (path.relative_to(ROOT) for folder in (ROOT, ROOT / "docs") for path in folder.glob("*.zh.md"))
    return sorted(path for path in found if path not in GENERATED)


def english(twin: Path) -> Path:
    """The document that a Chinese one translates."""
    return twin.with_name(twin.name.replace(".zh.md", ".md"))


def marker(twin: Path, source: str) -> str:
    """The comment for the end of a Chinese document whose translation is complete."""
    lines = "".join(f"{each.digest} {each.title}\n" for each in sections(source))
    return f"\n<!-- Translates {english(twin).name} as it was then. After a change: python -m scripts.twins {twin}\n{lines}-->\n"


def faults(twin: Path, source: str, translation: str) -> Iterator[str]:
    """What is to be translated, or differs in how it is built."""
    then = {title: digest for digest, title in _LINE.findall(_kept(translation))}
    now = {each.title: each.digest for each in sections(source)}
    yield from (f"“{title}” is new" for title in now if title not in then)
    yield from (f"“{title}” has changed" for title in now if then.get(title, now[title]) != now[title])
    yield from (f"“{title}” is gone" for title in then if title not in now)
    if twin not in ARRANGED_OTHERWISE:
        yield from _built_otherwise(sections(source), sections(translation))


def _kept(translation: str) -> str:
    found = _MARKER.search(translation)
    return "" if found is None else found.group(1)


def _built_otherwise(source: Sequence[Section], translation: Sequence[Section]) -> Iterator[str]:
    for one, other in zip_longest(source, translation):
        if one is None or other is None or one.level != other.level:
            names = (each.title if each is not None else "nothing" for each in (one, other))
            yield "where the English has “{}” the Chinese has “{}”".format(*names)
            return
    for one, other in zip(source, translation, strict=True):
        if (one.blocks, one.rows) != (other.blocks, other.rows):
            yield (
                f"“{one.title}” has {one.blocks} code blocks and {one.rows} lines of tables, "
                f"“{other.title}” {other.blocks} and {other.rows}"
            )


def renew(twin: Path) -> None:
    """Write the comment of a Chinese document anew: its translation is complete."""
    path = ROOT / twin
    text = _MARKER.sub("\n", path.read_text(encoding="utf-8")).rstrip("\n") + "\n"
    path.write_text(text + marker(twin, (ROOT / english(twin)).read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    """Write comments anew, or with `--check` say what is to be translated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when something is to be translated")
    parser.add_argument("twin", nargs="*", type=Path, help="documents whose translation is complete now")
    arguments = parser.parse_args()
    named: list[Path] = [path.resolve().relative_to(ROOT) for path in arguments.twin]
    if unknown := [path for path in named if path not in twins()]:
        parser.error(f"no document translated by hand: {', '.join(map(str, unknown))}")
    if not arguments.check:
        for twin in named:
            renew(twin)
        return
    found = False
    for twin in named or twins():
        texts = ((ROOT / path).read_text(encoding="utf-8") for path in (english(twin), twin))
        if here := list(faults(twin, *texts)):
            found = True
            print(f"{twin} is behind {english(twin)}:", *here, sep="\n  ", file=sys.stderr)
            print(f"  Translate it, then run: python -m scripts.twins {twin}", file=sys.stderr)
    sys.exit(found)


if __name__ == "__main__":
    main()
