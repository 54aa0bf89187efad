"""What a line typed at a seat says, and how a refusal is explained to a person."""

from collections.abc import Callable, Iterator
from random import Random

import pytest
from erqiwang_core import match as matches
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.dealing import Shuffled
from erqiwang_core.kernel.cards import KINDS
from erqiwang_core.kernel.hand import cards_of, count, ids, within
from erqiwang_core.match import Ready
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.notation import write
from erqiwang_core.options import Deck, FourPlayer, RoomOptions, ThreePlayer
from erqiwang_core.parts import BuryAdvice, CallAdvice, Choice, FollowAdvice, LeadAdvice, NameAdvice, ReadyAdvice, View
from erqiwang_core.players import Policy, RandomLegal, Step, contest, shuffles
from erqiwang_core.playing import Play, ShowTrumps, Signal, SignalKind
from erqiwang_core.refusals import IllegalFollow
from erqiwang_core.rules import game_rules
from erqiwang_core.seats import BySeat, by_seat
from erqiwang_core.units import CardId, Seat
from erqiwang_core.view import view

from erqiwang_grpc.tools.terminal.card_text import trump_of
from erqiwang_grpc.tools.terminal.questions import Ask, Look, Quit, Unclear, held_copies, question, typed
from erqiwang_grpc.tools.terminal.refusal_text import explained

GAMES = [RoomOptions(ThreePlayer()), RoomOptions(FourPlayer(Deck.FULL))]


def steps(options: RoomOptions, seed: int = 1) -> Iterator[Step]:
    seats = game_rules(options.game, options.review).seats
    policies: BySeat[Policy] = by_seat(seats, lambda _: RandomLegal())
    return contest(options, policies, Random(seed), shuffles(options, Random(seed)))


def view_with(
    kind: type[Choice], options: RoomOptions = GAMES[0], fits: Callable[[View], bool] = lambda _: True
) -> View:
    """The first view of a match whose seat is asked for that."""
    views = (view(step.before, step.seat) for step in steps(options))
    return next(seen for seen in views if isinstance(seen.advice.choice, kind) and fits(seen))


CALL, NAME, BURY, LEAD, READY = (
    view_with(kind) for kind in (CallAdvice, NameAdvice, BuryAdvice, LeadAdvice, ReadyAdvice)
)


@pytest.mark.parametrize(
    ("line", "seen", "meant"),
    [
        pytest.param("65", CALL, Bid(65), id="a bid"),
        pytest.param("7", CALL, Bid(7), id="a number that is no bid is the server's to refuse"),
        pytest.param(" PASS ", CALL, Pass(), id="a pass"),
        pytest.param("s", NAME, NameTrump(4), id="spades"),
        pytest.param("No Trump", NAME, NameTrump(5), id="no trump"),
        pytest.param("surrender", NAME, Surrender(), id="surrender"),
        pytest.param("signal 3", LEAD, Signal(SignalKind.HAS_POINTS), id="a signal by number"),
        pytest.param("signal none", CALL, Signal(SignalKind.NO_POINTS), id="a signal by word"),
        pytest.param("trumps", LEAD, ShowTrumps(), id="show trumps"),
        pytest.param("ready", CALL, Ready(), id="ready"),
        pytest.param("?", BURY, Look.HELP, id="help"),
        pytest.param("history", LEAD, Look.HISTORY, id="history"),
        pytest.param("hint", LEAD, Ask.HINT, id="hint"),
        pytest.param("支招", CALL, Ask.HINT, id="hint in Chinese"),
        pytest.param("quit", LEAD, Quit.QUIT, id="quit"),
        pytest.param("七十", CALL, Bid(70), id="a bid in Chinese"),
        pytest.param("叫六十五分", CALL, Bid(65), id="a bid in a whole sentence"),
        pytest.param("一百二十", CALL, Bid(120), id="more than a hundred"),
        pytest.param("十", CALL, Bid(10), id="ten"),
        pytest.param("零", CALL, Bid(0), id="nothing is a bid among four"),
        pytest.param("６５", CALL, Bid(65), id="wide digits"),
        pytest.param("不叫", CALL, Pass(), id="a pass in Chinese"),
        pytest.param("黑桃", NAME, NameTrump(4), id="spades in Chinese"),
        pytest.param("方块", NAME, NameTrump(1), id="diamonds in Chinese"),
        pytest.param("无主", NAME, NameTrump(5), id="no trump in Chinese"),
        pytest.param("投降", NAME, Surrender(), id="surrender in Chinese"),
        pytest.param("准备", CALL, Ready(), id="ready in Chinese"),
        pytest.param("明牌", LEAD, ShowTrumps(), id="show trumps in Chinese"),
        pytest.param("踩", LEAD, Signal(SignalKind.CAN_BEAT), id="can beat"),
        pytest.param("提示 没分", LEAD, Signal(SignalKind.NO_POINTS), id="signal no points"),
        pytest.param("提示有分", LEAD, Signal(SignalKind.HAS_POINTS), id="signal points, without a space"),
        pytest.param("提示 2", LEAD, Signal(SignalKind.NO_POINTS), id="signal by number, in Chinese"),
        pytest.param("帮助", LEAD, Look.HELP, id="help in Chinese"),
        pytest.param("手牌", LEAD, Look.HAND, id="hand in Chinese"),
        pytest.param("桌面", LEAD, Look.TABLE, id="table in Chinese"),
        pytest.param("历史", LEAD, Look.HISTORY, id="history in Chinese"),
        pytest.param("捡分", LEAD, Look.CAPTURED, id="captured in Chinese"),
        pytest.param("退出", LEAD, Quit.QUIT, id="quit in Chinese"),
    ],
)
def test_typed(line: str, seen: View, meant: object) -> None:
    assert typed(line, seen) == meant


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        pytest.param("many", CALL, id="no number"),
        pytest.param("9" * 40, CALL, id="a number without end"),
        pytest.param("x", NAME, id="no suit"),
        pytest.param("s1", LEAD, id="no card"),
        pytest.param("sA sA sA", LEAD, id="three of a card"),
        pytest.param("signal", LEAD, id="a signal of nothing"),
        pytest.param("signal 4", LEAD, id="a signal there is not"),
    ],
)
def test_not_understood(line: str, seen: View) -> None:
    assert isinstance(typed(line, seen), Unclear)


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("pass", CALL),
        ("不叫", CALL),
        ("65", CALL),
        ("七十", CALL),
        ("surrender", NAME),
        ("投降", NAME),
        ("no trump", NAME),
        ("无主", NAME),
        ("s", NAME),
        ("红桃", NAME),
        ("s7", LEAD),
        ("黑桃A 大王", LEAD),
    ],
)
def test_at_the_wrong_time_it_is_not_now(line: str, fits: View) -> None:
    asked = {id(seen) for seen in (CALL, NAME, BURY, LEAD, READY)}
    waiting = view(next(steps(GAMES[0])).before, Seat(1))
    for seen in (CALL, NAME, BURY, LEAD, READY, waiting):
        meant = typed(line, seen)
        if seen is fits or (fits is LEAD and seen is BURY):
            assert not isinstance(meant, Unclear) or "not now" not in meant.why
        else:
            assert isinstance(meant, Unclear)
            assert meant.why.startswith("not now: ")
            assert ("turn of" in meant.why) == (id(seen) not in asked)


@pytest.mark.parametrize("options", GAMES, ids=["three", "four"])
def test_every_card_is_understood_in_chinese(options: RoomOptions) -> None:
    suits = {"♠": "黑桃", "♥": "红桃", "♣": "梅花", "♦": "方块", "🃏": "大王", "🃟": "小王"}
    for step in steps(options):
        seen = view(step.before, step.seat)
        if isinstance(seen.advice.choice, LeadAdvice | FollowAdvice):
            written = write(seen.advice.choice.suggestion)
            chinese = "".join(suits.get(character, character) for character in written)
            assert typed(chinese, seen) == typed(written, seen)


@pytest.mark.parametrize("options", GAMES, ids=["three", "four"])
def test_enter_alone_is_always_legal(options: RoomOptions) -> None:
    for step in steps(options):
        seen = view(step.before, step.seat)
        command = typed("", seen)
        assert not isinstance(command, Look | Ask | Quit | Unclear | Signal | ShowTrumps)
        decided = matches.decide(step.before, step.seat, command, shuffles(options, Random(1)))
        assert isinstance(decided, tuple)


@pytest.mark.parametrize("options", GAMES, ids=["three", "four"])
def test_the_cards_that_a_suggestion_is_written_as_mean_cards_of_the_hand(options: RoomOptions) -> None:
    for step in steps(options):
        seen = view(step.before, step.seat)
        choice = seen.advice.choice
        if isinstance(choice, BuryAdvice | LeadAdvice | FollowAdvice):
            command = typed(write(choice.suggestion), seen)
            assert isinstance(command, Play | Bury)
            assert within(cards_of(CardId(card) for card in command.cards), seen.hand.cards)
            assert write(cards_of(CardId(card) for card in command.cards)) == write(choice.suggestion)


def test_cards_that_have_to_be_played_are_put_in() -> None:
    def some_are_fixed(seen: View) -> bool:
        choice = seen.advice.choice
        return isinstance(choice, FollowAdvice) and 0 < count(choice.must) < choice.number

    seen = view_with(FollowAdvice, fits=some_are_fixed)
    choice = seen.advice.choice
    assert isinstance(choice, FollowAdvice)
    free = cards_of(card for card in ids(choice.suggestion) if not choice.must >> card & 1)
    assert typed(write(free), seen) == Play(ids(choice.suggestion))


def test_of_two_copies_the_one_that_is_held_is_meant() -> None:
    first, second = CardId(3), CardId(3 + KINDS)
    assert held_copies(cards_of([second]), cards_of([first])) == cards_of([second])
    assert held_copies(cards_of([first, second]), cards_of([first])) == cards_of([first])
    assert held_copies(cards_of([first, second]), cards_of([first, second])) == cards_of([first, second])


def test_who_is_not_asked_is_told_so() -> None:
    step = next(steps(GAMES[0]))
    waiting = view(step.before, Seat(1))
    assert isinstance(typed("", waiting), Unclear)
    assert isinstance(typed("65", waiting), Unclear)
    assert question(waiting) is None


@pytest.mark.parametrize("options", GAMES, ids=["three", "four"])
def test_every_seat_that_is_to_act_is_asked(options: RoomOptions) -> None:
    for step in steps(options):
        seen = view(step.before, step.seat)
        asked = question(seen)
        assert asked is not None
        if seen.advice.choice is not None and isinstance(seen.advice.choice, FollowAdvice):
            assert asked.plain.count("[") == count(seen.advice.choice.must)
            assert asked.plain.count("(") == count(seen.hand.cards) - count(seen.advice.choice.may)


def test_an_illegal_follow_is_explained_with_the_cards_it_needs() -> None:
    for step in steps(GAMES[0]):
        seen = view(step.before, step.seat)
        choice = seen.advice.choice
        if not isinstance(choice, FollowAdvice) or not choice.must or within(seen.hand.cards, choice.may):
            continue
        others = [card for card in ids(seen.hand.cards) if not choice.may >> card & 1]
        if len(others) < choice.number:
            continue
        refused = matches.decide(step.before, step.seat, Play(tuple(others[: choice.number])), never)
        assert isinstance(refused, IllegalFollow)
        said = explained(refused, seen).plain
        assert f"You have to play {write(refused.compulsory, trump_of(seen))}." in said
        assert f"This would be legal: {write(refused.legal, trump_of(seen))}." in said
        return
    pytest.fail("no such position")


def never() -> Shuffled:
    pytest.fail("no deal starts here")
