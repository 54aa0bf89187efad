"""The two packets that a platform keeps, made of the records of matches that were played."""

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta, timezone
from itertools import accumulate

from erqiwang_grpc.client import Platform
from erqiwang_grpc.edge.packets.records import Gameinfo1, Gameinfo2, Member, gameinfo1, gameinfo2
from erqiwang_grpc.edge.packets.writing import members
from erqiwang_grpc.testing import seeded
from tests.documents import REPOSITORY
from tests.edge.packets.old_client import Manner
from tests.edge.packets.stage import ROOM_CODE, stage
from tests.service.tables import served


async def test_a_match_is_kept_as_the_old_server_gave_it() -> None:
    async with served(shuffle=seeded(110)) as service, stage(service, "00001", Manner(65, 50), seed=110) as on_stage:
        while on_stage.sittings[0].table.step != 6:
            await on_stage.step()
        table = on_stage.sittings[0].table
        contract, buried = (table.banker, table.call, table.flower), table.burycards
        assert buried, "seat 0 is the declarer with these cards"
        on_stage.play(Manner(surrenders=True))
        while await on_stage.step() >= 0:
            pass
        record = await on_stage.platform.record(on_stage.table.room_id)

    known = {"alice": Member(100_001, "甲", "a.png"), "bob": Member(100_002, "乙")}
    match = gameinfo1(record, ROOM_CODE, known, timezone(timedelta(hours=8)))
    assert (match.roomcode, match.asetcount) == (ROOM_CODE, 6)
    assert [(p.seat, p.playerid, p.name, p.avatar) for p in match.players] == [
        (0, 100_001, "甲", "a.png"),
        (1, 100_002, "乙", ""),
        (2, 0, "", ""),
    ]
    assert [p.score for p in match.players] == list(record.summary.totals)
    assert match.createtime <= match.makewartime
    assert len(match.createtime) == len("2026-01-01 12:00:00")
    assert list(members(match)) == ["roomcode", "asetcount", "createtime", "makewartime", "players"]

    first, *others = gameinfo2(record)
    assert first.starttime <= first.endtime
    assert [call for call in first.callproc if call[1] == 0][-1] == first.callproc[-1]
    assert (first.banker, first.call, first.flower) == contract
    aset = record.deals[0].settlement
    assert first.result == -aset.multiplier
    assert first.seatlist == tuple(seat.score for seat in aset.seats)
    hands, bottomcards, burycards, tricks = first.cards
    assert [len(hand) for hand in hands] == [28, 28, 28]
    assert (len(bottomcards), list(burycards)) == (8, buried)
    thrown = sum(len(cards) for trick in tricks for cards in trick)
    assert thrown == 3 * 28
    played = [{card for trick in tricks for card in trick[seat]} for seat in range(3)]
    assert played == [{*hands[0], *bottomcards} - set(buried), set(hands[1]), set(hands[2])]
    assert all((each.banker >= 0, each.call, each.flower, each.result) == (True, 70, -1, -99) for each in others)
    totals = [list(accumulate(each.seatlist[seat] for each in (first, *others)))[-1] for seat in range(3)]
    assert totals == list(record.summary.totals)


async def test_a_deal_that_was_cut_short_has_no_result_and_a_number_is_a_player() -> None:
    async with served(shuffle=seeded(2)) as service, stage(service, "00000", Manner()) as on_stage:
        await on_stage.step()
        await on_stage.platform.disband_room(on_stage.table.room_id)
        record = await on_stage.platform.record(on_stage.table.room_id)
    (deal,) = gameinfo2(record)
    assert (deal.banker, deal.call, deal.flower, deal.result) == (-1, -1, -1, 0)
    assert (deal.callproc, deal.seatlist, deal.cards[2], deal.cards[3]) == (((0, 70),), (0, 0, 0), (), ())
    record.summary.players[0] = "100007"
    assert gameinfo1(record, ROOM_CODE).asetcount == 0
    assert gameinfo1(record, ROOM_CODE).players[0].playerid == 100_007


async def test_the_program_of_the_page_runs() -> None:
    page = (REPOSITORY / "docs" / "packets.md").read_text("utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    defined: dict[str, Callable[[Platform, str, int], Awaitable[tuple[Gameinfo1, tuple[Gameinfo2, ...]]]]] = {}
    exec(program, defined)  # it is our own page
    async with served(shuffle=seeded(2)) as service, stage(service, "00000", Manner()) as on_stage:
        match, deals = await defined["kept"](on_stage.platform, on_stage.table.room_id, 7)
    assert (match.roomcode, deals) == (7, ())
    assert [player.name for player in match.players] == ["Alice", "", ""]
