"""A seat token is good exactly if one of our keys signed it, to the letter, and its time has not come."""

import base64
import json

import jwt
import pytest
from erqiwang_core.match import Player
from erqiwang_core.units import Seat
from hypothesis import assume, example, given, strategies as st

from erqiwang_grpc.auth.keys import KeyId, PlatformId, SigningKey, SigningKeys, new_signing_key
from erqiwang_grpc.auth.tokens import (
    LIFETIME,
    LONGEST,
    Epoch,
    Fault,
    SeatClaims,
    TokenRefused,
    Tokens,
    UnixSeconds,
    claims_for,
)
from erqiwang_grpc.store import RoomId

OLD, NEW, FOREIGN = (SigningKey(KeyId(name), bytes([byte]) * 32) for byte, name in enumerate(["old", "new", "foreign"]))
TOKENS = Tokens(SigningKeys((OLD,), NEW))
NOW = UnixSeconds(1_800_000_000)
CLAIMS = claims_for(PlatformId("p1"), RoomId("r1"), Seat(2), Player("alice"), Epoch(3), NOW)
TOKEN = TOKENS.issue(CLAIMS)

TEXT = st.text(max_size=40)
ANY_CLAIMS = st.builds(
    SeatClaims,
    platform=TEXT.map(PlatformId),
    room=TEXT.map(RoomId),
    seat=st.integers(0, 3).map(Seat),
    player=TEXT.map(Player),
    epoch=st.integers(0, 2**40).map(Epoch),
    expires=st.integers(1, 2**40).map(UnixSeconds),
)


def refusal(token: str, now: UnixSeconds = NOW) -> Fault:
    refused = TOKENS.verify(token, now)
    assert isinstance(refused, TokenRefused), refused
    return refused.fault


def encoded(data: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).rstrip(b"=").decode()


@given(ANY_CLAIMS)
def test_what_is_issued_verifies_as_it_was_said_until_it_expires(claims: SeatClaims) -> None:
    token = TOKENS.issue(claims)
    assert TOKENS.verify(token, UnixSeconds(claims.expires - 1)) == claims
    assert refusal(token, claims.expires) is Fault.EXPIRED


@given(ANY_CLAIMS)
def test_any_library_for_jwt_reads_what_is_issued(claims: SeatClaims) -> None:
    token = TOKENS.issue(claims)
    read = jwt.PyJWS().decode_complete(token, NEW.secret, algorithms=["HS256"])
    assert read["header"] == {"alg": "HS256", "kid": "new", "typ": "JWT"}
    assert json.loads(read["payload"])["room"] == claims.room


def test_a_token_lasts_a_day() -> None:
    assert CLAIMS.expires == NOW + 24 * 60 * 60 == NOW + LIFETIME


@given(st.data())
def test_no_other_text_than_the_issued_one_is_good(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(TOKEN) - 1))
    other = data.draw(st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \né"))
    assume(TOKEN[at] != other)
    assert refusal(TOKEN[:at] + other + TOKEN[at + 1 :]) in {Fault.FORGED, Fault.UNKNOWN_KEY, Fault.MALFORMED}


def test_not_even_in_the_bits_that_base64_leaves_over() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    assert [last for last in alphabet if isinstance(TOKENS.verify(TOKEN[:-1] + last, NOW), SeatClaims)] == [TOKEN[-1]]


@pytest.mark.parametrize("length", range(len(TOKEN)))
def test_a_truncated_token_is_malformed_or_unknown(length: int) -> None:
    assert refusal(TOKEN[:length]) in {Fault.MALFORMED, Fault.UNKNOWN_KEY, Fault.FORGED}


@given(st.text() | st.from_regex(r"[A-Za-z0-9_-]{1,80}\.[A-Za-z0-9_-]{1,80}\.[A-Za-z0-9_-]{43}", fullmatch=True))
@example("")
@example("..")
@example("\ud800")
@example("a" * (LONGEST + 1))
@example(TOKEN + "\n")
@example(encoded({"alg": "HS256"}) + "." + "[" * 3_000 + "." + "A" * 43)
def test_any_text_is_refused_and_nothing_is_raised(text: str) -> None:
    assert refusal(text) in {Fault.MALFORMED, Fault.UNKNOWN_KEY}


@given(ANY_CLAIMS)
def test_a_token_of_another_service_is_refused(claims: SeatClaims) -> None:
    assert refusal(Tokens(SigningKeys((), FOREIGN)).issue(claims)) is Fault.UNKNOWN_KEY


@given(ANY_CLAIMS, st.binary(min_size=32, max_size=32))
def test_a_token_signed_under_our_name_with_another_secret_is_forged(claims: SeatClaims, secret: bytes) -> None:
    assume(secret != NEW.secret)
    assert refusal(Tokens(SigningKeys((), SigningKey(NEW.id, secret))).issue(claims)) is Fault.FORGED


@given(ANY_CLAIMS)
def test_claims_cannot_be_exchanged_under_a_signature(claims: SeatClaims) -> None:
    assume(claims != CLAIMS)
    header, _, signature = TOKEN.split(".")
    payload = TOKENS.issue(claims).split(".")[1]
    assert refusal(f"{header}.{payload}.{signature}") is Fault.FORGED


HEADERS = [
    {"alg": "none", "typ": "JWT"},
    {"alg": "none", "kid": "new", "typ": "JWT"},
    {"alg": "HS512", "kid": "new", "typ": "JWT"},
    {"alg": "RS256", "kid": "new", "typ": "JWT"},
    {"alg": "HS256", "typ": "JWT"},
    {"alg": "HS256", "kid": ["new"], "typ": "JWT"},
    {"alg": "HS256", "kid": "new", "typ": "JWT", "crit": ["b64"], "b64": False},
    {"alg": "HS256", "kid": "new", "typ": "JWT", "jwk": {"kty": "oct", "k": "AA"}},
    {"alg": "HS256", "kid": "../../signing-keys.json", "typ": "JWT"},
    ["HS256"],
]


@pytest.mark.parametrize("header", HEADERS)
def test_no_header_but_ours_is_looked_at(header: object) -> None:
    _, payload, signature = TOKEN.split(".")
    assert refusal(f"{encoded(header)}.{payload}.{signature}") is Fault.UNKNOWN_KEY


def test_an_unsigned_token_is_malformed() -> None:
    assert refusal(jwt.encode({"room": "r1"}, "", algorithm="none")) is Fault.MALFORMED


def signed(payload: bytes) -> str:
    return jwt.PyJWS().encode(payload, NEW.secret, "HS256", headers={"kid": NEW.id})


SAID = {"iss": "erqiwang/seat", "sub": "a", "platform": "p", "room": "r", "seat": 0, "epoch": 0, "exp": NOW + 9}


@pytest.mark.parametrize(
    "said",
    [
        *[{name: value for name, value in SAID.items() if name != missing} for missing in SAID],
        *[{**SAID, name: None} for name in SAID],
        {**SAID, "admin": True},
        {**SAID, "iss": "erqiwang/platform"},
        {**SAID, "seat": "0"},
        {**SAID, "seat": True},
        {**SAID, "seat": -1},
        {**SAID, "exp": float(NOW + 9)},
        {**SAID, "room": ["r"]},
    ],
)
def test_what_we_signed_for_another_purpose_is_no_seat_token(said: dict[str, object]) -> None:
    assert refusal(signed(json.dumps(said).encode())) is Fault.MALFORMED


def test_a_signed_payload_that_is_no_json_is_malformed() -> None:
    assert refusal(signed(b"\xff")) is Fault.MALFORMED


def test_the_newest_key_signs_and_all_verify_until_they_are_gone() -> None:
    before = SigningKeys((), OLD)
    token = Tokens(before).issue(CLAIMS)
    after = before.rotated(NEW, keep=1)
    assert Tokens(after).verify(token, NOW) == CLAIMS
    assert Tokens(SigningKeys((), NEW)).verify(Tokens(after).issue(CLAIMS), NOW) == CLAIMS
    later = after.rotated(FOREIGN, keep=1)
    assert Tokens(later).verify(token, NOW) == TokenRefused(Fault.UNKNOWN_KEY)
    assert after.rotated(FOREIGN, keep=0) == SigningKeys((), FOREIGN)


def test_names_too_long_for_a_token_are_refused_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="too long"):
        TOKENS.issue(claims_for(PlatformId("p"), RoomId("r" * LONGEST), Seat(0), Player("a"), Epoch(0), NOW))


def test_no_secret_shows_in_a_representation() -> None:
    key = new_signing_key()
    assert repr(key.secret) not in repr(SigningKeys((key,), key))
