"""Open files: as many as the system allows, and no more connections than fit (S4).

A process that has none left cannot take a connection to say so, deliver, or open its store. So the
limit is raised as far as it may be, and what it leaves for connections is counted before the start.
"""

import resource

from msgspec.structs import replace
from twisted.logger import Logger

from reviewsd.config.schema import Config
from reviewsd.websub.slots import IDLE_PER_PLACE

MIN_CONNECTIONS = 16
"""Connections to clients that there is always room for."""

OTHERS = 384
"""Files beside the connections to clients and to subscribers that are asked something now: connections to
subscribers that the hub keeps (256), and what the store and the operator need."""

_PER_DELIVERY = 2 * (1 + IDLE_PER_PLACE)
"""Files: its connection and those that are idle beside it, and as many of verifications."""

_log = Logger()


def raise_limit() -> int:
    """Allow this process, and those it starts, as many open files as it may; returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError) as error:  # a system call filter, for one
            _log.warn("the limit of open files stays {soft}: {error}", soft=soft, error=str(error))
            return soft
    return hard


def fitted(config: Config, limit: int) -> Config:
    """A configuration whose connections fit into the limit of open files.

    Args:
        config: What the operator wants.
        limit: Files that the process may open.
    """
    left = limit - OTHERS
    hub = min(_PER_DELIVERY * config.hub.delivery.concurrency, left // 2)  # only where many hang
    room = max(left - hub, MIN_CONNECTIONS)
    if config.server.max_connections <= room:
        return config
    _log.warn(
        "server.max_connections is {lowered} instead of {wanted}: this process may open {limit} files "
        "(ulimit -Hn, LimitNOFILE= in systemd)",
        lowered=room,
        wanted=config.server.max_connections,
        limit=limit,
    )
    return replace(config, server=replace(config.server, max_connections=room))
