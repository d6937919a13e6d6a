"""The official SDK's client, listening for changes of a resource, as a program of its own.

    python -m tests.support.mcp_listener URL RESOURCE

It writes a word a line: ``listening`` when it has subscribed, ``changed`` for each event, ``ended`` when the server has ended
the stream, and ``lost`` when the connection was lost. Then it subscribes again.
"""

import sys

import anyio
import httpx2 as httpx
from mcp import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError


async def listen(url: str, resource: str) -> None:
    async with (
        Client(url, mode="2026-07-28") as client,
        client.listen(resource_subscriptions=[resource]) as subscription,
    ):
        assert [resource] == subscription.honored.resource_subscriptions
        print("listening", flush=True)  # noqa: T201  it is a program
        try:
            async for _ in subscription:
                print("changed", flush=True)  # noqa: T201  as before
            print("ended", flush=True)  # noqa: T201  as before
        except SubscriptionLost:
            print("lost", flush=True)  # noqa: T201  as before


async def main(url: str, resource: str) -> None:
    while True:
        try:
            await listen(url, resource)
        except* (MCPError, SubscriptionLost, httpx.TransportError):
            pass  # the daemon does not answer yet
        await anyio.sleep(0.1)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
