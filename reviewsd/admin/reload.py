"""Reads the configuration and the data again while the daemon runs (R7, interfaces.md 1.3).

A configuration with a fault changes nothing, and the data is not read either. Of a valid one the keys of
``LIVE`` are applied; other changed keys are named, and wait for a restart.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.threads import deferToThread
from twisted.logger import Logger

from reviewsd.api.jobs import ConfigChanges, Guard
from reviewsd.config.errors import ConfigError
from reviewsd.config.schema import Config, keys
from reviewsd.publish.compile_process import StepObserver
from reviewsd.publish.publisher import Publisher, Report

LIVE = ("crawlers", "data.", "hub.lease.", "hub.limits.", "security.")
"""Beginnings of the keys that take effect at once, because they are read at each use."""

_FOREIGN = ("sources",)
"""Keys that the daemon does not use: ``reviewsctl sync`` reads them at each run."""

Read = Callable[[], tuple[Config, Sequence[str]]]
"""Loads the configuration as at the start; raises ConfigError. It is called in a thread."""


@dataclass(eq=False)
class Reloading:
    """Reloads configuration and data, for ``reviewsctl reload`` and SIGHUP."""

    _log = Logger()

    config: Config
    read: Read
    apply: Callable[[Config], None]
    """Applies the keys of ``LIVE``."""
    publisher: Publisher
    changes: ConfigChanges = field(default=ConfigChanges(), init=False)
    """The result of the last load of the configuration."""

    async def reload(
        self, *, lifted: frozenset[Guard] = frozenset(), progress: StepObserver | None = None
    ) -> Report:
        """Load the configuration, then the data; ``changes`` has the result of the first.

        Args:
            lifted: Guards that let the data pass this time.
            progress: Called with the steps of the publication.
        """
        started_at = time.monotonic()
        await self._reconfigure()
        if not (problems := self.changes.problems):
            return await self.publisher.reload(lifted=lifted, progress=progress)
        seconds = time.monotonic() - started_at
        return Report(outcome="refused", problems=problems, at=time.time(), seconds=seconds)

    async def _reconfigure(self) -> None:
        reading: Awaitable[tuple[Config, Sequence[str]]] = deferToThread(self.read)
        try:
            config, warnings = await reading
        except ConfigError as error:
            self.changes = replace(self.changes, applied=(), problems=error.lines)
            faults = "; ".join(problem.lines[0] for problem in error.problems)
            self._log.warn(
                "the configuration has faults, nothing is changed: {faults}", faults=faults
            )
            return
        self.changes = self._differences(config)
        applied, restart = self.changes.applied, self.changes.restart
        for warning in warnings:
            self._log.warn("configuration: {warning}", warning=warning)
        if applied:
            self.config = _with_live(self.config, config)
            self.apply(self.config)
            self._log.info("the configuration has changed: {keys}", keys=", ".join(applied))
        if restart:
            self._log.warn(
                "these keys of the configuration have changed and wait for a restart: {keys}",
                keys=", ".join(restart),
            )

    def _differences(self, config: Config) -> ConfigChanges:
        """Return the keys with another value than the daemon uses."""
        changed = [
            key
            for key in keys(Config)
            if key not in _FOREIGN and _leaf(config, key) != _leaf(self.config, key)
        ]
        return ConfigChanges(
            applied=tuple(key for key in changed if key.startswith(LIVE)),
            restart=tuple(key for key in changed if not key.startswith(LIVE)),
        )


def _leaf(config: Struct, key: str) -> object:
    """Return the value of a dotted key; None for a section, because its keys are compared one by one."""
    value: object = attrgetter(key)(config)
    return None if isinstance(value, Struct) else value


def _with_live(config: Config, new: Config) -> Config:
    """Return a configuration with the keys of ``LIVE`` of another."""
    hub = replace(config.hub, lease=new.hub.lease, limits=new.hub.limits)
    return replace(config, data=new.data, hub=hub, crawlers=new.crawlers, security=new.security)
