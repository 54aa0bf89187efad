"""Who may open a socket: where it comes from, and how many are open."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from aiohttp import web

from erqiwang_grpc.edge.settings import Network


def client_address(request: web.Request, trusted: tuple[Network, ...]) -> str:
    """The address of the client, as far as it can be believed.

    Behind trusted proxies it is the last address in `X-Forwarded-For` that is no trusted proxy.
    """
    believed = request.remote or ""
    hops = [hop.strip() for line in request.headers.getall("X-Forwarded-For", ()) for hop in line.split(",")]
    while hops and _is_within(believed, trusted):
        hop = _address(hops.pop())
        if hop is None:
            break
        believed = str(hop)
    return believed


def counted_as(address: str) -> str:
    """What the sockets of an address are counted under: of IPv6 its /64 network, which one household has."""
    parsed = _address(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network(f"{parsed}/64", strict=False))
    return address if parsed is None else str(parsed)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _is_within(address: str, networks: tuple[Network, ...]) -> bool:
    parsed = _address(address)
    return parsed is not None and any(parsed in network for network in networks)


def is_allowed_origin(request: web.Request, origins: frozenset[str]) -> bool:
    """Whether the page that opens the socket may: it is of this host, or of a listed origin. Programs send no origin."""
    origin = request.headers.get("Origin")
    if origin is None or "*" in origins or origin in origins:
        return True
    try:
        return urlsplit(origin).netloc == request.host
    except ValueError:
        return False  # it is no address, such as `http://[`
