"""Batches: the events of one command together with the room's new summary, as they are stored."""

from collections.abc import Sequence

from erqiwang_core.rules import RULES_VERSION

from erqiwang_grpc.events import encode
from erqiwang_grpc.events.index import is_public
from erqiwang_grpc.events.model import StoredEvent
from erqiwang_grpc.events.standing import Standing
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.store import Actor, Batch, CommandKey


def batch_of(
    events: Sequence[StoredEvent], after: Standing, summaries: SummaryWriter, actor: Actor, command: CommandKey | None
) -> Batch:
    """The batch of `events` by `actor`. `after` is the standing of the room after them, which gives their time too."""
    return Batch(
        time=after.time,
        actor=actor,
        command=command,
        rules_version=RULES_VERSION,
        bodies=tuple(encode.write(event) for event in events),
        summary=summaries.write(after),
        feed=after.opened.platform if any(is_public(event) for event in events) else None,
    )
