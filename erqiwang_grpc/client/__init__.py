"""A small client: `Platform` creates rooms and seats players, `SeatClient` plays one seat over a bad network."""

from erqiwang_grpc.client.advice import suggested
from erqiwang_grpc.client.calls import CallRefused, refusal_of
from erqiwang_grpc.client.platform import Created, FreshToken, Platform, Seated
from erqiwang_grpc.client.seat import Ended, NotAttached, SeatClient, Unanswered
from erqiwang_grpc.client.timing import Timing
from erqiwang_grpc.client.verifying import deck_is_opened

__all__ = [
    "CallRefused",
    "Created",
    "Ended",
    "FreshToken",
    "NotAttached",
    "Platform",
    "SeatClient",
    "Seated",
    "Timing",
    "Unanswered",
    "deck_is_opened",
    "refusal_of",
    "suggested",
]
