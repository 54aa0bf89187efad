"""Comparing: every room of the store with what its clients were told."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.store import RoomId, StoreReader, Unavailable
from erqiwang_grpc.tools.torture.checking import faults
from erqiwang_grpc.tools.torture.transcript import RoomTranscript

_MOST_ROOMS: Final = 10_000_000
"""More rooms than any run opens: the store gives them all in one page."""


@final
@dataclass(slots=True)
class Compared:
    """How much was compared, and how much of it was wrong."""

    rooms: int = 0
    events: int = 0
    commands: int = 0
    """The commands of seats that were accepted."""
    found_in_store: int = 0
    """Those of them whose first answer was lost, and which the server recognised when they were sent again."""
    connections: int = 0
    notices: int = 0
    faults: int = 0

    def __str__(self) -> str:
        return (
            f"{self.rooms:,} rooms, {self.events:,} events, {self.commands:,} commands answered, "
            f"{self.found_in_store:,} of them found in the store when they were sent again\n"
            f"{self.connections:,} connections, {self.notices:,} notices compared; {self.faults} faults"
        )

    def blame(self, fault: str) -> None:
        """Count a fault, and tell it on standard error."""
        self.faults += 1
        print(fault, file=sys.stderr)

    def count(self, transcript: RoomTranscript) -> None:
        """Count what the clients of a room were told."""
        answers = [answer for sent in transcript.answers.values() for answer in sent]
        self.rooms += 1
        self.commands += len(answers)
        self.found_in_store += sum(answer.repeated for answer in answers)
        self.connections += sum(seat.connections for seat in transcript.seats)
        self.notices += sum(len(seat.notices) for seat in transcript.seats)


async def compare(store: StoreReader, rooms: list[RoomTranscript], compared: Compared) -> None:
    """Compare the stored events of every room with what its clients were told."""
    known = {transcript.room for transcript in rooms}
    for room in await _stored_rooms(store):
        if room not in known:
            compared.blame(f"room {room}: no client opened it")
    for transcript in rooms:
        entries = await store.read(transcript.room)
        assert not isinstance(entries, Unavailable), entries
        for fault in faults(transcript, entries):
            compared.blame(f"room {transcript.room}: {fault}")
        compared.events += len(entries) if isinstance(entries, tuple) else 0
        compared.count(transcript)


async def _stored_rooms(store: StoreReader) -> tuple[RoomId, ...]:
    rooms = await store.rooms(RoomId(""), _MOST_ROOMS)
    assert isinstance(rooms, tuple), rooms
    return rooms
