"""How metrics and probes are put together: a part of the composition root, and nothing but that."""

import os
import platform
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version

from twisted.internet import defer
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.posixbase import PosixReactorBase

from reviewsd.api.hub import HubState
from reviewsd.monitoring.health import Health
from reviewsd.monitoring.metrics import Gauge, HubFigures, InfoMetric, Metrics
from reviewsd.publish.publisher import Publisher
from reviewsd.runtime.counters import Counts
from reviewsd.runtime.systemd import Notifier, watchdog_interval
from reviewsd.runtime.tasks import TaskSet, every
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store.interface import Store
from reviewsd.store.thread import Purpose

HUB_SECONDS = 2.0
"""That the store may take to say how the hub is; then the other metrics are told without."""


def start_health(stack: AsyncExitStack, clock: IReactorTime, store: Store) -> Health:
    """Look after the reactor and the store from now on.

    Args:
        stack: Of the daemon.
        clock: Its reactor.
        store: Of the hub.
    """
    health = Health(clock, partial(store.run, lambda _: None, Purpose.PROBE))
    health.start()
    stack.push_async_callback(health.stop)
    return health


def start_watchdog(
    stack: AsyncExitStack,
    clock: IReactorTime,
    environ: Mapping[str, str],
    health: Health,
    notifier: Notifier,
) -> None:
    """Give systemd signs of life, where it waits for them (O3).

    Args:
        stack: Of the daemon.
        clock: Its reactor.
        environ: Says whether systemd waits, and for how long.
        health: Knows whether there is life.
        notifier: The way to systemd.
    """
    seconds = watchdog_interval(environ, os.getpid())
    if seconds is not None:
        tasks = TaskSet()
        stack.push_async_callback(tasks.stop)
        tasks.start("watchdog", every(clock, seconds, partial(health.beat, notifier.watchdog)))


def build_metrics(
    reactor: PosixReactorBase,
    snapshots: Snapshots,
    publisher: Publisher,
    health: Health,
    hub: Callable[[], Awaitable[HubState]],
    counts: Callable[[], Counts],
) -> Metrics:
    """Build what makes the text.

    Args:
        reactor: What everything runs on.
        snapshots: What is served.
        publisher: Knows how reloads went.
        health: Knows how late the reactor is.
        hub: How the hub is.
        counts: Returns what was counted.
    """

    def threads() -> float:
        return float(reactor.getThreadPool()._queue.qsize())  # noqa: SLF001  the only way

    gauges = [
        Gauge("reviews", "Reviews that are served.", partial(_reviews, snapshots)),
        Gauge(
            "snapshot_age_seconds",
            "Time since the data that is served was published.",
            partial(_age, snapshots),
        ),
        Gauge(
            "data_last_reload_successful",
            "1 when what is served is what the files say, 0 when they could not be published.",
            lambda: None if publisher.last is None else publisher.last.good,
        ),
        Gauge(
            "data_last_reload_success_timestamp_seconds",
            "When the files were last found published, or were published; POSIX time.",
            lambda: publisher.succeeded_at,
        ),
        Gauge(
            "data_retry_timestamp_seconds",
            "When a publication that failed is tried again, POSIX time; nothing where none waits.",
            lambda: publisher.retry_at,
        ),
        Gauge(
            "reactor_lag_seconds",
            "How late the reactor was in the last minute, at the worst.",
            lambda: health.lag,
        ),
        Gauge("store_up", "1 while the state store works.", lambda: health.store_works),
        Gauge("threadpool_queue", "Work that waits for a thread.", threads),
    ]
    infos = [
        InfoMetric("build", "The program.", _build),
        InfoMetric("snapshot", "The data that is served.", partial(_revision, snapshots)),
    ]
    return Metrics(counts, partial(_hub, reactor, hub), gauges, infos)


async def _hub(
    reactor: PosixReactorBase, ask: Callable[[], Awaitable[HubState]]
) -> HubFigures | None:
    """How the hub is, or None where its store does not say so in time."""
    state = Deferred.fromCoroutine(_awaited(ask)).addTimeout(HUB_SECONDS, reactor)
    try:
        found: HubState = await state
    except defer.TimeoutError:
        return None
    oldest = found.oldest_due_at
    return HubFigures(
        subscriptions={"active": found.active, "pending": found.pending},
        due=found.due,
        lag=0.0 if oldest is None else max(time.time() - oldest.timestamp(), 0.0),
        paused=found.paused,
    )


async def _awaited(ask: Callable[[], Awaitable[HubState]]) -> HubState:
    return await ask()


def _reviews(snapshots: Snapshots) -> float | None:
    return None if snapshots.empty else snapshots.current.manifest.review_count


def _age(snapshots: Snapshots) -> float | None:
    if snapshots.empty:
        return None
    return max(time.time() - snapshots.current.seen.published_at, 0.0)


def _revision(snapshots: Snapshots) -> Mapping[str, str]:
    return {} if snapshots.empty else {"revision": snapshots.current.revision}


def _build() -> Mapping[str, str]:
    return {
        "version": version("reviewsd"),
        "python": platform.python_version(),
        "twisted": version("twisted"),
    }
