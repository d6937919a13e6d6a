"""The process that the daemon is built in."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from twisted.internet.posixbase import PosixReactorBase

from reviewsd.config.schema import Config
from reviewsd.runtime.counters import Counters
from reviewsd.runtime.systemd import Notifier
from reviewsd.runtime.tasks import TaskSet


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
    counters: Counters = field(default_factory=Counters)
    requests: TaskSet = field(default_factory=TaskSet)
    """Owns work that goes on when the client of a request has left."""
