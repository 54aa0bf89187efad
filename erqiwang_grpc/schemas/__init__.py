"""The schemas for other languages, in the installed package: `python -m erqiwang_grpc.schemas` prints their folder.

An installed package holds here what a platform generates its stubs from: `proto/` with the schemas, `cards.json` with what each
card is, and `buf.gen.LANGUAGE.yaml`, a template for buf, once a language. In the repository `proto/` and `docs/cards.json`
are the originals; building the package copies them.
"""

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
"""Where the schemas of an installed package lie."""
