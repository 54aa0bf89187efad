"""Styles: how much a player risks, as data."""

from dataclasses import dataclass
from typing import Final, final


@final
@dataclass(frozen=True, slots=True)
class Style:
    """How much a player risks in the bidding."""

    contest: float
    """The chips of a deal by which a bid against others must be expected to gain more than a pass; below 0 a loss."""
    patience: float
    """The chips that a declarer pays more than a surrender costs, to play the deal out."""
    success: float
    """The chance that a strong player gives a bid, at the least, to make it: 0 to 1."""
    success_with_awards: float
    """The same chance, if awards pay for a deal that is lost."""


CAREFUL: Final = Style(contest=0.0, patience=0.0, success=0.5, success_with_awards=0.36)
BOLD: Final = Style(contest=-3.0, patience=8.0, success=0.35, success_with_awards=0.2)
STYLES: Final = {"careful": CAREFUL, "bold": BOLD}
"""The styles by name."""
