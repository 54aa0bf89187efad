"""The index: the terms by which lists find a room, and which events are public to the room's platform."""

from collections.abc import Iterable
from typing import Final, TypeAlias, TypeGuard

from erqiwang_core.bidding import DeclarerFound
from erqiwang_core.burying import CardsBuried
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.match import DealStarted, MatchEnded, Player, SeatLeft, SeatReady, SeatTaken
from erqiwang_core.naming import TrumpNamed
from erqiwang_core.playing import CardsFollowed, CardsLed
from erqiwang_core.settlement import DealSettled

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.model import Label, RoomOpened, StoredEvent
from erqiwang_grpc.events.standing import RoomState
from erqiwang_grpc.store import Term

WAITING: Final = Term("waiting", "")
"""Rooms of all platforms whose match has not begun. Expiry looks for them."""
ENDED: Final = Term("ended", "")
"""Rooms of all platforms whose match has ended. Retention looks for them."""


def of_platform(platform: PlatformId) -> Term:
    """The term for all rooms of a platform."""
    return Term("room", platform)


def in_state(platform: PlatformId, state: RoomState) -> Term:
    """The term for the rooms of a platform in a given state."""
    return Term("state", f"{platform}/{state.value}")


def with_player(platform: PlatformId, player: str) -> Term:
    """The term for the rooms of a platform in which a player sits, or sat at the end."""
    return Term("player", f"{platform}/{player}")


def with_reference(platform: PlatformId, reference: str) -> Term:
    """The term for the rooms to which a platform gave that reference."""
    return Term("reference", f"{platform}/{reference}")


def with_label(platform: PlatformId, label: Label) -> Term:
    """The term for the rooms to which a platform gave that label. The key of a label never holds `=`."""
    return Term("label", f"{platform}/{label.key}={label.value}")


def played(platform: PlatformId) -> Term:
    """The term for the rooms of a platform whose match began, so that they have a record."""
    return Term("played", platform)


def terms(
    opened: RoomOpened, state: RoomState, players: Iterable[Player | None], *, was_played: bool
) -> tuple[Term, ...]:
    """All terms by which a room is found, sorted."""
    platform = opened.platform
    found = {of_platform(platform), in_state(platform, state)}
    found.update(with_player(platform, player) for player in players if player is not None)
    found.update(with_label(platform, label) for label in opened.labels)
    if opened.reference:
        found.add(with_reference(platform, opened.reference))
    if was_played:
        found.add(played(platform))
    match state:
        case RoomState.OPEN:
            found.add(WAITING)
        case RoomState.PLAYING:
            pass
        case RoomState.FINISHED | RoomState.DISBANDED | RoomState.EXPIRED:
            found.add(ENDED)
    return tuple(sorted(found))


PublicEvent: TypeAlias = RoomOpened | SeatTaken | SeatLeft | DealStarted | DealSettled | MatchEnded
"""The events that `WatchRooms` tells."""


def is_public(event: StoredEvent) -> TypeGuard[PublicEvent]:
    """Whether `WatchRooms` tells an event. A new event fails type checking here until somebody has decided."""
    match event:
        case RoomOpened() | SeatTaken() | SeatLeft() | DealStarted() | DealSettled() | MatchEnded():
            return True
        case (
            BidMade()
            | BidPassed()
            | DeclarerFound()
            | TrumpNamed()
            | CardsBuried()
            | CardsLed()
            | CardsFollowed()
            | SeatReady()
        ):
            return False
