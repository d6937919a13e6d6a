"""The routes that the classes of the public site declare, without objects that answer them."""

from reviewsd.http1.responses import Responses
from reviewsd.web.embed import EmbedReads
from reviewsd.web.feeds import FeedReads
from reviewsd.web.index import RouteIndex
from reviewsd.web.mcp import McpRoute
from reviewsd.web.pages import PageReads
from reviewsd.web.probes import Probes
from reviewsd.web.reads import Reads
from reviewsd.web.websub import HubRoute

CLASSES = (Reads, FeedReads, PageReads, EmbedReads, HubRoute, McpRoute, Probes)

ROUTES = tuple({route.path: route for one in CLASSES for route in one.app.routes.values()}.values())

find = RouteIndex(map(object.__new__, CLASSES), Responses("https://a.example", "public")).find
"""Returns the route of a path."""
