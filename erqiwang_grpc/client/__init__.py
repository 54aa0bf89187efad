"""A small client: `Platform` creates rooms and seats players, `SeatClient` plays one seat over a bad network, `Gateway` many.

`Spectator` watches a room, and `OneWaySeat` plays a seat where no stream goes both ways.
"""

from erqiwang_grpc.client.advice import suggested
from erqiwang_grpc.client.calls import CallRefused, refusal_of
from erqiwang_grpc.client.commands import Ended, Unanswered
from erqiwang_grpc.client.gateway import Gateway
from erqiwang_grpc.client.gateway_seat import GatewaySeat
from erqiwang_grpc.client.life import NotAttached
from erqiwang_grpc.client.platform import Created, FreshToken, Platform, Seated, WatchToken
from erqiwang_grpc.client.seat import SeatClient
from erqiwang_grpc.client.timing import Timing
from erqiwang_grpc.client.verifying import deck_is_opened
from erqiwang_grpc.client.watching import OneWaySeat, Spectator

__all__ = [
    "CallRefused",
    "Created",
    "Ended",
    "FreshToken",
    "Gateway",
    "GatewaySeat",
    "NotAttached",
    "OneWaySeat",
    "Platform",
    "SeatClient",
    "Seated",
    "Spectator",
    "Timing",
    "Unanswered",
    "WatchToken",
    "deck_is_opened",
    "refusal_of",
    "suggested",
]
