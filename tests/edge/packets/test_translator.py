"""Single moments of a seat's conversation that whole matches do not come to, or only by chance."""

import json

import pytest

from erqiwang_grpc.edge.packets.from_seat import Errcode, Frame, Garbage, read
from erqiwang_grpc.edge.packets.to_seat import Entered, FreeRoom, Shibai, Zhunbei
from erqiwang_grpc.edge.packets.translator import Act, Translator
from erqiwang_grpc.edge.packets.who import NOBODY, Who
from erqiwang_grpc.edge.packets.writing import ENTER, Name, Named, named, text
from erqiwang_grpc.testing import seeded
from erqiwang_grpc.v1 import room_pb2, seat_service_pb2 as pb, view_pb2
from tests.edge.packets.old_client import Manner
from tests.edge.packets.stage import AGENT, GAME_ID, ROOM_CODE, known, packet, sender, stage
from tests.service.tables import RawSeat, seated, seen, served

SURRENDER = Manner(surrenders=True)


async def test_before_the_first_deal_there_is_no_table() -> None:
    async with served() as service, service.platform as platform:
        room = (await platform.create_room("alice")).room
        taken = await platform.take_seat(room.room_id, "alice")
        stream = RawSeat(service, taken.token)
        snapshot = await stream.attach(taken.last_version)
        translator = Translator(ENTER, "old", known(0))
        assert translator.hear(pb.SeatMessage(snapshot=snapshot)) == (Named(ENTER, Entered(None)),)
        outcome = translator.ask(frame(packet(0, "jiaofen", call=70)))
        assert isinstance(outcome, Act)
        await stream.say(pb.PlayRequest(command_id=outcome.command_id, command=outcome.command))
        refused = Named(Name("youle", "erqiwang", "jiaofen"), Shibai(Errcode.NODESK))
        assert translator.hear(await stream.hear("refused")) == (refused,)

        await platform.disband_room(room.room_id)
        told = translator.hear(await stream.hear("notice"))
        assert told == (named(FreeRoom(seats=(), deskfree=None)),)
        assert text(told[0]) == '{"app":"youle","route":"room","rpc":"free_room","data":{"success":true,"seats":[]}}'
        stream.call.cancel()


async def test_after_the_match_there_is_no_table() -> None:
    async with served(shuffle=seeded(1)) as service, stage(service, "00000", SURRENDER) as on_stage:
        while await on_stage.step() >= 0:
            pass
        sitting = on_stage.sittings[1]
        answer = await sitting.ask(packet(1, "zhunbei"))
        assert isinstance(answer, pb.SeatMessage)
        assert [each.packet for each in sitting.told[-1].packets] == [Shibai(Errcode.NODESK)]


async def test_a_seat_that_is_ready_twice_is_answered_alone_and_one_that_is_late_not() -> None:
    async with served(shuffle=seeded(1)) as service, stage(service, "00000", SURRENDER) as on_stage:
        while on_stage.sittings[0].table.step != 6:
            await on_stage.step()
        one = on_stage.sittings[1]
        await on_stage.stand(1, packet(1, "zhunbei"))
        before = [len(sitting.told) for sitting in on_stage.sittings]
        await on_stage.stand(1, packet(1, "zhunbei"))
        assert [each.packet for each in one.told[-1].packets] == [Zhunbei(seat=1)]
        assert [len(sitting.told) - was for sitting, was in zip(on_stage.sittings, before, strict=True)] == [0, 1, 0]
        await on_stage.stand(0, packet(0, "zhunbei"))
        await on_stage.stand(2, packet(2, "zhunbei"))
        assert one.table.step == 1
        await on_stage.stand(1, packet(1, "zhunbei"))
        assert one.told[-1].packets == ()


async def test_the_last_seat_to_sit_is_dealt_to_like_the_others() -> None:
    async with served(shuffle=seeded(1)) as service, stage(service, "00000", SURRENDER) as on_stage:
        for sitting in on_stage.sittings:
            packets = [each.name.rpc for told in sitting.told for each in told.packets]
            assert packets == ["enter_room", "fapai"]
        # Who comes back before the first bid finds the table instead, and so does who comes when somebody has bid.
        assert [each.name.rpc for each in await on_stage.again(2)] == ["enter_room"]
        await on_stage.step()
        taken = on_stage.table.seats[2]
        snapshot = await seen(service, on_stage.table, 2, taken.last_version)
        assert any(event.HasField("deal_started") for event in snapshot.missed)
        (entered,) = Translator(ENTER, "again").hear(pb.SeatMessage(snapshot=snapshot))
        assert isinstance(entered.packet, Entered)
        assert entered.packet.deskinfo is not None


async def test_the_four_player_game_gives_a_failure_and_nothing_more() -> None:
    async with served() as service, service.platform as platform:
        table = await seated(platform, room_pb2.RoomOptions(four_player=room_pb2.FourPlayerGame()))
        translator = Translator(ENTER, "old")
        snapshot = await seen(service, table, 3)
        assert translator.hear(pb.SeatMessage(snapshot=snapshot)) == (Named(ENTER, Shibai(Errcode.RULE)),)
        assert not translator.is_three_player
        notice = pb.Notice(version=snapshot.version + 1, changed=view_pb2.Parts())
        notice.bid_passed.seat = 1
        assert translator.hear(pb.SeatMessage(notice=notice)) == ()


def frame(whole: object) -> Frame:
    found = read(json.dumps(whole))
    assert isinstance(found, Frame)
    return found


@pytest.mark.parametrize(
    ("who", "changed", "fault"),
    [
        (known(0), {}, None),
        (NOBODY, {}, None),
        (NOBODY, {"seat": 1}, Errcode.SEAT),
        (NOBODY, {"seat": True}, Errcode.SEAT),
        (NOBODY, {"playerid": True}, Errcode.PLAYER),
        (NOBODY, {"playerid": 1.0}, Errcode.PLAYER),
        (NOBODY, {"agentid": 1}, Errcode.PLAYER),
        (NOBODY, {"gameid": None}, Errcode.PLAYER),
        (known(0), {"playerid": 2}, Errcode.PLAYER),
        (known(0), {"playerid": 2, "seat": 1}, Errcode.PLAYER),
        (Who(roomcode=1), {}, Errcode.PLAYER),
        (Who(AGENT, None, GAME_ID, ROOM_CODE), {}, None),
    ],
)
def test_every_packet_says_who_sends_it(who: Who, changed: dict[str, object], fault: Errcode | None) -> None:
    translator = Translator(ENTER, "old", who)
    outcome = translator.ask(frame(packet(0, "zhunbei", **changed)))
    if fault is None:
        assert isinstance(outcome, Act)
    else:
        assert outcome == Named(Name("youle", "erqiwang", "zhunbei"), Shibai(fault))


@pytest.mark.parametrize("left_out", sender(0))
def test_no_field_of_the_sender_may_be_left_out(left_out: str) -> None:
    whole = packet(0, "zhunbei")
    whole["data"] = {key: value for key, value in sender(0).items() if key != left_out}
    outcome = Translator(ENTER, "old").ask(frame(whole))
    assert isinstance(outcome, Named)
    assert outcome.packet == Shibai(Errcode.SEAT if left_out == "seat" else Errcode.PLAYER)


def test_the_first_packet_binds_who_is_not_known() -> None:
    translator = Translator(ENTER, "old")
    assert isinstance(translator.ask(frame(packet(0, "zhunbei"))), Act)
    outcome = translator.ask(frame(packet(0, "zhunbei", playerid=7)))
    assert isinstance(outcome, Named)
    assert outcome.packet == Shibai(Errcode.PLAYER)


@pytest.mark.parametrize(
    ("value", "is_repeated"),
    [
        ("x" * 64, True), ("x" * 65, False), (2**63 - 1, True), (-(2**63) + 1, True), (2**63, False), (10**4000, False),
        (True, False), (1.5, False), (None, False), ([], False),
    ],
)  # fmt: skip
def test_an_answer_repeats_no_more_than_a_number_or_a_short_text(value: object, is_repeated: bool) -> None:
    name = frame({**packet(0, "x"), "fromid": value}).name
    assert name.beside == ((("fromid", value),) if is_repeated else ())


@pytest.mark.parametrize("key", ["app", "route", "rpc"])
def test_a_packet_has_a_short_name(key: str) -> None:
    whole = {"app": "a", "route": "b", "rpc": "c", "data": {}}
    assert isinstance(read(json.dumps({**whole, key: "牌" * 64})), Frame)
    assert isinstance(read(json.dumps({**whole, key: "牌" * 65})), Garbage)


def test_what_stands_beside_the_data_comes_back_with_a_failure() -> None:
    outcome = Translator(ENTER, "old").ask(frame({**packet(0, "\ud800"), "conmode": 1, "fromid": "x", "other": 2}))
    assert isinstance(outcome, Named)
    assert json.loads(text(outcome)) == {
        "app": "youle",
        "route": "erqiwang",
        "rpc": "\ud800",
        "conmode": 1,
        "fromid": "x",
        "data": {"success": False, "errcode": 5},
    }
    assert text(outcome).isascii(), "so that it can be encoded, whatever the name was"


@pytest.mark.parametrize("garbage", ["", "{", "1", '"x"', "null", '{"app":"a","route":"b"}', "1" * 5000])
def test_garbage_is_no_packet(garbage: str) -> None:
    assert isinstance(read(garbage), Garbage)


def test_packets_without_answers_are_not_kept_for_ever() -> None:
    translator = Translator(ENTER, "old")
    ids = set()
    for _ in range(1_000):
        outcome = translator.ask(frame(packet(0, "zhunbei")))
        assert isinstance(outcome, Act)
        ids.add(outcome.command_id)
    assert len(ids) == 1_000
    assert len(translator._asked) <= 64
