"""An old client: it knows the packet protocol and the rules of the game, and nothing of ours.

`OldTable` is what such a client holds. It is made from packets one by one, or from a `deskinfo` at once, and the two must
agree. `OldPlayer` plays a seat from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias, final

from erqiwang_core.kernel.cards import CARDS, Suit
from erqiwang_core.kernel.following import by_price, follow
from erqiwang_core.kernel.hand import POINT_CARDS, cards_of, ids
from erqiwang_core.kernel.shapes import Lead, all_components, classify
from erqiwang_core.kernel.trick import Played, Trick, ahead_after
from erqiwang_core.kernel.trump import Order, SuitTrump, order
from erqiwang_core.notation import in_order
from erqiwang_core.units import CardId, CardSet, Seat

Data: TypeAlias = Mapping[str, object]


def numbers(value: object) -> list[int]:
    """A list of integers, as it came."""
    assert isinstance(value, list)
    found = [each for each in value if isinstance(each, int)]
    assert len(found) == len(value), value
    return found


def number(value: object) -> int:
    """An integer, as it came."""
    assert isinstance(value, int)
    return value


def group(value: object) -> dict[str, object]:
    """An object, as it came."""
    assert isinstance(value, dict)
    return value


@final
@dataclass(slots=True)
class OldTable:
    """The table as an old client knows it. Fields that a seat is not told stay None."""

    me: int
    count: int = 0
    idx: int = 0
    scores: list[int] = field(default_factory=lambda: [0, 0, 0])
    step: int = 0
    hand: list[int] = field(default_factory=list)
    turn: int = -1
    countdown: int = 0
    calls: list[int | None] = field(default_factory=lambda: [None, None, None])
    nowcall: int = 0
    multiple: int = 0
    banker: int = -1
    call: int = -1
    touxiang: int = 0
    flower: int = 0
    bottomcards: list[int] | None = None
    burycards: list[int] | None = None
    grade: int = 0
    gradecards: list[int] = field(default_factory=list)
    curmultiple: int = 0
    round: int = 0
    start: int = -1
    lead: dict[str, object] | None = None
    plays: dict[int, list[int]] = field(default_factory=dict)
    """What lies on the table, in the order of play; empty between tricks."""
    tricks: list[dict[int, list[int]]] = field(default_factory=list)
    seatlist: object = None
    liangpai: object = None
    mustcard: list[int] | None = None
    baozhu: int = 0
    ready: list[int] = field(default_factory=lambda: [0, 0, 0])
    aset: object = None
    account: object = None
    is_over: bool = False

    # From packets

    def take(self, packet: Data) -> None:
        """Take in the next packet that succeeded."""
        data = group(packet["data"])
        assert data["success"] is True, packet
        match packet["rpc"]:
            case "enter_room":
                self._enter(data)
            case "fapai":
                self._deal(data)
            case "jiaofen":
                self._called(data)
                self.turn, self.nowcall = number(data["nextseat"]), number(data["currcall"])
            case "shangzhuang":
                self._declared(data)
            case "xuanzhu":
                self.step, self.flower, self.turn = 3, number(data["flower"]), number(data["banker"])
                self.touxiang = 0
                self.hand = numbers(data["cards"])
            case "maipai":
                self._buried(data)
            case "chupai1" | "chupai2" | "chupai3" as rpc:
                self._played(rpc, data)
            case "jiesuan":
                self._settled(data)
            case "zhunbei":
                self.ready[number(data["seat"])] = 1
            case "free_room":
                self._freed(data)
            case other:
                assert other in {"tishi", "mingpai"}, packet
        if "countdown" in data:
            self.countdown = number(data["countdown"])

    def _enter(self, data: Data) -> None:
        if "deskinfo" in data:
            self.become(group(data["deskinfo"]))

    def _deal(self, data: Data) -> None:
        scores = self.scores
        self.__init__(self.me)  # a new deal begins as a new table does, but for the scores
        self.scores, self.step = scores, 1
        self.idx, self.count = number(data["asetidx"]), number(data["asetcount"])
        self.hand, self.turn = numbers(data["cards"]), number(data["seat"])

    def _called(self, data: Data) -> None:
        self.calls[number(data["seat"])] = number(data["call"])
        self.multiple = number(data["multiple"])

    def _declared(self, data: Data) -> None:
        self._called(data)
        self.step = 2
        self.banker = self.turn = number(data["banker"])
        self.call, self.touxiang = number(data["grade"]), number(data["touxiang"])
        self.curmultiple = number(data["curmultiple"])
        if self.banker == self.me:
            self.hand, self.bottomcards = numbers(data["cards"]), numbers(data["bottomcards"])
        else:
            assert "cards" not in data
        assert ("ancard3s" in data) == (self.call == 70)
        assert ("bottomcards" in data) == (self.call == 70 or self.banker == self.me)

    def _buried(self, data: Data) -> None:
        self.step, self.turn, self.liangpai = 5, number(data["seat"]), data.get("liangpai")
        self.start, self.round, self.bottomcards = self.turn, 1, None
        if self.banker == self.me:
            self.hand, self.burycards = numbers(data["cards"]), numbers(data["burycards"])
        assert ("burycards" in data) == ("cards" in data) == (self.banker == self.me)

    def _played(self, rpc: str, data: Data) -> None:
        seat, cards = number(data["seat"]), numbers(data["cards"])
        assert seat == self.turn
        assert ("cardsinhand" in data) == (seat == self.me)
        self._lay(rpc, seat, cards, data)
        if seat == self.me:
            self.hand = numbers(data["cardsinhand"])
        self.seatlist, self.turn, self.baozhu = data.get("seatlist"), number(data["nextseat"]), number(data["baozhu"])
        self.curmultiple = number(data.get("curmultiple", self.curmultiple))
        self.mustcard = numbers(data["mustcard"]) if "mustcard" in data else None
        if rpc == "chupai3":
            self._end_trick(number(data["maxseat"]), number(data.get("grade", 0)))
            assert self.turn == data["maxseat"]

    def _lay(self, rpc: str, seat: int, cards: list[int], data: Data) -> None:
        if rpc == "chupai1":
            self.lead = {key: data.get(key) for key in ("count", "flower", "cardtype", "shuai")}
            self.start = seat
        self.plays[seat] = cards
        assert rpc == f"chupai{len(self.plays)}"

    def _end_trick(self, winner: int, captured: int) -> None:
        assert winner == self.ahead
        self.grade += captured
        if winner != self.banker:
            self.gradecards += [card for cards in self.plays.values() for card in cards if POINT_CARDS >> card & 1]
        self.tricks.append(self.plays)
        self.plays, self.lead, self.start, self.round = {}, None, winner, self.round + 1

    def _settled(self, data: Data) -> None:
        if "chupai" in data:
            last = group(data["chupai"])
            self.plays[number(last["seat"])] = numbers(last["cards"])
            self._end_trick(number(last["maxseat"]), number(last["grade"]))
            kitty = number(group(data["bottom"]).get("grade2", 0))
            assert group(data["aset"])["grade"] == self.grade + kitty, "the points that were told, play by play"
        before = self.scores
        self._show_aset(data)
        assert self.scores == [one + other for one, other in zip(before, self._grades(data), strict=True)]
        self.is_over = "account" in data
        self.account = data.get("account")

    def _grades(self, data: Data) -> list[int]:
        """The scores of a deal, which sum to 0."""
        seats = group(data["aset"])["seatlist"]
        assert isinstance(seats, list)
        grades = [number(group(seat)["grade"]) for seat in seats]
        assert sum(grades) == 0
        return grades

    def _show_aset(self, data: Data) -> None:
        self.step, self.turn, self.hand, self.mustcard, self.aset = 6, -1, [], None, data["aset"]
        seats = group(self.aset)["seatlist"]
        assert isinstance(seats, list)
        self.scores = [number(group(seat)["score"]) for seat in seats]
        self.ready = [0, 0, 0]

    def _freed(self, data: Data) -> None:
        self.is_over = True
        if "deskfree" in data:
            desk = group(data["deskfree"])
            assert desk["rpc"] == "jiesuan"
            inner = group(desk["data"])
            assert inner["success"] is True
            ready = self.ready
            self._show_aset(inner)
            self.ready = ready
            self.account = inner["account"]

    # From a deskinfo

    def become(self, desk: Data) -> None:
        """Take the table from a deskinfo, as a client does that has reconnected."""
        self.__init__(self.me)  # what was known before is gone
        self.count, self.idx = number(desk["count"]), number(desk["idx"])
        self.scores, self.step, self.hand = numbers(desk["PlayerInfo"]), number(desk["step"]), numbers(desk["MyCards"])
        groups = {"CallRun": 1, "ChooseMain": 2, "BuryCards": 3, "PushCards": 5, "Balance": 6}
        assert [self.step] == [step for name, step in groups.items() if name in desk], desk
        match self.step:
            case 1:
                self._become_bidding(group(desk["CallRun"]))
            case 2 | 3:
                self._become_declared(group(desk["ChooseMain" if self.step == 2 else "BuryCards"]))
                self.turn = self.banker
            case 5:
                self._become_played(group(desk["PushCards"]))
            case _:
                balance = group(desk["Balance"])
                self.ready, self.aset = numbers(balance["readystate"]), balance.get("aset")

    def _become_bidding(self, told: Data) -> None:
        self.turn, self.countdown = number(told["seat"]), number(told["countdown"])
        self.nowcall, self.multiple = number(told["nowcall"]), number(told["multiple"])
        calls = told["call"]
        assert isinstance(calls, list)
        self.calls = [None if each is None else number(each) for each in calls]

    def _become_declared(self, told: Data) -> None:
        self.banker, self.call, self.multiple = (number(told[key]) for key in ("banker", "call", "multiple"))
        self.countdown, self.flower = number(told["countdown"]), number(told.get("flower", 0))
        self.touxiang, self.curmultiple = number(told.get("touxiang", 0)), 3
        if "bottomcards" in told:
            self.bottomcards = numbers(told["bottomcards"])

    def _become_played(self, told: Data) -> None:
        self._become_declared(told)
        if "burycards" in told:
            self.burycards = numbers(told["burycards"])
        self.grade, self.curmultiple = number(told["grade"]), number(told["curmultiple"])
        self.gradecards = numbers(told.get("gradecards", []))
        trick = group(told["playproc"])
        self.round, self.start, self.turn = number(trick["round"]), number(trick["start"]), number(trick["currseat"])
        cards = trick["cards"]
        assert isinstance(cards, list)
        ordered = [(self.start + number) % 3 for number in range(3)]
        self.plays = {seat: numbers(cards[seat]) for seat in ordered if cards[seat]}
        if self.plays:
            names = {"count": "startcount", "flower": "startflower", "cardtype": "starttype", "shuai": "shuai_demand"}
            self.lead = {mine: trick[name] for mine, name in names.items()}
        self.seatlist, self.liangpai = told.get("seatlist"), told.get("liangpai")
        self.mustcard = numbers(told["mustcard"]) if "mustcard" in told else None

    # What it would be told on a reconnect

    def deskinfo(self, *, review: bool) -> dict[str, object]:
        """What `deskinfo` must be, as far as the packets up to here tell it."""
        desk: dict[str, object] = {
            "count": self.count,
            "idx": self.idx,
            "PlayerInfo": self.scores,
            "step": self.step,
            "MyCards": self.hand,
        }
        name, told = self._group(review=review)
        return {**desk, name: {key: value for key, value in told.items() if value is not None}}

    def _group(self, *, review: bool) -> tuple[str, dict[str, object]]:
        match self.step:
            case 1:
                return "CallRun", {
                    "seat": self.turn,
                    "countdown": self.countdown,
                    "nowcall": self.nowcall,
                    "multiple": self.multiple,
                    "call": self.calls,
                }
            case 2:
                return "ChooseMain", {**self._contract(), "bottomcards": self.bottomcards, "touxiang": self.touxiang}
            case 3:
                return "BuryCards", {**self._contract(), "flower": self.flower, "bottomcards": self.bottomcards}
            case 5:
                return "PushCards", self._play(review=review)
            case _:
                return "Balance", {"readystate": self.ready, "aset": None if self.ready[self.me] else self.aset}

    def _contract(self) -> dict[str, object]:
        return {"banker": self.banker, "call": self.call, "multiple": self.multiple, "countdown": self.countdown}

    def _play(self, *, review: bool) -> dict[str, object]:
        lead = self.lead or {"count": 0, "flower": 0, "cardtype": 0, "shuai": None}
        trick: dict[str, object] = {
            "round": self.round,
            "start": self.start,
            "currseat": self.turn,
            "startcount": lead["count"],
            "startflower": lead["flower"],
            "starttype": lead["cardtype"],
            "maxseat": self.ahead,
            "maxcard": self._highest(self.plays[self.ahead])[0] if self.plays else -1,
            "cards": [self.plays.get(seat, []) for seat in range(3)],
            "shuai_demand": lead["shuai"],
        }
        history = [*self.tricks, *([self.plays] if self.plays else [])]
        return {
            **self._contract(),
            "flower": self.flower,
            "burycards": self.burycards,
            "grade": self.grade,
            "gradecards": None if self.banker == self.me else sorted(self.gradecards),
            "playproc": trick,
            "seatlist": self.seatlist or ([[[0, 0]] * 4 + [[-1, -1]]] * 3 if review else None),
            "liangpai": self.liangpai,
            "pushlist": [[self._highest(t.get(seat, [])) for seat in range(3)] for t in history] if review else None,
            "curmultiple": self.curmultiple,
            "mustcard": self.mustcard,
        }

    # The rules, which an old client knows

    @property
    def order(self) -> Order:
        """The order of the cards under the trump suit."""
        return order(SuitTrump(Suit(self.flower)))

    def _highest(self, cards: list[int]) -> list[int]:
        return list(in_order(self.order, held(cards)))

    @property
    def led(self) -> Lead:
        """What must be followed."""
        lead = classify(self.order, held(next(iter(self.plays.values()))))
        assert isinstance(lead, Lead)
        return lead

    @property
    def ahead(self) -> int:
        """The seat whose cards are the best of the trick so far; -1 before a lead."""
        if not self.plays:
            return -1
        (first, cards), *others = self.plays.items()
        trick = Trick(self.led, (Played(Seat(first), held(cards)),), Seat(first), failed_throw=False)
        for seat, played in others:
            ahead = ahead_after(self.order, trick, Seat(seat), held(played))
            trick = Trick(trick.lead, (*trick.plays, Played(Seat(seat), held(played))), ahead, failed_throw=False)
        return trick.ahead


def held(cards: list[int]) -> CardSet:
    """The cards of a list of ids, as a set."""
    return cards_of(map(CardId, cards))


@final
@dataclass(frozen=True, slots=True)
class Manner:
    """How an old player plays a deal."""

    opening: int = 70
    """The first bid."""
    lowest: int = 70
    """It bids 5 under the others down to this, and passes then."""
    surrenders: bool = False
    throws: float = 0.3
    """How often it throws when it leads and can."""


@final
class OldPlayer:
    """A seat that is played from packets alone."""

    def __init__(self, table: OldTable, manner: Manner, chance: Random) -> None:
        self.table = table
        self.manner = manner
        self._chance = chance

    def next(self) -> tuple[str, dict[str, object]] | None:
        """The packet that the seat sends now, without its sender; None while it waits."""
        table = self.table
        if table.is_over:
            return None
        if table.step == 6:
            return None if table.ready[table.me] else ("zhunbei", {})
        if table.step == 0 or table.turn != table.me:
            return None
        match table.step:
            case 1:
                return "jiaofen", {"call": self._call()}
            case 2:
                if self.manner.surrenders and table.touxiang:
                    return "touxiang", {}
                return "xuanzhu", {"flower": self._best_suit()}
            case 3:
                return "maipai", {"cards": self._buried()}
            case _:
                return "chupai", {"cards": self._play()}

    def _call(self) -> int:
        if not self.table.nowcall:
            return self.manner.opening
        lower = self.table.nowcall - 5
        return lower if lower >= self.manner.lowest else 0

    def _best_suit(self) -> int:
        suits = {suit: sum(card % 54 // 13 == suit - 1 for card in self.table.hand) for suit in range(1, 5)}
        return max(suits, key=lambda suit: suits[suit])

    def _buried(self) -> list[int]:
        """The lowest cards of side suits, but points if there are."""
        down = self.table._highest(self.table.hand)
        return sorted(down, key=lambda card: (not POINT_CARDS >> card & 1, -down.index(card)))[:8]

    def _play(self) -> list[int]:
        table, mine = self.table, held(self.table.hand)
        if table.plays:
            play = follow(table.order, table.led, mine, by_price(self._chance.sample(range(CARDS), CARDS)))
            assert set(table.mustcard or ()) <= set(ids(play)), "the packet's own must-cards"
            return [*ids(play)]
        trumps: list[int] = [*ids(table.order.trumps(mine))]
        if len(trumps) > 1 and self._chance.random() < self.manner.throws:
            high = sorted(trumps, key=lambda card: -table.order.strength[card % 54])
            return high[: self._chance.randint(2, min(4, len(high)))]
        choices = all_components(table.order, mine)
        longest = max(len(ids(cards)) for cards in choices)
        some = choices if self._chance.random() < 0.5 else [one for one in choices if len(ids(one)) == longest]
        return [*ids(self._chance.choice(list(some)))]
