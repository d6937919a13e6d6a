"""The plan of ``reviewsctl service install`` and ``uninstall``.

The units are those of ``systemd/``, with the real place of the programs and of the data. The timer of
``reviewsctl sync`` comes with sources. A sync replaces files in the data directory, so it runs as the owner
of this directory; one of root, as the installation makes it, is given to a user of its own. Sources:
interfaces.md 1.6, security-and-operations.md O5, O6, O14.
"""

import contextlib
import errno
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from reviewsctl.daemon.units import (
    OWN,
    ROOT,
    SERVICE,
    SOCKETS,
    SYNC_SERVICE,
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
from reviewsd.api.places import KEPT_FOLDER, SYSTEM

SHARE: Final = Path("/usr/local/share")
COMPLETIONS: Final = {
    "bash": "bash-completion/completions/reviewsctl",
    "zsh": "zsh/site-functions/_reviewsctl",
    "fish": "fish/vendor_completions.d/reviewsctl.fish",
}
"""Where each shell looks for completion by default, below ``SHARE``."""
SHARED_FILES: Final = (
    "man/man1/reviewsctl.1",
    "man/man8/reviewsd.8",
    "man/man5/reviewsd.yaml.5",
    *COMPLETIONS.values(),
)
"""The paths of manual pages and completion below ``SHARE``, which a removal knows without making them."""

_SYSUSERS: Final = Path("/etc/sysusers.d/reviewsd.conf")
_SYNC_SYSUSERS: Final = Path("/etc/sysusers.d/reviewsd-sync.conf")
_SYNC_USER: Final = ("reviewsd-sync", "reviewsd-data")
_PLACES: Final = {  # of the service; the units have them
    "$.state_dir": "/var/lib/reviewsd",
    "$.admin_socket": "/run/reviewsd/admin.sock",
}


def plan(
    installation: Installation,
    root: Path,
    shared_files: Mapping[str, str] | None = None,
    *,
    failed: bool = False,
) -> Iterator[Step]:
    """Yield the steps of an installation in their order.

    Args:
        installation: The service.
        root: Of the system, ``/`` for the running one.
        shared_files: Manual pages and completion, by their paths below ``SHARE``.
        failed: Whether the service has failed, perhaps too often for systemd to start it again.

    Raises:
        OSError: The configuration cannot be read or is not for all to read, or the service has another
            file in the place of one that it names.
    """
    copies: list[CopyFile] = []
    if installation.config is not None:
        with read(installation.config) as file:
            content = file.read().decode()
        yield Run(("mkdir", "-p", str(below(root, installation.data.copy))))
        copies = list(_data_copies(installation.data, root))
        yield from copies
        yield from _named_copies(installation, root)
        yield WriteFile(below(root, SYSTEM), _moved(content, installation), content)
    yield WriteFile(below(root, _SYSUSERS), shipped("reviewsd.sysusers.conf"))
    yield _sysusers(_SYSUSERS, root)
    for name in UNITS:
        yield WriteFile(below(root, OWN / name), unit(installation, name), shipped(name))
    if installation.has_sources:
        yield from _timer(installation, [copy.path for copy in copies], root)
    else:
        yield from _timer_removal(root)
    for name, text in (shared_files or {}).items():
        yield WriteFile(below(root, SHARE / name), text)
    if root == ROOT:
        yield Run((str(installation.reviewsctl), "check", "--config", str(SYSTEM)))
        yield Run(("systemctl", "daemon-reload"))
        if failed:
            yield Run(("systemctl", "reset-failed", SERVICE))
    yield systemctl(root, "enable", *SOCKETS, SERVICE)
    if installation.has_sources:
        yield systemctl(root, "enable", SYNC_TIMER)


def _data_copies(data: NamedFile, root: Path) -> Iterator[CopyFile]:
    """Yield copies of the files of a data directory that the service does not have.

    What ``reviewsctl`` keeps of these reviews does not belong to others that are there.
    """
    if not data.is_copied:
        return
    there = below(root, data.copy)
    is_new = not any(os.path.lexists(there / name) for name in ("reviews.json", KEPT_FOLDER))
    line = f"cp -r {shlex.join((str(data.path / KEPT_FOLDER), str(there / KEPT_FOLDER)))}"
    for name in owner_files(data.path):
        source, copy = data.path / name, there / name
        if not name.startswith(KEPT_FOLDER):
            if not os.path.lexists(copy):
                yield CopyFile(source, copy)
        elif is_new:
            yield CopyFile(source, copy, source.stat().st_mode & 0o644, line)


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


def _timer(installation: Installation, copies: Iterable[Path], root: Path) -> Iterator[Step]:
    """Yield the steps that install the timer, before systemd reads its units again."""
    data = installation.data.copy
    user, group, is_owner = owner(data, root)
    if not is_owner:
        yield WriteFile(below(root, _SYNC_SYSUSERS), shipped("reviewsd-sync.sysusers.conf"))
        yield _sysusers(_SYNC_SYSUSERS, root)
        if root == ROOT:
            yield from given(data, copies, user, group)
    text = unit(installation, SYNC_SERVICE, user, group)
    yield WriteFile(below(root, OWN / SYNC_SERVICE), text, shipped(SYNC_SERVICE))
    yield WriteFile(below(root, OWN / SYNC_TIMER), shipped(SYNC_TIMER))


def _timer_removal(root: Path) -> Iterator[Step]:
    """Yield the steps that remove the timer, if it is there; the user and the secrets stay."""
    if not os.path.lexists(below(root, OWN / SYNC_TIMER)):
        return
    yield systemctl(root, "disable", SYNC_TIMER)
    if root == ROOT:
        yield Run(("systemctl", "stop", SYNC_SERVICE))
    yield from _removed((*(OWN / name for name in SYNC_UNITS), _SYNC_SYSUSERS), root)


def _sysusers(file: Path, root: Path) -> Run:
    prefix = () if root == ROOT else (f"--root={root}",)
    return Run(("systemd-sysusers", *prefix, file.name))


def given(data: Path, files: Iterable[Path], user: str, group: str) -> Iterator[Run]:
    """Yield the steps that give a user the data directory of root, writable for a group.

    Args:
        data: The directory; what is there and not ours stays.
        files: The files that will be there.
        user: The user.
        group: The group.
    """
    paths = {*files, *(data / name for name in owner_files(data))}
    folders = sorted(map(str, {data, *(path.parent for path in paths)}))
    names = sorted(map(str, paths))
    yield Run(("chown", "--no-dereference", f"{user}:{group}", *folders, *names))
    yield Run(("chmod", "g+ws", *folders))


def owner(data: Path, root: Path) -> tuple[str, str, bool]:
    """Return user and group of the data directory, and True; or those that it is to be given to."""
    folder = below(root, data)
    try:
        facts = folder.stat()
    except OSError:
        return (*_SYNC_USER, False)
    if facts.st_uid == 0:
        return (*_SYNC_USER, False)
    user, group = str(facts.st_uid), str(facts.st_gid)
    if root == ROOT:
        with contextlib.suppress(KeyError):  # it has no name
            user, group = folder.owner(), folder.group()
    return user, group, True


def removal(root: Path) -> Iterator[Step]:
    """Yield the steps that undo an installation; configuration, data, state and group stay."""
    yield systemctl(root, "disable", *SOCKETS, SERVICE, *sorted(_enabled_nodes(root)))
    yield from _timer_removal(root)
    files = (*(OWN / name for name in UNITS), _SYSUSERS, *(SHARE / name for name in SHARED_FILES))
    yield from _removed(files, root)
    if root == ROOT:
        yield Run(("systemctl", "daemon-reload"))


def _removed(files: Iterable[Path], root: Path) -> Iterator[Run]:
    there = [str(path) for file in files if os.path.lexists(path := below(root, file))]
    if there:
        yield Run(("rm", *there))


def _enabled_nodes(root: Path) -> set[str]:
    """Return the enabled units of nodes, such as ``reviewsd@1.service``."""
    own = below(root, OWN)
    patterns = ("*.wants/reviewsd@?*.*", "*.wants/reviewsd-admin@?*.*")
    return {link.name for pattern in patterns for link in own.glob(pattern)}


def restart_steps(steps: Iterable[Step]) -> Sequence[Run]:
    """Return the steps after which a running service goes by its new units and programs.

    Sockets are closed and opened if ``steps`` change their units; clients are refused meanwhile.
    """
    sockets = (
        step for step in steps if isinstance(step, WriteFile) and step.path.suffix == ".socket"
    )
    if not any(step.changes() for step in sockets):
        return [Run(("systemctl", "restart", SERVICE))]
    return [
        Run(("systemctl", "stop", *SOCKETS, SERVICE)),
        Run(("systemctl", "start", SERVICE)),  # opens the sockets, too
    ]
