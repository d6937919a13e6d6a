"""The composition root: builds every object and runs the daemon until it is told to stop.

Start order is text order, stop order its reverse: one AsyncExitStack holds everything that must be
ended. A failed listen is fatal before systemd hears READY=1 (security-and-operations.md O1).
"""

import gc
import os
import signal
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version
from typing import Any

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import CancelledError, Deferred, DeferredList
from twisted.internet.endpoints import serverFromString
from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IListeningPort
from twisted.internet.posixbase import PosixReactorBase
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.logger import Logger
from twisted.web.server import Site

from reviewsd import policies
from reviewsd.formats.compiling import Settings
from reviewsd.formats.publication import Order, Step
from reviewsd.formats.sources import signature
from reviewsd.notify import Notifier, watchdog_interval
from reviewsd.settings import Config, unused
from reviewsd.sockets import ADMIN_NAME, free_path, inherited, listen_string, stop_listening
from reviewsd.state import EX_CONFIG, StartError, lock_state
from reviewsd.stores import child
from reviewsd.stores.publisher import Publisher, Report
from reviewsd.stores.snapshots import Snapshots
from reviewsd.stores.watch import Watcher
from reviewsd.tasks import TaskSet, every
from reviewsd.web.admin import AdminSite
from reviewsd.web.channel import PublicServer
from reviewsd.web.hub import HubRoute
from reviewsd.web.public import PublicSite
from reviewsd.web.replies import Replies
from reviewsd.wiring import build_hub
from reviewsd.wiring_mcp import build_mcp

FIRST_WAIT = 5.0
"""Seconds that the start waits for fresh data while older data could be served."""

HUB_WAIT = 2.0
"""Seconds that the start waits for the hub."""

_EXTENSION = 30.0  # seconds; what systemd is asked to wait more at each step of a long start

_log = Logger()


def program_version() -> str:
    """The version of this program."""
    return version("reviewsd")


async def serve(
    reactor: PosixReactorBase,
    config: Config,
    environ: Mapping[str, str],
    announce: Callable[[], None],
) -> None:
    """Run until cancelled, which may be during the start; then everything is closed.

    Args:
        reactor: What everything runs on.
        config: What the operator wants.
        environ: For systemd's notifications and watchdog.
        announce: Called when all listeners are up.

    Raises:
        StartError: Something that it needs cannot be had.
    """
    notifier = Notifier(environ.get("NOTIFY_SOCKET"))
    async with AsyncExitStack() as stack:
        try:
            await _start(stack, reactor, config, environ, notifier)
            announce()
            await Deferred[None]()
        except CancelledError:
            notifier.stopping()
            raise


async def _start(
    stack: AsyncExitStack,
    reactor: PosixReactorBase,
    config: Config,
    environ: Mapping[str, str],
    notifier: Notifier,
) -> None:
    """Build everything, from the lock to READY=1; what must be ended goes onto the stack."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the start reads the files anyway
    stack.callback(os.close, lock_state(config.state_dir))
    for key in unused(config):
        _log.warn("{key} is set, but has no effect in this version", key=key)

    snapshots = Snapshots(config.state_dir / "snapshots", partial(reactor.callInThread, list.clear))
    snapshots.refresh()
    publisher = Publisher(
        _order(config),
        program_version(),
        snapshots,
        partial(deferToThread, signature, config.data_dir),
        partial(child.run, reactor),
    )
    stack.push_async_callback(publisher.stop)
    await _first_publication(reactor, publisher, snapshots, notifier)

    parts = await build_hub(stack, reactor, config, environ)
    replies = Replies(config.base_url, _cache_control(config))
    asked = TaskSet()
    route = HubRoute(parts.reception, replies, asked, policies.trusted(config))
    mcp = await build_mcp(stack, reactor, config, environ, snapshots, parts, replies, asked)
    public = PublicServer(
        PublicSite(snapshots, replies, reactor, route, mcp).resource(),
        replies.refusal,
        reactor,
        config.server.max_body.mcp,
    )
    descriptors = inherited()
    ports = []
    stack.push_async_callback(asked.stop)
    stack.push_async_callback(_together, public.drain, parts.hub.stop)
    for endpoint in config.listen:
        wanted = listen_string(endpoint, descriptors)
        port = await _listen(stack, reactor, wanted, public)
        ports.append(_address(port))
        host = port.getHost()
        if isinstance(host, IPv4Address | IPv6Address):
            parts.avoid(host.host, host.port)
    about = {
        "version": program_version(),
        "base_url": config.base_url,
        "listen": ports,
        "data_dir": str(config.data_dir),
    }
    admin = AdminSite(snapshots, publisher, parts.operator, about, time.time, asked)
    await _listen(stack, reactor, _admin_endpoint(config, descriptors), admin.site())

    tasks = TaskSet()
    stack.push_async_callback(tasks.stop)

    def wake() -> None:
        publisher.reload()

    watcher = Watcher(
        reactor,
        partial(deferToThread, signature, config.data_dir),
        wake,
        seen=snapshots.current.seen.signature,
        poll_interval=config.data.poll_interval,
        settle_interval=config.data.settle,
    )
    parts.hub.start()
    snapshots.observe(parts.hub.topics_changed)
    # It takes requests only then; but if its store does not work, reads go on without it (D9)
    await DeferredList([parts.hub.announced, deferLater(reactor, HUB_WAIT)], fireOnOneCallback=True)
    watcher.start()
    stack.push_async_callback(watcher.stop)
    _reload_on_hangup(reactor, publisher, notifier)
    pulse = watchdog_interval(environ, os.getpid())
    if pulse is not None:
        tasks.start("watchdog", every(reactor, pulse, _async(notifier.watchdog)))

    publisher.observe(lambda report: notifier.status(_state(snapshots, report)))
    notifier.ready()
    if publisher.last is not None:
        notifier.status(_state(snapshots, publisher.last))
    # What the start has made stays: no collection need look at it again.
    gc.collect()
    gc.freeze()


def _order(config: Config) -> Order:
    shrink = config.data.max_shrink
    return Order(
        data_dir=str(config.data_dir),
        snapshots=str(config.state_dir / "snapshots"),
        settings=Settings(
            base_url=config.base_url, authority=config.authority, year=config.feeds.year
        ),
        max_bytes=config.data.max_bytes,
        max_shrink=None if shrink is None else float(shrink.rstrip("%")) / 100,
    )


def _cache_control(config: Config) -> str:
    cache = config.cache
    return (
        f"public, max-age={cache.max_age}, "
        f"stale-while-revalidate={cache.stale_while_revalidate}, "
        f"stale-if-error={cache.stale_if_error}"
    )


async def _first_publication(
    reactor: PosixReactorBase, publisher: Publisher, snapshots: Snapshots, notifier: Notifier
) -> None:
    """Have something to serve: fresh data, or after a while the last good data.

    Raises:
        StartError: There is neither.
    """

    def progress(step: Step) -> None:
        notifier.extend(_EXTENSION)
        notifier.status(f"{step.stage.capitalize()} {step.done:,} of {step.total:,}")

    run = publisher.reload(progress=progress)
    if not snapshots.empty:
        await DeferredList([run, deferLater(reactor, FIRST_WAIT)], fireOnOneCallback=True)
        return
    report = await run
    if snapshots.empty:
        problems = "\n".join(report.problems)
        raise StartError(f"there is no data to serve:\n{problems}", EX_CONFIG)


async def _listen(
    stack: AsyncExitStack, reactor: PosixReactorBase, endpoint: str, site: Site
) -> IListeningPort:
    try:
        port: IListeningPort = await serverFromString(reactor, endpoint).listen(site)
    except (CannotListenError, OSError) as error:
        reason = getattr(error, "socketError", None) or error
        raise StartError(f"cannot listen on {endpoint}: {reason}", 1) from error
    stack.push_async_callback(stop_listening, port, handed_over="systemd:" in endpoint)
    return port


def _admin_endpoint(config: Config, descriptors: Mapping[str, int]) -> str:
    if ADMIN_NAME in descriptors:
        return f"systemd:domain=UNIX:name={ADMIN_NAME}"
    path = config.admin_socket
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
            path.parent.chmod(0o755)  # beyond the umask: the admin group must get to the socket
    except OSError as error:
        raise StartError(f"admin_socket {path}: {error.strerror}", 1) from error
    free_path(path)
    escaped = str(path).replace("\\", "\\\\").replace(":", "\\:")
    return f"unix:{escaped}:mode=660:lockfile=0"


def _address(port: IListeningPort) -> str:
    host = port.getHost()
    if isinstance(host, IPv4Address):
        return f"tcp:{host.host}:{host.port}"
    if isinstance(host, IPv6Address):
        return f"tcp:[{host.host}]:{host.port}"
    return str(host)


def _reload_on_hangup(reactor: PosixReactorBase, publisher: Publisher, notifier: Notifier) -> None:
    """SIGHUP reloads, with the notifications that ``Type=notify-reload`` waits for (O2)."""

    async def reload() -> None:
        notifier.reloading()
        await publisher.reload()
        notifier.ready()

    def hangup(_signal: int, _frame: object) -> None:
        reactor.callFromThread(Deferred.fromCoroutine, reload())

    signal.signal(signal.SIGHUP, hangup)


def _state(snapshots: Snapshots, report: Report) -> str:
    """The line that ``systemctl status`` shows."""
    manifest = snapshots.current.manifest
    serving = f"Serving {manifest.review_count:,} reviews, data of {manifest.updated_at or 'never'}"
    if report.good:
        return serving
    return f"{serving}; last reload {report.outcome}: {report.problems[0]}"


async def _together(*actions: Callable[[], Coroutine[Deferred[Any], Any, None]]) -> None:
    """Do what takes its time at the same time: systemd waits for 45 s in all (O4)."""
    await DeferredList(
        [Deferred.fromCoroutine(action()) for action in actions], fireOnOneErrback=True
    )


def _async(action: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        action()

    return run
