"""`erqiwang play` at the table of a server: what somebody who comes in late sees, and what happens while they sit there."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import time_ns

import pytest
from erqiwang_core.kernel.hand import ids
from erqiwang_core.kernel.trump import order
from erqiwang_core.parts import LeadAdvice
from erqiwang_core.playing import Play, SignalKind
from erqiwang_core.refusals import Phase

from erqiwang_grpc.client import Platform
from erqiwang_grpc.rpc.wire import decode as read
from erqiwang_grpc.rpc.wire.encode.commands import command
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.tools.terminal.card_text import cards, trump_of
from erqiwang_grpc.v1 import playing_pb2, room_pb2, seat_service_pb2 as pb, view_pb2
from tests.commands.terminals import Terminal, terminal
from tests.service.processes import serving
from tests.service.tables import PATIENCE, Service, Table, seated, seen, served, step, suggested


@asynccontextmanager
async def table(folder: Path) -> AsyncIterator[tuple[Service, Table]]:
    """A full table whose first deal is always the same."""
    async with served(folder, shuffle=seeded(4)) as service:
        yield service, await seated(service.platform)


@asynccontextmanager
async def person(service: Service, token: str) -> AsyncIterator[Terminal]:
    with terminal("play", "--server", f"127.0.0.1:{service.server.port}", "--token", token, columns=80) as screen:
        yield screen


async def until(screen: Terminal, *words: str) -> str:
    return await asyncio.to_thread(screen.until, *words)


async def play_until(service: Service, seats: Table, phase: Phase) -> None:
    while read.view((await seen(service, seats, 0)).view).progress.phase is not phase:
        await step(service, seats)


async def test_who_comes_in_during_the_bidding_sees_the_bids(tmp_path: Path) -> None:
    async with table(tmp_path) as (service, seats):
        await step(service, seats)
        await step(service, seats)
        async with person(service, seats.tokens[2]) as screen:
            await until(screen, "alice bids 70")
            await until(screen, "bob passes 不叫")
            assert "opens the bidding" not in screen.text


async def test_who_comes_in_during_a_trick_sees_the_lead_and_the_points(tmp_path: Path) -> None:
    async with table(tmp_path) as (service, seats):
        while True:
            await step(service, seats)
            view = read.view((await seen(service, seats, 0)).view)
            if view.captured.points and view.table.trick is not None and len(view.table.trick.plays) == 2:
                break
        agreed = view.contract.agreed
        assert agreed is not None
        assert agreed.trump is not None
        lead = view.table.trick.plays[0]
        players = ("alice", "bob", "carol")
        async with person(service, seats.tokens[0]) as screen:
            await until(screen, f"{players[agreed.declarer]} is the declarer 庄家 at {agreed.bid}.")
            await until(screen, "Trump is ")
            await until(screen, f"captured {view.captured.points}")
            await until(screen, f"  {players[lead.seat]} {cards(lead.cards, trump_of(view)).plain}")
            await until(screen, "is ahead)")


async def test_who_comes_in_after_the_end_sees_the_account(tmp_path: Path) -> None:
    async with table(tmp_path) as (service, seats):
        await service.platform.disband_room(seats.room_id)
        async with person(service, seats.tokens[0]) as screen:
            await until(screen, "The match was disbanded")
            assert await asyncio.to_thread(screen.end) == 0


async def test_a_failed_throw_is_marked_in_the_history(tmp_path: Path) -> None:
    def throw(view: view_pb2.View) -> pb.Command | None:
        """All trumps at once: somebody holds a higher one of some shape."""
        known = read.view(view)
        trump = trump_of(known)
        if trump is None or known.table.number or not isinstance(known.advice.choice, LeadAdvice):
            return suggested(view)
        return command(Play(ids(order(trump).trumps(known.hand.cards))))

    async with table(tmp_path) as (service, seats):
        await play_until(service, seats, Phase.PLAYING)
        while read.view((await seen(service, seats, 0)).view).table.number < 2:
            await step(service, seats, throw)
        async with person(service, seats.tokens[0]) as screen:
            await until(screen, "is the declarer")
            screen.type("history")
            await until(screen, "(a failed throw 甩错)")


async def test_a_signal_and_somebody_who_leaves_do_not_print_the_hand_again(tmp_path: Path) -> None:
    async with table(tmp_path) as (service, seats):
        await play_until(service, seats, Phase.PLAYING)
        await step(service, seats)  # alice, the declarer, has led: it is bob's turn, and carol is his partner
        async with person(service, seats.tokens[1]) as screen:
            await until(screen, "Follow with 1 card")
            await until(screen, "] > ")
            async with service.client(seats.tokens[2]) as carol:
                carol.signal(playing_pb2.SignalKind.ValueType(SignalKind.CAN_BEAT))
                await until(screen, "(carol signals: can beat 踩)\n")
                await until(screen, "] > ")
            await until(screen, "Not there: alice, carol.")
            await until(screen, "] > ")
            assert screen.text.count("Your hand: ") == 1
            screen.type("signal 3")
            await until(screen, "there is no receipt.")
            screen.type("hand")
            await until(screen, "Your hand: ")


@pytest.mark.parametrize("ahead", [-3600, 3600], ids=["an hour behind", "an hour ahead"])
async def test_a_countdown_is_told_by_the_servers_clock(tmp_path: Path, ahead: int) -> None:
    async with served(tmp_path, now=lambda: time_ns() + ahead * 1_000_000_000) as service:
        seats = await seated(service.platform, room_pb2.RoomOptions(countdowns=room_pb2.Countdowns(bid=300)))
        async with person(service, seats.tokens[0]) as screen:
            await until(screen, "[")
            await until(screen, " s] > ")
            told = [int(left) for left in re.findall(r"\[ *(\d+) s\]", screen.text)]
            # The table was seated a moment ago, and the terminal takes some time to begin. Each second tells one more.
            assert told
            assert all(300 - 2 * PATIENCE < left < 300 for left in told)


async def test_a_lost_server_is_told_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as first:
        async with Platform([first.address], first.key) as platform:
            seats = await seated(platform)
        with terminal("play", "--server", first.address, "--token", seats.tokens[0]) as screen:
            await until(screen, "] > ")
            first.process.kill()
            await until(screen, "The connection is lost.")
            assert screen.process.poll() is None
            async with serving(tmp_path, port=first.port):
                await until(screen, "alice opens the bidding.")
                await until(screen, "] > ")
                screen.type("七十")
                await until(screen, "alice bids 70")
