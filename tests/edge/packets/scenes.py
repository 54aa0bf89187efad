"""The matches whose packets are kept as text, and how each is played."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from erqiwang_grpc.testing import Shuffler, seeded
from tests.edge.packets.old_client import Manner
from tests.edge.packets.rendering import Transcript

Play: TypeAlias = Callable[[Transcript], Awaitable[None]]
SURRENDER: Final = Manner(surrenders=True)


@final
@dataclass(frozen=True, slots=True)
class Scene:
    """A match to write down."""

    remark: str
    """What to look for."""
    roomtype: str
    manner: Manner
    """How the first deal is played."""
    seed: int
    play: Play

    @property
    def shuffle(self) -> Shuffler:
        return seeded(self.seed)


async def to_the_end(transcript: Transcript) -> None:
    """One deal as the scene says; the others are surrendered, so that a whole match is short."""
    await transcript.play_deal(again=True)
    transcript.stage.play(SURRENDER)
    await transcript.play_on()


async def with_bad_packets(transcript: Transcript) -> None:
    """Bad packets of every kind, signals, shown trumps and a second ready on the way."""
    sent: set[str] = set()
    while (now := transcript.moment()) != "settled 1":
        for bad in BAD.get(now, ()) if now not in sent else ():
            await bad(transcript)
        sent.add(now)
        if "void" not in sent and transcript.first.baozhu:
            sent.add("void")
            for seat in range(3):
                await transcript.ask(seat, "mingpai")
        await transcript.step()
    for bad in BAD["settled 1"]:
        await bad(transcript)
    transcript.stage.play(SURRENDER)
    await transcript.play_on()
    await transcript.ask(0, "zhunbei")


def asks(seat: int, rpc: str, /, **asked: object) -> Play:
    """A seat sends a packet with its own sender."""

    async def send(transcript: Transcript) -> None:
        await transcript.ask(seat, rpc, **asked)

    return send


async def _turns(transcript: Transcript) -> None:
    """The seat on turn plays what it may not."""
    turn = transcript.first.turn
    hand = transcript.stage.sittings[turn].table.hand
    await transcript.ask(turn, "chupai", cards=[])
    await transcript.ask(turn, "chupai", cards=[hand[0], hand[0]])
    await transcript.ask(turn, "chupai", cards=[str(hand[0])])
    await transcript.ask(turn, "chupai", cards=[hand[0] + 0.5])
    await transcript.ask(turn, "chupai", cards=[108])
    await transcript.ask(turn, "chupai", cards=[-1])
    await transcript.ask(turn, "chupai", cards=hand[0])
    await transcript.ask(turn, "chupai")
    await transcript.ask(turn, "chupai", cards=hand)
    await transcript.ask((turn + 1) % 3, "chupai", cards=["5"])


BAD: Final[Mapping[str, tuple[Play, ...]]] = {
    "bidding 0": (
        asks(0, "jiaofen", call=0),
        asks(0, "jiaofen", call="65"),
        asks(0, "jiaofen", call=72),
        asks(0, "jiaofen", call=-5),
        asks(0, "jiaofen", call=True),
        asks(0, "jiaofen"),
        asks(0, "jiaofen", call=70, seat=1),
        asks(0, "jiaofen", call=70, seat="0"),
        asks(0, "jiaofen", call=70, playerid=100_002),
        asks(0, "jiaofen", call=70, playerid="100001"),
        asks(0, "jiaofen", call=70, roomcode=1),
        asks(0, "jiaofen", call=70, agentid="agent-2"),
        asks(0, "jiaofen", call=70, gameid="other"),
        asks(1, "jiaofen", call=65),
        asks(1, "jiaofen", call="65"),
        asks(0, "chupai", cards=[0]),
        asks(0, "xuanzhu", flower=1),
        asks(0, "maipai", cards=[0]),
        asks(0, "touxiang"),
        asks(0, "mingpai"),
        asks(0, "tishi", tip=1),
        asks(0, "zhunbei"),
        asks(0, "no_such_packet"),
    ),
    "bidding 1": (asks(1, "jiaofen", call=70), asks(1, "jiaofen", call=75)),
    "naming": (
        asks(0, "xuanzhu", flower=0),
        asks(0, "xuanzhu", flower=5),
        asks(0, "xuanzhu", flower="4"),
        asks(0, "touxiang"),
        asks(1, "xuanzhu", flower=1),
        asks(1, "touxiang"),
        asks(2, "xuanzhu", flower=2),
    ),
    "burying": (
        asks(0, "maipai", cards=[]),
        asks(0, "maipai", cards=[108] * 8),
        asks(1, "maipai", cards=[0, 1, 4, 5, 6, 7, 8, 9]),
        asks(0, "touxiang"),
    ),
    "leading 1": (
        _turns,
        asks(0, "tishi", tip=1),
        asks(1, "tishi", tip=1),
        asks(2, "tishi", tip=3),
        asks(2, "tishi", tip=0),
        asks(2, "tishi", tip=4),
        asks(2, "tishi", tip="1"),
        asks(2, "tishi"),
        asks(1, "mingpai"),
    ),
    "following 1": (_turns,),
    "settled 1": (asks(1, "zhunbei"), asks(1, "zhunbei"), asks(1, "chupai", cards=[0]), asks(2, "zhunbei", seat=1)),
}


def disbanded(moment: str) -> Play:
    """The match is disbanded at a moment."""

    async def play(transcript: Transcript) -> None:
        while transcript.moment() != moment:
            await transcript.step()
        await transcript.disband()

    return play


SCENES: Final = {
    "review": Scene("A review room; the bidding goes down to 50.", "00000", Manner(lowest=50), 11, to_the_end),
    "no_review": Scene(
        "A no-review room: no seatlist, no liangpai, no pushlist, and baozhu stays 0.", "00001", Manner(65, 50), 110, to_the_end
    ),
    "joker_bonus": Scene("With bangwang; the kitty is shown at 70.", "00100", Manner(), 13, to_the_end),
    "climb": Scene("With climb; a bid of 5 ends the bidding at once.", "00010", Manner(20, 5), 110, to_the_end),
    "twelve_deals": Scene("Twelve deals, each pays; throws that stand and that fail.", "11000", Manner(45, 45, throws=1), 15, to_the_end),
    "everything": Scene("Every option at once.", "11111", Manner(40, 30), 16, to_the_end),
    "surrender": Scene("Six surrenders.", "00000", SURRENDER, 17, to_the_end),
    "bad_packets": Scene("Bad packets of every kind, signals, and shown trumps.", "00000", Manner(65, 65), 18, with_bad_packets),
    "disbanded_in_bidding": Scene("Disbanded before a declarer.", "00000", Manner(), 19, disbanded("bidding 1")),
    "disbanded_in_naming": Scene("Disbanded before trump.", "00000", Manner(), 20, disbanded("naming")),
    "disbanded_in_play": Scene("Disbanded in a trick.", "00111", Manner(60, 60), 21, disbanded("following 2")),
    "disbanded_between_deals": Scene("Disbanded between two deals.", "00000", SURRENDER, 22, disbanded("settled 2")),
}  # fmt: skip
