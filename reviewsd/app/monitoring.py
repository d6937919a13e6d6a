"""Builds what monitors the daemon: health, metrics, and the summary of rejections."""

import os
from functools import partial

from twisted.internet.threads import deferToThread

from reviewsd.app.context import DaemonContext
from reviewsd.monitoring.health import Health
from reviewsd.monitoring.metrics import Metrics
from reviewsd.monitoring.rejections import LOG_INTERVAL, RejectionSummary
from reviewsd.publish.publisher import Publisher
from reviewsd.publish.source_states import SourceStates
from reviewsd.runtime.counters import Counts
from reviewsd.runtime.systemd import watchdog_interval
from reviewsd.runtime.tasks import TaskSet, every
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store.thread import Purpose, Store
from reviewsd.websub.hub import Hub


def start_health(context: DaemonContext, store: Store) -> Health:
    """Start to measure the reactor and to probe the store."""
    health = Health(context.reactor, partial(store.run, lambda _: None, Purpose.PROBE))
    health.start()
    context.stack.push_async_callback(health.stop)
    return health


def start_watchdog(context: DaemonContext, health: Health) -> None:
    """Notify systemd's watchdog, if there is one (O3)."""
    interval = watchdog_interval(context.environ, os.getpid())
    if interval is not None:
        health.start_watchdog(interval, context.notifier.watchdog)


def build_metrics(
    context: DaemonContext, snapshots: Snapshots, publisher: Publisher, health: Health, hub: Hub
) -> Metrics:
    """Build the metrics, and add the gauges of their owners to the counters."""

    def threads() -> Counts:
        pool = context.reactor.getThreadPool()
        return {"threadpool_queue": pool._queue.qsize()}  # noqa: SLF001  Twisted has no other way

    for gauges in (snapshots.gauges, publisher.gauges, health.gauges, threads):
        context.counters.include(gauges)
    states = SourceStates(context.config.data_dir)
    return Metrics(
        context.reactor,
        context.counters.counts,
        hub.operator.state,
        partial(deferToThread, states.load),
        snapshots,
    )


def log_rejections(context: DaemonContext) -> None:
    """Log rejected connections and requests once a minute."""
    tasks = TaskSet()
    context.stack.push_async_callback(tasks.stop)
    summary = RejectionSummary(context.counters.counts)

    async def log() -> None:
        summary.log()

    tasks.start("log rejections", every(context.reactor, LOG_INTERVAL, log))
