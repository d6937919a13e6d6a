"""The addresses under ``base_url`` (seed 2 and 4)."""

REVIEWS = "/reviews.json"
INSIGHTS = "/insights.json"
JSON_FEED = "/api/feed.json"
ATOM_FEED = "/feed.xml"
SEARCH = "/api/reviews/search"
SINCE = "/api/reviews/since/"
"""Followed by the date."""
OPENAPI = "/.well-known/openapi.json"
HUB = "/api/websub/hub"
MCP = "/mcp"
HEALTH = "/healthz"
READY = "/readyz"

RESOURCES = (JSON_FEED, ATOM_FEED, INSIGHTS, REVIEWS)
"""What can be read through MCP, in the order in which it is listed (mcp.md 5.6)."""

TOPICS = (ATOM_FEED, JSON_FEED, REVIEWS)
"""What can be subscribed to (seed 4.8)."""
