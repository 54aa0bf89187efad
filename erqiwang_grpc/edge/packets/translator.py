"""Translates one seat's conversation: its messages into packets, and its packets into commands.

It is pure: no socket, no clock, no chance. It holds what the seat was told and nothing else, so a packet cannot hold more.
Messages that have no packet (who is present, heartbeats, acceptances) give none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from erqiwang_grpc.client.fold import Folded
from erqiwang_grpc.edge.packets.commands import command
from erqiwang_grpc.edge.packets.from_seat import Asked, Errcode, Frame, TishiAsked, asked
from erqiwang_grpc.edge.packets.numbers import SEATS, cardtype, flower, liangpai, seatlist, shuai
from erqiwang_grpc.edge.packets.settling import free_room, jiesuan
from erqiwang_grpc.edge.packets.table import deskinfo, mustcard
from erqiwang_grpc.edge.packets.to_seat import (
    APP,
    GAME,
    Cards,
    Chupai1,
    Chupai2,
    Chupai3,
    Entered,
    Fapai,
    GamePacket,
    Jiaofen,
    Maipai,
    Mingpai,
    OtherTrumps,
    Shangzhuang,
    Shibai,
    Tishi,
    Xuanzhu,
    Zhunbei,
)
from erqiwang_grpc.edge.packets.who import NOBODY, Who
from erqiwang_grpc.edge.packets.writing import Name, Named, named
from erqiwang_grpc.v1 import bidding_pb2, playing_pb2, refusal_pb2, seat_service_pb2 as pb, view_pb2


@final
@dataclass(frozen=True, slots=True)
class Act:
    """A command for the server, under the id that its answer will name."""

    command_id: str
    command: pb.Command


@final
@dataclass(frozen=True, slots=True)
class Signal:
    """A signal for the server, to be sent without an id. It has no answer unless it is refused."""

    signal: playing_pb2.Signal


Outcome: TypeAlias = Act | Signal | Named
"""What becomes of a packet from a seat: something for the server, or a packet that refuses it."""


@final
class Translator:
    """One seat behind one socket of an old client."""

    def __init__(self, enter: Name, ids: str, who: Who = NOBODY) -> None:
        """A seat that has not been told anything yet.

        `enter` is what the packet is called that entered the seat. `ids` begins every command id; no other socket of the
        seat may have the same. `who` is what is known of the player.
        """
        self.enter = enter
        self._who = who
        self._ids = ids
        self._number = 0
        self._folded = Folded()
        self._asked: dict[str, Name] = {}
        """The packets that have no answer yet, by their command ids."""
        self._signalled: Name | None = None
        """The last signal, which may still be refused."""
        self._call = (0, 0)
        """The last call of the bidding: who made it, and the points, 0 for a pass."""

    @property
    def view(self) -> view_pb2.View:
        """What the seat sees."""
        return self._folded.view

    @property
    def is_three_player(self) -> bool:
        """Whether the packet protocol knows the game of the room."""
        return self.view.options.HasField("three_player")

    # From the seat

    def ask(self, frame: Frame) -> Outcome:
        """What becomes of a packet of the seat, once it has its first snapshot."""
        if (frame.name.app, frame.name.route) != (APP, GAME):
            return Named(frame.name, Shibai(Errcode.PARAM))
        read = asked(frame.name.rpc, frame.data)
        fault = read if isinstance(read, Errcode) else self._who.fault(read, self.view.seat)
        if fault is not None or isinstance(read, Errcode):
            return Named(frame.name, Shibai(fault or Errcode.PARAM))
        self._who = self._who.learn(read)
        return self._sent(frame.name, read)

    def _sent(self, name: Name, read: Asked) -> Act | Signal:
        asking = command(read)
        if isinstance(read, TishiAsked):
            self._signalled = name
            return Signal(asking.signal)
        self._number += 1
        command_id = f"{self._ids}-{self._number}"
        if len(self._asked) == _MOST_ASKED:
            del self._asked[next(iter(self._asked))]
        self._asked[command_id] = name
        return Act(command_id, asking)

    def enter_again(self, name: Name, who: Who) -> bool:
        """The packet that enters has come once more, and a snapshot is asked for; gives whether it is of this player."""
        if not self._who.agrees(who):
            return False
        self.enter = name
        return True

    # To the seat

    def hear(self, message: pb.SeatMessage) -> tuple[Named, ...]:
        """The packets that tell the seat's next message."""
        is_first = not self._folded.version
        self._folded.take(message)
        if not self.is_three_player and not message.HasField("snapshot"):
            return ()
        match message.WhichOneof("message"):
            case "snapshot":
                return tuple(self._entered(message.snapshot, is_first=is_first))
            case "notice":
                return tuple(map(named, self._told(message.notice)))
            case "accepted":
                return tuple(map(named, self._accepted(message.accepted)))
            case "refused":
                return tuple(self._refused(message.refused))
            case "signal_received":
                heard = message.signal_received
                return (named(Tishi(seat=heard.seat, tip=heard.signal)),)
            case "trumps_shown":
                return (named(self._trumps(message.trumps_shown)),)
            case _:
                return ()

    def _entered(self, snapshot: pb.Snapshot, *, is_first: bool) -> Iterator[Named]:
        if not self.is_three_player:
            yield Named(self.enter, Shibai(Errcode.RULE))
            return
        if is_first and self._has_just_begun(snapshot):
            yield Named(self.enter, Entered(deskinfo=None))
            yield named(self._dealt())
            return
        yield Named(self.enter, Entered(deskinfo=deskinfo(self.view)))
        if self.view.parts.progress.phase == view_pb2.PHASE_OVER:
            yield named(self._over())

    def _has_just_begun(self, snapshot: pb.Snapshot) -> bool:
        """Whether the match began when this seat was taken: then the seat is told of the deal as the others were."""
        progress = self.view.parts.progress
        return (
            (progress.deal, progress.phase) == (1, view_pb2.PHASE_BIDDING)
            and not self.view.parts.auction.calls
            and any(event.HasField("deal_started") for event in snapshot.missed)
        )

    def _told(self, notice: pb.Notice) -> Iterator[GamePacket]:
        """The packets of an event. A call or play after which nobody has a turn is told by the event that follows it."""
        has_turn = self.view.parts.turn.HasField("seat")
        match notice.WhichOneof("cause"):
            case "deal_started":
                yield self._dealt()
            case "bid_made":
                self._call = notice.bid_made.seat, notice.bid_made.points
                if has_turn:
                    yield self._called()
            case "bid_passed":
                self._call = notice.bid_passed.seat, 0
                if has_turn:
                    yield self._called()
            case "declarer_found":
                yield self._declared(notice.declarer_found)
            case "trump_named":
                yield self._named()
            case "cards_buried":
                yield self._buried()
            case "cards_led":
                yield self._led()
            case "cards_followed":
                if has_turn:
                    yield self._followed(notice.cards_followed)
            case "deal_ended":
                progress = self.view.parts.progress
                if progress.deal < progress.deals:
                    yield jiesuan(self.view)
            case "seat_ready":
                yield Zhunbei(seat=notice.seat_ready.seat)
            case "match_ended":
                yield self._over()
            case _:
                pass

    def _over(self) -> GamePacket:
        """The end of the match. The settlement of its last deal waits for it."""
        disbanded = self.view.parts.account.account.HasField("disbanding")
        return free_room(self.view) if disbanded else jiesuan(self.view)

    def _dealt(self) -> Fapai:
        parts = self.view.parts
        return Fapai(
            asetidx=parts.progress.deal,
            asetcount=parts.progress.deals,
            cards=self._hand(),
            seat=parts.turn.seat,
            countdown=parts.turn.countdown,
        )

    def _called(self) -> Jiaofen:
        parts = self.view.parts
        seat, call = self._call
        return Jiaofen(
            seat=seat,
            call=call,
            currcall=parts.auction.standing,
            multiple=parts.auction.base,
            nextseat=parts.turn.seat,
            countdown=parts.turn.countdown,
        )

    def _declared(self, found: bidding_pb2.DeclarerFound) -> Shangzhuang:
        parts = self.view.parts
        seat, call = self._call
        return Shangzhuang(
            seat=seat,
            call=call,
            banker=found.declarer,
            grade=found.points,
            multiple=parts.contract.base,
            bottomcards=tuple(parts.kitty.cards or found.shown_kitty) or None,
            ancard3s=1 if found.shown_kitty else None,
            cards=self._hand() if self._is_declarer else None,
            countdown=parts.turn.countdown,
            touxiang=int(parts.contract.may_surrender),
            curmultiple=parts.captured.multiplier,
        )

    def _named(self) -> Xuanzhu:
        parts = self.view.parts
        return Xuanzhu(
            banker=parts.contract.declarer,
            flower=parts.contract.trump,
            countdown=parts.turn.countdown,
            cards=self._hand(),
        )

    def _buried(self) -> Maipai:
        parts = self.view.parts
        return Maipai(
            cards=self._hand() if self._is_declarer else None,
            burycards=tuple(parts.buried.cards) if self._is_declarer else None,
            seat=parts.turn.seat,
            countdown=parts.turn.countdown,
            liangpai=liangpai(parts.disclosure),
        )

    def _led(self) -> Chupai1:
        parts = self.view.parts
        trick = parts.table.trick
        seat = trick.plays[0].seat
        return Chupai1(
            seat=seat,
            cards=tuple(trick.plays[0].cards),
            shuaicuo=1 if trick.failed_throw else None,
            seatlist=seatlist(self.view),
            count=trick.lead.count,
            flower=flower(trick.lead, parts.contract.trump),
            cardtype=cardtype(trick.lead),
            shuai=shuai(trick.lead),
            nextseat=parts.turn.seat,
            countdown=parts.turn.countdown,
            baozhu=self._baozhu(),
            cardsinhand=self._left(seat),
            curmultiple=parts.captured.multiplier,
            mustcard=mustcard(self.view),
        )

    def _followed(self, followed: playing_pb2.CardsFollowed) -> Chupai2 | Chupai3:
        parts = self.view.parts
        if len(parts.table.trick.plays) < SEATS:
            return Chupai2(
                seat=followed.seat,
                cards=tuple(followed.cards),
                seatlist=seatlist(self.view),
                nextseat=parts.turn.seat,
                countdown=parts.turn.countdown,
                baozhu=self._baozhu(),
                cardsinhand=self._left(followed.seat),
                mustcard=mustcard(self.view),
            )
        taken = followed.taken
        return Chupai3(
            seat=followed.seat,
            cards=tuple(followed.cards),
            seatlist=seatlist(self.view),
            nextseat=parts.turn.seat,
            countdown=parts.turn.countdown,
            baozhu=self._baozhu(),
            cardsinhand=self._left(followed.seat),
            maxseat=taken.winner,
            grade=taken.points if taken.captured and taken.points else None,
            curmultiple=parts.captured.multiplier,
        )

    def _accepted(self, accepted: pb.Accepted) -> Iterator[GamePacket]:
        """Nothing, as a rule: the notices have told it. A seat that is ready twice hears of no event, and is answered."""
        name = self._asked.pop(accepted.command_id, None)
        is_settled = self.view.parts.progress.phase == view_pb2.PHASE_SETTLED
        if name is not None and not accepted.first_version and is_settled:
            yield Zhunbei(seat=self.view.seat)

    def _refused(self, refused: pb.Refused) -> Iterator[Named]:
        name = self._asked.pop(refused.command_id, None) if refused.command_id else self._signalled
        if name is not None:
            yield Named(name, Shibai(_errcode(refused.refusal)))

    def _trumps(self, shown: playing_pb2.TrumpsShown) -> Mingpai:
        oldest = next((key for key, name in self._asked.items() if name.rpc == Mingpai.rpc), "")
        self._asked.pop(oldest, None)
        others = tuple(OtherTrumps(seat=each.seat, zhucards=tuple(each.cards)) for each in shown.holdings)
        return Mingpai(seat=self.view.seat, others=others)

    @property
    def _is_declarer(self) -> bool:
        return self.view.seat == self.view.parts.contract.declarer

    def _hand(self) -> Cards:
        return tuple(self.view.parts.hand.cards)

    def _left(self, seat: int) -> Cards | None:
        """The cards left in the hand, for the seat that has played."""
        return self._hand() if seat == self.view.seat else None

    def _baozhu(self) -> int:
        """Whether a seat is announced void of trump. In a no-review room it stays 0."""
        return int(bool(self.view.parts.trump_void.void_seats) and not self.view.options.no_review)


_MOST_ASKED: Final = 64
"""Packets of one seat that wait for an answer. If the socket was slow, answers may have been dropped, and never come."""
_NO_TABLE: Final = (view_pb2.PHASE_OPEN, view_pb2.PHASE_OVER)
"""Phases without a table: where the server says that the phase is wrong, the protocol says that there is no table."""


def _errcode(refusal: refusal_pb2.Refusal) -> int:
    no_table = refusal.HasField("wrong_phase") and refusal.wrong_phase.phase in _NO_TABLE
    return Errcode.NODESK if no_table else refusal.code
