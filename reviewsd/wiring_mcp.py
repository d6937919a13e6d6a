"""How MCP is put together: a part of the composition root (``app``), and nothing but that."""

import os
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from reviewsd import policies
from reviewsd.mcp.introduction import Introduction
from reviewsd.mcp.methods import Methods
from reviewsd.mcp.resources import Resources
from reviewsd.mcp.server import McpServer
from reviewsd.mcp.sessions import Sessions
from reviewsd.mcp.toolbox import Toolbox
from reviewsd.settings import Config
from reviewsd.state import EX_CONFIG, StartError
from reviewsd.stores.database import StoreError
from reviewsd.stores.ended import EndedSessions
from reviewsd.stores.keys import KeyFileError
from reviewsd.stores.session_keys import load_session_keys
from reviewsd.stores.snapshots import Snapshots
from reviewsd.tasks import TaskSet
from reviewsd.web.mcp import McpRoute, Rules
from reviewsd.web.origins import Hosts, Origins
from reviewsd.web.replies import Replies
from reviewsd.wiring import HubParts

_log = Logger()


async def build_mcp(
    stack: AsyncExitStack,
    clock: IReactorTime,
    config: Config,
    environ: Mapping[str, str],
    snapshots: Snapshots,
    hub: HubParts,
    replies: Replies,
    asked: TaskSet,
) -> McpRoute:
    """Build MCP; what must be stopped goes onto the stack.

    Args:
        stack: Of the daemon.
        clock: What everything runs on.
        config: What the operator wants.
        environ: Names systemd's credentials.
        snapshots: Where the data is.
        hub: Whose store remembers ended sessions too.
        replies: How answers leave.
        asked: Owns what requests have begun.

    Raises:
        StartError: The key file cannot be used.
    """
    ended = EndedSessions(hub.store, clock, hub.world.now, shared=config.hub.shared)
    try:
        await ended.load()
    except StoreError as error:
        _log.error("ended MCP sessions are not known yet: {error}", error=str(error))
    ended.start()
    stack.push_async_callback(ended.stop)
    mcp = config.mcp
    server = McpServer(
        Sessions(_secrets(config, environ), ended.__contains__, mcp.session_lifetime),
        Methods(
            Toolbox(mcp.answer_budget),
            Resources(mcp.max_resource),
            Introduction(version("reviewsd")),
        ),
        os.urandom,
    )
    rules = Rules(
        origins=Origins(config.base_url, policies.allowed_origins(config)),
        hosts=Hosts(config.base_url, policies.allowed_hosts(config)),
        max_body=config.server.max_body.mcp,
    )
    return McpRoute(server, snapshots, ended, rules, replies, clock, asked, time.time)


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
