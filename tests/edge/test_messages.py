"""Messages that a client should not send: refused by name while the socket stays, or the socket is closed."""

import json

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, strategies as st

from erqiwang_grpc.edge.json_request import NotJson, WrongField, play_request
from erqiwang_grpc.v1 import bidding_pb2, seat_service_pb2 as pb
from tests.edge.sockets import JSON, PROTOBUF, SUBPROTOCOLS, ServedEdge
from tests.service.tables import Service, seated

BID = pb.Command(bid=bidding_pb2.Bid(points=70))
WRONG = {
    "an unknown field": ('{"comand": {}}', "comand"),
    "an unknown field within": ('{"command": {"bid": {"pionts": 70}}}', "command.bid.pionts"),
    "an unknown command": ('{"commandId": "a", "command": {"fold": {}}}', "command.fold"),
    "a text for a number": ('{"command": {"bid": {"points": "many"}}}', "command.bid.points"),
    "a negative number": ('{"command": {"bid": {"points": -5}}}', "command.bid.points"),
    "an object for a list": ('{"command": {"playCards": {"cards": {}}}}', "command.playCards.cards"),
    "an unknown enum value": ('{"command": {"nameTrump": {"trump": "GREEN"}}}', "command.nameTrump.trump"),
    "two requests at once": ('{"attach": {}, "detach": {}}', ""),
    "half a surrogate": ('{"commandId": "\\ud800"}', "commandId"),
    "half a surrogate as a key": ('{"\\ud800": 1}', "\\ud800"),
    "half a surrogate within": ('{"command": {"nameTrump": {"trump": "\\ud800"}}}', "command.nameTrump.trump"),
    "half a surrogate in a list": ('{"command": {"playCards": {"cards": ["\\udfff"]}}}', "command.playCards.cards"),
    "half a surrogate beside an id": ('{"commandId": "a", "command": {"x": {"\\ud800": 1}}}', "command.x.\\ud800"),
    "a list": ("[]", ""),
    "a number": ("3", ""),
    "null": ("null", ""),
    "an extension": ('{"[x.y]": 1}', "[x.y]"),
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_wrong_field_is_refused_by_name_and_the_socket_stays(
    service: Service, edge: ServedEdge, name: str
) -> None:
    text, field = WRONG[name]
    table = await seated(service.platform)
    async with edge.player() as player:
        await player.socket.send_str(text)
        refused = (await player.hear("refused")).refused
        assert (refused.request, refused.refusal.invalid_field.field) == (1, field)
        assert refused.command_id == ("a" if '"commandId": "a"' in text else "")
        await player.say(pb.PlayRequest(attach=pb.Attach(seat_token=table.tokens[0])))
        await player.hear("snapshot")


NO_JSON = ["", "{", "hello", '{"a": }', "[" * 4_000, "\x00", "NaN", '{"attach": {"lastVersion": -Infinity}}']
TWICE = ['{"attach": {}, "attach": {}}', '{"attach": {"seatToken": "a", "seatToken": "b"}}']


@pytest.mark.parametrize("text", NO_JSON + TWICE)
async def test_what_is_no_json_closes_the_socket(edge: ServedEdge, text: str) -> None:
    async with edge.player() as player:
        await player.socket.send_str(text)
        assert await player.closed() == 1007


async def test_text_that_is_no_utf_8_closes_the_socket(edge: ServedEdge) -> None:
    async with edge.player() as player:
        await player.socket.send_frame(b"\xff\xfe", 1)  # type: ignore[arg-type]  # 1 is the opcode of text
        assert await player.closed() == 1007


async def test_bytes_that_are_no_message_close_the_socket(edge: ServedEdge) -> None:
    async with edge.player(subprotocol=PROTOBUF) as player:
        await player.socket.send_bytes(b"\xff\xff\xff")
        assert await player.closed() == 4003


def unknown_fields(depth: int) -> bytes:
    """A message that holds a group that no schema knows, which holds another, and so on."""
    begin, end = b"\xc3\x3e", b"\xc4\x3e"  # field 1000
    return begin * depth + end * depth


async def test_fields_that_no_server_could_read_harm_nobody(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    command = pb.PlayRequest.DESCRIPTOR.fields_by_name["command"].number << 3 | 2
    async with edge.player(table.tokens[0], PROTOBUF) as odd, edge.player(table.tokens[1], PROTOBUF) as other:
        await odd.hear("presence")
        await other.hear("presence")
        for depth in range(90, 101):
            inner = unknown_fields(depth)
            data = bytes((command, len(inner) & 127 | 128, len(inner) >> 7)) + inner
            try:
                pb.PlayRequest.FromString(data)
            except DecodeError:
                break
            await odd.socket.send_bytes(data)
            assert refusal(await odd.hear("refused"))[2] == "no_command"
        assert depth > 95, "the deepest that can be read was sent"
        await other.say(pb.PlayRequest(attach=pb.Attach()))
        await other.hear("snapshot")
        assert edge.edge.stream.connections == 1


async def test_a_frame_of_the_other_kind_closes_the_socket(edge: ServedEdge) -> None:
    async with edge.player(subprotocol=PROTOBUF) as player:
        await player.socket.send_str("{}")
        assert await player.closed() == 1003
    async with edge.player(subprotocol=JSON) as player:
        await player.socket.send_bytes(b"")
        assert await player.closed() == 1003


async def test_a_message_beyond_the_limit_closes_the_socket(edge: ServedEdge) -> None:
    async with edge.player(subprotocol=PROTOBUF) as player:
        await player.socket.send_bytes(b"x" * (edge.edge.settings.limits.message_bytes + 1))
        assert await player.closed() == 1009


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_answers_carry_the_clients_own_numbers(service: Service, edge: ServedEdge, subprotocol: str) -> None:
    table = await seated(service.platform)
    async with edge.player(table.tokens[0], subprotocol) as player:
        await player.hear("presence")
        await player.say(pb.PlayRequest(heartbeat=pb.Heartbeat()))
        await player.say(pb.PlayRequest(attach=pb.Attach()))
        await player.hear("snapshot")
        await player.say(pb.PlayRequest())
        assert refusal(await player.hear("refused")) == (4, "", "no_command")
        await player.act(pb.Command(), "nothing")
        assert refusal(await player.hear("refused")) == (5, "nothing", "no_command")
        await player.say(pb.PlayRequest(record=pb.GetRecordRequest()))
        assert (await player.hear("record_read")).record_read.request == 6
        await player.say(pb.PlayRequest(command_id="late", expected_version=1, command=BID))
        assert refusal(await player.hear("refused")) == (7, "late", "stale_version")


def refusal(message: pb.SeatMessage) -> tuple[int, str, str | None]:
    refused = message.refused
    return refused.request, refused.command_id, refused.refusal.WhichOneof("reason")


TEXTS = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=8)
"""Texts, also such as JSON can write and UTF-8 cannot."""
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["attach", "command", "bid", "points", "playCards", "cards", "commandId", "lastVersion", "x"]
            )
            | TEXTS,
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_any_json_is_a_request_or_names_what_is_wrong(value: object) -> None:
    request = play_request(json.dumps(value))
    assert isinstance(request, pb.PlayRequest | WrongField)
    if isinstance(request, WrongField):
        assert request.refusal.message


@given(st.text())
def test_any_text_is_read_or_closes_the_socket(text: str) -> None:
    assert isinstance(play_request(text), pb.PlayRequest | WrongField | NotJson)
