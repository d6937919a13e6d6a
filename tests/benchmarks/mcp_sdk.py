"""search_reviews on the official SDK's server, to compare with ours. Runs in a venv of its own.

    python mcp_sdk.py PORT KIND      with PEER_DATA naming what search_peer wrote

KIND is ``plain``: a function made a tool, as the SDK's documentation does it, served by what is
installed with the SDK (asyncio, h11). Or ``tuned``: the SDK's inner server, which validates neither
arguments nor results, under uvloop and httptools, the text joined from rendered records. JSON answers,
no log. Both find as ``peer`` does; structured content must be objects of Python, that is the SDK's way.
"""

import sys
from collections.abc import Sequence
from typing import Any

import uvicorn  # type: ignore[import-not-found,unused-ignore]  # only in the peer's venv
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
from peer import ROWS, find, rendered  # type: ignore[import-not-found,unused-ignore]
from starlette.applications import (  # type: ignore[import-not-found,unused-ignore]
    Starlette,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "rating": {"type": "integer"},
        "min_rating": {"type": "number"},
        "since": {"type": "string"},
        "until": {"type": "string"},
        "mentions_technician": {"type": "string"},
        "mentions_service": {"type": "string"},
        "limit": {"type": "integer"},
        "cursor": {"type": "string"},
    },
}


Found = tuple[int, Sequence[int], str | None]


def look(arguments: dict[str, object]) -> Found:
    return find({name: str(value) for name, value in arguments.items()})  # type: ignore[no-any-return,unused-ignore]


def structured(result: Found) -> dict[str, Any]:
    matched, page, cursor = result
    return {
        "matched": matched,
        "returned": len(page),
        "reviews": [ROWS[place] for place in page],
        "next_cursor": cursor,
    }


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
    return structured(look({name: value for name, value in arguments.items() if value is not None}))


def documented() -> Starlette:
    server = MCPServer("peer", log_level="ERROR")
    server.tool()(search_reviews)
    return server.streamable_http_app(json_response=True)


def inner() -> Starlette:
    async def list_tools(_context: object, _params: object) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="search_reviews", input_schema=SCHEMA)])

    async def call_tool(_context: object, params: object) -> CallToolResult:
        result = look(params.arguments or {})  # type: ignore[attr-defined]
        content = TextContent(type="text", text=rendered(*result).decode())
        return CallToolResult(content=[content], structured_content=structured(result))

    server = Server("peer", on_list_tools=list_tools, on_call_tool=call_tool)
    return server.streamable_http_app(json_response=True)


if __name__ == "__main__":
    port, kind = sys.argv[1:]
    app = inner() if kind == "tuned" else documented()
    # as installed there are neither uvloop nor httptools
    loop, http = ("uvloop", "httptools") if kind == "tuned" else ("asyncio", "h11")
    uvicorn.run(
        app,
        port=int(port),
        loop=loop,
        http=http,
        access_log=False,
        log_level="error",
        timeout_keep_alive=600,  # a server may wait long until it is measured
    )
