"""Addresses: a host and a port in one text."""


def joined(host: str, port: int) -> str:
    """`HOST:PORT`, with an IPv6 address in brackets, as gRPC and URLs write it. `host` has none."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
