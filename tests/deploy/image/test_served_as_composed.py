"""Two nodes, PostgreSQL and the edge, started with the commands of `deploy/compose.yaml` in the image: a match is played.

In place of the network of compose, each service has an address of its own of this machine, under its own name.
"""

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from random import randrange
from time import monotonic

import pytest
from aiohttp import ClientSession

from erqiwang_grpc.client import Platform
from erqiwang_grpc.testing.cluster import running
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.deploy.arguments import DEPLOY
from tests.deploy.compose import services
from tests.deploy.image.dockerfile import Stage, inner
from tests.edge.sockets import JSON, PlayerSocket
from tests.service.tables import seated
from tests.store.postgres.programs import needed

pytestmark = pytest.mark.packages

NAMES = ["node-1", "node-2", "edge"]
FASTER = {"node-1": ["--commands-per-second=1000"], "node-2": ["--commands-per-second=1000"]}
FASTER["edge"] = ["--messages-per-second=1000"]
"""Beside the arguments that are written, since these players are faster than people."""


def here(words: list[str], address: str) -> list[str]:
    """The command where a service has one address of this machine."""
    return [re.sub(r"0\.0\.0\.0|127\.0\.0\.1", address, word) for word in words]


@contextmanager
def container(image: Stage, name: str, address: str, secrets: Path, data: Path) -> "Iterator[subprocess.Popen[str]]":
    """A service's container, which serves."""
    service = services()[name]
    data.mkdir(mode=0o700)
    os.chown(data, 10001, 10001)
    mounts = {secrets / secret: f"/run/secrets/{secret}" for secret in service["secrets"]} | {data: "/data"}
    command = [*image.entrypoint, *here(service["command"], address), *FASTER[name]]
    process = image.start(command, mounts=mounts)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("erqiwang "), process.communicate()[1]
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


async def healthy(image: Stage, name: str, address: str) -> None:
    """Wait until the service's own health check succeeds."""
    check = here(services()[name]["healthcheck"]["test"][1:], address)
    until = monotonic() + 60
    while (ran := await asyncio.to_thread(image.run, check)).returncode:
        assert monotonic() < until, ran.stderr


async def stopped(process: "subprocess.Popen[str]", name: str) -> str:
    """Stop the service as an engine does, within its time; gives its log."""
    os.kill(inner(process), signal.SIGTERM)
    within = int(services()[name]["stop_grace_period"].removesuffix("s"))
    _, log = await asyncio.to_thread(process.communicate, timeout=within)
    assert process.returncode == 0, log
    return log


def secrets_of(folder: Path, url: str) -> Path:
    """The secrets that the script makes, with the URL of the database of this test."""
    subprocess.run(["sh", DEPLOY / "secrets.sh", folder], check=True)
    (folder / "store").write_text(f"{url}\n")
    for path in folder.iterdir():
        os.chown(path, 10001, 10001)
    return folder


async def test_a_match_is_played_through_the_edge(image: Stage, tmp_path: Path) -> None:
    net = f"127.77.{randrange(1, 250)}"
    addresses = {name: f"{net}.{number}" for number, name in enumerate(NAMES, start=1)}
    hosts = "".join(f"{address} {name}\n" for name, address in addresses.items())
    (image.root / "etc/hosts").write_text(f"127.0.0.1 localhost\n{hosts}")
    async with AsyncExitStack() as stack:
        cluster = stack.enter_context(running(needed()))
        async with cluster.superuser() as db:
            await db.execute("CREATE DATABASE composed")
        secrets = secrets_of(tmp_path / "secrets", cluster.address("composed").url)
        processes = {}
        for name in NAMES:
            made = container(image, name, addresses[name], secrets, tmp_path / name)
            processes[name] = stack.enter_context(made)
            await healthy(image, name, addresses[name])
        key = (secrets / "platform-key.txt").read_text().strip()
        nodes = [f"{addresses[name]}:50051" for name in NAMES[:2]]
        platform = await stack.enter_async_context(Platform(nodes, key))
        table = await seated(platform)
        session = await stack.enter_async_context(ClientSession())
        url = f"ws://{addresses['edge']}:8080/v1/play"
        players = []
        for seat in table.seats:
            socket = await stack.enter_async_context(session.ws_connect(url, protocols=(JSON,)))
            player = PlayerSocket(socket, JSON)
            await player.say(pb.PlayRequest(attach=pb.Attach(seat_token=seat.token, last_version=seat.last_version)))
            players.append(player)
        await asyncio.gather(*(player.play() for player in players))
        versions = {player.folded.version for player in players}
        assert len(versions) == 1
        other = await stack.enter_async_context(Platform(nodes[1:], key))
        assert (await other.room(table.room_id)).version == versions.pop(), "both nodes know the match"
        logs = [await stopped(processes[name], name) for name in reversed(NAMES)]
        # The database of this test asks for no password, so that its URL is no secret.
        for secret in (each for each in secrets.iterdir() if each.name != "store"):
            assert not any(secret.read_text().strip() in log for log in logs)
        warned = [line for log in logs for line in log.splitlines() if '"open to others"' in line]
        assert warned == []
