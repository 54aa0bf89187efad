"""Own records: the record of a seat's own match, for every transport that a seat may ask on."""

from typing import final

from erqiwang_core.units import Seat

from erqiwang_grpc.archive.matches import Archive, Recorded
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.clocks import Monotonic
from erqiwang_grpc.rooms.costs import Work
from erqiwang_grpc.rooms.refusals import Refused
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.v1 import record_pb2


@final
class OwnRecords:
    """Reads records for seats. A seat pays afterwards for the deals that were read from the store for it."""

    def __init__(self, archive: Archive, monotonic: Monotonic) -> None:
        self._archive = archive
        self._monotonic = monotonic

    async def of(self, platform: PlatformId, room: Room, seat: Seat) -> record_pb2.MatchRecord | Refused:
        """The record of the seat's match, as far as its deals are settled, or why there is none."""
        record = await self._archive.record(platform, room.id)
        if not isinstance(record, Recorded):
            return record
        now = self._monotonic()
        room.allowances.of(seat, now).spend(record.read * Work.DEAL.units, now)
        return encode.read_record(encode.match_summary(record.summary), record.deals)
