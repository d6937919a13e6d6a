"""How MCP is put together: a part of the composition root (``app``), and nothing but that."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from reviewsd.config.load import convert as policies
from reviewsd.mcp.introduction import Introduction
from reviewsd.mcp.methods import Methods
from reviewsd.mcp.server import McpServer
from reviewsd.mcp.sessions import Sessions
from reviewsd.mcp.toolbox import Toolbox
from reviewsd.config.load.schema import Config
from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.store.sqlite import StoreError
from reviewsd.stores.ended import EndedSessions, Store
from reviewsd.store.keys import KeyFileError
from reviewsd.store.session_keys import load_session_keys
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.runtime.counters import Tally
from reviewsd.runtime.tasks import TaskSet
from reviewsd.web.mcp import Ended, McpRoute, Rules
from reviewsd.http1.hosts import Hosts, Origins
from reviewsd.http1.responses import Replies
from reviewsd.web.workload import Workload

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
    tally: Tally,
    *,
    shared: bool,
) -> EndedSessions:
    """Keep ended sessions in a store; what must be stopped goes onto the stack.

    Args:
        stack: Of the daemon.
        clock: What everything runs on.
        store: The hub's.
        now: Its clock.
        tally: Counts those that cannot be kept.
        shared: Whether other nodes use it too.
    """
    ended = EndedSessions(store, clock, now, shared=shared)
    try:
        await ended.load()
    except StoreError as error:
        _log.error("ended MCP sessions are not known yet: {error}", error=str(error))
    tally.include(lambda: {"mcp_delete_refused_total": ended.refused})
    ended.start()
    stack.push_async_callback(ended.stop)
    return ended


def build_mcp(
    config: Config,
    environ: Mapping[str, str],
    snapshots: Snapshots,
    ended: EndedHere,
    replies: Replies,
    workload: Workload,
    asked: TaskSet,
    tally: Tally,
) -> McpRoute:
    """Build MCP.

    Args:
        config: What the operator wants.
        environ: Names systemd's credentials.
        snapshots: Where the data is.
        ended: Ends sessions.
        replies: How answers leave.
        workload: Computes answers.
        asked: Owns what requests have begun.
        tally: Counts calls of tools.

    Raises:
        StartError: The key file cannot be used.
    """
    mcp = config.mcp
    server = McpServer(
        Sessions(_secrets(config, environ), ended.__contains__, mcp.session_lifetime),
        Methods(Toolbox(mcp.answer_budget), Introduction(version("reviewsd")), tally),
        os.urandom,
    )
    rules = Rules(
        origins=Origins(config.base_url, policies.allowed_origins(config)),
        hosts=Hosts(config.base_url, policies.allowed_hosts(config)),
        max_body=config.server.max_body.mcp,
    )
    return McpRoute(server, snapshots, ended, rules, replies, workload, asked, time.time)


def _secrets(config: Config, environ: Mapping[str, str]) -> tuple[bytes, ...]:
    given, shared = environ.get("CREDENTIALS_DIRECTORY"), config.mcp.session_key_file
    try:
        return load_session_keys(
            config.state_dir,
            None if given is None else Path(given),
            None if shared is None else Path(shared),
        )
    except KeyFileError as error:
        raise StartError(str(error), EX_CONFIG) from error
