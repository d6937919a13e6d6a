"""The objects that all builders of the daemon share, its limit of open files, and the record of a failed start."""

import os
import resource
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path

import msgspec
from twisted.internet.posixbase import PosixReactorBase
from twisted.logger import Logger

from reviewsd.api.jobs import instant
from reviewsd.api.program import installed_at
from reviewsd.api.status import START_FAILURE, StartFailure
from reviewsd.config.schema import Config
from reviewsd.runtime.counters import Counters
from reviewsd.runtime.state_dir import StartError
from reviewsd.runtime.systemd import Notifier
from reviewsd.runtime.tasks import TaskSet
from reviewsd.websub.slots import DELIVERIES, IDLE_PER_PLACE

MIN_CONNECTIONS = 16  # the least number of connections to clients

OTHER_FILES = 384
"""Files for other uses: idle connections to subscribers (256), the store, and the admin socket."""

_HUB = 2 * (1 + IDLE_PER_PLACE) * DELIVERIES.total
"""Files of the hub: a busy connection and the idle ones beside it for each delivery, and as many for verifications."""

_log = Logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonContext:
    """The objects that every builder of the daemon needs."""

    stack: AsyncExitStack
    """Stops what was started, in reverse order."""
    reactor: PosixReactorBase
    config: Config
    environ: Mapping[str, str]
    """Environment variables; systemd names its credentials and its watchdog there."""
    notifier: Notifier
    version: str = field(default_factory=partial(version, "reviewsd"))
    """The version of this program."""
    installed_at: float = field(default_factory=installed_at)
    """When this program was installed, POSIX seconds."""
    counters: Counters = field(default_factory=Counters)
    tasks: TaskSet = field(default_factory=TaskSet)
    """Holds work that goes on when the client of a request has left, and the task that logs rejections."""


def raise_file_limit() -> int:
    """Raise the limit of open files as far as allowed, and return it.

    A process without free descriptors cannot refuse a connection, deliver, or open its store (S4).
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError) as error:  # e.g. a system call filter
            _log.warn("the limit of open files stays {soft}: {error}", soft=soft, error=str(error))
            return soft
    return hard


def fitting_connections(configured: int, limit: int) -> int:
    """Return ``server.max_connections``, lowered to a limit of open files."""
    available = limit - OTHER_FILES
    # The hub uses all of its files only while many subscribers hang
    room = max(available - min(_HUB, available // 2), MIN_CONNECTIONS)
    if configured <= room:
        return configured
    _log.warn(
        "server.max_connections is {lowered} instead of {wanted}: this process may open {limit} files "
        "(ulimit -Hn, LimitNOFILE= in systemd)",
        lowered=room,
        wanted=configured,
        limit=limit,
    )
    return room


def record_failure(state_dir: Path, error: StartError, now: float) -> None:
    """Write why a start failed, for ``reviewsctl status``: the daemon's admin socket is gone by then.

    Args:
        state_dir: The locked state directory.
        error: The error that ended the start.
        now: POSIX seconds.
    """
    failure = StartFailure(at=instant(now), code=error.code, reason=str(error))
    draft = state_dir / f"{START_FAILURE}.new"
    try:
        draft.write_bytes(msgspec.json.encode(failure))
        os.replace(draft, state_dir / START_FAILURE)  # noqa: PTH105  a reader never sees half of it
    except OSError as fault:
        _log.warn("cannot write {path}: {reason}", path=str(draft), reason=fault.strerror)
