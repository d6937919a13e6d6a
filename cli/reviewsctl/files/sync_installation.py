"""The part of ``reviewsctl service install`` and ``uninstall`` for the timer of ``reviewsctl sync``.

A sync replaces files in the data directory, so it runs as the user that owns this directory. A directory
of root, as ``service install`` makes it, is given to a user of its own, and root runs no sync.
"""

import grp
import os
import pwd
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reviewsctl.daemon.units import OWN, SYNC_SERVICE, SYNC_TIMER, SYNC_UNITS
from reviewsctl.files.folders import ROOT
from reviewsctl.files.steps import GiveFolder, RemoveFile, Run, Step, WriteFile, below, systemctl
from reviewsctl.files.unit_text import is_hidden, shipped, with_folders, word

CREDENTIALS: Final = Path("/etc/reviewsd/credentials")
"""The folder of the secrets of sources, which systemd hands over."""

_USER: Final = ("reviewsd-sync", "reviewsd-data")
_SYSUSERS: Final = Path("/etc/sysusers.d/reviewsd-sync.conf")
_FILES: Final = ("header_file", "client_file", "key_file", "secret_file")


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncInstallation:
    """The timer to install."""

    reviewsctl: Path
    needs: tuple[Path, ...]
    """Folders without which it does not run: the environment, and its Python."""
    data: Path
    files: tuple[Path, ...]
    """The files that sources read: secrets, and the folders of exports."""
    user: str
    group: str
    is_owner: bool
    """Whether the user owns the data directory already."""


def sources_files(sources: object) -> Iterator[tuple[str, Path]]:
    """Yield each path of the sources of a configuration with its key, such as ``takeout.path``."""
    for source in sources if isinstance(sources, list) else ():
        for key in ("path", *_FILES):
            if source.get(key) is not None:
                yield f"{source['name']}.{key}", Path(source[key])


def owner(data: Path, root: Path) -> tuple[str, str, bool]:
    """Return user and group of the data directory, and True; or those that it is to be given to."""
    try:
        facts = below(root, data).stat()
    except OSError:
        return (*_USER, False)
    if facts.st_uid == 0:
        return (*_USER, False)
    if root != ROOT:
        return str(facts.st_uid), str(facts.st_gid), True
    return _name(pwd.getpwuid, facts.st_uid), _name(grp.getgrgid, facts.st_gid), True


def steps(installation: SyncInstallation, root: Path) -> Iterator[Step]:
    """Yield the steps that install the timer, before systemd reads its units again."""
    prefix = () if root == ROOT else (f"--root={root}",)
    if not installation.is_owner:
        yield WriteFile(_SYSUSERS, shipped("reviewsd-sync.sysusers.conf"))
        yield Run(("systemd-sysusers", *prefix, _SYSUSERS.name))
        if root == ROOT:
            yield GiveFolder(installation.data, installation.user, installation.group)
    yield Run(("install", "-d", "-m", "700", str(below(root, CREDENTIALS))))
    texts = {SYNC_SERVICE: _service_unit(installation)}
    for name in SYNC_UNITS:
        yield WriteFile(OWN / name, texts.get(name, shipped(name)), shipped(name))


def removal(root: Path) -> Iterator[Step]:
    """Yield the steps that remove the timer, if it is there; the user and the secrets stay."""
    if not os.path.lexists(below(root, OWN / SYNC_TIMER)):
        return
    yield systemctl(root, "disable", SYNC_TIMER)
    if root == ROOT:
        yield Run(("systemctl", "stop", SYNC_SERVICE))
    for file in (*(OWN / name for name in SYNC_UNITS), _SYSUSERS):
        if os.path.lexists(below(root, file)):
            yield RemoveFile(file)


def _service_unit(installation: SyncInstallation) -> str:
    """Return the unit of the service for programs, data and user as they are."""
    text = shipped(SYNC_SERVICE)
    text = text.replace("/usr/bin/reviewsctl ", f"{word(installation.reviewsctl)} ")
    text = text.replace("=/srv/reviews\n", f"={word(installation.data)}\n")
    text = text.replace("User=reviewsd-sync\n", f"User={installation.user}\n")
    text = text.replace("Group=reviewsd-data\n", f"Group={installation.group}\n")
    read = [path for path in (*installation.needs, *installation.files) if is_hidden(path)]
    written = [installation.data] if is_hidden(installation.data) else []
    return with_folders(text, read, written)


def _name(look_up: Callable[[int], Sequence[object]], number: int) -> str:
    """Return the name of a user or group; its number if it has none."""
    try:
        return str(look_up(number)[0])
    except KeyError:
        return str(number)
