"""The composition root: builds every object and runs the daemon until it is told to stop.

Start order is text order, stop order its reverse: one AsyncExitStack holds everything that must be
ended. A failed listen is fatal before systemd hears READY=1 (security-and-operations.md O1).
"""

import gc
import os
import signal
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, DeferredList
from twisted.internet.posixbase import PosixReactorBase
from twisted.internet.threads import deferToThread
from twisted.logger import Logger

from reviewsd.admin.app import admin_site
from reviewsd.admin.hub import HubRoutes
from reviewsd.admin.probes import ProbeRoutes
from reviewsd.admin.reload import Read, Reloading
from reviewsd.admin.responses import AdminResponses
from reviewsd.admin.status import About, DaemonRoutes
from reviewsd.app import start_error
from reviewsd.app.admin import admin_endpoint, log_rejections, operator_routes, reload_on_hangup
from reviewsd.app.descriptors import fitted, raise_limit
from reviewsd.app.first_publication import notify_ready, publish_first
from reviewsd.app.listeners import Listeners, accept, address
from reviewsd.app.mcp import build_mcp, follow_ended
from reviewsd.app.monitoring import build_metrics, start_health, start_watchdog
from reviewsd.app.pages import machine_settings, page_settings, templates_dir
from reviewsd.app.public import build_budgets, build_public, build_reads, build_replies
from reviewsd.app.store import open_store
from reviewsd.config.schema import Config
from reviewsd.monitoring.metrics import CONTENT_TYPE
from reviewsd.monitoring.readiness import Readiness
from reviewsd.publish import compile_process
from reviewsd.publish.compiler import CompileSettings
from reviewsd.publish.messages import PublicationOrder
from reviewsd.publish.publisher import Publisher
from reviewsd.publish.sources import NO_FILES, fingerprint
from reviewsd.publish.watcher import Watcher
from reviewsd.runtime.counters import Counters
from reviewsd.runtime.sockets import inherited
from reviewsd.runtime.state_dir import StartError, lock_state
from reviewsd.runtime.systemd import Notifier
from reviewsd.runtime.tasks import TaskSet, wait_at_most
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store.backup import Backups
from reviewsd.store.sqlite import Database
from reviewsd.web.websub import HubRoute
from reviewsd.websub.hub import Hub

HUB_WAIT = 2.0
"""Seconds that the start waits for the hub."""

_log = Logger()


def program_version() -> str:
    """The version of this program."""
    return version("reviewsd")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """How the command line wants the daemon to start."""

    read: Read
    """Reads the configuration again."""
    wait_for_data: bool = False
    """Start without valid data too, and serve it when it comes."""


async def serve(
    reactor: PosixReactorBase,
    config: Config,
    environ: Mapping[str, str],
    announce: Callable[[Sequence[str]], None],
    options: StartOptions,
) -> None:
    """Run until cancelled, which may be during the start; then everything is closed.

    Args:
        reactor: What everything runs on.
        config: What the operator wants.
        environ: For systemd's notifications and watchdog.
        announce: Told where it listens when all listeners are up.
        options: How to start.

    Raises:
        StartError: Something that it needs cannot be had.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the start reads the files anyway
    notifier = Notifier(environ.get("NOTIFY_SOCKET"))
    async with AsyncExitStack() as stack:
        stack.callback(os.close, lock_state(config.state_dir))
        try:
            listen = await _start(stack, reactor, config, environ, notifier, options)
            start_error.clear(config.state_dir)
            _keep_what_there_is()
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


async def _start(
    stack: AsyncExitStack,
    reactor: PosixReactorBase,
    config: Config,
    environ: Mapping[str, str],
    notifier: Notifier,
    options: StartOptions,
) -> Sequence[str]:
    """Build everything, from the lock to READY=1; what must be ended goes onto the stack.

    Returns:
        Where it listens, in Twisted's words.
    """
    fitting = fitted(config, raise_limit())
    snapshots = Snapshots(config.state_dir / "snapshots", partial(reactor.callInThread, list.clear))
    snapshots.refresh()
    counters = Counters()
    publisher = _publisher(stack, reactor, config, snapshots, counters)

    store, secrets = await open_store(stack, reactor, config, environ, counters)
    hub = Hub.from_config(config, reactor, store, secrets, counters, store.now, stack)
    health = start_health(stack, reactor, store)
    readiness = Readiness(snapshots, publisher, lambda: health.store_works)
    replies = build_replies(config)
    requests = TaskSet()
    budgets = build_budgets(reactor, config, counters)
    route = HubRoute(hub.requests, replies, requests, budgets.time.networks)
    ended = await follow_ended(stack, reactor, store, store.now, hub.add_follower)
    mcp = build_mcp(config, environ, snapshots, ended, replies, budgets, requests, counters)
    public = build_public(
        reactor,
        fitting,
        snapshots,
        build_reads(snapshots, replies, budgets, counters),
        route,
        mcp,
        readiness=readiness,
    )
    counters.include(public.counts)
    stack.push_async_callback(requests.stop)
    stack.push_async_callback(_together, public.connections.drain, hub.stop)
    listeners = Listeners(stack, reactor, hub.add_own_listener)
    ports = await listeners.bind_public(config, public)
    listen = [address(port) for port in ports]
    watcher = _watcher(reactor, config, publisher)
    reloading = _reloading(config, options.read, publisher, watcher, hub)
    responses = AdminResponses(program_version())
    daemon_routes = DaemonRoutes(
        snapshots=snapshots,
        publisher=publisher,
        reloading=reloading,
        operator=hub.operator,
        about=About(
            version=program_version(),
            base_url=config.base_url,
            listen=tuple(listen),
            data_dir=str(config.data_dir),
        ),
        now=time.time,
        tasks=requests,
        counts=counters.counts,
        responses=responses,
    )
    metrics = build_metrics(
        reactor, snapshots, publisher, health, hub.operator.state, counters.counts
    )
    backups = None  # PostgreSQL has tools of its own
    if isinstance(store, Database):
        backups = Backups(store, config.state_dir, deferToThread)
    admin = admin_site(
        (
            *daemon_routes.routes,
            *HubRoutes(hub.operator, responses, config.base_url, requests).routes,
            *ProbeRoutes(readiness, metrics.text, CONTENT_TYPE, responses).routes,
            *operator_routes(stack, config, environ, backups, responses),
        ),
        responses,
    )
    await listeners.listen(admin_endpoint(config, inherited()), admin)
    await listeners.open_metrics(config, metrics)

    await publish_first(
        reactor, publisher, snapshots, notifier, wait_for_data=options.wait_for_data
    )
    hub.start()
    snapshots.observe(hub.topics_changed)
    if not snapshots.empty:
        # A store that does not work must not keep the reads from starting (D9)
        await wait_at_most(reactor, HUB_WAIT, hub.announced)
    accept(ports)
    watcher.seen = NO_FILES if snapshots.empty else snapshots.current.seen.fingerprint
    watcher.start()
    stack.push_async_callback(watcher.stop)
    log_rejections(stack, reactor, counters, ended)
    reload_on_hangup(reactor, reloading, notifier)
    start_watchdog(stack, reactor, environ, health, notifier)
    notify_ready(snapshots, publisher, notifier)
    stack.callback(readiness.stop)  # before all else that is on the stack
    return listen


def _keep_what_there_is() -> None:
    """What the start has made stays: no collection need look at it again."""
    gc.collect()
    gc.freeze()


def _publisher(
    stack: AsyncExitStack,
    reactor: PosixReactorBase,
    config: Config,
    snapshots: Snapshots,
    counters: Counters,
) -> Publisher:
    publisher = Publisher(
        publication_order(config),
        program_version(),
        snapshots,
        partial(deferToThread, fingerprint, config.data_dir, templates_dir(config)),
        partial(compile_process.run, reactor),
        reactor,
    )
    stack.push_async_callback(publisher.stop)
    publisher.observe(lambda report: counters.count("data_reloads_total", report.outcome))
    return publisher


def publication_order(config: Config) -> PublicationOrder:
    """What the daemon has published, and how."""
    shrink = config.data.max_shrink
    return PublicationOrder(
        data_dir=str(config.data_dir),
        snapshots=str(config.state_dir / "snapshots"),
        settings=CompileSettings(
            base_url=config.base_url,
            authority=config.authority,
            year=config.feeds.year,
            max_resource=config.mcp.max_resource,
            pages=page_settings(config),
            machines=machine_settings(config, program_version()),
        ),
        max_bytes=config.data.max_bytes,
        max_shrink=None if shrink is None else float(shrink.rstrip("%")) / 100,
        insights=config.data.insights,
        templates_dir=config.pages.templates_dir,
    )


def _watcher(reactor: PosixReactorBase, config: Config, publisher: Publisher) -> Watcher:
    def wake() -> None:
        publisher.reload()

    return Watcher(
        reactor,
        partial(deferToThread, fingerprint, config.data_dir, templates_dir(config)),
        wake,
        poll_interval=config.data.poll_interval,
        settle_interval=config.data.settle,
    )


def _reloading(
    config: Config, read: Read, publisher: Publisher, watcher: Watcher, hub: Hub
) -> Reloading:
    def apply(new: Config) -> None:
        watcher.pace(new.data.poll_interval, new.data.settle)
        publisher.use(publication_order(new))
        hub.reload(new)

    return Reloading(config, read, apply, publisher)


async def _together(*actions: Callable[[], Coroutine[Deferred[Any], Any, None]]) -> None:
    """Do what takes its time at the same time: systemd waits for 45 s in all (O4)."""
    await DeferredList(
        [Deferred.fromCoroutine(action()) for action in actions], fireOnOneErrback=True
    )
