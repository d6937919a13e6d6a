"""The plan of ``reviewsctl service install`` and ``uninstall``.

The units are those of ``systemd/``, with the real place of the programs and of the data. The timer of
``reviewsctl sync`` comes with sources. A sync replaces files in the data directory, so it runs as the owner
of this directory; one of root, as the installation makes it, is given to a user of its own. Sources:
interfaces.md 1.6, security-and-operations.md O5, O6, O14.
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from grp import getgrgid
from pathlib import Path
from pwd import getpwuid
from typing import Final

from reviewsctl.daemon.units import (
    NODE_SERVICE,
    NODE_SOCKETS,
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
from reviewsctl.files.named_files import CREDENTIALS, NOTICES, NamedFile
from reviewsctl.files.steps import CopyFile, Run, Step, WriteFile, read, systemctl
from reviewsctl.files.unit_text import (
    Programs,
    is_hidden,
    service_unit,
    shipped,
    socket_unit,
    sync_unit,
)
from reviewsd.api.places import KEPT_FOLDER

CONFIG: Final = Path("/etc/reviewsd/reviewsd.yaml")
DATA: Final = Path("/srv/reviews")
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
_SERVICES: Final = (SERVICE, NODE_SERVICE)
_PUBLIC_SOCKETS: Final = (SOCKETS[0], NODE_SOCKETS[0])
_PLACES: Final = {  # of the service; the units have them
    "$.state_dir": "/var/lib/reviewsd",
    "$.admin_socket": "/run/reviewsd/admin.sock",
}


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
    shared_files: Mapping[str, str] = field(default_factory=dict)
    """Manual pages and completion, by their paths below ``SHARE``."""
    failed: bool = False
    """The service has failed, perhaps too often for systemd to start it again."""
    has_sources: bool = False
    """The configuration has sources, so a timer runs ``reviewsctl sync``."""
    source_files: tuple[Path, ...] = ()
    """The files that the sources read: secrets, and the folders of exports."""
    source_paths: Mapping[str, Path] = field(default_factory=dict)
    """The exports that lie beside the configuration to begin with, by their JSON paths in it."""
    named_files: tuple[NamedFile, ...] = ()
    """The other files that the configuration to begin with names."""
    has_notices: bool = False
    """Targets of notices have no ``url_file``, so systemd hands their addresses over."""


def plan(installation: Installation, root: Path) -> Iterator[Step]:
    """Yield the steps of an installation in their order, for the system below ``root``.

    Raises:
        OSError: The configuration cannot be read, or is not for all to read.
    """
    programs, data, running = installation.programs, data_dir(installation), root == ROOT
    copies: list[CopyFile] = []
    if installation.config is not None:
        with read(installation.config) as file:
            content = file.read().decode()
        yield Run(("mkdir", "-p", str(below(root, data))))
        copies = list(_copies(installation.data_dir, data, root))
        yield from copies
        yield from _named_copies(installation, root)
        yield WriteFile(CONFIG, _moved(content, installation), content)
    elif installation.has_notices:
        yield _private_folder(NOTICES, root)
    yield WriteFile(_SYSUSERS, shipped("reviewsd.sysusers.conf"))
    yield _sysusers(_SYSUSERS, root)
    has_notices = installation.has_notices
    texts = {
        **{name: service_unit(programs, data, name, has_notices=has_notices) for name in _SERVICES},
        **{name: socket_unit(installation.listen, name) for name in _PUBLIC_SOCKETS},
    }
    for name in UNITS:
        yield WriteFile(OWN / name, texts.get(name, shipped(name)), shipped(name))
    if installation.has_sources:
        yield from _timer(installation, [copy.path for copy in copies], root)
    else:
        yield from _timer_removal(root)
    for name, text in installation.shared_files.items():
        yield WriteFile(SHARE / name, text)
    if running:
        yield Run((str(programs.reviewsctl), "check", "--config", str(CONFIG)))
        yield Run(("systemctl", "daemon-reload"))
        if installation.failed:
            yield Run(("systemctl", "reset-failed", SERVICE))
    yield systemctl(root, "enable", *SOCKETS, SERVICE)
    if installation.has_sources:
        yield systemctl(root, "enable", SYNC_TIMER)


def _copies(source: Path, data: Path, root: Path) -> Iterator[CopyFile]:
    """Yield copies of the files of a data directory that the service does not have.

    What ``reviewsctl`` keeps of these reviews does not belong to others that are there.
    """
    if data == source:
        return
    review_files = [below(root, data / name) for name in ("reviews.json", KEPT_FOLDER)]
    is_new = not any(map(os.path.lexists, review_files))
    for name in owner_files(source):
        is_kept = name.startswith(KEPT_FOLDER)
        if is_new if is_kept else not os.path.lexists(below(root, data / name)):
            mode = (source / name).stat().st_mode & 0o644 if is_kept else 0o644
            yield CopyFile(source / name, data / name, mode)


def _named_copies(installation: Installation, root: Path) -> Iterator[Step]:
    """Yield copies of the files that the configuration names and the service does not have.

    Raises:
        OSError: The service has another file in the place of one.
    """
    from reviewsd.publish.sources import template_files  # see main

    named = installation.named_files
    folders = {file.copy.parent for file in named if file.is_secret}
    if installation.has_notices:
        folders.add(NOTICES)
    for folder in sorted(folders):
        yield _private_folder(folder, root)
    for file in named:
        sources = [(file.path, file.copy)]
        if not file.is_secret and file.path.is_dir():
            sources = [(path, file.copy / path.name) for path in template_files(file.path)]
        for source, copy in sources:
            there = below(root, copy)
            if not os.path.lexists(there):
                yield CopyFile(source, copy, 0o600 if file.is_secret else 0o644)
            elif there.read_bytes() != source.read_bytes():
                text = f"it is there already, and differs from {source}"
                raise FileExistsError(errno.EEXIST, text, str(there))


def _moved(content: str, installation: Installation) -> str:
    """Return the configuration of a service, with the places of its files."""
    from reviewsctl.terminal.flow import flow  # yaml, see main
    from reviewsd.config.rewriting import rewritten

    places = {"$.data_dir": data_dir(installation), **installation.source_paths}
    places |= {file.place: file.copy for file in installation.named_files if not file.is_secret}
    # As an item of a list, because the value may be in one, or in a mapping in braces
    values = {place: flow([str(path)])[1:-1] for place, path in places.items()}
    secrets = {file.place: "null" for file in installation.named_files if file.is_secret}
    return rewritten(content, {**_PLACES, **values, **secrets})


def _private_folder(folder: Path, root: Path) -> Run:
    return Run(("install", "-d", "-m", "700", str(below(root, folder))))


def _timer(installation: Installation, copies: Iterable[Path], root: Path) -> Iterator[Step]:
    """Yield the steps that install the timer, before systemd reads its units again."""
    data = data_dir(installation)
    user, group, is_owner = owner(data, root)
    if not is_owner:
        yield WriteFile(_SYNC_SYSUSERS, shipped("reviewsd-sync.sysusers.conf"))
        yield _sysusers(_SYNC_SYSUSERS, root)
        if root == ROOT:
            yield from given(data, copies, user, group)
    yield _private_folder(CREDENTIALS, root)
    unit = sync_unit(installation.programs, data, installation.source_files, user, group)
    yield WriteFile(OWN / SYNC_SERVICE, unit, shipped(SYNC_SERVICE))
    yield WriteFile(OWN / SYNC_TIMER, shipped(SYNC_TIMER))


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
    try:
        facts = below(root, data).stat()
    except OSError:
        return (*_SYNC_USER, False)
    if facts.st_uid == 0:
        return (*_SYNC_USER, False)
    if root != ROOT:
        return str(facts.st_uid), str(facts.st_gid), True
    return _name(getpwuid, facts.st_uid), _name(getgrgid, facts.st_gid), True


def _name(look_up: Callable[[int], Sequence[object]], number: int) -> str:
    """Return the name of a user or group; its number if it has none."""
    try:
        return str(look_up(number)[0])
    except KeyError:
        return str(number)


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


def restart_steps(steps: Iterable[Step], root: Path) -> Sequence[Run]:
    """Return the steps after which a running service goes by its new units and programs.

    Sockets are closed and opened if ``steps`` change their units; clients are refused meanwhile.
    """
    sockets = (
        step for step in steps if isinstance(step, WriteFile) and step.path.suffix == ".socket"
    )
    if not any(step.changes(root) for step in sockets):
        return [Run(("systemctl", "restart", SERVICE))]
    return [
        Run(("systemctl", "stop", *SOCKETS, SERVICE)),
        Run(("systemctl", "start", SERVICE)),  # opens the sockets, too
    ]


def data_dir(installation: Installation) -> Path:
    """Return the folder of the data: the present one, unless a service cannot or should not read it."""
    data = installation.data_dir.absolute()
    if installation.config is None:
        return data
    beside = data.is_relative_to(installation.config.absolute().parent)
    private = is_hidden(data) or data.is_relative_to("/tmp")  # noqa: S108  # PrivateTmp=
    return DATA if beside or private else data
