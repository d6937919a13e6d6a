"""Builds what watches the daemon, and reports to the operator and the owner: health, metrics, notices."""

import os
from functools import partial

from twisted.internet.threads import deferToThread

from reviewsd.app.context import DaemonContext
from reviewsd.app.publication import Publication
from reviewsd.monitoring.health import Health
from reviewsd.monitoring.metrics import Metrics
from reviewsd.notices.notices import Notices
from reviewsd.notices.sender import AppriseSender
from reviewsd.publish.source_states import SourceStates
from reviewsd.runtime.systemd import watchdog_interval
from reviewsd.store.thread import Purpose, Store
from reviewsd.websub.hub import Hub


def start_health(context: DaemonContext, store: Store) -> Health:
    """Start to measure the reactor and to probe the store."""
    health = Health(context.reactor, partial(store.run, lambda _: None, Purpose.PROBE))
    health.start()
    context.stack.push_async_callback(health.stop)
    context.counters.include(health.gauges)
    return health


def start_watchdog(context: DaemonContext, health: Health) -> None:
    """Notify systemd's watchdog, if there is one (O3)."""
    interval = watchdog_interval(context.environ, os.getpid())
    if interval is not None:
        health.start_watchdog(interval, context.notifier.watchdog)


def build_metrics(context: DaemonContext, publication: Publication, hub: Hub) -> Metrics:
    """Build the metrics."""
    queue = context.reactor.getThreadPool()._queue  # noqa: SLF001  Twisted has no other way
    context.counters.include(lambda: {"threadpool_queue": queue.qsize()})
    return Metrics(
        context.reactor,
        context.counters.counts,
        hub.operator.state,
        partial(deferToThread, SourceStates(context.config.data_dir).load),
        publication.snapshots,
    )


def build_notices(context: DaemonContext, publication: Publication, store: Store) -> Notices | None:
    """Build the notices, None without a target; the stack stops them.

    Raises:
        TargetError: apprise is not installed, or an address cannot be used.
    """
    config, reactor = context.config, context.reactor
    if not config.notify:
        return None
    sender = AppriseSender(reactor, config.notify, context.environ)
    context.stack.callback(sender.stop)
    notices = Notices(
        config,
        store,
        publication.snapshots,
        publication.publisher,
        sender.send,
        reactor,
        store.now,
        deferToThread,
    )
    context.stack.push_async_callback(notices.stop)
    return notices
