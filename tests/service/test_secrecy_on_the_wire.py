"""The law of secrecy on the bytes that each stream receives: exchange cards that a viewer does not see, and none differs.

Two servers play the same deal to some moment of it, with the same clock and the same commitments, so that the bytes can be
compared as they are. The second holds another world: see `tests.properties.worlds`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final, Protocol

import grpc
import pytest
from erqiwang_core.bidding import Bidding
from erqiwang_core.burying import Burying
from erqiwang_core.deal import Deal
from erqiwang_core.dealing import Shuffled
from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import Running
from erqiwang_core.naming import Naming
from erqiwang_core.options import Deck, FourPlayer, RoomOptions, ThreePlayer
from erqiwang_core.playing import Playing
from erqiwang_core.seats import BySeat
from erqiwang_core.settlement import Settled
from erqiwang_core.units import CardSet, Seat
from erqiwang_core.viewer import PUBLIC, Viewer
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.encode.commands import command as spoken
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb, seat_service_pb2 as pb
from tests.deals.decks import COMMITMENT
from tests.deals.plans import by_chance
from tests.deals.walk import Sent
from tests.properties.worlds import World, recorded, twin
from tests.service.spectating import watch_token
from tests.service.tables import Service, Table, act, acting, seated, seen, served

NOON: Final = 1_700_000_000_000_000_000
ROOMS: Final = {
    "three, review": RoomOptions(),
    "three, no review": RoomOptions(ThreePlayer(joker_bonus=True, climb=True), review=False),
    "four, short": RoomOptions(FourPlayer(Deck.SHORT)),
    "four, full, no review": RoomOptions(FourPlayer(Deck.FULL), review=False),
}
MOMENTS: Final = (0.05, 0.15, 0.4, 0.7)
"""How far into the deal: the bidding, naming or burying, early and late in play."""
NOT_CARDS: Final = {"bids", "void_seats", "ready", "present"}
"""Packed lists that hold something else."""


class Ear(Protocol):
    """What a seat receives as bytes, read by nothing that could lose a field."""

    heard: list[bytes]

    async def attach(self) -> None:
        """Attach, and read the beginning."""

    async def hear_of(self, version: int) -> None:
        """Read until that version has been told."""

    def messages(self) -> list[pb.SeatMessage]:
        """All that was heard."""


class GatewayEar:
    """A seat on a gateway's stream."""

    def __init__(self, service: Service, token: str) -> None:
        self._call = service.gateways.Connect(metadata=bearer(service.gateway_key()))
        self._token = token
        self.heard: list[bytes] = []

    async def attach(self) -> None:
        asked = gateway_pb.SeatRequest(handle=1, open=gateway_pb.OpenSeat(seat_token=self._token))
        await self._call.write(gateway_pb.ConnectRequest(requests=[asked]))
        await self.hear_of(1)

    async def hear_of(self, version: int) -> None:
        while all(_version(message) < version for message in self.messages()):
            response = await self._call.read()
            assert isinstance(response, gateway_pb.ConnectResponse), "the stream has ended"
            # What is unknown to a message is kept in it, and written again.
            self.heard += [pb.PlayResponse(messages=told.messages).SerializeToString() for told in response.seats]

    def messages(self) -> list[pb.SeatMessage]:
        return list(pb.PlayResponse.FromString(b"".join(self.heard)).messages)


class StreamEar:
    """A seat on a stream of its own."""

    def __init__(self, service: Service, token: str) -> None:
        play: grpc.aio.StreamStreamMultiCallable[pb.PlayRequest, bytes] = service.channel.stream_stream(
            "/erqiwang.v1.SeatService/Play", request_serializer=pb.PlayRequest.SerializeToString
        )
        self._call = play(metadata=bearer(token))
        self.heard: list[bytes] = []

    async def attach(self) -> None:
        await self._call.write(pb.PlayRequest(attach=pb.Attach()))
        await self.hear_of(1)

    async def hear_of(self, version: int) -> None:
        while all(_version(message) < version for message in self.messages()):
            response = await self._call.read()
            assert isinstance(response, bytes), "the stream has ended"
            self.heard.append(response)

    def messages(self) -> list[pb.SeatMessage]:
        # A response holds nothing but a list of messages, so all of them one behind the other are one response too.
        return list(pb.PlayResponse.FromString(b"".join(self.heard)).messages)


class WatchEar:
    """A seat that is watched, or a spectator, by the kind of its token."""

    def __init__(self, service: Service, token: str) -> None:
        watch: grpc.aio.UnaryStreamMultiCallable[pb.WatchRequest, bytes] = service.channel.unary_stream(
            "/erqiwang.v1.SeatService/Watch", request_serializer=pb.WatchRequest.SerializeToString
        )
        self._call = watch(pb.WatchRequest(), metadata=bearer(token))
        self.heard: list[bytes] = []

    async def attach(self) -> None:
        await self.hear_of(1)

    async def hear_of(self, version: int) -> None:
        while all(_version(message) < version for message in self.messages()):
            response = await self._call.read()
            assert isinstance(response, bytes), "the stream has ended"
            self.heard.append(response)

    def messages(self) -> list[pb.SeatMessage]:
        return list(pb.PlayResponse.FromString(b"".join(self.heard)).messages)


EARS: Final[dict[str, Callable[[Service, str], Ear]]] = {"Play": StreamEar, "Connect": GatewayEar, "Watch": WatchEar}


def _version(message: pb.SeatMessage) -> int:
    return max(message.snapshot.version, message.notice.version)


async def bytes_told(
    folder: Path, world: World, seat: Seat, ear_of: Callable[[Service, str], Ear] = StreamEar
) -> bytes:
    """All bytes that a seat's stream receives as the world is played on a server of its own, and what it is told anew."""
    deck = Shuffled(world.order, salt=bytes(world.order[:32]), commitment=COMMITMENT)
    async with served(folder, shuffle=lambda _: deck, now=lambda: NOON) as service:
        players = [f"player {number}" for number in range(len(world.start.chairs))]
        table = await seated(
            service.platform, encode.room_options(world.options), players=players, command_id="the same room"
        )
        ear = ear_of(service, table.tokens[seat])
        await told(service, table, world, ear)
        back = await seen(service, table, seat, last_version=0)
        assert back.missed, "the deal has begun"
        return b"".join([*ear.heard, back.SerializeToString(deterministic=True)])


async def told(service: Service, table: Table, world: World, ear: Ear) -> None:
    """Play the world, and let the ear hear all of it."""
    await ear.attach()
    for move in world.moves:
        if isinstance(move, Sent):
            answer = await act(service, table, move.seat, spoken(move.command))
            await ear.hear_of(answer.accepted.last_version)


async def bytes_told_to_the_public(folder: Path, world: World) -> bytes:
    """All bytes that a spectator receives as the world is played, and what one that comes at the end begins with."""
    deck = Shuffled(world.order, salt=bytes(world.order[:32]), commitment=COMMITMENT)
    async with served(folder, shuffle=lambda _: deck, now=lambda: NOON) as service:
        players = [f"player {number}" for number in range(len(world.start.chairs))]
        table = await seated(
            service.platform, encode.room_options(world.options), players=players, command_id="the same room"
        )
        token = await watch_token(service, table.room_id)
        ear = WatchEar(service, token)
        await told(service, table, world, ear)
        late = WatchEar(service, token)
        await late.attach()
        # How the messages were put together in responses depends on the moment.
        return b"".join(ear.heard) + b"".join(late.heard)


def two_worlds(options: RoomOptions, part: float, chance: Random) -> tuple[World, World, Seat]:
    """A deal up to some part of it, another world, and the seat to which both look the same."""
    while True:
        world = _up_to(options, part, chance)
        seat = Seat(chance.randrange(len(world.start.chairs)))
        other = twin(world, seat, chance)
        if other.moved:
            return world, other.world, seat


def two_public_worlds(options: RoomOptions, part: float, chance: Random) -> tuple[World, World]:
    """A deal up to some part of it, and another world that looks the same to the public."""
    while True:
        world = _up_to(options, part, chance)
        other = twin(world, PUBLIC, chance)
        if other.moved:
            return world, other.world


def _up_to(options: RoomOptions, part: float, chance: Random) -> World:
    whole = recorded(by_chance(options, chance), 1)
    return replace(whole, moves=whole.moves[: 1 + int(part * len(whole.moves))])


@pytest.mark.parametrize("ear_of", EARS.values(), ids=EARS)
@pytest.mark.parametrize("options", ROOMS.values(), ids=ROOMS)
@pytest.mark.parametrize("part", MOMENTS)
async def test_what_is_hidden_changes_no_byte(
    tmp_path: Path, options: RoomOptions, part: float, ear_of: Callable[[Service, str], Ear]
) -> None:
    world, other, seat = two_worlds(options, part, Random(f"{options} {part}"))
    here = await bytes_told(_folder(tmp_path, "here"), world, seat, ear_of)
    there = await bytes_told(_folder(tmp_path, "there"), other, seat, ear_of)
    assert here == there


@pytest.mark.parametrize("options", ROOMS.values(), ids=ROOMS)
@pytest.mark.parametrize("part", MOMENTS)
async def test_what_is_hidden_from_the_public_changes_no_byte_for_a_spectator(
    tmp_path: Path, options: RoomOptions, part: float
) -> None:
    world, other = two_public_worlds(options, part, Random(f"{options} {part}"))
    here = await bytes_told_to_the_public(_folder(tmp_path, "here"), world)
    there = await bytes_told_to_the_public(_folder(tmp_path, "there"), other)
    assert here == there


async def test_the_other_world_is_another_to_somebody(tmp_path: Path) -> None:
    world, other, seat = two_worlds(RoomOptions(), MOMENTS[1], Random(3))
    differ = [
        await bytes_told(_folder(tmp_path, f"here {each}"), world, each)
        != await bytes_told(_folder(tmp_path, f"there {each}"), other, each)
        for each in world.start.chairs.seats()
    ]
    assert not differ[seat]
    assert any(differ)


def _folder(above: Path, name: str) -> Path:
    folder = above / name
    folder.mkdir()
    return folder


@pytest.mark.parametrize("ear_of", EARS.values(), ids=EARS)
@pytest.mark.parametrize("options", ROOMS.values(), ids=ROOMS)
async def test_no_list_of_cards_holds_a_card_that_is_hidden(
    service: Service, options: RoomOptions, ear_of: Callable[[Service, str], Ear]
) -> None:
    table = await seated(service.platform, encode.room_options(options))
    spectator = WatchEar(service, await watch_token(service, table.room_id))
    ears = [*(ear_of(service, token) for token in table.tokens), spectator]
    for ear in ears:
        await ear.attach()
    scanned = 0
    while not isinstance(deal := _deal(service, table), Settled):
        scanned += scan(ears, deal)
        turn = await acting(service, table)
        assert turn is not None
        answer = await act(service, table, *turn)
        for ear in ears:
            await ear.hear_of(answer.accepted.last_version)
    assert scanned > 2_000, "cards that were looked at"


def _deal(service: Service, table: Table) -> Deal:
    match = service.room(table.room_id).match
    assert isinstance(match, Running)
    return match.deal


def scan(ears: Sequence[Ear], deal: Deal) -> int:
    """Look at every card told so far, and forget it; gives how many there were."""
    looked_at = 0
    viewers: tuple[Viewer, ...] = (*deal.dealt.hands.seats(), PUBLIC)
    for viewer, ear in zip(viewers, ears, strict=True):
        secret = hidden(deal, viewer)
        for message in ear.messages():
            told = list(cards(message))
            assert secret.isdisjoint(told), (viewer, secret & set(told), message)
            looked_at += len(told)
        ear.heard = ear.heard[-1:]
    return looked_at


def hidden(deal: Deal, viewer: Viewer) -> set[int]:
    """The cards that a viewer may not have been told of, as the deal stands."""
    match deal:
        case Bidding(dealt=dealt):
            return _all([*_others(dealt.hands, viewer), dealt.kitty])
        case Naming(hands=hands) | Burying(hands=hands):
            return _all(_others(hands, viewer)) - _shown(deal)
        case Playing(hands=hands, contract=contract, buried=buried):
            return _all([*_others(hands, viewer), *([buried] if contract.declarer != viewer else [])]) - _shown(deal)
        case Settled():
            return set()


def _shown(deal: Naming | Burying | Playing) -> set[int]:
    return set(ids(deal.dealt.kitty)) if deal.contract.row.kitty_shown else set()


def _others(hands: BySeat[CardSet], viewer: Viewer) -> list[CardSet]:
    return [cards for holder, cards in hands.items() if holder != viewer]


def _all(places: list[CardSet]) -> set[int]:
    return {card for place in places for card in ids(place)}


def cards(message: Message) -> Iterator[int]:
    """Every card in every packed list of a message, at any depth."""
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for inner in value if field.is_repeated else [value]:
                yield from cards(inner)
        elif field.type == FieldDescriptor.TYPE_UINT32 and field.is_repeated and field.name not in NOT_CARDS:
            yield from value
