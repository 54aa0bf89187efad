"""The packets' classes have the fields that docs/packets.md has rows for: all of them, in its order, and no others."""

import types
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

from erqiwang_grpc.edge.packets import from_seat, records, to_seat
from erqiwang_grpc.edge.packets.from_seat import Errcode
from erqiwang_grpc.edge.packets.table import STEPS
from tests.wire.test_packets import PACKETS, VALUES

CLASSES: dict[str, type] = {
    "fapai": to_seat.Fapai,
    "jiaofen, from a seat": from_seat.JiaofenAsked,
    "jiaofen, to a seat": to_seat.Jiaofen,
    "shangzhuang": to_seat.Shangzhuang,
    "touxiang, from a seat": from_seat.TouxiangAsked,
    "xuanzhu, from a seat": from_seat.XuanzhuAsked,
    "xuanzhu, to a seat": to_seat.Xuanzhu,
    "maipai, from a seat": from_seat.MaipaiAsked,
    "maipai, to a seat": to_seat.Maipai,
    "chupai, from a seat": from_seat.ChupaiAsked,
    "chupai1": to_seat.Chupai1,
    "chupai2": to_seat.Chupai2,
    "chupai3": to_seat.Chupai3,
    "mingpai, from a seat": from_seat.MingpaiAsked,
    "mingpai, to a seat": to_seat.Mingpai,
    "tishi, from a seat": from_seat.TishiAsked,
    "tishi, to a seat": to_seat.Tishi,
    "jiesuan": to_seat.Jiesuan,
    "zhunbei, from a seat": from_seat.ZhunbeiAsked,
    "zhunbei, to a seat": to_seat.Zhunbei,
    "deskinfo": to_seat.Deskinfo,
    "gameinfo1": records.Gameinfo1,
    "gameinfo2": records.Gameinfo2,
}
"""The class of each packet. `free_room`, which has two layers of data, is looked at by itself."""


def models_in(hint: object) -> Iterator[tuple[type, str]]:
    """The classes of ours in a type, with what is put behind the field's name: `[]` where there is a list of them."""
    if isinstance(hint, type) and is_dataclass(hint):
        yield hint, ""
    for inner in typing.get_args(hint):
        in_list = "[]" if typing.get_origin(hint) is tuple else ""
        yield from ((model, in_list + behind) for model, behind in models_in(inner))


def paths(model: type) -> Iterator[str]:
    """Every field of a class, and those of the classes in it, as the page writes them."""
    hints = typing.get_type_hints(model)
    for each in fields(model):
        yield each.name
        for inner, behind in models_in(hints[each.name]):
            yield from (f"{each.name}{behind}.{path}" for path in paths(inner))


WRITTEN_OTHERWISE = {
    "seatlist[seat][0..3]": "elements of a list of numbers",
    "seatlist[seat][4]": "elements of a list of numbers",
    "account[][0]": "elements of a list of numbers",
    "account[][1]": "elements of a list of numbers",
    "data.success": "what enters a seat writes it, as every packet",
}
"""Rows that are no fields of their own."""
HERE_AND_THERE = {
    "PushCards.liangpai": "as in maipai",
    "PushCards.playproc.shuai_demand": "as shuai in chupai1",
    "Balance.aset": "as in jiesuan",
}
"""Fields whose inside the page describes elsewhere."""


@pytest.mark.parametrize("packet", CLASSES)
def test_a_class_has_the_fields_of_its_packet(packet: str) -> None:
    found = [path for path in paths(CLASSES[packet]) if not any(path.startswith(f"{far}.") for far in HERE_AND_THERE)]
    assert found == [row for row in PACKETS[packet].split() if row not in WRITTEN_OTHERWISE]


def test_free_room_has_the_fields_of_its_packet() -> None:
    rows = [row for row in PACKETS["free_room"].split() if row != "data.success"]
    near = [path for path in paths(to_seat.FreeRoom) if not path.startswith("deskfree.data.aset.")]
    assert [f"data.{path}" for path in near if path != "deskfree.data"] == rows


def test_every_packet_of_the_page_has_a_class() -> None:
    assert set(PACKETS) - set(CLASSES) == {"Every packet", "roomtype", "free_room"}


def test_every_packet_to_a_seat_has_the_name_that_the_page_gives_it() -> None:
    game = {packet.split(",")[0] for packet in CLASSES if not packet.endswith("from a seat")}
    kinds = {model.rpc for model in typing.get_args(to_seat.GamePacket)}
    assert kinds == (game | {"free_room"}) - {"deskinfo", "gameinfo1", "gameinfo2"}


def test_the_values_of_the_page_are_those_of_the_code() -> None:
    assert [str(int(code)) for code in Errcode] == VALUES["Every packet"]["errcode"].split()
    assert sorted(map(str, set(STEPS.values()))) == VALUES["deskinfo"]["step"].split()


TYPES = {
    "fapai": "int int list int int",
    "jiaofen, from a seat": "text int text int int int",
    "jiaofen, to a seat": "int int int int int int",
    "shangzhuang": "int int int int int list int list int int int",
    "touxiang, from a seat": "text int text int int",
    "xuanzhu, from a seat": "text int text int int int",
    "xuanzhu, to a seat": "int int int list",
    "maipai, from a seat": "text int text int int list",
    "maipai, to a seat": "list list int int json",
    "chupai, from a seat": "text int text int int list",
    "chupai1": "int list int list int int int json int int int list int list",
    "chupai2": "int list list int int int list list",
    "chupai3": "int list list int int int list int int int",
    "mingpai, from a seat": "text int text int int",
    "mingpai, to a seat": "int list",
    "tishi, from a seat": "text int text int int int",
    "tishi, to a seat": "int int",
    "jiesuan": "json json json list",
    "zhunbei, from a seat": "text int text int int",
    "zhunbei, to a seat": "int",
    "deskinfo": "int int list int list json json json json json",
    "gameinfo1": "int int text text list",
    "gameinfo2": "text text list list int int int int list",
}
"""The types of the fields of each packet in its order, as the protocol has them (整数, 数组, json, 字符)."""


def kind(hint: object) -> str:
    """The protocol's type of a field that may be left out or not."""
    (held,) = (
        [each for each in typing.get_args(hint) or (hint,) if each is not type(None)] if is_optional(hint) else [hint]
    )
    if held is int:
        return "int"
    if held is str:
        return "text"
    return "list" if typing.get_origin(held) is tuple else "json"


def is_optional(hint: object) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


@pytest.mark.parametrize("packet", CLASSES)
def test_a_class_has_the_types_of_its_packet(packet: str) -> None:
    model = CLASSES[packet]
    hints = typing.get_type_hints(model)
    assert " ".join(kind(hints[each.name]) for each in fields(model)) == TYPES[packet]
