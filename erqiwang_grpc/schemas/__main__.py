"""Print the folder of the schemas."""

import sys

from erqiwang_grpc.schemas import FOLDER

if not (FOLDER / "proto").exists():
    sys.exit("these are the sources: the schemas are in proto/ of the repository, and the cards in docs/cards.json")
print(FOLDER)
