"""A hostile gateway in a process of its own: it holds a gateway key and a few seat tokens, and floods its stream for so many seconds.

`python -m tests.attacks.gateway ADDRESS FLOOD SECONDS reads|deaf KEY TOKEN…`. It says `ready` once its stream stands, and at the end how many
requests it got rid of and how many of its streams have ended.
"""

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count, cycle
from time import monotonic
from typing import Final, TypeAlias, final

import grpc

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.v1 import (
    bidding_pb2,
    gateway_service_pb2 as pb,
    gateway_service_pb2_grpc as rpc,
    seat_service_pb2,
)

_MESSAGE: Final = 60_000
"""Bytes of a message, less than a server takes at most."""
_NARROW: Final = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 1024))
"""A connection that takes next to nothing from a server as long as nobody reads."""
_ENDED: Final = (grpc.aio.AioRpcError, asyncio.InvalidStateError)
"""What a write or a read meets when the server has ended the stream."""
_CALL: TypeAlias = "grpc.aio.StreamStreamCall[pb.ConnectRequest, pb.ConnectResponse]"
Requests: TypeAlias = Iterator[pb.SeatRequest]
Flood: TypeAlias = Callable[[Sequence[str]], Requests]
"""The requests of one stream, of a gateway that holds these tokens."""


def _opening(handle: int, token: str) -> pb.SeatRequest:
    return pb.SeatRequest(handle=handle, open=pb.OpenSeat(seat_token=token, last_version=0))


def _after_opening(tokens: Sequence[str], request: Callable[[int], pb.SeatRequest]) -> Requests:
    """Open the seats, then send one request for each, over and over."""
    yield from (_opening(handle, token) for handle, token in enumerate(tokens))
    yield from map(request, cycle(range(len(tokens))))


def bad_tokens(_: Sequence[str]) -> Requests:
    """Open seats under ever new handles with tokens that nobody signed."""
    return (_opening(handle, "x") for handle in count())


def forged_tokens(tokens: Sequence[str]) -> Requests:
    """The same with tokens that look like ours up to their signature."""
    return (_opening(handle, tokens[0][:-3] + "AAA") for handle in count())


def opened_and_closed(tokens: Sequence[str]) -> Requests:
    """Open and close one seat."""
    for handle in count():
        yield _opening(handle, tokens[0])
        yield pb.SeatRequest(handle=handle, close=pb.CloseSeat())


def opened_again(tokens: Sequence[str]) -> Requests:
    """Open one seat under ever new handles, each of which displaces the one before."""
    return (_opening(handle, tokens[0]) for handle in count())


def the_same_handle(tokens: Sequence[str]) -> Requests:
    """Open a handle that is open, which ends the stream."""
    return (_opening(1, tokens[0]) for _ in count())


def no_seats(_: Sequence[str]) -> Requests:
    """Close what was never opened."""
    return (pb.SeatRequest(handle=handle, close=pb.CloseSeat()) for handle in cycle(range(100)))


def resyncs(tokens: Sequence[str]) -> Requests:
    """Ask for snapshots."""
    return _after_opening(tokens, lambda handle: pb.SeatRequest(handle=handle, resync=pb.Resync(last_version=0)))


def records(tokens: Sequence[str]) -> Requests:
    """Ask for records."""
    ask = seat_service_pb2.GetRecordRequest()
    return _after_opening(tokens, lambda handle: pb.SeatRequest(handle=handle, command_id="r", record=ask))


def commands(tokens: Sequence[str]) -> Requests:
    """Bid, whoever's turn it is."""
    bid = seat_service_pb2.Command(bid=bidding_pb2.Bid(points=70))
    return _after_opening(tokens, lambda handle: pb.SeatRequest(handle=handle, command_id="b", command=bid))


def long_ids(tokens: Sequence[str]) -> Requests:
    """Bid under ids that fill a message each."""
    bid = seat_service_pb2.Command(bid=bidding_pb2.Bid(points=70))
    return _after_opening(
        tokens, lambda handle: pb.SeatRequest(handle=handle, command_id="x" * (_MESSAGE - 100), command=bid)
    )


FLOODS: Final[dict[str, Flood]] = {
    flood.__name__: flood
    for flood in (
        bad_tokens,
        forged_tokens,
        opened_and_closed,
        opened_again,
        the_same_handle,
        no_seats,
        resyncs,
        records,
        commands,
        long_ids,
    )
}
EMPTY: Final = "empty_messages"
"""The flood without a request."""


def messages(requests: Requests) -> Iterator[pb.ConnectRequest]:
    """The requests, as many in a message as go into it."""
    following = next(requests)
    while True:
        message, size = pb.ConnectRequest(), 0
        while size + following.ByteSize() + 8 <= _MESSAGE:
            message.requests.append(following)
            size += following.ByteSize() + 8
            following = next(requests)
        yield message


@final
class Attack:
    """One gateway, which comes back on a new stream whenever its stream ends."""

    def __init__(self, address: str, flood: str, key: str, tokens: Sequence[str], *, reads: bool) -> None:
        self._address = address
        self._flood = flood
        self._key = key
        self._tokens = tokens
        self._reads = reads
        self.requests = 0
        self.ended = 0

    async def run(self, seconds: float) -> None:
        """Flood until the time is over."""
        over = monotonic() + seconds
        async with grpc.aio.insecure_channel(self._address, options=() if self._reads else _NARROW) as channel:
            while monotonic() < over:
                call: _CALL = rpc.GatewayServiceStub(channel).Connect(metadata=bearer(self._key))
                work = [asyncio.create_task(self._write(call))]
                if self._reads:
                    work.append(asyncio.create_task(_read(call)))
                await asyncio.wait(work, timeout=over - monotonic(), return_when=asyncio.FIRST_COMPLETED)
                self.ended += call.done()
                call.cancel()
                for each in work:
                    each.cancel()
                await asyncio.wait(work)
                for each in work:
                    if not each.cancelled() and not isinstance(each.exception(), _ENDED):
                        each.result()

    async def _write(self, call: _CALL) -> None:
        if self._flood == EMPTY:
            while True:
                await call.write(pb.ConnectRequest())
                self.requests += 1
        for message in messages(FLOODS[self._flood](self._tokens)):
            await call.write(message)
            self.requests += len(message.requests)


async def _read(call: _CALL) -> None:
    while await call.read() is not grpc.aio.EOF:
        pass


def main(address: str, flood: str, seconds: str, reads: str, key: str, *tokens: str) -> None:
    """Attack, between two lines on standard output."""
    attack = Attack(address, flood, key, tokens, reads=reads == "reads")
    print("ready", flush=True)
    asyncio.run(attack.run(float(seconds)))
    print(attack.requests, attack.ended, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
