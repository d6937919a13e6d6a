"""Builds the admin site, and reloads on SIGHUP."""

import os
import signal
import time
from collections.abc import Mapping, Sequence

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread
from twisted.logger import globalLogPublisher
from twisted.web.server import Site

from reviewsd.admin.app import admin_site
from reviewsd.admin.backup import BackupRoutes
from reviewsd.admin.events import EventRoutes
from reviewsd.admin.hub import HubRoutes
from reviewsd.admin.notices import NoticeRoutes
from reviewsd.admin.probes import ProbeRoutes
from reviewsd.admin.reload import Reloading
from reviewsd.admin.status import About, DaemonRoutes
from reviewsd.app.context import DaemonContext
from reviewsd.app.publication import Publication, program_version
from reviewsd.config.schema import Config
from reviewsd.monitoring.events import Events
from reviewsd.monitoring.metrics import CONTENT_TYPE, Metrics
from reviewsd.monitoring.readiness import Readiness
from reviewsd.notices.notices import Notices
from reviewsd.runtime.sockets import ADMIN_NAME, free_path
from reviewsd.runtime.state_dir import StartError
from reviewsd.store.backup import Backups
from reviewsd.store.keys import HUB_KEYS, SESSION_KEYS
from reviewsd.store.sqlite import Database
from reviewsd.store.thread import Store
from reviewsd.websub.hub import Hub


def build_admin(  # noqa: PLR0913, PLR0917 - the routes tell of all of them
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
    config = context.config
    daemon = DaemonRoutes(
        snapshots=publication.snapshots,
        publisher=publication.publisher,
        reloading=reloading,
        operator=hub.operator,
        about=About(
            version=program_version(),
            base_url=config.base_url,
            listen=tuple(listen),
            data_dir=str(config.data_dir),
        ),
        now=time.time,
        tasks=context.requests,
        counts=context.counters.counts,
    )
    routes = (
        daemon,
        HubRoutes(hub.operator, config.base_url, context.requests),
        ProbeRoutes(readiness, metrics.text, CONTENT_TYPE),
        _events(context),
        _backup(context, store),
        NoticeRoutes(notices, context.requests),
    )
    return admin_site(routes, program_version())


def _events(context: DaemonContext) -> EventRoutes:
    events = Events()
    globalLogPublisher.addObserver(events)
    context.stack.callback(globalLogPublisher.removeObserver, events)
    routes = EventRoutes(events)
    context.stack.callback(routes.stop)
    return routes


def _backup(context: DaemonContext, store: Store) -> BackupRoutes:
    backups = None  # PostgreSQL has tools of its own
    if isinstance(store, Database):
        backups = Backups(store, context.config.state_dir, deferToThread)
    config, environ = context.config, context.environ
    keys = (
        HUB_KEYS.location(config.key_folder, environ),
        SESSION_KEYS.location(config.key_folder, environ, config.mcp.session_key_file),
    )
    return BackupRoutes(backups, keys)


def admin_endpoint(config: Config, descriptors: Mapping[str, int]) -> str:
    """Return the endpoint of the admin socket; a stale socket file is removed (A4).

    Args:
        config: The configuration.
        descriptors: The sockets of systemd, by name.

    Raises:
        StartError: The path cannot be used.
    """
    if ADMIN_NAME in descriptors:
        return f"systemd:domain=UNIX:name={ADMIN_NAME}"
    path = config.admin_socket
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                os.fchmod(folder, 0o755)  # beyond the umask: the admin group must get to the socket
            finally:
                os.close(folder)
    except OSError as error:
        raise StartError(f"admin_socket {path}: {error.strerror}", 1) from error
    free_path(path)
    escaped = str(path).replace("\\", "\\\\").replace(":", "\\:")
    return f"unix:{escaped}:mode=660:lockfile=0"


def reload_on_hangup(context: DaemonContext, reloading: Reloading) -> None:
    """Reload on SIGHUP, with the notifications that ``Type=notify-reload`` waits for (O2)."""

    async def reload() -> None:
        context.notifier.reloading()
        await reloading.reload()
        context.notifier.ready()

    def hangup(_signal: int, _frame: object) -> None:
        context.reactor.callFromThread(Deferred.fromCoroutine, reload())

    signal.signal(signal.SIGHUP, hangup)
