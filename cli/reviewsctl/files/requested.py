"""The installation that ``reviewsctl service install`` is asked for, by its configuration and its programs."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NoReturn

from reviewsctl.daemon import local
from reviewsctl.daemon.units import below
from reviewsctl.files.installation import CONFIG, Installation
from reviewsctl.files.named_files import (
    CREDSTORE,
    NamedFile,
    entries,
    named_files,
    unreadable_secrets,
)
from reviewsctl.files.unit_text import Programs, is_hidden
from reviewsctl.terminal.output import fail

_KEYS: Final = ("reviewsd.hub-secret-key", "reviewsd.mcp-session-key")


def requested(config: Path | None, root: Path) -> Installation:
    """Return the installation of the configuration that is there, else of this one.

    Args:
        config: The configuration to begin with; None for the one that the daemon would find.
        root: Of the system, ``/`` for the running one.

    Raises:
        Unusable: It cannot be used.
        typer.Exit: It cannot be installed, and the reason is printed.
    """
    there = below(root, CONFIG)
    settings = local.settings(there if there.exists() else config).value
    if not there.exists() and "***" in settings.text("hub.store"):
        remedy = (
            "Take it out and put it into libpq's password file, or write the file there yourself."
        )
        _refuse(
            f"hub.store of {settings.file} has a password, and the copy is for all to read", remedy
        )
    config, is_copied = Path(settings.file), not there.exists()
    named = tuple(named_files(settings))
    if is_copied:
        named = tuple(_copied(named, config))
    else:
        for file in unreadable_secrets(settings, root):
            _refuse(
                f"{file.key}: the service cannot read {file.path}",
                f"Have systemd hand it over:\n  {file.copying}\nand take the key out of {there}.",
            )
    sources = entries(settings, "sources")
    exports = {
        f"$.sources[{index}].path": Path(source["path"])
        for index, source in enumerate(sources)
        if source.get("path") is not None
    }
    moved = {
        place: path for place, path in exports.items() if is_copied and _is_beside(path, config)
    }
    of_sources = [file.path for file in named if file.key.startswith("sources.") and not is_copied]
    return Installation(
        programs=_programs(),
        config=config if is_copied else None,
        data_dir=Path(settings.text("data_dir")),
        has_sources=bool(sources),
        source_files=(*of_sources, *(path.parent for path in exports.values())),
        source_paths=moved,
        named_files=named,
        has_notices=any(
            is_copied or target.get("url_file") is None for target in entries(settings, "notify")
        ),
        listen=settings.texts("listen"),
        files=(
            config,
            *(file.path for file in named if not file.key.startswith("sources.")),
            *(below(root, CREDSTORE) / name for name in _KEYS),
        ),
    )


def _copied(named: Sequence[NamedFile], config: Path) -> Iterator[NamedFile]:
    """Yield the files that are copied with a configuration: all secrets, and others that lie beside it."""
    for file in named:
        if file.is_secret or _is_beside(file.path, config):
            yield file
        elif is_hidden(file.path):
            detail = f"{file.key}: a service cannot see {file.path}"
            _refuse(detail, f"Move it to {config.parent}, from where it is copied.")


def _is_beside(path: Path, config: Path) -> bool:
    return path.resolve().is_relative_to(config.parent.resolve())


def _programs() -> Programs:
    programs = []
    for name in ("reviewsd", "reviewsctl"):
        beside = Path(sys.executable).with_name(name)
        installed = shutil.which(name)
        if not beside.exists() and installed is None:
            _refuse(f"there is no {beside}", "Install it: uv tool install reviewsd, or pipx.")
        programs.append(beside if beside.exists() else Path(str(installed)).absolute())
    if ".cache" in programs[0].parts:
        remedy = "Install it for good: uv tool install reviewsd"
        _refuse(f"{programs[0]} is temporary, as uvx makes them", remedy)
    return Programs(
        reviewsd=programs[0],
        reviewsctl=programs[1],
        needs=tuple(dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix).resolve()))),
        files=(*programs, Path(sys.executable)),
    )


def _refuse(detail: str, remedy: str) -> NoReturn:
    fail("not installed", detail, remedy, as_json=False)
