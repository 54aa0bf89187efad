"""The doors of an edge: each is a module that adds its routes to the application, and works with the edge it is given."""

from collections.abc import Callable
from typing import Final, TypeAlias

from aiohttp import web

from erqiwang_grpc.edge import page, play, watch
from erqiwang_grpc.edge.edge import Edge
from erqiwang_grpc.edge.packets import door as packets

Door: TypeAlias = Callable[[web.UrlDispatcher, Edge], None]

DOORS: Final[tuple[Door, ...]] = (play.add_routes, watch.add_routes, packets.add_routes, page.add_routes)
"""All doors. A new one is added here, and nowhere else."""


def application(edge: Edge) -> web.Application:
    """The application with the routes of all doors."""
    app = web.Application(client_max_size=edge.settings.limits.message_bytes)
    for add_routes in DOORS:
        add_routes(app.router, edge)
    return app
