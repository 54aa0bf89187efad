"""A watch token is good where a watch token is asked for, and nowhere else."""

import base64
import hmac
import json
from typing import Final

import pytest
from hypothesis import given, strategies as st

from erqiwang_grpc.auth.keys import PlatformId, SigningKeys, new_signing_key
from erqiwang_grpc.auth.tokens import (
    Delayed,
    Fault,
    Milliseconds,
    SeatClaims,
    SettledDeals,
    TokenRefused,
    Tokens,
    UnixSeconds,
    WatchClaims,
)
from erqiwang_grpc.store import RoomId
from tests.auth.test_tokens import ANY_CLAIMS, NEW, NOW, TOKEN, TOKENS

TEXT: Final = st.text(max_size=40)
LATE: Final = st.one_of(st.integers(0, 2**40).map(Milliseconds).map(Delayed), st.just(SettledDeals()))
ANY_WATCH: Final = st.builds(
    WatchClaims,
    platform=TEXT.map(PlatformId),
    room=TEXT.map(RoomId),
    lateness=LATE,
    expires=st.integers(1, 2**40).map(UnixSeconds),
)
WATCH: Final = WatchClaims(PlatformId("p1"), RoomId("r1"), Delayed(Milliseconds(180_000)), UnixSeconds(NOW + 60))


@given(ANY_WATCH)
def test_what_is_issued_verifies_as_it_was_said_until_it_expires(claims: WatchClaims) -> None:
    token = TOKENS.issue(claims)
    assert TOKENS.verify_either(token, UnixSeconds(claims.expires - 1)) == claims
    assert TOKENS.verify_either(token, claims.expires) == TokenRefused(Fault.EXPIRED)


@given(ANY_WATCH)
def test_it_is_no_seat_token(claims: WatchClaims) -> None:
    assert TOKENS.verify(TOKENS.issue(claims), UnixSeconds(0)) == TokenRefused(Fault.MALFORMED)


@given(ANY_CLAIMS)
def test_where_both_are_taken_a_seat_token_stays_one(claims: SeatClaims) -> None:
    assert TOKENS.verify_either(TOKENS.issue(claims), UnixSeconds(claims.expires - 1)) == claims


def test_another_key_makes_another_token() -> None:
    stranger = Tokens(SigningKeys((), new_signing_key()))
    assert TOKENS.verify_either(stranger.issue(WATCH), NOW) == TokenRefused(Fault.UNKNOWN_KEY)
    old = Tokens(SigningKeys((), NEW)).issue(WATCH)
    assert Tokens(SigningKeys((NEW,), new_signing_key())).verify_either(old, NOW) == WATCH


def _signed(payload: object) -> str:
    """A token with our own signature over any payload."""
    header = TOKEN.split(".")[0]
    said = f"{header}.{base64.urlsafe_b64encode(json.dumps(payload).encode()).rstrip(b'=').decode()}"
    signature = base64.urlsafe_b64encode(hmac.digest(NEW.secret, said.encode(), "sha256")).rstrip(b"=").decode()
    return f"{said}.{signature}"


GOOD: Final[dict[str, object]] = {
    "iss": "erqiwang/watch",
    "platform": "p1",
    "room": "r1",
    "late": 180_000,
    "exp": NOW + 60,
}


def test_the_payload_is_as_it_is_written_here() -> None:
    assert TOKENS.verify_either(_signed(GOOD), NOW) == WATCH


@pytest.mark.parametrize(
    "changed",
    [
        {"late": -1},
        {"late": True},
        {"late": "never"},
        {"late": None},
        {"late": 1.5},
        {"exp": -1},
        {"exp": True},
        {"room": 1},
        {"platform": None},
        {"seat": 0},
        {"iss": "erqiwang/seat"},
        {"iss": "erqiwang/watching"},
    ],
    ids=str,
)
def test_what_says_anything_else_is_no_token(changed: dict[str, object]) -> None:
    assert TOKENS.verify_either(_signed(GOOD | changed), NOW) == TokenRefused(Fault.MALFORMED)
