"""The composition root: builds every object and runs the daemon until it is stopped.

The order of the text is the order of the start, and the reverse is the order of the stop: one
AsyncExitStack holds everything that must be stopped. A failed listen is fatal before systemd receives
READY=1 (security-and-operations.md O1).
"""

import gc
import os
import signal
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, DeferredList
from twisted.internet.posixbase import PosixReactorBase
from twisted.logger import Logger
from twisted.python.failure import Failure

from reviewsd.admin.reload import Read, Reloading
from reviewsd.api.status import START_FAILURE
from reviewsd.app.admin import build_admin, build_metrics, reload_on_hangup, start_health
from reviewsd.app.context import DaemonContext, record_failure
from reviewsd.app.listeners import Listeners, accept, address, admin_endpoint
from reviewsd.app.public import build_public
from reviewsd.app.publication import Publication
from reviewsd.app.store import open_store
from reviewsd.config.schema import Config
from reviewsd.monitoring.health import Readiness
from reviewsd.monitoring.metrics_site import metrics_site
from reviewsd.monitoring.rejections import LOG_INTERVAL, RejectionSummary
from reviewsd.notices.notices import Notices
from reviewsd.runtime.state_dir import StartError, lock_state
from reviewsd.runtime.systemd import Notifier, watchdog_interval
from reviewsd.runtime.tasks import wait_at_most
from reviewsd.websub.hub import Hub

HUB_WAIT = 2.0  # longest wait of the start for the hub's announcement, in seconds

GC_THRESHOLDS = 7_000, 5, 2
"""Collections of young objects a tenth as often as by default, and full ones as often (700, 10, 10)."""

_log = Logger()


async def serve(
    reactor: PosixReactorBase,
    config: Config,
    environ: Mapping[str, str],
    announce: Callable[[Sequence[str]], None],
    read: Read,
    *,
    wait_for_data: bool,
    placed: Callable[[str], str] = str,
) -> None:
    """Run until cancelled, which may be during the start; then everything is closed.

    Args:
        reactor: The reactor of the process.
        config: The configuration.
        environ: For systemd's notifications and watchdog.
        announce: Called with the listening addresses once every listener is up.
        read: Loads the configuration again.
        wait_for_data: Start even without valid data, and serve it when it comes.
        placed: Returns the text of a failed start with the place in the configuration, as ``check`` has it.

    Raises:
        StartError: The daemon cannot start.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the start has read the files
    notifier = Notifier(environ.get("NOTIFY_SOCKET"))
    async with AsyncExitStack() as stack:
        stack.callback(os.close, lock_state(config.state_dir))
        context = DaemonContext(
            stack=stack, reactor=reactor, config=config, environ=environ, notifier=notifier
        )
        try:
            listen = await _start(context, read, wait_for_data=wait_for_data)
            (config.state_dir / START_FAILURE).unlink(missing_ok=True)
            gc.collect()
            gc.freeze()  # the objects of the start live on, so no collection need visit them
            gc.set_threshold(*GC_THRESHOLDS)
            _log.info("serving {at}, listening on {on}", at=config.base_url, on=", ".join(listen))
            announce(listen)
            await Deferred[None]()
        except StartError as fault:
            error = StartError(placed(str(fault)), fault.code)
            record_failure(config.state_dir, error, time.time())
            raise error from fault
        except CancelledError:
            notifier.stopping()
            _log.info("stopping")
            raise


async def _start(context: DaemonContext, read: Read, *, wait_for_data: bool) -> Sequence[str]:
    """Start everything, from the snapshots to READY=1; returns the listening addresses."""
    config, reactor, stack = context.config, context.reactor, context.stack
    publication = Publication(context)
    snapshots = publication.snapshots
    store, secrets = await open_store(context)
    hub = Hub.from_config(config, reactor, store, secrets, context.counters, store.now, stack)
    health = start_health(context, store)
    readiness = Readiness(snapshots, publication.publisher, health)
    notices = Notices.from_config(
        config, reactor, store, snapshots, publication.publisher, context.environ, stack
    )
    public = await build_public(context, snapshots, store, hub, readiness)
    stack.push_async_callback(context.tasks.stop)
    stack.push_async_callback(_together, public.connections.drain, hub.stop)

    listeners = Listeners(context, hub.add_own_listener)
    ports = await listeners.bind_public(public)
    listen = [address(port) for port in ports]

    def apply(new: Config) -> None:
        publication.use(new)
        hub.requests.reload(new)

    reloading = Reloading(config, read, apply, publication.publisher)
    metrics = build_metrics(context, publication, hub)
    admin = build_admin(
        context, publication, reloading, store, hub, readiness, metrics, notices, listen
    )
    await listeners.listen(admin_endpoint(config.admin_socket), admin)
    if config.metrics.listen is not None:
        await listeners.listen(config.metrics.listen, metrics_site(metrics.text))

    await publication.publish_first(wait_for_data=wait_for_data)
    hub.start()
    snapshots.observe(hub.topics_changed)
    if notices is not None:
        notices.start()
    if not snapshots.empty:
        # Wait only briefly: reads must start even if the store does not work (D9)
        await wait_at_most(reactor, HUB_WAIT, hub.announced)
    accept(ports)
    publication.start_watcher()
    summary = RejectionSummary(context.counters.counts)
    context.tasks.every("the summary of rejections", reactor, LOG_INTERVAL, summary.log)
    reload_on_hangup(context, reloading)
    if (interval := watchdog_interval(context.environ, os.getpid())) is not None:
        health.start_watchdog(interval, context.notifier.watchdog)
    publication.notify_ready()
    stack.callback(readiness.stop)  # the first step of the stop
    return listen


async def _together(*actions: Callable[[], Coroutine[Deferred[Any], Any, None]]) -> None:
    """Run slow actions of the stop at the same time: systemd waits for 45 s in all (O4).

    Raises:
        Exception: That of the first action that failed, after all have ended.
    """
    results = await DeferredList(
        [Deferred.fromCoroutine(action()) for action in actions], consumeErrors=True
    )
    for _, result in results:
        if isinstance(result, Failure):
            result.raiseException()
