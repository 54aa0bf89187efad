"""The viewer: whom a match is shown to, a seat or the public (rules §12)."""

from enum import Enum
from typing import Final, TypeAlias, final

from erqiwang_core.units import Seat


@final
class Public(Enum):
    """Whoever looks on and holds no seat."""

    PUBLIC = "public"


PUBLIC: Final = Public.PUBLIC
"""The public. It is told what every seat is told alike, and nothing that only some seats are told."""

Viewer: TypeAlias = Seat | Public
