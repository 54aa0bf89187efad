"""Addresses of databases: read as PostgreSQL's own clients read them, and shown without what is secret."""

import pytest

from erqiwang_grpc.store.address import Address, BadAddress, Host, is_url

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("url", "shown", "hosts", "has_password"),
    [
        ("postgresql://db/rooms", "postgresql://db/rooms", [Host("db", None)], False),
        ("postgres://me@db:5433/rooms", "postgresql://me@db:5433/rooms", [Host("db", 5433)], False),
        (f"postgresql://me:{SECRET}@db/rooms", "postgresql://me@db/rooms", [Host("db", None)], True),
        (f"postgresql://:{SECRET}@db/rooms", "postgresql://db/rooms", [Host("db", None)], True),
        (f"postgresql://me@db/rooms?password={SECRET}", "postgresql://me@db/rooms", [Host("db", None)], True),
        (f"postgresql://me@db/rooms?%70assword={SECRET}", "postgresql://me@db/rooms", [Host("db", None)], True),
        (f"postgresql://me@db/rooms?sslpassword={SECRET}", "postgresql://me@db/rooms", [Host("db", None)], True),
        ("postgresql://me@db/rooms?sslmode=require", "postgresql://me@db/rooms", [Host("db", None)], False),
        ("postgresql://me@/rooms?host=/run/pg", "postgresql://me@/run/pg/rooms", [], False),
        ("postgresql:///rooms", "postgresql:///rooms", [], False),
        ("postgresql://a,b:5433,[::1]:5434,[::2]/rooms", "postgresql://a,b:5433,[::1]:5434,[::2]/rooms", None, False),
    ],
)
def test_what_is_read_and_what_is_shown(url: str, shown: str, hosts: list[Host] | None, has_password: bool) -> None:
    address = Address(url)
    assert str(address) == shown
    several = [Host("a", None), Host("b", 5433), Host("::1", 5434), Host("::2", None)]
    assert list(address.hosts) == (several if hosts is None else hosts)
    assert address.has_password is has_password
    assert SECRET not in f"{address} {address!r}"


@pytest.mark.parametrize("special", ["@", "/", "?", "#", ":@", "/?@"])
def test_a_password_whose_special_characters_stand_for_themselves_is_not_shown(special: str) -> None:
    address = Address(f"postgresql://me:{SECRET}{special}{SECRET}@db/rooms")
    with pytest.raises(BadAddress, match="as %40 and so on") as bad:
        _ = address.hosts
    assert SECRET not in f"{address} {bad.value}"
    assert address.has_password


def test_a_port_that_is_no_number_is_not_quoted() -> None:
    with pytest.raises(BadAddress) as bad:
        _ = Address(f"postgresql://db:{SECRET}/rooms").hosts
    assert SECRET not in str(bad.value)


@pytest.mark.parametrize(
    ("text", "is_one"), [("postgresql://", True), ("postgres:", False), ("/srv/postgresql://", False)]
)
def test_what_names_a_database(text: str, is_one: bool) -> None:
    assert is_url(text) is is_one
