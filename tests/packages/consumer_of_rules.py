"""What a user of the core alone writes: who must begin, and why others may not."""

from erqiwang_core import RoomOptions, Seat, ThreePlayer, begin, game_rules
from erqiwang_core.kernel.cards import FULL_DECK, kind
from erqiwang_core.notation import write_card
from erqiwang_core.rules import RULES_VERSION

text: str = write_card(kind(FULL_DECK[0]))
seat: Seat = Seat(0)
print(RULES_VERSION, text, seat, ThreePlayer(), callable(begin), callable(game_rules), RoomOptions)
