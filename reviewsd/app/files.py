"""Which files are looked after while the daemon runs: a part of the composition root."""

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from twisted.internet.interfaces import IListeningPort, IReactorTime
from twisted.internet.unix import Port

from reviewsd.app.file_guard import FileGuard
from reviewsd.config.schema import Config
from reviewsd.publish.publisher import Publisher
from reviewsd.runtime.sockets import free_path
from reviewsd.runtime.state_dir import LOCK, StartError, lock_state
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store import secrets, session_keys
from reviewsd.store.durable import create
from reviewsd.store.kept import DELETED
from reviewsd.store.keys import credential


def hold_state(stack: AsyncExitStack, directory: Path) -> FileGuard:
    """Lock the state directory, and see to it that it stays locked.

    Args:
        stack: Of the daemon.
        directory: Made where there is none.

    Raises:
        StartError: It cannot be used, or another daemon uses it.
    """
    guard = FileGuard()

    async def lock(_fate: str = "") -> str:
        stack.callback(os.close, lock_state(directory))
        return "it is taken again"

    stack.callback(os.close, lock_state(directory))
    guard.keep(directory / LOCK, lock)
    return guard


def start_guard(
    stack: AsyncExitStack,
    guard: FileGuard,
    clock: IReactorTime,
    config: Config,
    environ: Mapping[str, str],
    snapshots: Snapshots,
    publisher: Publisher,
) -> None:
    """Begin to look after files, among them the keys and what is served.

    Args:
        stack: Of the daemon; what ends later must not be put back.
        guard: Knows the other ones.
        clock: What everything runs on.
        config: What the operator wants.
        environ: Names systemd's credentials.
        snapshots: What is served.
        publisher: Publishes it.
    """
    _keep_keys(guard, config, environ)
    _keep_snapshot(guard, snapshots, publisher)
    stack.push_async_callback(guard.stop)
    guard.start(clock)


def _keep_keys(guard: FileGuard, config: Config, environ: Mapping[str, str]) -> None:
    """Have the keys that are ours written back should they be deleted: the next start needs them."""
    given = environ.get("CREDENTIALS_DIRECTORY")
    folder = None if given is None else Path(given)
    if credential(folder, secrets.CREDENTIAL) is None:
        _keep_key(guard, config.key_folder / secrets.KEY_FILE)
    if credential(folder, session_keys.CREDENTIAL) is None and config.mcp.session_key_file is None:
        _keep_key(guard, config.key_folder / session_keys.KEY_FILE)


def _keep_key(guard: FileGuard, path: Path) -> None:
    content = path.read_bytes()

    async def write(fate: str) -> str:
        nonlocal content
        if fate != DELETED:
            content = path.read_bytes()  # noqa: ASYNC240 - a hundred bytes
            return "its keys are used from the next start on"
        create(path, content)
        return "it is written back; to be rid of a key, stop the daemon first"

    guard.keep(path, write)


def keep_socket(
    guard: FileGuard, port: IListeningPort, listen: Callable[[], Awaitable[object]] | None
) -> None:
    """Have a UNIX socket listened on again should its file go; others have none.

    Args:
        guard: Looks after it.
        port: What listens.
        listen: Listens once more, and has that looked after; None where systemd has to.
    """
    name = os.fsdecode(port.getHost().name) if isinstance(port, Port) else ""
    path = Path(name)
    if not path.is_absolute() or not path.exists():  # an abstract one has no file
        return

    async def again(_fate: str) -> str:
        if listen is None:
            raise StartError(
                "systemctl stop its socket unit and the service, then start the service", 1
            )
        free_path(path)
        await listen()
        return "it is listened on again"

    guard.keep(path, again)


def _keep_snapshot(guard: FileGuard, snapshots: Snapshots, publisher: Publisher) -> None:
    """Have what is served published again should it be deleted: the next start needs it."""

    async def publish(_fate: str) -> str:
        report = await publisher.reload()
        if not report.good:
            raise OSError("; ".join(report.problems))
        return "it is published again"

    guard.add("the snapshot that is served", partial(_deleted, snapshots), publish)


def _deleted(snapshots: Snapshots) -> str | None:
    return DELETED if snapshots.deleted else None
