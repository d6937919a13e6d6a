"""Builds the admin site and what it reports, health and metrics; reloads on SIGHUP."""

import signal
import time
from collections.abc import Sequence
from functools import partial

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread
from twisted.logger import globalLogPublisher
from twisted.web.server import Site

from reviewsd.admin.app import admin_site
from reviewsd.admin.events import EventRoutes
from reviewsd.admin.hub import HubRoutes
from reviewsd.admin.reload import Reloading
from reviewsd.admin.status import DaemonRoutes, MaintenanceRoutes, ProbeRoutes
from reviewsd.app.context import DaemonContext
from reviewsd.app.publication import Publication
from reviewsd.monitoring.health import Health, Readiness
from reviewsd.monitoring.metrics import Metrics
from reviewsd.notices.notices import Notices
from reviewsd.publish.source_states import SourceStates
from reviewsd.store.backup import Backups
from reviewsd.store.keys import HUB_KEYS, SESSION_KEYS
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import Purpose, Store
from reviewsd.websub.hub import Hub


def start_health(context: DaemonContext, store: Store) -> Health:
    """Start to measure the reactor and to probe the store."""
    health = Health(context.reactor, partial(store.run, lambda _: None, Purpose.PROBE))
    health.start()
    context.stack.push_async_callback(health.stop)
    context.counters.include(health.gauges)
    return health


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


def build_admin(  # noqa: PLR0913, PLR0917 - the routes report on all of them
    context: DaemonContext,
    publication: Publication,
    reloading: Reloading,
    store: Store,
    hub: Hub,
    readiness: Readiness,
    metrics: Metrics,
    notices: Notices | None,
    listen: Sequence[str],
) -> Site:
    """Build the admin site; the stack ends the responses of event listeners."""
    config, environ, stack = context.config, context.environ, context.stack
    events = EventRoutes()
    globalLogPublisher.addObserver(events)
    stack.callback(globalLogPublisher.removeObserver, events)
    stack.callback(events.stop)
    backups = None  # PostgreSQL has tools of its own
    if isinstance(store, Database):
        backups = Backups(store, config.state_dir, deferToThread)
    session_keys = config.mcp.session_key_file
    routes = (
        DaemonRoutes(
            version=context.version,
            installed_at=context.installed_at,
            base_url=config.base_url,
            listen=tuple(listen),
            data_dir=str(config.data_dir),
            snapshots=publication.snapshots,
            publisher=publication.publisher,
            reloading=reloading,
            operator=hub.operator,
            now=time.time,
            tasks=context.tasks,
        ),
        HubRoutes(hub.operator, config.base_url, context.tasks),
        ProbeRoutes(readiness, metrics),
        MaintenanceRoutes(
            backups=backups,
            keys=(
                HUB_KEYS.location(config.key_folder, environ),
                SESSION_KEYS.location(config.key_folder, environ, session_keys),
            ),
            notices=notices,
            tasks=context.tasks,
        ),
        events,
    )
    return admin_site(routes, context.version)


def reload_on_hangup(context: DaemonContext, reloading: Reloading) -> None:
    """Reload on SIGHUP, with the notifications that ``Type=notify-reload`` waits for (O2)."""

    async def reload() -> None:
        context.notifier.reloading()
        await reloading.reload()
        context.notifier.ready()

    def hangup(_signal: int, _frame: object) -> None:
        context.reactor.callFromThread(Deferred.fromCoroutine, reload())

    signal.signal(signal.SIGHUP, hangup)
