"""Who brings an event about: the player on a seat, the platform, or the house."""

from dataclasses import dataclass
from typing import Final, TypeAlias, final

from erqiwang_core.match import Player
from erqiwang_core.units import Seat

from erqiwang_grpc.store import Actor as StoredActor


@final
@dataclass(frozen=True, slots=True)
class SeatActor:
    """A player on a seat. Another player on the same seat is another actor."""

    seat: Seat
    player: Player


@final
@dataclass(frozen=True, slots=True)
class PlatformActor:
    """The platform that the room belongs to."""


@final
@dataclass(frozen=True, slots=True)
class HouseActor:
    """The server itself, which disbands a room that nobody fills."""


Actor: TypeAlias = SeatActor | PlatformActor | HouseActor

PLATFORM: Final = PlatformActor()
HOUSE: Final = HouseActor()


class UnknownActorError(ValueError):
    """An actor of a kind that this version does not know: a newer one has written it."""

    def __init__(self) -> None:
        super().__init__("an actor that is no seat, no platform and not the house")


def stored(actor: Actor) -> StoredActor:
    """The text that the store keeps for an actor. Different actors have different texts."""
    match actor:
        case SeatActor(seat, player):
            return StoredActor(f"seat {seat} {player}")
        case PlatformActor():
            return StoredActor("platform")
        case HouseActor():
            return StoredActor("house")


def read(text: StoredActor) -> Actor:
    """The actor that is stored as this text. Raises `UnknownActorError` if the text stands for none."""
    match text.split(" ", 2):
        case ["platform"]:
            return PLATFORM
        case ["house"]:
            return HOUSE
        case ["seat", seat, player]:
            return SeatActor(Seat(int(seat)), Player(player))
        case _:
            raise UnknownActorError
