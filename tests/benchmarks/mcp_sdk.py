"""search_reviews on the official SDK's server, to compare with ours. Runs in a venv of its own.

    python mcp_sdk.py PORT      with PEER_DATA naming what search_peer wrote

A function made a tool, as the SDK's documentation does it, served by what is installed with the SDK (asyncio,
h11). JSON answers, no log. It finds as ``peer`` does; structured content must be objects of Python, that is the
SDK's way.
"""

import sys
from typing import Any

import uvicorn  # type: ignore[import-not-found,unused-ignore]  # only in the peer's venv
from mcp.server.mcpserver import MCPServer
from peer import ROWS, find  # type: ignore[import-not-found,unused-ignore]


async def search_reviews(  # noqa: PLR0913, PLR0917  the tool's arguments
    query: str | None = None,
    rating: int | None = None,
    min_rating: float | None = None,
    since: str | None = None,
    until: str | None = None,
    mentions_technician: str | None = None,
    mentions_service: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> dict[str, Any]:
    """The reviews that match all given filters."""
    arguments = locals()
    matched, page, next_cursor = find(
        {name: str(value) for name, value in arguments.items() if value is not None}
    )
    return {
        "matched": matched,
        "returned": len(page),
        "reviews": [ROWS[place] for place in page],
        "next_cursor": next_cursor,
    }


if __name__ == "__main__":
    server = MCPServer("peer", log_level="ERROR")
    server.tool()(search_reviews)
    uvicorn.run(
        server.streamable_http_app(json_response=True),
        port=int(sys.argv[1]),
        loop="asyncio",  # as installed there are neither uvloop nor httptools
        http="h11",
        access_log=False,
        log_level="error",
        timeout_keep_alive=600,  # a server may wait long until it is measured
    )
