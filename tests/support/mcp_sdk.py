"""The official SDK's client, as a program of its own: it brings asyncio and pydantic along.

    python -m tests.support.mcp_sdk URL MODE

It connects, uses everything that is offered, and writes what it saw as one line of JSON. A line on
its input makes it call once more in the same session.
"""

import json
import sys
from typing import Any

import anyio
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents


async def call(client: Client, tool: str, /, **arguments: object) -> Any:
    """A call that succeeds; the SDK itself validates what is structured by the tool's schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    assert json.loads(text(result)) == result.structured_content
    return result.structured_content


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def everything(client: Client) -> dict[str, object]:
    listed = (await client.list_tools()).tools
    tools = [tool.name for tool in listed]
    views = []
    for meta in filter(None, [tool.meta for tool in listed]):
        (view,) = (await client.read_resource(meta["ui"]["resourceUri"])).contents
        views.append(view.mime_type)
    summary = await call(client, "get_summary")
    first_page = await call(client, "search_reviews", min_rating="4", limit=2, query=None)
    second_page = await call(
        client, "search_reviews", min_rating=4, cursor=first_page["next_cursor"]
    )
    first = first_page["reviews"][0]
    arguments: dict[str, dict[str, object]] = {
        "get_aspect_sentiment": {"aspect": summary["aspects"][0]["id"]},
        "get_technician": {"name": summary["technicians"][0]["name"].upper()},
        "get_service": {"service": summary["services"][0]["id"]},
        "get_review": {"id": first["id"]},
        "get_reviews_since": {"date": first["date"]},
    }
    for tool in tools:
        await call(client, tool, **arguments.get(tool, {}))
    problems = await call(client, "get_topics", kind="problems", limit=5)
    more = await call(client, "get_topics", kind="problems", offset=problems["next_offset"])
    resources = (await client.list_resources()).resources
    read = {}
    for resource in resources:
        (content,) = (await client.read_resource(resource.uri)).contents
        assert isinstance(content, TextResourceContents)
        read[str(resource.uri)] = content.text
    gateway = await client.call_tool(
        "search_reviews", {"toolCallId": "c", "rating": 0, "since": "", "sentiment": "Negative"}
    )
    wrong = await client.call_tool("search_reviews", {"rating": 9, "stars": 1})
    assert wrong.is_error
    try:
        await client.call_tool("no_such_tool", {})
    except MCPError as error:
        unknown = error.error.code
    return {
        "protocol": client.protocol_version,
        "server": client.server_info.name if client.server_info else None,
        "instructions": client.instructions,
        "tools": tools,
        "found": first_page["reviews"],
        "following": second_page["reviews"],
        "problems": len(problems["topics"] + more["topics"]),
        "read": read,
        "views": views,
        "templates": len((await client.list_resource_templates()).resource_templates),
        "noted": gateway.meta,
        "negative": (gateway.structured_content or {})["matched"],
        "wrong": text(wrong),
        "unknown": unknown,
    }


async def main(url: str, mode: str) -> None:
    async with Client(url, mode=mode) as client:
        print(json.dumps(await everything(client)), flush=True)  # noqa: T201  it is a program
        if await anyio.to_thread.run_sync(sys.stdin.readline):
            business = await call(client, "get_business")
            print(json.dumps(business), flush=True)  # noqa: T201  as before


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
