"""A table for tests: players sit down, and commands are carried out until something is refused."""

from collections.abc import Callable

from erqiwang_core import deal as deals, match as matches
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.dealing import Shuffled
from erqiwang_core.match import Disband, Event, HouseCommand, Match, Player, Ready, Running, TakeSeat
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.options import RoomOptions
from erqiwang_core.refusals import Refusal
from erqiwang_core.rules import game_rules
from erqiwang_core.units import Seat
from erqiwang_core.view import view

from tests.deals import suggestions

PLAYERS = tuple(Player(name) for name in ("Anna", "Bela", "Chen", "Dora"))


def shuffle(options: RoomOptions) -> Callable[[], Shuffled]:
    """A deck that lies in a well-mixed order, always the same."""
    deck = game_rules(options.game, options.review).deck
    # 37 divides neither 92 nor 108, so stepping by it meets every card once.
    mixed = tuple(deck[37 * place % len(deck)] for place in range(len(deck)))
    return lambda: Shuffled(mixed, salt=b"salt", commitment=b"commitment")


def carried_out(match: Match, decided: tuple[Event, ...] | Refusal) -> Match:
    """The match after what was decided, which was no refusal."""
    assert isinstance(decided, tuple), decided
    for event in decided:
        match = matches.evolve(match, event)
    return match


def house(match: Match, *commands: HouseCommand) -> Match:
    """The match after commands of the house."""
    for command in commands:
        match = carried_out(match, matches.administer(match, command, shuffle(match.options)))
    return match


def seat(match: Match, number: int, command: matches.Command) -> Match:
    """The match after a command of one seat."""
    return carried_out(match, matches.decide(match, Seat(number), command, shuffle(match.options)))


def open_table(options: RoomOptions | None = None) -> Match:
    """A match that nobody has joined."""
    return matches.begin(options or RoomOptions())


def dealt_table(options: RoomOptions | None = None) -> Match:
    """A match whose first deal has been dealt; seat 0 is to bid."""
    match = open_table(options)
    return house(match, *(TakeSeat(number, PLAYERS[number]) for number in range(len(match.chairs))))


def named_table(options: RoomOptions | None = None, *, bid: int = 70) -> Match:
    """Seat 0 has bid, everybody else has passed: seat 0 is to name trump."""
    match = seat(dealt_table(options), 0, Bid(bid))
    for number in range(1, len(match.chairs)):
        match = seat(match, number, Pass())
    return match


def burying_table(options: RoomOptions | None = None, *, bid: int = 70) -> Match:
    """Seat 0 has named spades and is to bury."""
    return seat(named_table(options, bid=bid), 0, NameTrump(4))


def played_table(options: RoomOptions | None = None, *, plays: int = 0, bid: int = 70) -> Match:
    """Play has begun, and that many plays have been made, each the one that was suggested."""
    match = suggested(burying_table(options, bid=bid))
    for _ in range(plays):
        match = suggested(match)
    return match


def suggested(match: Match) -> Match:
    """The match after whoever's turn it is has buried or played what was suggested."""
    assert isinstance(match, Running)
    turn = deals.turn(match.deal)
    assert turn is not None
    choice = view(match, turn).advice.choice
    assert choice is not None
    return seat(match, turn, suggestions.suggested(choice))


def surrendered_table(options: RoomOptions | None = None) -> Match:
    """The first deal has ended by surrender, and nobody is ready."""
    return seat(named_table(options, bid=120 if len(open_table(options).chairs) == 4 else 70), 0, Surrender())


def ready_table(match: Match, *seats: int) -> Match:
    """The match after those seats have said they are ready."""
    for number in seats:
        match = seat(match, number, Ready())
    return match


def disbanded_table(options: RoomOptions | None = None) -> Match:
    """A match that was disbanded while its first deal was bid for."""
    return house(dealt_table(options), Disband())
