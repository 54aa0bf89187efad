"""Idempotency: a command that is sent again gets the answer that it got first, and nothing is done twice."""

from dataclasses import dataclass, field
from typing import final

from erqiwang_grpc.events.actor import Actor
from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.refusals import CommandIdReused
from erqiwang_grpc.store import CommandId, CommandKey, Version


@final
@dataclass(frozen=True, slots=True)
class Brought:
    """The versions of the events that a command brought about, and its fingerprint."""

    first: Version
    last: Version
    fingerprint: bytes


@final
@dataclass(frozen=True, slots=True)
class AcceptedCommands:
    """The commands with an id that a room has accepted. Each sender has ids of its own."""

    brought: dict[tuple[Actor, CommandId], Brought] = field(default_factory=dict)

    def recognise(self, actor: Actor, key: CommandKey | None) -> Accepted | CommandIdReused | None:
        """The answer to a command whose id was accepted before; None for a new command or one without an id."""
        if key is None:
            return None
        known = self.brought.get((actor, key.id))
        return None if known is None else again(known, key)

    def remember(self, actor: Actor, key: CommandKey | None, first: Version, last: Version) -> None:
        """Remember that a command brought about the versions from `first` to `last`, after any that it had before."""
        if key is not None:
            known = self.brought.get((actor, key.id))
            self.brought[actor, key.id] = Brought(known.first if known else first, last, key.fingerprint)


def again(brought: Brought, key: CommandKey) -> Accepted | CommandIdReused:
    """The answer to a command whose id was accepted before: the same versions, or a refusal if it differs."""
    if brought.fingerprint != key.fingerprint:
        return CommandIdReused()
    return Accepted(brought.first, brought.last, repeated=True)
