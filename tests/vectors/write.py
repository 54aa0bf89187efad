"""Write the golden deals again from their scripts: `python -m tests.vectors.write`. What changed is for a reviewer to judge."""

from tests.vectors.rendering import render
from tests.vectors.scripts import FOLDER, parse


def main() -> None:
    """Render every golden deal's file again."""
    for path in sorted(FOLDER.glob("*.txt")):
        path.write_text(render(parse(path.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
