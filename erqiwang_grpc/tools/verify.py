"""`erqiwang verify`: checks that the deck of a deal matches the commitment given before its first bid."""

import base64
import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias, final

from erqiwang_core.kernel.cards import FULL_DECK, SHORT_DECK

from erqiwang_grpc.commands import folding
from erqiwang_grpc.commands.arguments import BadArguments
from erqiwang_grpc.shuffling import SALT_BYTES, commitment

OPENS: Final = 0
DOES_NOT_OPEN: Final = 1
NOT_UNDERSTOOD: Final = 2

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_DIGEST_BYTES: Final = 32
_TITLE: Final = 12
"""The columns of a line's title."""
_DECKS: Final = {SHORT_DECK: "short deck", FULL_DECK: "full deck"}


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """What was published of a deal: the commitment before the first bid, and salt and order after the last card."""

    commitment: bytes
    salt: bytes
    order: tuple[int, ...]
    """Card ids in dealing order, each 0 … 255."""

    @property
    def computed(self) -> bytes:
        """The commitment computed from salt and order."""
        return commitment(self.salt, self.order)

    @property
    def deck(self) -> str | None:
        """The deck that the order is a permutation of; None if it is none of the game's decks."""
        in_order = tuple(sorted(self.order))
        return next((name for deck, name in _DECKS.items() if deck == in_order), None)

    @property
    def holds(self) -> bool:
        """Whether salt and order open the commitment, and the order is a whole deck."""
        return self.computed == self.commitment and self.deck is not None


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `verify`."""
    parser.description = (
        "Exit status: 0 every deck is what was committed to, 1 one is not, 2 the input is not understood."
    )
    parser.epilog = (
        "A file is JSON: anywhere in it, an object with `commitment`, `salt` and `order` (or `deck`), or a seat's "
        "view of a settled deal. Bytes are hexadecimal or, as protobuf writes them, base64."
    )
    parser.add_argument("file", nargs="?", help="JSON with one deal or several; - for standard input")
    parser.add_argument("--commitment", metavar="HEX", help="what every seat was sent at the deal")
    parser.add_argument("--salt", metavar="HEX", help="what was published at the end of the deal")
    parser.add_argument("--order", metavar="IDS", help="the card ids in dealing order, with commas or spaces between")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Print for each deal what was computed and whether it agrees. Gives the worst exit status of them."""
    try:
        claims = _claims(arguments)
    except BadArguments as bad:
        print(f"erqiwang verify: {bad}", file=sys.stderr)
        return NOT_UNDERSTOOD
    for number, claim in enumerate(claims, start=1):
        if len(claims) > 1:
            print(f"deal {number} of {len(claims)} found")
        folding.say(report(claim), _TITLE)
    return OPENS if all(claim.holds for claim in claims) else DOES_NOT_OPEN


def report(claim: Claim) -> Iterator[str]:
    """The lines of a report: what was computed, and what it was compared with."""
    yield f"salt        {claim.salt.hex()} ({len(claim.salt)} bytes)"
    yield f"order       {' '.join(str(card) for card in claim.order)}"
    yield f"            {len(claim.order)} bytes, one a card: {claim.deck or 'no deck of this game'}"
    yield f"computed    SHA-256(salt, then order) = {claim.computed.hex()}"
    yield f"commitment  {claim.commitment.hex()}"
    yield f"verdict     {_verdict(claim)}"


def _verdict(claim: Claim) -> str:
    if claim.computed != claim.commitment:
        return "DIFFERENT: this is not the deck that was committed to"
    if claim.deck is None:
        return "the same, but WRONG: what was committed to is no whole deck"
    return "the same: the deck is the one that was committed to"


def _claims(arguments: Namespace) -> tuple[Claim, ...]:
    given = (arguments.commitment, arguments.salt, arguments.order)
    if arguments.file is None:
        if None in given:
            raise BadArguments("give --commitment, --salt and --order, or a file of JSON, or - for standard input")
        return (claim(arguments.commitment, arguments.salt, arguments.order.replace(",", " ").split()),)
    if given != (None, None, None):
        raise BadArguments("give a file or --commitment, --salt and --order, not both")
    found = tuple(claims_in(_json(arguments.file)))
    if not found:
        raise BadArguments(f"{arguments.file}: no object in it has a commitment, a salt and an order")
    return found


def _json(file: str) -> Json:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        read: Json = json.loads(text)
    except OSError as error:
        raise BadArguments(f"{file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadArguments(f"{file}: this is no JSON") from error
    return read


def claims_in(value: Json) -> Iterator[Claim]:
    """The claims in a JSON value, in order. Raises `BadArguments` for one that cannot be read."""
    if isinstance(value, list):
        for each in value:
            yield from claims_in(each)
    elif isinstance(value, dict):
        found = _claim_of(value)
        if found is not None:
            yield found
            return
        for each in value.values():
            yield from claims_in(each)


def _claim_of(value: dict[str, Json]) -> Claim | None:
    """The claim in an object, either directly or in the parts of a view; None if it has none."""
    match value:
        case {"commitment": str(committed), "salt": str(salt), "order": list(order) | str(order)}:
            return claim(committed, salt, order)
        case {"commitment": str(committed), "salt": str(salt), "deck": list(order)}:
            return claim(committed, salt, order)
        case {"progress": {"commitment": str(committed)}, "settlement": {"salt": str(salt), "deck": list(order)}}:
            return claim(committed, salt, order)
        case _:
            return None


def claim(committed: str, salt: str, order: Sequence[Json] | str) -> Claim:
    """A claim from its texts. Raises `BadArguments` for a text that is no digest, salt or order."""
    return Claim(_bytes("commitment", committed, _DIGEST_BYTES), _bytes("salt", salt, SALT_BYTES), _order(order))


def _bytes(name: str, text: str, length: int) -> bytes:
    """The bytes of a text in hexadecimal or base64, whichever gives the right length."""
    found = b""
    with suppress(ValueError):
        found = bytes.fromhex(text) if len(text) == 2 * length else base64.b64decode(text, validate=True)
    if len(found) != length:
        raise BadArguments(f"{name}: {text!r} is not {length} bytes, in hexadecimal or base64")
    return found


def _order(order: Sequence[Json] | str) -> tuple[int, ...]:
    """Card ids from a list of numbers or texts, or from one base64 text with a byte for each card."""
    if isinstance(order, str):
        try:
            return tuple(base64.b64decode(order, validate=True))
        except ValueError as error:
            raise BadArguments("order: neither a list of card ids nor a byte a card in base64") from error
    return tuple(_card(each) for each in order)


def _card(value: Json) -> int:
    text = str(value)
    if isinstance(value, bool) or not (text.isascii() and text.isdigit()) or int(text) > 255:
        raise BadArguments(f"order: {text!r} is no card id")
    return int(text)
