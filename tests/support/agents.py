"""Sessions of MCP with a real daemon: how agents open, use and end them."""

import json

from tests.support.daemon import Answer, Daemon
from tests.support.mcp import request

CLIENT = {"name": "test", "version": "1"}
INITIALIZE = request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=CLIENT)


def post(daemon: Daemon, message: object, session: str | None = None) -> Answer:
    """Send a message, in a session or without one."""
    headers = {"Content-Type": "application/json"}
    if session is not None:
        headers["Mcp-Session-Id"] = session
    return daemon.request("POST", "/mcp", headers, json.dumps(message).encode())


def opened(daemon: Daemon) -> str:
    """Return the id of a new session."""
    answer = post(daemon, INITIALIZE)
    assert 200 == answer.status
    return str(answer.headers["Mcp-Session-Id"])


def call(daemon: Daemon, session: str, tool: str, **arguments: object) -> Answer:
    """Call a tool."""
    return post(daemon, request("tools/call", name=tool, arguments=arguments), session)


def alive(daemon: Daemon, session: str) -> int:
    """Return the status of a ping, which is 404 when the session has ended."""
    return post(daemon, request("ping"), session).status


def end(daemon: Daemon, session: str) -> int:
    """End a session; return the status."""
    return daemon.request("DELETE", "/mcp", {"Mcp-Session-Id": session}).status
