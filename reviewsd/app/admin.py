"""How the operator's site is put together: a part of the composition root, and nothing but that."""

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.posixbase import PosixReactorBase
from twisted.logger import globalLogPublisher

from reviewsd.admin.app import Route
from reviewsd.admin.backup import BackupRoutes
from reviewsd.admin.events import EventRoutes
from reviewsd.admin.reload import Reloading
from reviewsd.admin.responses import AdminResponses
from reviewsd.config.schema import Config
from reviewsd.monitoring.events import Events
from reviewsd.monitoring.rejections import LOG_INTERVAL, SESSIONS_ENDED, RejectionSummary
from reviewsd.runtime.counters import Counters
from reviewsd.runtime.sockets import ADMIN_NAME, free_path
from reviewsd.runtime.state_dir import StartError
from reviewsd.runtime.systemd import Notifier
from reviewsd.runtime.tasks import TaskSet, every
from reviewsd.store.backup import Backups
from reviewsd.store.ended_sessions import EndedSessions
from reviewsd.store.keys import HUB_KEYS, SESSION_KEYS


def operator_routes(
    stack: AsyncExitStack,
    config: Config,
    environ: Mapping[str, str],
    backups: Backups | None,
    responses: AdminResponses,
) -> Sequence[Route]:
    """Build the routes for events and backups.

    Args:
        stack: The daemon's; it ends the responses of listeners.
        config: The configuration.
        environ: Names systemd's credentials.
        backups: Makes copies; None if the store is shared.
        responses: Makes the responses.
    """
    events = Events()
    globalLogPublisher.addObserver(events)
    stack.callback(globalLogPublisher.removeObserver, events)
    event_routes = EventRoutes(events, responses)
    stack.callback(event_routes.stop)
    backup_routes = BackupRoutes(backups, _key_places(config, environ), responses)
    return (*event_routes.routes, *backup_routes.routes)


def _key_places(config: Config, environ: Mapping[str, str]) -> list[str]:
    """Return where the keys are that belong to a backup."""
    paths = {
        HUB_KEYS: str(config.key_folder / HUB_KEYS.name),
        SESSION_KEYS: config.mcp.session_key_file or str(config.key_folder / SESSION_KEYS.name),
    }
    return [
        path
        if file.credential_path(environ) is None
        else f"the systemd credential {file.credential}"
        for file, path in paths.items()
    ]


def log_rejections(
    stack: AsyncExitStack,
    clock: IReactorTime,
    counters: Counters,
    ended: EndedSessions,
) -> None:
    """Log rejected connections and requests, once a minute.

    Args:
        stack: Of the daemon.
        clock: Its reactor.
        counters: Of the daemon.
        ended: Observed for sessions that end.
    """

    async def note(sessions: Mapping[bytes, int]) -> None:
        for _ in sessions:
            counters.count(SESSIONS_ENDED)

    ended.observe(note)
    tasks = TaskSet()
    stack.push_async_callback(tasks.stop)
    summary = RejectionSummary(counters.counts)

    async def log() -> None:
        summary.log()

    tasks.start("log rejections", every(clock, LOG_INTERVAL, log))


def admin_endpoint(config: Config, descriptors: Mapping[str, int]) -> str:
    """Where the operator's site listens, as Twisted says it; a stale socket file is removed (A4).

    Args:
        config: What the operator wants.
        descriptors: What systemd has handed over.

    Raises:
        StartError: It cannot be had.
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


def reload_on_hangup(reactor: PosixReactorBase, reloading: Reloading, notifier: Notifier) -> None:
    """SIGHUP reloads, with the notifications that ``Type=notify-reload`` waits for (O2)."""

    async def reload() -> None:
        notifier.reloading()
        await reloading.reload()
        notifier.ready()

    def hangup(_signal: int, _frame: object) -> None:
        reactor.callFromThread(Deferred.fromCoroutine, reload())

    signal.signal(signal.SIGHUP, hangup)
