"""The viewer of a match: a seat, or the public (rules §12)."""

from enum import Enum
from typing import Final, TypeAlias, final

from erqiwang_core.units import Seat


@final
class Public(Enum):
    """The type of `PUBLIC`: everybody who watches without a seat."""

    PUBLIC = "public"


PUBLIC: Final = Public.PUBLIC
"""The public. It is told only what all seats are told, never what only some seats are told."""

Viewer: TypeAlias = Seat | Public
