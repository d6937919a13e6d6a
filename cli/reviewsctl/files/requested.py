"""The installation that ``reviewsctl service install`` is asked for, by its configuration and its programs."""

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from reviewsctl.daemon import default_paths, local
from reviewsctl.daemon.units import below
from reviewsctl.files.named_files import (
    NamedFile,
    entries,
    exports,
    named_files,
)
from reviewsctl.terminal.errors import CommandError
from reviewsd.api.places import SYSTEM

_DATA: Final = Path("/srv/reviews")
_HIDDEN: Final = ("/home", "/root", "/run/user", "/tmp", "/var/tmp")  # noqa: S108  # paths of units
"""The folders that ``ProtectHome=`` and ``PrivateTmp=`` hide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The service to install."""

    reviewsd: Path
    reviewsctl: Path
    needs: tuple[Path, ...]
    """Folders without which the programs do not run: the environment, and its Python."""
    config: Path | None
    """The configuration to begin with; None where the service has one."""
    unread: Path | None = None
    """Another configuration that was named, or is here, where the service has one; it stays unread."""
    data: NamedFile
    """The data directory."""
    files: tuple[NamedFile, ...] = ()
    """The other files and folders that the configuration names."""
    listen: Sequence[str] = ()
    metrics: str = ""
    """The endpoint of the metrics; empty without one."""
    has_sources: bool = False
    """The configuration has sources, so a timer runs ``reviewsctl sync``."""


def requested(config: Path | None, root: Path) -> Installation:
    """Return the installation of the configuration that is there, else of this one.

    Args:
        config: The configuration to begin with; None for the one that the daemon would find.
        root: Of the system, ``/`` for the running one.

    Raises:
        Unusable: It cannot be used.
        CommandError: It cannot be installed.
    """
    there = below(root, SYSTEM)
    settings = local.settings(there if there.exists() else config).value
    if not there.exists() and "***" in settings.text("hub.store"):
        remedy = (
            "Take it out and put it into libpq's password file, or write the file there yourself."
        )
        detail = f"hub.store of {settings.file} has a password, and the copy is for all to read"
        raise CommandError("not installed", detail, remedy)
    asked = config or default_paths.configuration(os.environ)
    is_other = (
        there.exists() and asked is not None and os.path.realpath(asked) != os.path.realpath(there)
    )
    folder = Path(settings.text("data_dir"))
    data, *files = (
        replace(file, copy=file.path) if there.exists() else placed(file, Path(settings.file))
        for file in (
            NamedFile(key="data_dir", place="$.data_dir", path=folder, copy=_DATA),
            *named_files(settings),
            *exports(settings),
        )
    )
    reviewsd, reviewsctl = map(_program, ("reviewsd", "reviewsctl"))
    return Installation(
        reviewsd=reviewsd,
        reviewsctl=reviewsctl,
        needs=tuple(dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix).resolve()))),
        config=None if there.exists() else Path(settings.file),
        unread=asked if is_other else None,
        data=data,
        files=tuple(files),
        listen=settings.texts("listen"),
        metrics=str(settings.value("metrics.listen") or ""),
        has_sources=bool(entries(settings, "sources")),
    )


def placed(file: NamedFile, config: Path) -> NamedFile:
    """Return a file with its place for the service.

    Secrets are copied, and what lies beside the configuration or where a service cannot see it. All else
    stays, as do exports, since their owner goes on writing them.
    """
    path, folder = Path(os.path.normpath(file.path)), Path(os.path.normpath(config)).parent
    is_copied = file.is_secret or is_hidden(path) or path.is_relative_to(folder)
    return replace(file, path=path, copy=file.copy if is_copied else path)


def is_hidden(path: Path) -> bool:
    """Return whether a service cannot see a path unless it is bound."""
    return any(path.is_relative_to(folder) for folder in _HIDDEN)


def _program(name: str) -> Path:
    """Return the path of a program: beside this Python, or else the one that a shell finds."""
    beside, installed = Path(sys.executable).with_name(name), shutil.which(name)
    if not beside.exists() and installed is None:
        remedy = "Install it: uv tool install reviewsd, or pipx."
        raise CommandError("not installed", f"there is no {beside}", remedy)
    program = beside if beside.exists() else Path(str(installed)).absolute()
    if ".cache" in program.parts:
        detail = f"{program} is temporary, as uvx makes them"
        raise CommandError("not installed", detail, "Install it for good: uv tool install reviewsd")
    return program
