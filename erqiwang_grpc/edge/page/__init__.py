"""The door `/`: the table page, with which a person plays a seat, watches a table, or steps through a record.

The page is what lies in `files`: modules, styles and one document, served as they are, without a build step. Nothing here
knows a token or a card: the page opens `/v1/play` as any client does.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, final

from aiohttp import web

from erqiwang_grpc.edge.edge import Edge

DOCUMENT: Final = "index.html"
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
"""The content type by the end of a file's name. Other files are for the type checker, and are not served."""
_NO_WEIGHT: Final = re.compile(r"q\s*=\s*0(\.0*)?")
_ALLOWED: Final = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    # No text can become markup or script, whoever wrote it.
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
"""The content security policy."""
_HEADERS: Final = {
    # A copy is kept, and asked about each time: a new version of the edge brings a new page at once.
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "; ".join(f"{what} {source}" for what, source in _ALLOWED.items()),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}


def add_routes(router: web.UrlDispatcher, _edge: Edge) -> None:
    """Add `/` and the files of the page."""
    for name, page in pages().items():
        router.add_get("/" if name == DOCUMENT else f"/{name}", _handler(page))


@final
@dataclass(frozen=True, slots=True)
class Page:
    """A file of the page, as it is sent."""

    content_type: str
    body: bytes
    compressed: bytes
    etag: str


def pages() -> dict[str, Page]:
    """The files of the page by name."""
    found: dict[str, Page] = {}
    for file in sorted(files(__name__).joinpath("files").iterdir(), key=lambda each: each.name):
        content_type = _TYPES.get(file.name.rpartition(".")[2])
        if content_type is not None:
            body = file.read_bytes()
            etag = hashlib.sha256(body).hexdigest()[:32]
            found[file.name] = Page(content_type, body, gzip.compress(body, mtime=0), etag)
    return found


def _handler(page: Page) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def serve(request: web.Request) -> web.Response:
        compressed = _takes_gzip(request.headers.get("Accept-Encoding", ""))
        # A tag stands for the very bytes of an answer, so that each coding has its own.
        tag = f"{page.etag}-gzip" if compressed else page.etag
        headers = {**_HEADERS, "ETag": f'"{tag}"'}
        if any(known.value in (tag, "*") for known in request.if_none_match or ()):
            return web.Response(status=304, headers=headers)
        headers["Content-Type"] = page.content_type
        if compressed:
            return web.Response(body=page.compressed, headers={**headers, "Content-Encoding": "gzip"})
        return web.Response(body=page.body, headers=headers)

    return serve


def _takes_gzip(accepted: str) -> bool:
    """Whether an `Accept-Encoding` takes gzip: named, or as `*`, and not with a weight of 0."""
    weights: dict[str, bool] = {}
    for each in accepted.lower().split(","):
        coding, *parameters = (part.strip() for part in each.split(";"))
        weights[coding] = not any(_NO_WEIGHT.fullmatch(parameter) for parameter in parameters)
    return weights.get("gzip", weights.get("*", False))
