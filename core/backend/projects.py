"""The two projects: what each has compiled."""

from pathlib import Path
from typing import Final

from backend.compiling import Backend

_CORE: Final = Path(__file__).parent.parent

core: Final = Backend(
    folder=_CORE,
    files=("LICENSE", "MANIFEST.in", "README.md", "backend", "erqiwang_environment", "pyproject.toml"),
    package="erqiwang_core",
    compiled=(".",),
    interpreted=(),
    checked=("--config-file=", "--strict"),
)
"""All of the core is compiled. The environment, which is in the same wheel, is not: its time goes into numpy."""

service: Final = Backend(
    folder=_CORE.parent,
    files=(
        "CHANGELOG.md",
        "LICENSE",
        "MANIFEST.in",
        "README.md",
        "core/backend",
        "docs",
        "proto",
        "pyproject.toml",
    ),
    carried=(("proto/erqiwang", "schemas/proto/erqiwang"), ("docs/cards.json", "schemas/cards.json")),
    package="erqiwang_grpc",
    # The way of a command, from the message that asks for it to the messages that tell of it.
    compiled=(
        "events",
        "rooms",
        "rpc/conversation.py",
        "rpc/gateway",
        "rpc/outbox.py",
        "rpc/seat_stream.py",
        "rpc/wire",
        "store/batches.py",
        "store/chain.py",
        "store/memory.py",
        "store/port.py",
        "store/wakeup.py",
    ),
    interpreted=(
        "rooms/housekeeping.py",  # mypyc knows no asynchronous generators
        "rooms/registry.py",  # from here on: no command passes through it
        "rooms/open_rooms.py",
        "rooms/neighbours.py",
        "rooms/quotas.py",
        "rpc/wire/decode",
        "rpc/gateway/service.py",  # gRPC asks whether a method is a coroutine function, which no compiled one is
    ),
    checked=("--config-file=pyproject.toml",),
    compiling_needs=("erqiwang-core", "grpcio-status", "types-grpcio", "types-grpcio-status", "types-protobuf"),
)
"""What a command passes through is compiled. What happens once a connection would gain nothing."""
