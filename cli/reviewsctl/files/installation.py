"""The plan of ``reviewsctl service install`` and ``uninstall``.

The units are those of ``systemd/``, with the real place of the programs and of the data. Sources:
interfaces.md 1.6, sources.md 5, security-and-operations.md O5, O6, O14.
"""

import errno
import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from reviewsctl.daemon.units import (
    OWN,
    ROOT,
    SERVICE,
    SOCKETS,
    SYNC_TIMER,
    SYNC_UNITS,
    UNITS,
    below,
)
from reviewsctl.files.data_files import owner_files
from reviewsctl.files.named_files import NamedFile
from reviewsctl.files.requested import Installation
from reviewsctl.files.steps import CopyFile, Run, Step, WriteFile, read, systemctl
from reviewsctl.files.unit_text import shipped, unit
from reviewsd.api.places import KEPT_FOLDER, REVIEWS_FILE, SYSTEM
from reviewsd.api.texts import counted

SYNC_USER: Final = "reviewsd-sync"
"""The user that runs ``reviewsctl sync``, and owns the data directory."""

SYNC_OWNER: Final = f"{SYNC_USER}:reviewsd-data"
"""The owner of the data directory, as chown(1) has it."""

_SHOWN: Final = 3
"""Names of files that one step shows."""

_SYSUSERS: Final = Path("/etc/sysusers.d")
_SYSUSERS_FILES: Final = ("reviewsd", "reviewsd-sync")
_PLACES: Final = {  # of the service; the units have them
    "$.state_dir": "/var/lib/reviewsd",
    "$.admin_socket": "/run/reviewsd/admin.sock",
}


def plan(installation: Installation, root: Path, *, failed: bool = False) -> Iterator[Step]:
    """Yield the steps of an installation in their order.

    Args:
        installation: The service.
        root: Of the system, ``/`` for the running one.
        failed: Whether the service has failed, perhaps too often for systemd to start it again.

    Raises:
        OSError: The configuration cannot be read or is not for all to read, or the service has another
            file in the place of one that it names.
    """
    data, copies = below(root, installation.data.copy), []
    if installation.config is not None:
        with read(installation.config) as file:
            content = file.read().decode()
        yield Run(("mkdir", "-p", str(data)))
        copies = list(_data_copies(installation.data, data))
        yield from copies
        yield from _named_copies(installation, root)
        yield WriteFile(below(root, SYSTEM), _moved(content, installation))
    for name in _SYSUSERS_FILES:
        text = shipped(f"{name}.sysusers.conf")
        yield WriteFile(below(root, _SYSUSERS / f"{name}.conf"), text)
    where = () if root == ROOT else (f"--root={root}",)
    yield Run(("systemd-sysusers", *where, *(f"{name}.conf" for name in _SYSUSERS_FILES)))
    for name in (*UNITS, *SYNC_UNITS):
        yield WriteFile(below(root, OWN / name), unit(installation, name))
    if root == ROOT:
        if installation.has_sources and (not data.exists() or data.stat().st_uid == 0):
            yield from given(data, (copy.path for copy in copies), SYNC_OWNER)
        yield Run((str(installation.reviewsctl), "check", "--config", str(SYSTEM)))
        yield Run(("systemctl", "daemon-reload"))
        if failed:
            yield Run(("systemctl", "reset-failed", SERVICE))
    yield systemctl(root, "enable", *SOCKETS, SERVICE)
    if installation.has_sources:
        yield systemctl(root, "enable", SYNC_TIMER)
    elif os.path.lexists(below(root, OWN / "timers.target.wants" / SYNC_TIMER)):
        yield systemctl(root, "disable", SYNC_TIMER)


def _data_copies(data: NamedFile, there: Path) -> Iterator[CopyFile]:
    """Yield copies of the files of a data directory that the service does not have.

    What ``reviewsctl`` keeps of these reviews does not belong to others that are there. The reviews are the
    last one, so that an installation that was interrupted copies the rest.
    """
    if not data.is_copied:
        return
    is_new = not os.path.lexists(there / REVIEWS_FILE)
    for name in sorted(owner_files(data.path), key=lambda name: name == REVIEWS_FILE):
        source, copy, is_kept = data.path / name, there / name, name.startswith(KEPT_FOLDER)
        if not os.path.lexists(copy) and (is_new or not is_kept):
            mode = source.stat().st_mode if is_kept else 0o644
            yield CopyFile(source, copy, mode & 0o644)


def _named_copies(installation: Installation, root: Path) -> Iterator[Step]:
    """Yield copies of the files that the configuration names and the service does not have.

    Raises:
        OSError: The service has another file in the place of one.
    """
    from reviewsd.publish.sources import template_files  # see main

    for folder in sorted({file.copy.parent for file in installation.files if file.is_secret}):
        yield Run(("install", "-d", "-m", "700", str(below(root, folder))))
    for file in installation.files:
        if not file.is_copied:
            continue
        sources = [(file.path, file.copy)]
        if not file.is_secret and file.path.is_dir():
            sources = [(path, file.copy / path.name) for path in template_files(file.path)]
        for source, copy in sources:
            there = below(root, copy)
            if not os.path.lexists(there):
                yield CopyFile(source, there, 0o600 if file.is_secret else 0o644)
            elif there.read_bytes() != source.read_bytes():
                text = f"it is there already, and differs from {source}"
                raise FileExistsError(errno.EEXIST, text, str(there))


def _moved(content: str, installation: Installation) -> str:
    """Return the configuration of a service, with the places of its files."""
    from reviewsctl.terminal.flow import flow  # yaml, see main
    from reviewsd.config.rewriting import rewritten

    files = (installation.data, *installation.files)
    # As an item of a list, because the value may be in one, or in a mapping in braces
    places = {
        file.place: "null" if file.is_secret else flow([str(file.copy)])[1:-1] for file in files
    }
    return rewritten(content, {**_PLACES, **places})


def given(data: Path, files: Iterable[Path], owner: str) -> Iterator[Run]:
    """Yield the steps that give a user the data directory of root, writable for a group.

    Args:
        data: The directory; what is there and not ours stays.
        files: The files that will be there.
        owner: The user and the group, as chown(1) has them.
    """
    paths = {*files, *(data / name for name in owner_files(data))}
    folders = sorted(map(str, {data, *(path.parent for path in paths)}))
    chown = ("chown", "--no-dereference", owner)
    named = sorted({*folders, *map(str, paths)} - {str(data)})
    text = f"{shlex.join((*chown, str(data)))}, and {counted(len(named), 'name')} in it"
    yield Run((*chown, str(data), *named), text if len(named) > _SHOWN else "")
    yield Run(("chmod", "g+ws", *folders))


def removal(root: Path) -> Iterator[Step]:
    """Yield the steps that undo an installation; configuration, data, state, users and groups stay."""
    own = below(root, OWN)
    units = [name for name in (*SOCKETS, SERVICE, *SYNC_UNITS) if os.path.lexists(own / name)]
    yield systemctl(root, "disable", *units, *sorted(_enabled_nodes(own)))
    files = [
        *(own / name for name in (*UNITS, *SYNC_UNITS)),
        *(below(root, _SYSUSERS / f"{name}.conf") for name in _SYSUSERS_FILES),
    ]
    yield Run(("rm", *map(str, filter(os.path.lexists, files))))
    if root == ROOT:
        yield Run(("systemctl", "daemon-reload"))


def _enabled_nodes(own: Path) -> set[str]:
    """Return the enabled units of nodes, such as ``reviewsd@1.service``."""
    patterns = ("*.wants/reviewsd@?*.*", "*.wants/reviewsd-admin@?*.*")
    return {link.name for pattern in patterns for link in own.glob(pattern)}
