"""The plan of ``reviewsctl service install`` and ``uninstall``.

The units are those of ``systemd/``, with the real place of the programs and of the data. Sources:
interfaces.md 1.6, security-and-operations.md O5, O6, O14.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from reviewsctl.daemon.units import (
    NODE_SERVICE,
    NODE_SOCKETS,
    OWN,
    SERVICE,
    SOCKETS,
    SYNC_TIMER,
    UNITS,
)
from reviewsctl.files import sync_installation
from reviewsctl.files.folders import ROOT
from reviewsctl.files.steps import (
    CopyFile,
    CopyFolder,
    MakeFolder,
    RemoveFile,
    Run,
    Step,
    WriteFile,
    below,
    read,
    systemctl,
)
from reviewsctl.files.sync_installation import SyncInstallation
from reviewsctl.files.unit_text import is_hidden, shipped, with_folders, word
from reviewsctl.manual.keys import with_values
from reviewsd.api.places import DATA_FILES, KEPT_FOLDER

CONFIG: Final = Path("/etc/reviewsd/reviewsd.yaml")
DATA: Final = Path("/srv/reviews")
SHARE: Final = Path("/usr/local/share")

_SYSUSERS: Final = Path("/etc/sysusers.d/reviewsd.conf")
_SERVICES: Final = (SERVICE, NODE_SERVICE)
_PUBLIC_SOCKETS: Final = (SOCKETS[0], NODE_SOCKETS[0])
_PLACES: Final = {  # of the service; the units have them
    "state_dir": "/var/lib/reviewsd",
    "admin_socket": "/run/reviewsd/admin.sock",
}
_TCP: Final = re.compile(r"tcp:(port=)?(?P<port>[0-9]+)(:interface=(?P<host>[0-9.]+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """The paths of the installed programs."""

    reviewsd: Path
    reviewsctl: Path
    needs: tuple[Path, ...]
    """Folders without which they do not run: the environment, and its Python."""
    files: tuple[Path, ...] = ()
    """The files that are executed: both programs, and Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The service to install."""

    programs: Programs
    config: Path | None
    """The configuration to begin with; None where the service has one."""
    data_dir: Path
    listen: Sequence[str]
    files: tuple[Path, ...] = ()
    """The files that the service reads and trusts: configuration and keys, whether they exist or not."""
    shares: Mapping[str, str] = field(default_factory=dict)
    """Manual pages and completion, by their paths below ``SHARE``."""
    failed: bool = False
    """The service has failed, perhaps too often for systemd to start it again."""
    has_sources: bool = False
    """The configuration has sources, so a timer runs ``reviewsctl sync``."""
    source_files: tuple[Path, ...] = ()
    """The files and patterns of files that the sources read."""


def plan(installation: Installation, root: Path) -> Iterator[Step]:
    """Yield the steps of an installation in their order.

    Args:
        installation: The service to install.
        root: Of the system, ``/`` for the running one.

    Raises:
        OSError: The configuration cannot be read, or is not for all to read.
    """
    data = data_dir(installation)
    running = root == ROOT
    yield MakeFolder(CONFIG.parent)
    if installation.config is not None:
        with read(installation.config) as file:
            content = file.read().decode()
        text = with_values(content, {**_PLACES, "data_dir": str(data)})
        yield MakeFolder(data)
        if data != installation.data_dir:
            kept = installation.data_dir / KEPT_FOLDER
            # what is kept of these reviews, not of those that are there
            places = [data / name for name in ("reviews.json", KEPT_FOLDER)]
            is_new = not any(os.path.lexists(below(root, place)) for place in places)
            for name in DATA_FILES:
                source = installation.data_dir / name
                if source.is_file() and not os.path.lexists(below(root, data / name)):
                    yield CopyFile(source, data / name)
            if is_new and kept.is_dir():
                yield CopyFolder(installation.data_dir, data)
        yield WriteFile(CONFIG, text, content)
    yield WriteFile(_SYSUSERS, shipped("reviewsd.sysusers.conf"))
    prefix = () if running else (f"--root={root}",)
    yield Run(("systemd-sysusers", *prefix, "reviewsd.conf"))
    yield from _units(installation, data)
    sync = sync_installation_of(installation, root)
    yield from (
        sync_installation.removal(root) if sync is None else sync_installation.steps(sync, root)
    )
    for name, text in installation.shares.items():
        yield WriteFile(SHARE / name, text)
    if running:
        yield Run((str(installation.programs.reviewsctl), "check", "--config", str(CONFIG)))
        yield Run(("systemctl", "daemon-reload"))
        if installation.failed:
            yield Run(("systemctl", "reset-failed", SERVICE))
    yield systemctl(root, "enable", *SOCKETS, SERVICE)
    if sync is not None:
        yield systemctl(root, "enable", SYNC_TIMER)


def sync_installation_of(installation: Installation, root: Path) -> SyncInstallation | None:
    """Return the timer of an installation; None if its configuration has no sources."""
    if not installation.has_sources:
        return None
    data = data_dir(installation)
    user, group, is_owner = sync_installation.owner(data, root)
    return SyncInstallation(
        reviewsctl=installation.programs.reviewsctl,
        needs=installation.programs.needs,
        data=data,
        files=installation.source_files,
        user=user,
        group=group,
        is_owner=is_owner,
    )


def removal(shares: Iterable[str], root: Path) -> Iterator[Step]:
    """Yield the steps that undo an installation; configuration, data, state and group stay.

    Args:
        shares: Paths below ``SHARE``.
        root: Of the system, ``/`` for the running one.
    """
    yield systemctl(root, "disable", *SOCKETS, SERVICE, *sorted(_enabled_nodes(root)))
    yield from sync_installation.removal(root)
    files = (*(OWN / name for name in UNITS), _SYSUSERS, *(SHARE / name for name in shares))
    for file in files:
        if os.path.lexists(below(root, file)):
            yield RemoveFile(file)
    if root == ROOT:
        yield Run(("systemctl", "daemon-reload"))


def _enabled_nodes(root: Path) -> set[str]:
    """Return the enabled units of nodes, such as ``reviewsd@1.service``."""
    own = below(root, OWN)
    patterns = ("*.wants/reviewsd@?*.*", "*.wants/reviewsd-admin@?*.*")
    return {link.name for pattern in patterns for link in own.glob(pattern)}


def _units(installation: Installation, data: Path) -> Iterator[WriteFile]:
    texts = {
        **{name: service_unit(installation.programs, data, name) for name in _SERVICES},
        **{name: _socket_unit(installation.listen, name) for name in _PUBLIC_SOCKETS},
    }
    for name in UNITS:
        yield WriteFile(OWN / name, texts.get(name, shipped(name)), shipped(name))


def sockets_change(steps: Iterable[Step], root: Path) -> bool:
    """Return whether steps change a socket unit that is there already."""
    return any(
        isinstance(step, WriteFile) and step.path.suffix == ".socket" and step.changes(root)
        for step in steps
    )


def restart_steps(*, sockets_changed: bool) -> Sequence[Run]:
    """Return the steps after which a running service goes by its new units and programs.

    Args:
        sockets_changed: Sockets of changed units are closed and opened; clients are refused meanwhile.
    """
    if not sockets_changed:
        return [Run(("systemctl", "restart", SERVICE))]
    return [
        Run(("systemctl", "stop", *SOCKETS, SERVICE)),
        Run(("systemctl", "start", SERVICE)),  # opens the sockets, too
    ]


def service_unit(programs: Programs, data: Path, name: str = SERVICE) -> str:
    """Return the unit of the service, or of a node, for programs and data where they are."""
    text = shipped(name)
    text = text.replace("/usr/bin/reviewsd ", f"{word(programs.reviewsd)} ")
    text = text.replace("ReadOnlyPaths=-/srv/reviews", f"ReadOnlyPaths=-{word(data)}")
    text = text.replace("/usr/bin/reviewsctl ", f"{word(programs.reviewsctl)} ")
    return with_folders(text, [path for path in (*programs.needs, data) if is_hidden(path)])


def _socket_unit(listen: Sequence[str], name: str) -> str:
    """Return the unit of a public listener, with the address of the configuration where it is plain."""
    text = shipped(name)
    match = _TCP.fullmatch(listen[0]) if listen else None
    if match is None:
        return text
    address = f"{match['host']}:{match['port']}" if match["host"] else match["port"]
    return text.replace("ListenStream=127.0.0.1:8080", f"ListenStream={address}")


def data_dir(installation: Installation) -> Path:
    """Return the folder of the data: the present one, unless a service cannot or should not read it."""
    data = installation.data_dir.absolute()
    if installation.config is None:
        return data
    beside = data.is_relative_to(installation.config.absolute().parent)
    private = is_hidden(data) or data.is_relative_to("/tmp")  # noqa: S108  # PrivateTmp=
    return DATA if beside or private else data
