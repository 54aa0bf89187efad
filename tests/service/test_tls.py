"""TLS by flags, and with it clients that must show a certificate of their own."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.client import CallRefused
from erqiwang_grpc.v1 import view_pb2
from tests.service.certificates import Authority, Issued
from tests.service.processes import ServerProcess, serving
from tests.service.tables import PATIENCE, attached, in_phase, play_all, seated


@asynccontextmanager
async def serving_tls(
    folder: Path, issued: Issued, client_authority: bytes | None = None
) -> AsyncIterator[ServerProcess]:
    files = {"tls-cert": issued.certificate, "tls-key": issued.key}
    if client_authority is not None:
        files["client-ca"] = client_authority
    flags: list[str] = []
    for flag, text in files.items():
        (folder / f"{flag}.pem").write_bytes(text)
        flags += [f"--{flag}", str(folder / f"{flag}.pem")]
    async with serving(folder, *flags) as server:
        yield server


async def plays(server: ServerProcess, credentials: grpc.ChannelCredentials) -> bool:
    """Whether a table can be opened and played with those credentials."""
    options = (("grpc.ssl_target_name_override", "localhost"),)
    async with grpc.aio.secure_channel(server.address, credentials, options=options) as channel:
        try:
            served = replace(server.speaking(channel), credentials=credentials, options=options)
            table = await seated(served.platform)
        except CallRefused as refused:
            return refused.code != grpc.StatusCode.UNAVAILABLE
        async with attached(served, table) as seats:
            await play_all(seats, until=in_phase(view_pb2.PHASE_PLAYING))
        return True


async def test_tls(tmp_path: Path) -> None:
    authority, stranger = Authority("ours"), Authority("another")
    async with serving_tls(tmp_path, authority.issue("localhost")) as server:
        assert await plays(server, grpc.ssl_channel_credentials(authority.certificate))
        assert not await plays(server, grpc.ssl_channel_credentials(stranger.certificate))
        async with grpc.aio.insecure_channel(server.address) as channel:
            with pytest.raises(CallRefused) as refused:
                await seated(server.speaking(channel).platform)
            assert refused.value.code == grpc.StatusCode.UNAVAILABLE


async def test_mutual_tls(tmp_path: Path) -> None:
    authority, clients, stranger = Authority("ours"), Authority("clients"), Authority("another")
    ours, theirs = clients.issue("platform"), stranger.issue("platform")
    async with serving_tls(tmp_path, authority.issue("localhost"), clients.certificate) as server:
        root = authority.certificate
        assert await plays(server, grpc.ssl_channel_credentials(root, ours.key, ours.certificate))
        assert not await plays(server, grpc.ssl_channel_credentials(root))
        assert not await plays(server, grpc.ssl_channel_credentials(root, theirs.key, theirs.certificate))


async def told_again(server: ServerProcess, message: str) -> None:
    """The server has read its files again, and says so."""
    before = server.said(message)
    server.process.send_signal(signal.SIGHUP)
    async with asyncio.timeout(PATIENCE):
        while server.said(message) == before:  # noqa: ASYNC110  # the log is another process's
            await asyncio.sleep(0.01)


async def test_the_files_are_read_again_and_no_stream_is_cut(tmp_path: Path) -> None:
    old, new = Authority("old"), Authority("new")
    options = (("grpc.ssl_target_name_override", "localhost"),)
    credentials = grpc.ssl_channel_credentials(old.certificate)
    async with (
        serving_tls(tmp_path, old.issue("localhost")) as server,
        grpc.aio.secure_channel(server.address, credentials, options=options) as channel,
    ):
        served = replace(server.speaking(channel), credentials=credentials, options=options)
        table = await seated(served.platform)
        async with attached(served, table) as seats:
            issued = new.issue("localhost")
            (tmp_path / "tls-cert.pem").write_bytes(issued.certificate)
            await told_again(server, "certificate refused")
            assert await plays(server, credentials), "a certificate without its key changes nothing"
            (tmp_path / "tls-key.pem").write_bytes(issued.key)
            await told_again(server, "certificate reloaded")
            assert await plays(server, grpc.ssl_channel_credentials(new.certificate))
            assert not await plays(server, credentials)
            await play_all(seats, until=in_phase(view_pb2.PHASE_PLAYING))
            (tmp_path / "tls-key.pem").unlink()
            await told_again(server, "certificate refused")
            assert await plays(server, grpc.ssl_channel_credentials(new.certificate))


async def test_the_authority_of_clients_is_read_again(tmp_path: Path) -> None:
    ours, old, new = Authority("ours"), Authority("old"), Authority("new")
    before, after = old.issue("platform"), new.issue("platform")
    async with serving_tls(tmp_path, ours.issue("localhost"), old.certificate) as server:
        (tmp_path / "client-ca.pem").write_bytes(new.certificate)
        await told_again(server, "certificate reloaded")
        root = ours.certificate
        assert await plays(server, grpc.ssl_channel_credentials(root, after.key, after.certificate))
        assert not await plays(server, grpc.ssl_channel_credentials(root, before.key, before.certificate))
        assert not await plays(server, grpc.ssl_channel_credentials(root))


async def test_commands_show_a_certificate_to_a_server_that_needs_one(tmp_path: Path) -> None:
    authority, clients = Authority("ours"), Authority("clients")
    ours = clients.issue("platform")
    for name, text in {"ca": authority.certificate, "cert": ours.certificate, "key": ours.key}.items():
        (tmp_path / f"own-{name}.pem").write_bytes(text)
    known = ("--ca", str(tmp_path / "own-ca.pem"))
    shown = ("--client-cert", str(tmp_path / "own-cert.pem"), "--client-key", str(tmp_path / "own-key.pem"))
    async with serving_tls(tmp_path, authority.issue("localhost"), clients.certificate) as server:
        at = ("--server", f"localhost:{server.port}")
        status, output, said = await told("health", *at, *known, *shown)
        assert (status, output) == (0, "serving\n"), said
        status, _, said = await told("health", *at, *known, "--timeout", "1")
        assert (status, "--client-cert" in said) == (2, True)
        listed = await told("rooms", "list", "--key-file", str(tmp_path / "platform-key.txt"), *at, *known, *shown)
        assert listed == (0, "", "")
        for wrong in (shown[:2], shown[2:]):
            assert (await told("health", *at, *known, *wrong))[::2] == (
                2, "erqiwang health: --client-cert and --client-key go together\n",
            )  # fmt: skip
        assert (await told("health", *at, *shown))[0] == 2, "without --ca the connection is no TLS"


async def told(*arguments: str) -> tuple[int | None, str, str]:
    """The exit status of a command, and what it prints on both outputs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "erqiwang_grpc",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await asyncio.wait_for(process.communicate(), PATIENCE)
    return process.returncode, output.decode(), errors.decode()
