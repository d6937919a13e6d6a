"""Reads the configuration and the data again while the daemon runs (R7, interfaces.md 1.3).

All or nothing: a configuration with a fault changes nothing, and the data is not looked at either.
What a good one says is applied where that is simple to do safely, ``LIVE``; the other keys that have
changed are named, and wait for a restart.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.threads import deferToThread
from twisted.logger import Logger

from reviewsd.api.jobs import ConfigChanges
from reviewsd.config.errors import ConfigError
from reviewsd.config.schema import Config, keys
from reviewsd.publish.compile_process import StepObserver
from reviewsd.publish.publisher import Publisher, Report

LIVE = ("crawlers", "data.", "hub.lease.", "hub.limits.", "security.")
"""How keys begin that take effect at once: what is read each time that it is used."""

Read = Callable[[], tuple[Config, Sequence[str]]]
"""Reads the configuration as the start did; raises ConfigError. It is called in a thread."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What a reload has done."""

    report: Report
    config: ConfigChanges


class Reloading:
    """What ``reviewsctl reload`` and SIGHUP do.

    Args:
        config: What the daemon was started with.
        read: Reads it again.
        apply: Puts the keys of ``LIVE`` into effect.
        publisher: Reloads the data.
    """

    _log = Logger()

    def __init__(
        self, config: Config, read: Read, apply: Callable[[Config], None], publisher: Publisher
    ) -> None:
        self._in_force = config
        self._read = read
        self._apply = apply
        self._publisher = publisher
        self.changes = ConfigChanges()
        """What came of the configuration when it was read last."""

    async def reload(
        self, *, force: bool = False, progress: StepObserver | None = None
    ) -> Reloaded:
        """Read the configuration, then the data.

        Args:
            force: Although many reviews are gone (``data.max_shrink``).
            progress: Told how far the data is.
        """
        began = time.monotonic()
        await self._reconfigure()
        if self.changes.problems:
            report = Report(
                outcome="refused",
                problems=self.changes.problems,
                at=time.time(),
                seconds=time.monotonic() - began,
            )
        else:
            report = await self._publisher.reload(force=force, progress=progress)
        return Reloaded(report, self.changes)

    async def _reconfigure(self) -> None:
        reading: Awaitable[tuple[Config, Sequence[str]]] = deferToThread(self._read)
        try:
            wanted, warnings = await reading
        except ConfigError as error:
            self.changes = replace(self.changes, applied=(), problems=error.lines)
            said = "; ".join(problem.lines[0] for problem in error.problems)
            self._log.warn("the configuration has faults, nothing is changed: {said}", said=said)
            return
        changed = [key for key in keys(Config) if _leaf(wanted, key) != _leaf(self._in_force, key)]
        applied = tuple(key for key in changed if key.startswith(LIVE))
        restart = tuple(key for key in changed if not key.startswith(LIVE))
        self.changes = ConfigChanges(applied=applied, restart=restart)
        for warning in warnings:
            self._log.warn("configuration: {warning}", warning=warning)
        if applied:
            self._in_force = _with_live(self._in_force, wanted)
            self._apply(self._in_force)
            self._log.info("the configuration has changed: {keys}", keys=", ".join(applied))
        if restart:
            self._log.warn(
                "these keys of the configuration have changed and wait for a restart: {keys}",
                keys=", ".join(restart),
            )


def _leaf(config: Struct, key: str) -> object:
    """The value of a dotted key; None for a section, whose keys are looked at one by one."""
    value: object = config
    for name in key.split("."):
        value = getattr(value, name)
    return None if isinstance(value, Struct) else value


def _with_live(config: Config, wanted: Config) -> Config:
    """What is in force, with the keys of ``LIVE`` as they are wanted."""
    hub = replace(config.hub, lease=wanted.hub.lease, limits=wanted.hub.limits)
    return replace(
        config, data=wanted.data, hub=hub, crawlers=wanted.crawlers, security=wanted.security
    )
