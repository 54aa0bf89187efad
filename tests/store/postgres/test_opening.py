"""Opening a database: made once, brought forward, waited for; and refused with advice that holds no password."""

import asyncio
import os
import socket
from pathlib import Path

import asyncpg
import pytest

from erqiwang_grpc.store import NOTHING, Appended, StoreId, Version
from erqiwang_grpc.store.postgres import (
    Address,
    Copied,
    NewerSchema,
    NotAStore,
    NotPrepared,
    OlderServer,
    OpenRefused,
    OutOfReach,
    Pooled,
    PostgresStore,
    Served,
    Taken,
    Unclear,
    UnfinishedMove,
    advice,
    open_store,
    schema,
)
from erqiwang_grpc.testing.cluster import Cluster
from tests.service.certificates import Authority
from tests.store.contract import ROOM, batch, bodies
from tests.store.postgres.conftest import opened
from tests.store.postgres.pooler import pooler

SECRET = "s3cret"
PAGE = (Path(__file__).parents[3] / "docs" / "scaling.md").read_text()


def name(database: Address) -> str:
    return database.url.rpartition("/")[2]


async def identity(database: Address) -> StoreId:
    node = await opened(database)
    await node.close()
    return node.identity


async def refused(database: Address, patience: float = 0.2) -> OpenRefused:
    node = await open_store(database, patience)
    assert not isinstance(node, PostgresStore)
    assert SECRET not in advice(node)
    return node


async def test_a_database_keeps_its_identity_and_its_rooms(database: Address) -> None:
    node = await opened(database)
    assert await node.append(ROOM, NOTHING, batch(b"1")) == Appended(Version(1))
    await node.close()
    again = await opened(database)
    assert again.identity == node.identity
    assert await bodies(again, ROOM) == [b"1"]
    await again.close()


async def test_the_socket_of_the_machine_is_a_place_too(cluster: Cluster, database: Address) -> None:
    assert await identity(cluster.socket_address(name(database))) == await identity(database)


async def test_a_host_that_is_away_or_may_not_be_written_is_passed_over(cluster: Cluster, database: Address) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        closed = taken.getsockname()[1]
        hosts = f"127.0.0.1:{closed},127.0.0.1:{cluster.port}"
        assert await identity(cluster.address(name(database), hosts=hosts)) == await identity(database)


async def test_a_newer_schema_is_left_alone(cluster: Cluster, database: Address) -> None:
    await identity(database)
    async with cluster.superuser(name(database)) as db:
        await db.execute("UPDATE erqiwang.store SET schema_version = 99")
    newer = await refused(database)
    assert newer == NewerSchema(database, 99, schema.VERSION)
    assert "use a newer version of erqiwang" in advice(newer)
    async with cluster.superuser(name(database)) as db:
        assert await db.fetchval("SELECT schema_version FROM erqiwang.store") == 99


@pytest.mark.parametrize(
    "foreign",
    [
        "CREATE TABLE erqiwang.orders ()",
        "CREATE TABLE erqiwang.store ()",
        "CREATE TABLE erqiwang.store (schema_version int)",
    ],
)
async def test_tables_of_something_else_are_left_alone(cluster: Cluster, database: Address, foreign: str) -> None:
    async with cluster.superuser(name(database)) as db:
        await db.execute("CREATE SCHEMA erqiwang")
        await db.execute(foreign)
    assert await refused(database) == NotAStore(database)


async def test_only_a_server_makes_tables(database: Address) -> None:
    assert await open_store(database, makes=False) == NotPrepared(database)
    made = await identity(database)
    reader = await open_store(database, makes=False)
    assert isinstance(reader, PostgresStore)
    assert reader.identity == made
    await reader.close()


async def test_a_database_that_is_away_is_waited_for(cluster: Cluster, database: Address) -> None:
    cluster.stop()
    try:
        away = await refused(database)
        assert isinstance(away, OutOfReach)
        assert "it cannot be reached" in advice(away)
        opening = asyncio.create_task(open_store(database))
        await asyncio.sleep(0.3)
        assert not opening.done()
    finally:
        await asyncio.to_thread(cluster.start)
    node = await opening
    assert isinstance(node, PostgresStore)
    await node.close()


async def test_who_may_not_make_tables_is_told_so(cluster: Cluster, database: Address) -> None:
    async with cluster.superuser(name(database)) as db:
        await db.execute("CREATE ROLE stranger LOGIN")
        try:
            strange = await refused(cluster.address(name(database), user="stranger"), patience=30)
            assert "this user lacks a privilege" in advice(strange)
        finally:
            await db.execute("DROP ROLE stranger")


async def test_a_database_that_is_not_there_is_not_waited_for(cluster: Cluster) -> None:
    missing = await refused(cluster.address("nowhere"), patience=30)
    assert "there is no such database" in advice(missing)


async def test_a_password_is_taken_from_a_file_and_told_to_nobody(
    cluster: Cluster, database: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = cluster.data / "pg_hba.conf"
    before = rules.read_text()
    async with cluster.superuser(name(database)) as db:
        await db.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{SECRET}'")
        await db.execute(f"GRANT CREATE ON DATABASE {name(database)} TO guarded")
        rules.write_text(f"host all guarded 127.0.0.1/32 scram-sha-256\n{before}")
        await db.execute("SELECT pg_reload_conf()")
        try:
            guarded = cluster.address(name(database), user="guarded")
            wrong = await refused(Address(guarded.url.replace("guarded@", f"guarded:{SECRET}x@")), patience=30)
            assert "the password is wrong" in advice(wrong)
            passwords = tmp_path / "passwords"
            passwords.write_text(f"127.0.0.1:{cluster.port}:*:guarded:{SECRET}\n")
            passwords.chmod(0o600)
            monkeypatch.setenv("PGPASSFILE", str(passwords))
            assert await identity(guarded)
        finally:
            rules.write_text(before)
            await db.execute("SELECT pg_reload_conf()")
            await db.execute("DROP OWNED BY guarded")
            await db.execute("DROP ROLE guarded")


@pytest.mark.parametrize("url", [f"postgresql://me:a/{SECRET}@db/rooms", f"postgresql://db:{SECRET}/rooms"])
async def test_a_url_that_cannot_be_read_is_not_quoted(url: str) -> None:
    assert isinstance(await refused(Address(url)), Unclear)


async def test_a_setting_that_does_not_exist_is_not_waited_for(database: Address) -> None:
    unknown = await refused(Address(f"{database.url}?sslmode=perhaps"), patience=30)
    assert "sslmode" in advice(unknown)


async def test_a_pooler_that_lends_connections_for_a_transaction_is_found_out(
    cluster: Cluster, database: Address
) -> None:
    async with pooler(cluster.port, name(database)) as port:
        pooled = cluster.address(name(database), hosts=f"127.0.0.1:{port}")
        async with asyncio.timeout(60):
            assert await refused(pooled, patience=30) == Pooled(pooled)
        db = await asyncpg.connect(pooled.url)
        assert await db.fetchval("SELECT to_regnamespace('erqiwang') IS NULL"), "nothing was made through it"
        db.terminate()


@pytest.mark.parametrize(
    "refusal",
    [
        OutOfReach(Address("postgresql://db/rooms"), "it cannot be reached"),
        Unclear("…"),
        NewerSchema(Address("postgresql://db/rooms"), 3, 2),
        NotAStore(Address("postgresql://db/rooms")),
        NotPrepared(Address("postgresql://db/rooms")),
        OlderServer(Address("postgresql://db/rooms"), 12),
        Pooled(Address("postgresql://db/rooms")),
        Copied(Address("postgresql://db/rooms")),
        UnfinishedMove(Address("postgresql://db/rooms")),
        Taken(Address("postgresql://db/rooms")),
        Served(Address("postgresql://db/rooms"), 3),
    ],
)
def test_every_refusal_is_explained(refusal: OpenRefused) -> None:
    said = advice(refusal).removeprefix("postgresql://db/rooms").lstrip(": ")
    rows = [
        part.strip(" …:`")
        for row in PAGE.splitlines()
        if row.startswith("| `")
        for part in row.split("|")[1].split("`")
    ]
    assert any(row and said.startswith(row.split(" N")[0]) for row in rows), said


async def test_tls_as_the_url_asks_for_it(cluster: Cluster, database: Address, tmp_path: Path) -> None:
    plain = await refused(Address(f"{database.url}?sslmode=require"))
    assert "it does not speak TLS" in advice(plain)
    ours, others = Authority("ours"), Authority("others")
    issued = ours.issue("localhost")
    files = {"server.crt": issued.certificate, "server.key": issued.key}
    for file, text in files.items():
        path = cluster.folder / file
        path.write_bytes(text)
        path.chmod(0o600)
        os.chown(path, cluster.data.stat().st_uid, cluster.data.stat().st_gid)
    for file, authority in (("ours.pem", ours), ("others.pem", others)):
        (tmp_path / file).write_bytes(authority.certificate)
    asked = f"{cluster.address(name(database), hosts=f'localhost:{cluster.port}').url}?sslmode=verify-full&sslrootcert={tmp_path}"
    cluster.stop()
    certificate, key = (str(cluster.folder / file) for file in files)
    cluster.start({"ssl": "on", "ssl_cert_file": certificate, "ssl_key_file": key})
    try:
        node = await opened(Address(f"{asked}/ours.pem"))
        assert await node.append(ROOM, NOTHING, batch(b"1")) == Appended(Version(1))
        async with cluster.superuser() as db:
            spoken = await db.fetch(
                "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)"
                " WHERE datname = $1 AND application_name = 'erqiwang'",
                name(database),
            )
        assert spoken
        assert all(row["ssl"] for row in spoken)
        await node.close()
        foreign = await refused(Address(f"{asked}/others.pem"), patience=30)
        assert "its certificate is not the one that the URL asks for" in advice(foreign)
    finally:
        cluster.stop()
        cluster.start()
