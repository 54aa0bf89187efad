"""Who sits behind a socket: the fields that every packet of a seat repeats must agree with it."""

from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.edge.packets.from_seat import Errcode, Sender


@final
@dataclass(frozen=True, slots=True)
class Who:
    """A player as the platform knows it. What nobody has said is None, and then the first packet that says it decides."""

    agentid: str | None = None
    playerid: int | None = None
    gameid: str | None = None
    roomcode: int | None = None

    def learn(self, sender: Sender) -> "Who":
        """The same, with what was not known from the sender of a packet."""
        return Who(
            self.agentid if self.agentid is not None else sender.agentid,
            self.playerid if self.playerid is not None else sender.playerid,
            self.gameid if self.gameid is not None else sender.gameid,
            self.roomcode if self.roomcode is not None else sender.roomcode,
        )

    def agrees(self, other: "Who") -> bool:
        """Whether the other may be the same player: nothing that is said of both differs."""
        pairs = (
            (self.agentid, other.agentid),
            (self.playerid, other.playerid),
            (self.gameid, other.gameid),
            (self.roomcode, other.roomcode),
        )
        return all(one is None or another is None or one == another for one, another in pairs)

    def fault(self, sender: Sender, seat: int) -> Errcode | None:
        """Why the sender of a packet is not this player on this seat; None if it is."""
        if not self.agrees(Who(sender.agentid, sender.playerid, sender.gameid, sender.roomcode)):
            return Errcode.PLAYER
        return None if sender.seat == seat else Errcode.SEAT


NOBODY: Final = Who()
"""Nothing is known of the player yet."""
