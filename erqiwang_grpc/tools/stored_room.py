"""A stored room, as the command line names it: its history, and which of its deals have ended."""

from argparse import Namespace
from collections.abc import Iterable

from erqiwang_core.match import DealStarted, Event, MatchEnded
from erqiwang_core.settlement import DealSettled

from erqiwang_grpc.commands import stores
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.events.history import RoomHistory, UnreadableEntry, read
from erqiwang_grpc.store import Damaged, RoomId, Unavailable


class NothingToTell(Exception):
    """There is no such room, deal or seat. The text is for the user."""


async def stored_room(arguments: Namespace) -> RoomHistory | UnreadableEntry:
    """The history of `arguments.room`, in the store that the arguments name. Raises `NoStore` or `NothingToTell`."""
    place = stores.place(arguments.store, arguments.data)
    reader = await stores.reader(place)
    try:
        entries = await reader.read(RoomId(arguments.room))
    finally:
        await reader.close()
    if isinstance(entries, Damaged):
        return UnreadableEntry(entries.version, entries.why)
    if isinstance(entries, Unavailable):
        raise NoStore(entries.why)
    if not entries:
        raise NothingToTell(f"there is no room {arguments.room} in {place}")
    return read(entries)


def deals_of(events: Iterable[Event]) -> tuple[list[int], list[int]]:
    """The numbers of the deals that were dealt, and of those that have ended."""
    started: list[int] = []
    ended: list[int] = []
    for event in events:
        if isinstance(event, DealStarted):
            started.append(event.number)
        elif isinstance(event, DealSettled) or (isinstance(event, MatchEnded) and event.cut_short is not None):
            ended.append(started[-1])
    return started, ended
