"""JSON as its standard has it: no key twice in an object, and no NaN or Infinity, which Python would read."""

import json


def loaded(text: str | bytes) -> object:
    """The value of a JSON text. Raises `ValueError` if it is none, or nests too deep to be read."""
    try:
        value: object = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_number(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")
