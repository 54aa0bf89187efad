"""`docs/packets.md` has a row for every field of every packet, and every name in it stands in the schema; so has its Chinese twin."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

import pytest
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.shapes import Lead, classify
from erqiwang_core.kernel.trump import Group, SuitTrump, order
from erqiwang_core.notation import read
from google.protobuf.descriptor import Descriptor, FileDescriptor

from erqiwang_grpc.rpc.wire.encode.cards import put_lead
from erqiwang_grpc.v1 import (
    bidding_pb2,
    burying_pb2,
    card_pb2,
    naming_pb2,
    playing_pb2,
    record_pb2,
    refusal_pb2,
    room_pb2,
    room_service_pb2,
    seat_service_pb2,
    settlement_pb2,
    view_pb2,
)

PAGE: Final = Path(__file__).parents[2] / "docs" / "packets.md"
TWIN: Final = PAGE.with_name("packets.zh.md")

SENDER: Final = "agentid playerid gameid roomcode seat"
"""What every packet from a seat begins with."""

PACKETS: Final = {
    "Every packet": "app route rpc data.success errcode agentid playerid gameid roomcode seat countdown"
    " bottomcards burycards",
    "roomtype": "roomtype get_asetcount get_needroomcard get_needroomcard_joinroom",
    "fapai": "asetidx asetcount cards seat countdown",
    "jiaofen, from a seat": f"{SENDER} call",
    "jiaofen, to a seat": "seat call currcall multiple nextseat countdown",
    "shangzhuang": "seat call banker grade multiple bottomcards ancard3s cards countdown touxiang curmultiple",
    "touxiang, from a seat": SENDER,
    "xuanzhu, from a seat": f"{SENDER} flower",
    "xuanzhu, to a seat": "banker flower countdown cards",
    "maipai, from a seat": f"{SENDER} cards",
    "maipai, to a seat": "cards burycards seat countdown liangpai"
    " liangpai.zhu liangpai.zhupair liangpai.zhutuo liangpai.wang liangpai.qi liangpai.er",
    "chupai, from a seat": f"{SENDER} cards",
    "chupai1": "seat cards shuaicuo seatlist seatlist[seat][0..3] seatlist[seat][4] count flower cardtype"
    " shuai shuai.tractors shuai.pairs shuai.singles nextseat countdown baozhu cardsinhand curmultiple mustcard",
    "chupai2": "seat cards seatlist nextseat countdown baozhu cardsinhand mustcard",
    "chupai3": "seat cards seatlist nextseat countdown baozhu cardsinhand maxseat grade curmultiple",
    "mingpai, from a seat": SENDER,
    "mingpai, to a seat": "seat others others[].seat others[].zhucards",
    "tishi, from a seat": f"{SENDER} tip",
    "tishi, to a seat": "seat tip",
    "jiesuan": "chupai chupai.seat chupai.cards chupai.maxseat chupai.grade chupai.gradecards"
    " bottom bottom.cards bottom.multiple bottom.grade1 bottom.grade2"
    " aset aset.banker aset.call aset.multiple aset.flower aset.grade aset.upgrade aset.bangwang aset.climb"
    " aset.seatlist aset.seatlist[].cards aset.seatlist[].chongguan aset.seatlist[].wang aset.seatlist[].naward"
    " aset.seatlist[].grade_aw aset.seatlist[].grade_jf aset.seatlist[].grade aset.seatlist[].score"
    " account account[][0] account[][1]",
    "free_room": "data.success data.seats data.deskfree data.deskfree.rpc data.deskfree.data.success"
    " data.deskfree.data.aset data.deskfree.data.account",
    "zhunbei, from a seat": SENDER,
    "zhunbei, to a seat": "seat",
    "deskinfo": "data.success count idx PlayerInfo step MyCards"
    " CallRun CallRun.seat CallRun.countdown CallRun.nowcall CallRun.multiple CallRun.call"
    " ChooseMain ChooseMain.banker ChooseMain.call ChooseMain.multiple ChooseMain.countdown ChooseMain.bottomcards"
    " ChooseMain.touxiang"
    " BuryCards BuryCards.banker BuryCards.call BuryCards.multiple BuryCards.flower BuryCards.countdown"
    " BuryCards.bottomcards"
    " PushCards PushCards.banker PushCards.call PushCards.multiple PushCards.flower PushCards.countdown"
    " PushCards.burycards PushCards.grade PushCards.gradecards PushCards.playproc PushCards.playproc.round"
    " PushCards.playproc.start PushCards.playproc.currseat PushCards.playproc.startcount"
    " PushCards.playproc.startflower PushCards.playproc.starttype PushCards.playproc.maxseat"
    " PushCards.playproc.maxcard PushCards.playproc.cards PushCards.playproc.shuai_demand"
    " PushCards.seatlist PushCards.liangpai PushCards.pushlist PushCards.curmultiple PushCards.mustcard"
    " Balance Balance.readystate Balance.aset",
    "gameinfo1": "roomcode asetcount createtime makewartime players players[].seat players[].playerid players[].name"
    " players[].avatar players[].score",
    "gameinfo2": "starttime endtime seatlist callproc banker call flower result cards",
}
"""Every packet and its fields, as the packet protocol names them; `[]` stands for an element of a list."""

VALUES: Final = {
    "Every packet": {"errcode": "1 2 3 4 5 6"},
    "tishi, from a seat": {"tip": "1 2 3"},
    "jiesuan": {"aset.upgrade": "3 2 1 −n −99 0"},
    "deskinfo": {"step": "1 2 3 5 6"},
}
"""Where each value of a field has its own row."""

FILES: Final[tuple[FileDescriptor, ...]] = tuple(
    module.DESCRIPTOR
    for module in (
        bidding_pb2,
        burying_pb2,
        card_pb2,
        naming_pb2,
        playing_pb2,
        record_pb2,
        refusal_pb2,
        room_pb2,
        room_service_pb2,
        seat_service_pb2,
        settlement_pb2,
        view_pb2,
    )
)


def of_message(message: Descriptor) -> Iterator[str]:
    """What may be said of a message: its name, its fields, its oneofs, and all of what is declared in it."""
    yield message.name
    yield from (f"{message.name}.{field.name}" for field in message.fields)
    yield from (f"{message.name}.{oneof.name}" for oneof in message.oneofs)
    for inner in message.nested_types:
        yield from (f"{message.name}.{name}" for name in of_message(inner))


def names() -> Iterator[str]:
    """Every name of the schema, as the page writes it."""
    for file in FILES:
        for message in file.message_types_by_name.values():
            yield from of_message(message)
        for enum in file.enum_types_by_name.values():
            yield enum.name
            yield from (value.name for value in enum.values)
        for service in file.services_by_name.values():
            yield from (f"{service.name}.{method.name}" for method in service.methods)


KNOWN: Final = frozenset(names())


@final
@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table of the page."""

    packet: str
    fields: tuple[str, ...]
    value: str
    """What stands behind the field: one of its values, or what is meant by it."""
    here: tuple[str, ...]
    told: str


CHINESE: Final = {"（客户端→服务器）": ", from a seat", "（服务器→客户端）": ", to a seat", "所有包": "Every packet"}
"""How the Chinese page says what is in the names of packets."""


def rows(page: Path) -> Iterator[Row]:
    """Every row of a page, by the heading that it stands under."""
    packet = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            packet = line.removeprefix("## ")
            for chinese, english in CHINESE.items():
                packet = packet.replace(chinese, english)
        elif line.startswith("| ") and not line.startswith(("| ---", "| packet field", "| 包里的字段")):
            left, here, told = (cell.strip() for cell in line.strip("|").split("|"))
            yield Row(packet, named(left), re.sub(r"`[^`]*`,? ?", "", left), named(here), told)


def named(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", text))


ROWS: Final = tuple(rows(PAGE))


def test_the_chinese_page_has_the_same_rows() -> None:
    told = [(row.packet, row.fields, row.here, bool(row.told)) for row in rows(TWIN)]
    assert told == [(row.packet, row.fields, row.here, bool(row.told)) for row in ROWS]


def test_the_chinese_page_has_the_same_programs_commands_and_examples() -> None:
    def fenced(page: Path) -> list[str]:
        return re.findall(r"^ *```\w+\n.*?^ *```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)

    assert fenced(TWIN) == fenced(PAGE)
    assert EXAMPLE.findall(TWIN.read_text(encoding="utf-8")) == EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))


def test_the_page_speaks_of_these_packets() -> None:
    assert list(dict.fromkeys(row.packet for row in ROWS)) == list(PACKETS)


@pytest.mark.parametrize("packet", PACKETS)
def test_every_field_of_a_packet_has_a_row(packet: str) -> None:
    listed = [field for row in ROWS if row.packet == packet for field in row.fields]
    assert list(dict.fromkeys(listed)) == PACKETS[packet].split()


@pytest.mark.parametrize(
    ("packet", "field", "value"),
    [
        (packet, field, value)
        for packet, by_field in VALUES.items()
        for field, values in by_field.items()
        for value in values.split()
    ],
)
def test_every_value_has_a_row(packet: str, field: str, value: str) -> None:
    assert [row for row in ROWS if (row.packet, row.fields) == (packet, (field,)) and row.value.split()[:1] == [value]]


@pytest.mark.parametrize("bit", range(5))
def test_every_bit_of_a_roomtype_has_a_row(bit: int) -> None:
    assert [row for row in ROWS if (row.packet, row.value) == ("roomtype", f"bit {bit}")]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.packet}: {' '.join(row.fields)} {row.value}")
def test_what_stands_for_a_field_is_in_the_schema(row: Row) -> None:
    assert row.here, "nothing stands for it"
    assert [name for name in row.here if name not in KNOWN] == []
    assert row.told or row.value, "it is not said who is told"


def test_the_rest_of_the_page_names_what_is_in_the_schema() -> None:
    prose = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if not line.startswith("|")]
    dotted = {name for line in prose for name in named(line) if "." in name} - {"erqiwang.v1"}
    assert dotted
    assert dotted <= KNOWN


EXAMPLE: Final = re.compile(r"^- ([♠♥♣][^:]*): (\d+)$", re.MULTILINE)


def cardtype(lead: card_pb2.Lead) -> int:
    """The packets' number of a lead, as the page says that it is made."""
    pairs = [component.pairs for component in lead.components]
    match pairs:
        case [0]:
            return 101
        case [1]:
            return 201
        case [k]:
            return 300 + k
        case _:
            return 200 + lead.count // 2 if all(pairs) else 100 + lead.count


@pytest.mark.parametrize(("led", "number"), EXAMPLE.findall(PAGE.read_text(encoding="utf-8")))
def test_the_examples_of_cardtype_are_made_as_it_is_said(led: str, number: str) -> None:
    cards = read(led)
    assert isinstance(cards, int)
    lead = classify(order(SuitTrump(Suit.SPADES)), cards)
    assert isinstance(lead, Lead)
    assert lead.group is Group.TRUMPS
    message = card_pb2.Lead()
    put_lead(message, lead)
    assert cardtype(message) == int(number)


def flower(lead: card_pb2.Lead, trump: card_pb2.Trump.ValueType) -> int:
    """The packets' number of a lead's suit, as the page says that it is made."""
    return trump if lead.group == card_pb2.GROUP_TRUMPS else lead.group


@pytest.mark.parametrize(
    ("led", "number"), [("♦A", 1), ("♣A", 2), ("♥A", 3), ("♠A", 4), ("♥7", 4), ("BJ", 4), ("♦2", 4)]
)
def test_flower_is_made_as_it_is_said(led: str, number: int) -> None:
    """With spades as trumps."""
    cards = read(led)
    assert isinstance(cards, int)
    lead = classify(order(SuitTrump(Suit.SPADES)), cards)
    assert isinstance(lead, Lead)
    message = card_pb2.Lead()
    put_lead(message, lead)
    assert flower(message, card_pb2.TRUMP_SPADES) == number
    assert card_pb2.GROUP_TRUMPS == 5, "as the page says"


def test_every_kind_of_cardtype_has_an_example() -> None:
    numbers = [int(number) for _, number in EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))]
    assert {101, 201, 302} <= set(numbers)
    assert [number for number in numbers if 101 < number < 200]
    assert [number for number in numbers if 201 < number < 300]
