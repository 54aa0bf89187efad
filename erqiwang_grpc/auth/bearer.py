"""The credential in an `authorization` header."""

from __future__ import annotations


def credential(authorization: str) -> str | None:
    """The text after `Bearer` (in any case) and one space; None if the header has any other form."""
    scheme, _, presented = authorization.partition(" ")
    return presented if scheme.lower() == "bearer" and presented and presented == presented.strip() else None
