"""Make the site of the documents in build/site: `make docs`.

The documents are copied to build/documents in the folders in which they lie, so that a link between two of them leads to the same
place on the site as in the repository. Beside them come the contents and the reference of the schemas. Sphinx (docs/conf.py)
then makes pages of them; a warning, such as a link that leads nowhere, is an error.
"""

import argparse
import os.path
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from sphinx.cmd.build import build_main

import scripts.api_reference as api

ROOT: Final = Path(__file__).resolve().parents[1]
LAID_OUT: Final = "documents"
SITE: Final = "site"
_FOLDERS: Final = ("", "docs", "docs/decisions", "deploy")
_DECISIONS: Final = PurePosixPath("docs/decisions/index.md")
_LINK: Final = re.compile(r"\[(?P<text>[^\[\]]*)\]\((?![a-z]+:|#)(?P<to>[^)\s#]+)(?P<section>#[^)\s]*)?\)")
_FENCE: Final = re.compile(r"^( *)(```+|~~~+).*?^\1\2", re.MULTILINE | re.DOTALL)
# A line that breaks inside a Chinese sentence: HTML would show the break as a space.
_BREAK: Final = re.compile(
    r"(?<=[\u3001-\u303f\u4e00-\u9fff\uff00-\uffef”])\n *(?=[\u3001-\u303f\u4e00-\u9fff\uff00-\uffef“`\[])"
)
# Who reads what, in the order of the contents. A document that is not named here stands among `_OTHERS`.
AUDIENCES: Final = {
    "Start": ("README",),
    "Play": ("docs/rules", "docs/table"),
    "Integrate": (
        "docs/platforms",
        "docs/languages",
        "docs/clients",
        "docs/gateway",
        "docs/edge",
        "docs/packets",
        "docs/errors",
        "docs/discovery",
        "docs/testing",
        "api/index",
    ),
    "Study": ("docs/study",),
    "Operate": (
        "docs/operations",
        "docs/deploying",
        "deploy/README",
        "docs/configuration",
        "docs/sizing",
        "docs/scaling",
        "docs/nodes",
        "docs/upgrading",
        "docs/hardening",
        "docs/threat-model",
        "docs/observing",
        "docs/metrics",
        "docs/runbook",
        "docs/load",
    ),
    "Develop": (
        "docs/architecture",
        "docs/adding",
        "docs/players",
        "docs/simulating",
        "docs/decisions/index",
        "CONTRIBUTING",
        "SECURITY",
        "CHANGELOG",
    ),
}
_OTHERS: Final = "More"
_CHINESE: Final = "中文"
_CONTENTS: Final = """# Documents

The documents of erqiwang, the game server for 二七王, by who reads them. Search looks through all of them, English and Chinese.

中文文档列在最后的“中文”一栏；搜索不分语言。

"""


def documents() -> list[PurePosixPath]:
    """Every document of the repository, by its path."""
    found = (path for folder in _FOLDERS for path in (ROOT / folder).glob("*.md"))
    return sorted(PurePosixPath(path.relative_to(ROOT).as_posix()) for path in found)


def contents() -> dict[str, list[str]]:
    """The pages of each audience, in order, without their endings. Decisions stand on a page of their own."""
    names = [path.with_suffix("").as_posix() for path in documents() if path.parent.name != "decisions"]
    there = {*names, "api/index", "docs/decisions/index"}
    english = {title: [name for name in listed if name in there] for title, listed in AUDIENCES.items()}
    named = {name for listed in english.values() for name in listed}
    chinese = [f"{name}.zh" for listed in english.values() for name in listed if f"{name}.zh" in there]
    chinese += [name for name in names if name.endswith(".zh") and name not in chinese]
    others = [name for name in names if name not in named and name not in chinese]
    return english | {_OTHERS: others, _CHINESE: chinese}


def lay_out(folder: Path) -> None:
    """Write everything that Sphinx makes pages of into a folder."""
    for path in documents():
        text = (ROOT / path).read_text(encoding="utf-8")
        _write(folder / path, linked(path, text))
        for source in _sources(path, text):
            (folder / source).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / source, folder / source)
    lists = (
        f"```{{toctree}}\n:caption: {title}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n\n"
        for title, names in contents().items()
        if names
    )
    _write(folder / "index.md", _CONTENTS + "".join(lists))
    _write(folder / _DECISIONS, "# Decisions\n\n```{toctree}\n:glob:\n\n0*\n```\n")
    for name, text in api.pages().items():
        _write(folder / "api" / name, text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def linked(path: PurePosixPath, text: str) -> str:
    """The text of a document with its links and Chinese lines as the site has them. Blocks of code are left as they are."""
    return "".join(
        part if is_code else _BREAK.sub("", _LINK.sub(lambda link: _shown(path, link), part))
        for part, is_code in _parts(text)
    )


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it is a block of code."""
    place = 0
    for block in _FENCE.finditer(text):
        yield text[place : block.start()], False
        yield block.group(), True
        place = block.end()
    yield text[place:], False


def _shown(path: PurePosixPath, link: re.Match[str]) -> str:
    """A link of the document at `path` as the site has it: to a page, to the reference, or to a copy of a file.

    The site has no folders: of a link to one without a page its text is left.
    """
    to = _page_of(path, link["to"])
    if to is None:
        return link["text"]
    address = link["to"] if to in documents() else PurePosixPath(os.path.relpath(to, path.parent)).as_posix()
    section = link["section"] or "" if to in documents() else ""
    return f"[{link['text']}]({address}{section})"


def _page_of(path: PurePosixPath, link: str) -> PurePosixPath | None:
    """The document that a link leads to, or the file that the site has a copy of; None for another folder."""
    to = PurePosixPath(os.path.normpath(path.parent / link))
    if to.is_relative_to(f"proto/{api.FOLDER}"):
        return PurePosixPath("api", "index.md" if to.suffix == "" else f"{to.stem}.md")
    if to == _DECISIONS.parent:
        return _DECISIONS
    # A package is shown by its first module.
    for shown in (to / "__init__.py", to):
        if (ROOT / shown).is_file():
            return shown
    if (ROOT / to).is_dir():
        return None
    sys.exit(f"{path}: {link} leads to nothing")


def _sources(path: PurePosixPath, text: str) -> Iterator[PurePosixPath]:
    """The files that a document leads to and that are no documents."""
    made = {PurePosixPath("api"), _DECISIONS.parent}
    for part, is_code in _parts(text):
        for link in () if is_code else _LINK.finditer(part):
            to = _page_of(path, link["to"])
            if to is not None and to not in documents() and to.parent not in made:
                yield to


def main() -> None:
    """Lay the documents out and make the site anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "build", help="the folder for `documents` and `site`")
    build: Path = parser.parse_args().to
    for made in (LAID_OUT, SITE):
        shutil.rmtree(build / made, ignore_errors=True)
    lay_out(build / LAID_OUT)
    doctrees = str(build / "doctrees")
    options = [
        "-q",
        "-n",
        "-W",
        "--keep-going",
        "-E",
        "-j",
        "2",
        "-b",
        "html",
        "-d",
        doctrees,
        "-c",
        str(ROOT / "docs"),
    ]
    status = build_main([*options, str(build / LAID_OUT), str(build / SITE)])
    if status != 0:
        sys.exit(status)
    print(f"The site begins at {build / SITE / 'index.html'}")


if __name__ == "__main__":
    main()
