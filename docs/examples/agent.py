"""Calls a tool of an MCP server: agent.py URL [TOOL [NAME=VALUE ...]]. Without TOOL it lists them.

URL is the endpoint, as https://reviews.example.com/mcp. This is all that the protocol asks of an
agent (revision 2025-06-18): a language model would choose tool and arguments from the list.
"""

import json
import sys
import urllib.request
from typing import Any


class Session:
    """Opens a session, and sends requests in it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        client = {"name": "example-agent", "version": "1"}
        self.request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self._send({"method": "notifications/initialized"})

    def request(self, method: str, **params: object) -> dict[str, Any]:
        """The result of a request."""
        answer = json.loads(self._send({"id": 1, "method": method, "params": params}))
        if "error" in answer:
            sys.exit(answer["error"]["message"])
        result: dict[str, Any] = answer["result"]
        return result

    def _send(self, message: dict[str, object]) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        request = urllib.request.Request(self._url, body, self._headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            if session := response.headers["Mcp-Session-Id"]:
                self._headers["Mcp-Session-Id"] = session
            text: bytes = response.read()
            return text


def read(value: str) -> object:
    """A number where it is one, else a string."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def main() -> None:
    """List the tools, or call one."""
    url, *call = sys.argv[1:]
    session = Session(url)
    if not call:
        for tool in session.request("tools/list")["tools"]:
            print(f"{tool['name']:<22} {tool['title']}")
        return
    name, *given = call
    pairs = [argument.partition("=") for argument in given]
    arguments = {key: read(value) for key, _, value in pairs}
    result = session.request("tools/call", name=name, arguments=arguments)
    print(result["content"][0]["text"])
    if result.get("isError"):
        sys.exit(1)


main()
