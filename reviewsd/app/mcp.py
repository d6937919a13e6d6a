"""How MCP is put together: a part of the composition root."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from reviewsd.config import convert
from reviewsd.config.schema import Config
from reviewsd.http1.hosts import Hosts, Origins
from reviewsd.http1.responses import Responses
from reviewsd.mcp.introduction import Introduction
from reviewsd.mcp.methods import Methods
from reviewsd.mcp.server import McpServer
from reviewsd.mcp.sessions import Sessions
from reviewsd.mcp.toolbox import Toolbox
from reviewsd.runtime.counters import Counters
from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store.ended_sessions import EndedSessions
from reviewsd.store.interface import Store
from reviewsd.store.keys import SESSION_KEYS, KeyFileError
from reviewsd.store.transactions import StoreError
from reviewsd.web.budgets import Budgets
from reviewsd.web.mcp import AccessRules, Ended, McpRoute
from reviewsd.websub.hub import Follower
from reviewsd.websub.rate_limits import TokenBuckets

ENDS_PER_DAY = 1_000
"""Sessions that one client may end. A session lasts 30 days, so no client takes all the room there is."""

_log = Logger()


class EndedHere(Ended, Protocol):
    """Who ends sessions, and knows which have ended."""

    def __contains__(self, digest: bytes, /) -> bool:
        """Whether a session has ended."""


async def follow_ended(
    stack: AsyncExitStack,
    clock: IReactorTime,
    store: Store,
    now: Callable[[], int],
    follow: Callable[[Follower], None],
) -> EndedSessions:
    """Keep ended sessions in a store; what must be stopped goes onto the stack.

    Args:
        stack: Of the daemon.
        clock: What everything runs on.
        store: The hub's.
        now: Its clock.
        follow: Has what other nodes end looked for.
    """
    ended = EndedSessions(store, clock, now)
    follow(ended.load)
    try:
        await ended.load()
    except StoreError as error:
        _log.error("ended MCP sessions are not known yet: {error}", error=str(error))
    ended.start()
    stack.push_async_callback(ended.stop)
    return ended


def build_mcp(
    config: Config,
    environ: Mapping[str, str],
    snapshots: Snapshots,
    ended: EndedHere,
    replies: Responses,
    budgets: Budgets,
    requests: TaskSet,
    counters: Counters,
) -> McpRoute:
    """Build MCP.

    Args:
        config: What the operator wants.
        environ: Names systemd's credentials.
        snapshots: Where the data is.
        ended: Ends sessions.
        replies: How answers leave.
        budgets: Time and memory of all clients.
        requests: Owns what requests have begun.
        counters: Counts calls of tools, and sessions that could not be ended.

    Raises:
        StartError: The key file cannot be used.
    """
    mcp = config.mcp
    server = McpServer(
        Sessions(_secrets(config, environ), ended.__contains__, mcp.session_lifetime),
        Methods(Toolbox(mcp.answer_budget), Introduction(version("reviewsd")), counters),
        os.urandom,
    )
    ends = TokenBuckets(ENDS_PER_DAY, 86_400.0)
    rules = AccessRules(
        origins=Origins(config.base_url, convert.allowed_origins(config)),
        hosts=Hosts(config.base_url, convert.allowed_hosts(config)),
        max_body=config.server.max_body.mcp,
        may_end=lambda network: ends.take(network, time.monotonic()),
    )
    route = McpRoute(server, snapshots, ended, rules, replies, budgets, requests, time.time)
    counters.include(lambda: {"mcp_delete_refused_total": route.refused})
    return route


def _secrets(config: Config, environ: Mapping[str, str]) -> tuple[bytes, ...]:
    shared = config.mcp.session_key_file
    try:
        return SESSION_KEYS.load(
            config.key_folder, environ, None if shared is None else Path(shared)
        )
    except KeyFileError as error:
        raise StartError(str(error), EX_CONFIG) from error
