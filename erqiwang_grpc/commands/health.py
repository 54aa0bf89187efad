"""`erqiwang health`: asks a server whether it serves, for container probes and scripts."""

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from typing import Final

import grpc
from grpc_health.v1 import health_pb2 as pb

from erqiwang_grpc.commands import interrupts, server_arguments
from erqiwang_grpc.commands.arguments import BadArguments, not_negative

SERVING: Final = 0
NOT_SERVING: Final = 1
NO_ANSWER: Final = 2
_SECONDS: Final = 5.0
_CHECK: Final = "/grpc.health.v1.Health/Check"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `health`."""
    parser.epilog = "Status 0: it serves. Status 1: it answers, and does not serve. Status 2: no answer."
    server_arguments.add_server_options(parser)
    parser.add_argument(
        "--timeout", type=not_negative, default=_SECONDS, help=f"seconds to wait for the answer (default: {_SECONDS:g})"
    )
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Ask, and print the answer in a word. Gives 0 if the server serves, 1 if it does not, 2 without an answer."""
    try:
        answer = interrupts.run(_ask(arguments))
    except BadArguments as bad:
        print(f"erqiwang health: {bad}", file=sys.stderr)
        return NO_ANSWER
    print("serving" if answer else "not serving")
    return SERVING if answer else NOT_SERVING


async def _ask(arguments: Namespace) -> bool:
    """Whether the server serves. Raises `BadArguments` if it does not answer in time."""
    credentials = server_arguments.credentials(arguments)
    if credentials is None:
        channel = grpc.aio.insecure_channel(arguments.server)
    else:
        channel = grpc.aio.secure_channel(arguments.server, credentials)
    try:
        async with channel, asyncio.timeout(arguments.timeout):
            check: grpc.aio.UnaryUnaryMultiCallable[pb.HealthCheckRequest, pb.HealthCheckResponse] = (
                channel.unary_unary(_CHECK, pb.HealthCheckRequest.SerializeToString, pb.HealthCheckResponse.FromString)
            )
            answer = await check(pb.HealthCheckRequest(), wait_for_ready=True)
    except (TimeoutError, grpc.aio.AioRpcError):
        raise BadArguments(
            f"no server answers at {arguments.server}: are the address, --ca and --client-cert right?"
        ) from None
    return answer.status == pb.HealthCheckResponse.SERVING
