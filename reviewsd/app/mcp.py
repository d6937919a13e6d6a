"""Builds the route of MCP, and loads the sessions that clients have ended."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from twisted.logger import Logger

from reviewsd.app.context import DaemonContext
from reviewsd.app.publication import program_version
from reviewsd.config import convert
from reviewsd.http1.hosts import Hosts, Origins
from reviewsd.http1.responses import Responses
from reviewsd.mcp.introduction import Introduction
from reviewsd.mcp.methods import Methods
from reviewsd.mcp.server import McpServer
from reviewsd.mcp.sessions import Sessions
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store.ended_sessions import EndedSessions
from reviewsd.store.keys import SESSION_KEYS
from reviewsd.store.thread import Store
from reviewsd.store.transactions import StoreError
from reviewsd.web.budgets import Budgets
from reviewsd.web.mcp import AccessRules, McpRoute
from reviewsd.websub.hub import Follower
from reviewsd.websub.rate_limits import TokenBuckets

ENDS_PER_DAY = 1_000
"""Sessions that one client may end. They are stored for 30 days, so no client can fill the store."""

_log = Logger()


async def load_ended_sessions(
    context: DaemonContext,
    store: Store,
    now: Callable[[], int],
    follow: Callable[[Follower], None],
) -> EndedSessions:
    """Load the sessions that clients have ended; the stack stops their writer.

    Args:
        context: The daemon.
        store: The state store.
        now: Its clock, in milliseconds since 1970 UTC.
        follow: Has a function called when other nodes have changed the store.
    """
    ended = EndedSessions(store, context.reactor, now, context.counters)
    follow(ended.load)
    try:
        await ended.load()
    except StoreError as error:
        _log.error("ended MCP sessions are not known yet: {error}", error=str(error))
    ended.start()
    context.stack.push_async_callback(ended.stop)
    return ended


def build_mcp(
    context: DaemonContext,
    snapshots: Snapshots,
    ended: EndedSessions,
    responses: Responses,
    budgets: Budgets,
) -> McpRoute:
    """Build the route of MCP.

    Raises:
        KeyFileError: The key file cannot be used.
    """
    config, counters = context.config, context.counters
    mcp = config.mcp
    key_file = None if mcp.session_key_file is None else Path(mcp.session_key_file)
    keys = SESSION_KEYS.load(config.key_folder, context.environ, key_file)
    server = McpServer(
        Sessions(keys, ended.__contains__),
        Methods(Introduction(program_version()), counters),
        os.urandom,
    )
    ends = TokenBuckets(ENDS_PER_DAY, 86_400.0)
    rules = AccessRules(
        origins=Origins(config.base_url, convert.allowed_origins(config)),
        hosts=Hosts(config.base_url, convert.allowed_hosts(config)),
        may_end=lambda network: ends.take(network, time.monotonic()),
    )
    route = McpRoute(
        server, snapshots, ended, rules, responses, budgets, context.requests, time.time
    )
    counters.include(lambda: {"mcp_delete_refused_total": route.refused})
    return route
