"""Cursors and page tokens: what was given out comes back as it was meant, and nothing else is taken for a place."""

from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import grpc
import pytest
from hypothesis import given, strategies as st

from erqiwang_grpc.archive.feed import Place
from erqiwang_grpc.client import refusal_of
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rooms.refusals import ForeignCursor, InvalidCursor
from erqiwang_grpc.rpc.cursors import cursor, page_token, read_cursor, read_page_token
from erqiwang_grpc.store import Cursor, StoreId
from erqiwang_grpc.v1 import room_service_pb2 as pb
from tests.service.tables import Service

Rpc: TypeAlias = Callable[[Service, str], Awaitable[object]]
STORE: Final = StoreId("0123456789abcdef")
OTHER: Final = StoreId("fedcba9876543210")
AT: Final = st.from_regex(r"[0-9a-z.:/]*", fullmatch=True)
"""What a store may give as a cursor."""
TOLD: Final = st.integers(0, 10**9 - 1)
NO_COUNTS: Final = ("-1", "+1", " 1", "1_0", "１", str(2**63), "9" * 30, "9" * 10_000)
"""What is no number of events, though Python reads some of it as one."""


@given(AT, TOLD)
def test_a_cursor_comes_back(at: str, told: int) -> None:
    place = Place(Cursor(at), told)
    assert read_cursor(cursor(STORE, place), STORE) == place


@given(AT.filter(bool))
def test_a_page_token_comes_back(at: str) -> None:
    assert read_page_token(page_token(STORE, Cursor(at)), STORE) == at


@given(AT.filter(bool), TOLD)
def test_a_place_in_another_store_is_no_place_here(at: str, told: int) -> None:
    assert read_cursor(cursor(OTHER, Place(Cursor(at), told)), STORE) == ForeignCursor()
    assert read_page_token(page_token(OTHER, Cursor(at)), STORE) == ForeignCursor()


def forged(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode()


@pytest.mark.parametrize("number", NO_COUNTS)
def test_what_counts_no_events_is_no_place(number: str) -> None:
    for text in (f"{STORE}-1-{number}", f"{STORE}x{number}", number):
        assert read_cursor(text, STORE) == InvalidCursor("cursor")
    for text in (STORE, f"{STORE}.", number):
        assert read_page_token(forged(text), STORE) == InvalidCursor("page_token")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    assert isinstance(read_cursor(text, STORE), Place | InvalidCursor | ForeignCursor)
    assert isinstance(read_page_token(text, STORE), str | InvalidCursor | ForeignCursor)


async def list_rooms(service: Service, number: str) -> object:
    request = pb.ListRoomsRequest(page_token=forged(f"{service.store}.{number}.room"))
    return await service.rooms.ListRooms(request, metadata=bearer(service.key))


async def list_match_records(service: Service, number: str) -> object:
    request = pb.ListMatchRecordsRequest(page_token=forged(f"{service.store}.{number}.room"))
    return await service.rooms.ListMatchRecords(request, metadata=bearer(service.key))


async def watch_rooms(service: Service, number: str) -> object:
    return await service.rooms.WatchRooms(
        pb.WatchRoomsRequest(cursor=f"{service.store_id}-{number}-0"), metadata=bearer(service.key)
    ).read()


@pytest.mark.parametrize("rpc", [list_rooms, list_match_records, watch_rooms])
async def test_a_forged_place_is_refused(service: Service, rpc: Rpc) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await rpc(service, str(2**63))
    assert (refused.value.code(), refusal_of(refused.value).reason) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "INVALID_CURSOR",
    )
