"""Tags: under what the batches of a room can be found again without knowing the room."""

from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

from erqiwang_core.bidding import DeclarerFound
from erqiwang_core.burying import CardsBuried
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.match import DealStarted, Event, Gathering, Match, MatchEnded, SeatLeft, SeatReady, SeatTaken
from erqiwang_core.naming import TrumpNamed
from erqiwang_core.playing import CardsFollowed, CardsLed
from erqiwang_core.settlement import DealSettled

from erqiwang_grpc.events.model import RoomOpened, StoredEvent
from erqiwang_grpc.store import Tag

ENDED = Tag("ended", "")
"""Batches that end a match, of every platform: what retention looks for."""
STARTED = Tag("started", "")
"""Batches that begin a match, of every platform: what need not expire."""
OPENED = Tag("opened", "")
"""Batches that open a room, of every platform: what expiry looks for."""


def public(platform: str) -> Tag:
    """Batches with an event that `WatchRooms` tells."""
    return Tag("public", platform)


def created(platform: str) -> Tag:
    """Batches that open a room of a platform."""
    return Tag("created", platform)


def finished(platform: str) -> Tag:
    """Batches that end a match of a platform; a room that was never full had no match."""
    return Tag("finished", platform)


def played(platform: str, player: str) -> Tag:
    """Batches that end a match in which a player of a platform sat."""
    return Tag("played", f"{platform}/{player}")


PublicEvent: TypeAlias = RoomOpened | SeatTaken | SeatLeft | DealStarted | DealSettled | MatchEnded
"""What `WatchRooms` tells of."""


def is_public(event: StoredEvent) -> TypeGuard[PublicEvent]:
    """Whether `WatchRooms` tells of an event; a new event needs a line here, so that somebody decides."""
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


def opening_tags(opened: RoomOpened) -> tuple[Tag, ...]:
    """The tags of the batch that opens a room."""
    return OPENED, created(opened.platform), public(opened.platform)


def tags(opened: RoomOpened, match: Match, events: Sequence[Event]) -> tuple[Tag, ...]:
    """The tags of a batch that a room, standing at `match`, is about to log."""
    platform = opened.platform
    found = [public(platform)] if any(is_public(event) for event in events) else []
    if any(isinstance(event, DealStarted) and event.number == 1 for event in events):
        found.append(STARTED)
    if any(isinstance(event, MatchEnded) for event in events):
        found.append(ENDED)
    if any(isinstance(event, MatchEnded) for event in events) and not isinstance(match, Gathering):
        players = {chair.player for chair in match.chairs if chair.player is not None}
        found += [finished(platform), *(played(platform, player) for player in sorted(players))]
    return tuple(found)
