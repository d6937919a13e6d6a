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
from reviewsd.app import start_error
from reviewsd.app.admin import admin_endpoint, build_admin, reload_on_hangup
from reviewsd.app.context import DaemonContext
from reviewsd.app.listeners import Listeners, accept, address
from reviewsd.app.mcp import load_ended_sessions
from reviewsd.app.monitoring import build_metrics, log_rejections, start_health, start_watchdog
from reviewsd.app.notices import build_notices
from reviewsd.app.public import build_public
from reviewsd.app.publication import (
    Publication,
    build_publication,
    notify_ready,
    publication_order,
    publish_first,
    start_watcher,
)
from reviewsd.app.store import open_store
from reviewsd.config.schema import Config
from reviewsd.monitoring.readiness import Readiness
from reviewsd.runtime.sockets import inherited
from reviewsd.runtime.state_dir import StartError, lock_state
from reviewsd.runtime.systemd import Notifier
from reviewsd.runtime.tasks import wait_at_most
from reviewsd.websub.hub import Hub

HUB_WAIT = 2.0
"""Longest wait of the start for the hub's announcement, in seconds."""

_log = Logger()


async def serve(
    reactor: PosixReactorBase,
    config: Config,
    environ: Mapping[str, str],
    announce: Callable[[Sequence[str]], None],
    read: Read,
    *,
    wait_for_data: bool,
) -> None:
    """Run until cancelled, which may be during the start; then everything is closed.

    Args:
        reactor: The reactor of the process.
        config: The configuration.
        environ: For systemd's notifications and watchdog.
        announce: Called with the listening addresses once every listener is up.
        read: Loads the configuration again.
        wait_for_data: Start even without valid data, and serve it when it comes.

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
            start_error.clear(config.state_dir)
            gc.collect()
            gc.freeze()  # the objects of the start live on, so no collection need visit them
            _log.info("serving {at}, listening on {on}", at=config.base_url, on=", ".join(listen))
            announce(listen)
            await Deferred[None]()
        except StartError as error:
            start_error.record(config.state_dir, error, time.time())
            raise
        except CancelledError:
            notifier.stopping()
            _log.info("stopping")
            raise


async def _start(context: DaemonContext, read: Read, *, wait_for_data: bool) -> Sequence[str]:
    """Start everything, from the snapshots to READY=1; returns the listening addresses."""
    config, reactor, stack = context.config, context.reactor, context.stack
    publication = build_publication(context)
    snapshots, publisher = publication.snapshots, publication.publisher
    store, secrets = await open_store(context)
    hub = Hub.from_config(config, reactor, store, secrets, context.counters, store.now, stack)
    health = start_health(context, store)
    readiness = Readiness(snapshots, publisher, lambda: health.store_works)
    notices = build_notices(context, publication, store, store.now)
    ended = await load_ended_sessions(context, store, store.now, hub.add_follower)
    public = build_public(context, snapshots, hub, ended, readiness)
    stack.push_async_callback(context.requests.stop)
    stack.push_async_callback(_together, public.connections.drain, hub.stop)

    listeners = Listeners(stack, reactor, hub.add_own_listener)
    ports = await listeners.bind_public(config, public)
    listen = [address(port) for port in ports]
    reloading = _reloading(config, read, publication, hub)
    metrics = build_metrics(context, snapshots, publisher, health, hub)
    admin = build_admin(
        context, publication, reloading, store, hub, readiness, metrics, notices, listen
    )
    await listeners.listen(admin_endpoint(config, inherited()), admin)
    await listeners.open_metrics(config, metrics)

    await publish_first(context, publication, wait_for_data=wait_for_data)
    hub.start()
    snapshots.observe(hub.topics_changed)
    if notices is not None:
        notices.start()
    if not snapshots.empty:
        # Wait only briefly: reads must start even if the store does not work (D9)
        await wait_at_most(reactor, HUB_WAIT, hub.announced)
    accept(ports)
    start_watcher(context, publication)
    log_rejections(context)
    reload_on_hangup(context, reloading)
    start_watchdog(context, health)
    notify_ready(context, publication)
    stack.callback(readiness.stop)  # the first step of the stop
    return listen


def _reloading(config: Config, read: Read, publication: Publication, hub: Hub) -> Reloading:
    def apply(new: Config) -> None:
        publication.watcher.pace(new.data.poll_interval)
        publication.publisher.use(publication_order(new))
        hub.reload(new)

    return Reloading(config, read, apply, publication.publisher)


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
