"""A small client: `Platform` creates rooms and seats players, `SeatClient` plays one seat over a bad network, `Gateway` many."""

from erqiwang_grpc.client.advice import suggested
from erqiwang_grpc.client.calls import CallRefused, refusal_of
from erqiwang_grpc.client.commands import Ended, Unanswered
from erqiwang_grpc.client.gateway import Gateway
from erqiwang_grpc.client.gateway_seat import GatewaySeat
from erqiwang_grpc.client.platform import Created, FreshToken, Platform, Seated
from erqiwang_grpc.client.seat import NotAttached, SeatClient
from erqiwang_grpc.client.timing import Timing
from erqiwang_grpc.client.verifying import deck_is_opened

__all__ = [
    "CallRefused",
    "Created",
    "Ended",
    "FreshToken",
    "Gateway",
    "GatewaySeat",
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
