"""Traces: a span a command over every transport, in the caller's trace, with no secret in any byte, and at no one's cost."""

import asyncio
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import Final

import grpc
import pytest

from erqiwang_grpc.calls import REQUEST_ID, TRACE_PARENT
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.testing import attached, play_all, seated
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from erqiwang_grpc.v1.bidding_pb2 import PassBid
from tests.edge.processes import gateway_key, taking
from tests.observing.collector import Collector, attributes, collecting
from tests.service.gateways import RawGateway
from tests.service.processes import REPOSITORY, ServerProcess, serving

TRACE: Final = "0af7651916cd43dd8448eb211c80319c"
PARENT: Final = "b7ad6b7169203331"
SAMPLED: Final = f"00-{TRACE}-{PARENT}-01"
UNSAMPLED: Final = f"00-{TRACE}-{PARENT}-00"
PASS: Final = pb.Command(pass_bid=PassBid())
KEYS: Final = {
    "erqiwang.command",
    "erqiwang.room",
    "erqiwang.game",
    "erqiwang.seat",
    "erqiwang.phase",
    "erqiwang.outcome",
    "erqiwang.version",
    "erqiwang.refusal",
    "erqiwang.request",
    "rpc.method",
}


def flags(collector: Collector, ratio: str = "1") -> tuple[str, ...]:
    limits = ("--commands-per-second", "100000", "--platform-calls-per-second", "100000")
    return (
        "--in-memory",
        *limits,
        "--traces",
        "otlp",
        "--traces-endpoint",
        collector.endpoint,
        "--traces-ratio",
        ratio,
    )


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The standard variables hold: spans are sent sooner than usual."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")


async def test_a_whole_match_is_traced_and_no_secret_is_in_any_byte(tmp_path: Path) -> None:
    async with collecting() as collector, serving(tmp_path, *flags(collector)) as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            served = server.speaking(channel)
            async with served.platform as platform:
                table = await seated(platform)
                async with attached(served, table) as seats:
                    await play_all(seats)
                record = await platform.record(table.room_id)
        signing = (tmp_path / "signing-keys.json").read_text()
        assert await server.stop() == 0
        commands = [attributes(span) for span in collector.commands]
        # A ready seat is a command too; each accepted one brought about at least one event.
        assert len(commands) > 100
        assert {each["erqiwang.room"] for each in commands} == {table.room_id}
        assert {each["erqiwang.game"] for each in commands} == {"three_player"}
        assert {each["erqiwang.outcome"] for each in commands} == {"accepted"}
        assert {"create_room", "take_seat", "bid", "bury", "play_cards"} <= {
            each["erqiwang.command"] for each in commands
        }
        assert {each["erqiwang.seat"] for each in commands if "erqiwang.seat" in each} == {0, 1, 2}
        assert set().union(*commands) <= KEYS
        assert collector.spans == collector.commands
        steps = {attributes(span)["erqiwang.command"]: [each.name for each in span.events] for span in collector.spans}
        assert steps.pop("create_room") == ["append"]
        assert all(each == ["decide", "append", "tell"] for each in steps.values())
        assert not any(event.attributes for span in collector.spans for event in span.events)

        everything = b"".join(collector.sent)
        secrets = [server.key.encode(), *(token.encode() for token in table.tokens)]
        secrets += [part.encode() for part in signing.split('"') if len(part) > 30]
        for deal in record.deals:
            secrets += [deal.salt, deal.commitment, bytes(deal.deck), bytes(deal.kitty)]
            secrets += [bytes(hand.cards) for hand in deal.hands]
            secrets += [str(list(deal.kitty)).encode(), *(str(list(hand.cards)).encode() for hand in deal.hands)]
        assert all(secrets)
        assert not [secret for secret in secrets if secret in everything]


async def acts(server: ServerProcess, tokens: tuple[str, ...], *metadata: tuple[str, str]) -> None:
    """A pass by every seat without a stream, which the seats whose turn it is not are refused."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub = server.speaking(channel).seats
        for token in tokens:
            with pytest.raises(grpc.aio.AioRpcError):
                await stub.Act(pb.ActRequest(command=PASS), metadata=(*bearer(token), *metadata))


async def tokens_of(server: ServerProcess) -> tuple[str, ...]:
    async with grpc.aio.insecure_channel(server.address) as channel, server.speaking(channel).platform as platform:
        return (await seated(platform)).tokens


async def test_a_unary_command_is_in_its_callers_trace(tmp_path: Path) -> None:
    async with collecting() as collector, serving(tmp_path, *flags(collector, "0")) as server:
        tokens = await tokens_of(server)
        await acts(server, tokens, (TRACE_PARENT, SAMPLED), (REQUEST_ID, "mine"))
        await acts(server, tokens, (TRACE_PARENT, UNSAMPLED))
        await acts(server, tokens, (TRACE_PARENT, "garbage"))
        await acts(server, tokens)
        assert await server.stop() == 0
    assert len(collector.commands) == 3
    for span in collector.commands:
        assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
        said = attributes(span)
        assert (said["rpc.method"], said["erqiwang.request"], said["erqiwang.outcome"]) == ("Act", "mine", "refused")
    assert {attributes(span)["erqiwang.refusal"] for span in collector.commands} == {
        "FIRST_BIDDER_MUST_BID",
        "NOT_YOUR_TURN",
    }


@pytest.mark.parametrize(
    ("parent", "ratio", "traced"), [(SAMPLED, "0", 4), (UNSAMPLED, "1", 0), (None, "1", 4), (None, "0", 0)]
)
async def test_commands_on_a_stream_have_traces_of_their_own_with_a_link(
    tmp_path: Path, parent: str | None, ratio: str, traced: int
) -> None:
    more = () if parent is None else ((TRACE_PARENT, parent),)
    async with collecting() as collector, serving(tmp_path, *flags(collector, ratio)) as server:
        tokens = await tokens_of(server)
        key = gateway_key(tmp_path)
        await taking(server, key)
        async with grpc.aio.insecure_channel(server.address) as channel:
            served = server.speaking(channel)
            play = served.seats.Play(metadata=(*bearer(tokens[0]), *more))
            await play.write(pb.PlayRequest(attach=pb.Attach()))
            for _ in range(2):
                await play.write(pb.PlayRequest(command=PASS))
            refused = 0
            while refused < 2:
                response = await play.read()
                assert isinstance(response, pb.PlayResponse)
                refused += sum(each.HasField("refused") for each in response.messages)
            play.cancel()
            gateway = RawGateway(served, key, *more)
            ear = gateway.seat(tokens[1])
            await ear.attach()
            for _ in range(2):
                await ear.say(pb.PlayRequest(command=PASS))
                await ear.hear("refused")
            gateway.call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await gateway.reading
        assert await server.stop() == 0
    spans = [span for span in collector.commands if attributes(span)["erqiwang.command"] == "pass_bid"]
    assert len(spans) == traced
    assert len({span.trace_id for span in spans}) == traced
    assert not any(span.parent_span_id or span.trace_id.hex() == TRACE for span in spans)
    assert (
        sorted(str(attributes(span)["rpc.method"]) for span in spans) == ["Connect", "Connect", "Play", "Play"][:traced]
    )
    for span in spans:
        assert [(each.trace_id.hex(), each.span_id.hex()) for each in span.links] == (
            [(TRACE, PARENT)] if parent else []
        )


async def test_a_collector_that_is_away_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "20")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10")
    # It takes connections, and never answers.
    taken: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(lambda _, writer: taken.append(writer), "127.0.0.1", 0)
    endpoint = f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}"
    async with serving(tmp_path, "--in-memory", "--traces", "otlp", "--traces-endpoint", endpoint) as server:
        tokens = await tokens_of(server)
        began = monotonic()
        for _ in range(5):
            await acts(server, tokens)
        assert monotonic() - began < 5
        began = monotonic()
        assert await server.stop() == 0
        assert monotonic() - began < 8
        assert server.said("stopped") == 1
    silent.close()
    for writer in taken:
        writer.transport.abort()
    await asyncio.sleep(0)


_PLAYED: Final = """
import asyncio, sys
from erqiwang_grpc.testing import seated_table

async def main():
    async with seated_table() as table:
        await table.step()

asyncio.run(main())
import erqiwang_grpc.commands.serve
assert not [name for name in sys.modules if name.startswith("opentelemetry") or name == "erqiwang_grpc.traces"]
"""
_WITHOUT: Final = """
import sys
sys.modules["opentelemetry"] = None
from erqiwang_grpc.__main__ import main
sys.exit(main(["serve", "--in-memory", "--data", {folder!r}, "--port", "0", "--traces", "otlp"]))
"""


def test_a_server_without_traces_loads_no_opentelemetry() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PLAYED], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--traces-endpoint", "http://127.0.0.1:1"], "--traces-endpoint is for --traces otlp"),
        (["--traces", "otlp", "--traces-endpoint", "127.0.0.1:1"], "is no URL"),
        (["--traces", "otlp", "--traces-endpoint", "http://u:hidden@127.0.0.1:1"], "no user and no password"),
        (["--traces", "otlp", "--traces-endpoint", "u:hidden@127.0.0.1:1"], "no user and no password"),
        (["--traces", "otlp", "--traces-ratio", "2"], "is no number from 0 to 1"),
    ],
)
def test_flags_that_cannot_be_followed(tmp_path: Path, arguments: list[str], said: str) -> None:
    command = [sys.executable, "-m", "erqiwang_grpc", "serve", "--in-memory", "--data", str(tmp_path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert "hidden" not in done.stderr


@pytest.mark.parametrize("name", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
def test_a_variable_holds_no_password_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "http://u:hidden@127.0.0.1:1")
    command = [sys.executable, "-m", "erqiwang_grpc", "serve", "--in-memory", "--port", "0", "--data", str(tmp_path)]
    done = subprocess.run([*command, "--traces", "otlp"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"{name}: a collector's URL has no user and no password" in done.stderr
    assert "hidden" not in done.stderr


def test_without_the_library_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    program = _WITHOUT.format(folder=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "erqiwang serve: --traces otlp needs OpenTelemetry: install erqiwang-grpc[traces]" in done.stderr
