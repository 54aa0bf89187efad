"""Writes packets as JSON: the fields in their order, without those that are None."""

import json
from dataclasses import dataclass, fields, is_dataclass
from typing import Final, TypeAlias, final

from erqiwang_grpc.edge.packets.to_seat import APP, GAME, FreeRoom, GamePacket, Packet, Shibai

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"


@final
@dataclass(frozen=True, slots=True)
class Name:
    """What a packet is called. `beside` is what else stood outside the data of a packet that is answered."""

    app: str
    route: str
    rpc: str
    beside: tuple[tuple[str, int | str], ...] = ()


ENTER: Final = Name(APP, "room", "enter_room")
"""The packet with which a client enters its seat, unless the platform calls it otherwise. The protocol leaves it open."""


@final
@dataclass(frozen=True, slots=True)
class Named:
    """A packet and what it is called."""

    name: Name
    packet: Packet


def named(packet: GamePacket) -> Named:
    """The packet under the name that the protocol gives it."""
    return Named(Name(APP, packet.route if isinstance(packet, FreeRoom) else GAME, packet.rpc), packet)


def written(told: Named) -> dict[str, Json]:
    """The whole packet as JSON."""
    head: dict[str, Json] = {
        "app": told.name.app,
        "route": told.name.route,
        "rpc": told.name.rpc,
        **dict(told.name.beside),
    }
    return head | {"data": data(told.packet)}


def data(packet: Packet) -> dict[str, Json]:
    """The data of a packet, which begins with whether it succeeded."""
    return {"success": not isinstance(packet, Shibai), **members(packet)}


def text(told: Named) -> str:
    """The packet as one line of JSON."""
    return json.dumps(written(told), separators=(",", ":"))


def members(value: object) -> dict[str, Json]:
    """The fields of a model in their order. A field that is None is left out, unless the protocol writes null there."""
    assert is_dataclass(value), "a field is a number, a text, a list, or a model"
    found: dict[str, Json] = {}
    for each in fields(value):
        held: object = getattr(value, each.name)
        if held is not None or "null" in each.metadata:
            found[each.name] = _json(held)
    return found


def _json(value: object) -> Json:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple):
        return [_json(each) for each in value]
    return members(value)
