"""Where configuration, data and admin socket are, when nobody says it (interfaces.md 1.3, 1.5)."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SYSTEM: Final = Path("/etc/reviewsd/reviewsd.yaml")
HERE: Final = Path("reviewsd.yaml")
STATE: Final = Path("/var/lib/reviewsd")
DEFAULT: Final = Path("/run/reviewsd/admin.sock")  # interfaces.md 1.5


def admin_socket(
    environ: Mapping[str, str], system: Path = SYSTEM, default: Path = DEFAULT
) -> Path:
    """The socket of the daemon that is meant: of this folder, if one runs by it, or of the system.

    A configuration that cannot be read or is none names no socket: what is wrong with it is for
    ``check`` to say.

    Args:
        environ: ``REVIEWSD_CONFIG`` as the daemon heeds it.
        system: The configuration of the system's daemon.
        default: Its socket, where that says nothing.
    """
    if named := environ.get("REVIEWSD_CONFIG"):
        return _path(Path(named), "admin_socket") or default
    here = _path(HERE, "admin_socket") if _is_trusted(HERE, environ) else None
    there = _path(system, "admin_socket")
    exists = os.path.lexists  # False where we may not look
    if here is not None and (exists(here) or (there is None and not exists(default))):
        return here
    return there or default


def _is_trusted(file: Path, environ: Mapping[str, str]) -> bool:
    """Whether a file of the current folder is root's or one's own; others could lead us astray."""
    from reviewsctl.files.ownership import caller  # see main

    try:
        return file.lstat().st_uid in {0, os.geteuid(), caller(environ)}
    except OSError:
        return False


def configuration(environ: Mapping[str, str]) -> Path | None:
    """The configuration that ``check`` and a daemon started here find, if there is one."""
    if named := environ.get("REVIEWSD_CONFIG"):
        return Path(named)
    if SYSTEM.exists():
        return SYSTEM
    return HERE if _is_trusted(HERE, environ) else None


def data_dir(file: Path, environ: Mapping[str, str]) -> Path | None:
    """The data directory of a configuration, if it says one."""
    if override := environ.get("REVIEWSD_DATA_DIR"):
        return file.absolute().parent / override
    return _path(file, "data_dir")


def state_dir(environ: Mapping[str, str]) -> Path:
    """Return the state directory of the daemon that is configured."""
    if override := environ.get("REVIEWSD_STATE_DIR"):
        return Path(override)
    file = configuration(environ)
    return (None if file is None else _path(file, "state_dir")) or STATE


def _path(file: Path, key: str) -> Path | None:
    """A path that a configuration has, if it does."""
    try:
        text = file.read_bytes()
    except OSError:
        return None
    import yaml  # 20 ms, needed only here

    try:
        settings = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  it is safe
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    found = settings.get(key) if isinstance(settings, dict) else None
    return file.absolute().parent / found if isinstance(found, str) and found else None
