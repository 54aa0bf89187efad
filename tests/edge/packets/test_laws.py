"""What holds of every packet of every match: the table is the same after a reconnect, and nothing hidden is told."""

import json
from collections.abc import Iterator

import pytest

from erqiwang_grpc.client.fold import Folded
from erqiwang_grpc.edge.packets.writing import Json, text, written
from erqiwang_grpc.testing import seeded
from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2
from tests.edge.packets.old_client import Manner, group
from tests.edge.packets.stage import Sitting, Stage, stage
from tests.service.tables import served

MATCHES = [
    pytest.param("00000", Manner(opening=70, lowest=45), 1, id="review, auction"),
    pytest.param("00101", Manner(opening=70, lowest=70), 2, id="no review, shown kitty, joker bonus"),
    pytest.param("00010", Manner(opening=20, lowest=5, throws=0.9), 3, id="climb, throws"),
    pytest.param("11111", Manner(opening=40, lowest=30, throws=0.5), 4, id="everything"),
    pytest.param("00000", Manner(surrenders=True), 5, id="surrender"),
]


@pytest.mark.parametrize(("roomtype", "manner", "seed"), MATCHES)
async def test_a_client_that_reconnects_at_any_moment_sees_the_same_table(
    roomtype: str, manner: Manner, seed: int
) -> None:
    async with served(shuffle=seeded(seed)) as service, stage(service, roomtype, manner, seed=seed) as on_stage:
        for _ in range(190 if manner.surrenders else 2 * 95):
            for sitting in on_stage.sittings:
                await same_table(on_stage, sitting, review=roomtype[4] == "0")
            if await on_stage.step() < 0:
                break
        else:
            assert not manner.surrenders, "six deals of surrenders are short"


async def same_table(on_stage: Stage, sitting: Sitting, *, review: bool) -> None:
    entered, *more = await on_stage.again(sitting.seat)
    told = json.loads(text(entered))["data"]
    expected = sitting.table.deskinfo(review=review)
    assert told == {"success": True, "deskinfo": expected}
    assert bool(more) == sitting.table.is_over


def cards_in(value: Json, key: str = "") -> Iterator[tuple[str, int]]:
    """Every card of a packet, with the field that it stands in."""
    if isinstance(value, dict):
        for name, held in value.items():
            yield from cards_in(held, name)
    elif isinstance(value, list):
        for held in value:
            yield from cards_in(held, key)
    elif isinstance(value, int) and (key.lower().endswith("cards") or key in {"pushlist", "cardsinhand", "mustcard"}):
        yield key, value


def cards_told(message: pb.SeatMessage, view: view_pb2.View) -> set[int]:
    """Every card that a seat sees, or hears of in a message."""
    parts, cause = view.parts, message.notice
    seen = {
        *parts.hand.cards, *parts.kitty.cards, *parts.buried.cards, *parts.captured_cards.cards,
        *parts.settlement.settlement.buried, *cause.declarer_found.shown_kitty,
    }  # fmt: skip
    for trick in (parts.table.trick, *parts.history.tricks):
        seen |= {card for play in trick.plays for card in play.cards}
    for score in parts.settlement.settlement.seats:
        seen |= set(score.award_cards)
    for holding in message.trumps_shown.holdings:
        seen |= set(holding.cards)
    return seen


@pytest.mark.parametrize(("roomtype", "manner", "seed"), MATCHES)
async def test_a_packet_holds_no_card_that_its_seat_was_not_told(roomtype: str, manner: Manner, seed: int) -> None:
    async with served(shuffle=seeded(seed)) as service, stage(service, roomtype, manner, seed=seed) as on_stage:
        for _ in range(200):
            if await on_stage.step() < 0:
                break
        for sitting in on_stage.sittings:
            folded = Folded()
            cards = 0
            for told in sitting.told:
                folded.take(told.message)
                for each in told.packets:
                    named = {card for _, card in cards_in(written(each))}
                    assert named <= cards_told(told.message, folded.view), each
                    cards += len(named)
            assert cards > 300


@pytest.mark.parametrize(("roomtype", "manner", "seed"), MATCHES)
async def test_kitty_and_burial_go_to_the_declarer_alone(roomtype: str, manner: Manner, seed: int) -> None:
    async with served(shuffle=seeded(seed)) as service, stage(service, roomtype, manner, seed=seed) as on_stage:
        for _ in range(40):
            for sitting in on_stage.sittings:
                (entered, *_) = await on_stage.again(sitting.seat)
                declares = sitting.table.banker == sitting.seat
                named = {name for name, _ in cards_in(written(entered))}
                assert declares or not named & {"bottomcards", "burycards"}
            if await on_stage.step() < 0:
                break
        for sitting in on_stage.sittings:
            for told in sitting.told:
                for each in told.packets:
                    whole = written(each)
                    if whole["rpc"] == "shangzhuang":
                        data = group(whole["data"])
                        is_shown = data["grade"] == 70
                        assert ("bottomcards" in data) == (is_shown or data["banker"] == sitting.seat)
                        assert ("cards" in data) == (data["banker"] == sitting.seat)
                    if whole["rpc"] == "maipai":
                        assert ("burycards" in group(whole["data"])) == (sitting.table.banker == sitting.seat)
