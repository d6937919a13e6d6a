"""Raises the limit of open files, and fits the number of connections into it (S4).

A process without free descriptors cannot refuse a connection, deliver, or open its store.
"""

import resource

from msgspec.structs import replace
from twisted.logger import Logger

from reviewsd.config.schema import Config
from reviewsd.websub.slots import DELIVERIES, IDLE_PER_PLACE

MIN_CONNECTIONS = 16
"""The least number of connections to clients."""

OTHERS = 384
"""Files for other uses: idle connections to subscribers (256), the store, and the admin socket."""

_HUB = 2 * (1 + IDLE_PER_PLACE) * DELIVERIES.total
"""Files of the hub: for each delivery its connection and the idle ones beside it, and as many for a verification."""

_log = Logger()


def raise_limit() -> int:
    """Raise the limit of open files as far as allowed, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError) as error:  # e.g. a system call filter
            _log.warn("the limit of open files stays {soft}: {error}", soft=soft, error=str(error))
            return soft
    return hard


def fitted(config: Config, limit: int) -> Config:
    """Return the configuration with ``server.max_connections`` lowered to the limit of open files."""
    available = limit - OTHERS
    # The hub uses all of its files only while many subscribers hang
    hub = min(_HUB, available // 2)
    room = max(available - hub, MIN_CONNECTIONS)
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
