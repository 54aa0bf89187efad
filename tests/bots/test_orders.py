"""The file that says who sits where: what it may hold, what it may not, and what is drawn from a seed."""

import asyncio
import re
from random import Random

import pytest
from erqiwang_core.kernel.hand import count
from erqiwang_core.players import Sensible, worlds_each
from erqiwang_core.playing import SignalKind, Signalled
from erqiwang_core.units import Seat

from erqiwang_grpc.client import Gateway, SeatClient
from erqiwang_grpc.rpc.wire import decode
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.testing import seated_table, served
from erqiwang_grpc.tools.bots.bot import Bot, Memory
from erqiwang_grpc.tools.bots.orders import BadOrder, InRoom, Order, Pace, WithToken, orders
from erqiwang_grpc.tools.levels import LEVELS
from erqiwang_grpc.v1 import playing_pb2, room_pb2, seat_service_pb2 as pb, view_pb2

PACE = Pace(1.0, 4.0)


def test_lines_are_seats_with_defaults() -> None:
    text = '# comment\n\n{"token": "a.b", "last_version": 3}\n{"room": "r", "player": "Bao", "level": "easy", "pace": [0, 2], "seed": 9}'
    assert orders(text, PACE, 7) == (
        Order(3, WithToken("a.b", 3), "sensible", "careful", PACE, "7/3"),
        Order(4, InRoom("r", "Bao"), "easy", "plain", Pace(0.0, 2.0), "9"),
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("token", "line 1 is no JSON"),
        ("[1]", "line 1 is no JSON object"),
        ("{}", "line 1 needs `token`"),
        ('{"token": "secret", "room": "r", "player": "p"}', "line 1 needs `token`"),
        ('{"room": "r"}', "line 1 needs `token`"),
        ('{"token": "secret", "tempo": 1}', "line 1 has a field that is not known"),
        ('{"token": "secret", "level": "genius"}', "`level` is one of easy, sensible, strong"),
        ('{"token": "secret", "style": "wild"}', "`style` is one of careful, bold"),
        ('{"token": "secret", "level": ["easy"]}', "`level` is one of"),
        ('{"token": "secret", "pace": [4, 1]}', "`pace` is two numbers"),
        ('{"token": "secret", "pace": 3}', "`pace` is two numbers"),
        ('{"token": "secret"}\n{"token": "secret"}', "the same seat is on another line too"),
    ],
)
def test_a_line_that_is_no_order_is_named_without_its_token(line: str, said: str) -> None:
    with pytest.raises(BadOrder, match=re.escape(said)) as refused:
        orders(line, PACE, 7)
    assert "secret" not in str(refused.value)


def test_every_level_has_a_player_in_every_style() -> None:
    assert all(
        make(worlds_each(1)) is not make(worlds_each(1)) for styles in LEVELS.values() for make in styles.values()
    ), "each bot has its own"


async def test_the_same_seed_draws_the_same_pauses_within_the_pace() -> None:
    async def pauses() -> list[float]:
        drawn: list[float] = []

        async def sleep(seconds: float) -> None:
            drawn.append(seconds)

        async with (
            served(shuffle=seeded(4)) as service,
            seated_table(own=(0,), on=service) as table,
            Gateway([service.address], service.gateway_key()) as gateway,
        ):
            seat = gateway.open(table.tokens[0])
            playing = asyncio.create_task(Bot(seat, Sensible(), PACE, Random("x"), sleep).play())
            async with table.playing():
                await seat.until(lambda: seat.view.parts.progress.phase == view_pb2.PHASE_SETTLED)
            playing.cancel()
        return drawn

    first, second = await pauses(), await pauses()
    both = min(len(first), len(second))
    assert both > 1
    assert first[:both] == second[:both]
    assert all(PACE.least <= each <= PACE.most for each in first)


async def test_in_a_no_review_room_a_seat_remembers_the_tricks_that_it_was_told() -> None:
    async with seated_table(room_pb2.RoomOptions(no_review=True)) as table:
        memory = Memory()
        seat = table.seats[0]
        listening = asyncio.create_task(_listen(seat, memory))
        while table.seats[0].view.parts.table.number < 5:
            await table.step()
        await asyncio.sleep(0)
        seen = decode.view(seat.view)
        assert not seen.history.tricks
        known = memory.added_to(seen)
        assert len(known.history.tricks) >= 4
        assert sum(count(trick.cards()) for trick in known.history.tricks[:4]) >= 12
        listening.cancel()


def test_a_seat_remembers_the_signals_of_the_trick_under_way() -> None:
    memory = Memory()
    heard = playing_pb2.SignalReceived(seat=2, signal=playing_pb2.SIGNAL_KIND_CAN_BEAT)
    memory.hear(_table(1))
    memory.hear(pb.SeatMessage(signal_received=heard))
    assert memory.signals() == (Signalled(Seat(2), SignalKind.CAN_BEAT, ()),)
    memory.hear(_table(1))
    assert memory.signals(), "another play to the same trick"
    memory.hear(_table(2))
    assert not memory.signals()


def _table(number: int) -> pb.SeatMessage:
    parts = view_pb2.Parts(table=view_pb2.TablePart(number=number, trick=playing_pb2.Trick()))
    return pb.SeatMessage(notice=pb.Notice(changed=parts))


async def _listen(seat: SeatClient, memory: Memory) -> None:
    async for message in seat.messages():
        memory.hear(message)
