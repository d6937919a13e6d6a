"""Default places of configuration, data and admin socket (interfaces.md 1.3, 1.5)."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from reviewsd.api.places import HERE, PLACES, SYSTEM, ForeignFileError, absolute, find_configuration

LOCAL: Final = ("localhost", "127.0.0.1", "::1")
STATE: Final = Path("/var/lib/reviewsd")
SOCKET: Final = Path("/run/reviewsd/admin.sock")  # interfaces.md 1.5


def configuration(environ: Mapping[str, str], places: Sequence[Path] = PLACES) -> Path | None:
    """Return the configuration that a daemon started here would find, or None."""
    try:
        return find_configuration(environ, places)
    except ForeignFileError as foreign:  # unsafe to use; a later place may be ours
        later = places[places.index(foreign.path) + 1 :]
        return configuration(environ, later)


GO_TO_FOLDER: Final = "Go to the folder of your business"
NO_CONFIGURATION: Final = f"no ./{HERE} here and no {SYSTEM}"


def has_no_configuration(environ: Mapping[str, str]) -> bool:
    """Return whether no configuration is named, and none is at a usual place."""
    return not environ.get("REVIEWSD_CONFIG") and not any(map(os.path.lexists, PLACES))


def admin_socket(file: Path | None) -> Path:
    """Return the admin socket of a configuration, or the default.

    If it does not exist and a single node (``reviewsd --node``) runs, return the socket of the node.
    A configuration that cannot be read names no socket; ``check`` reports its faults.
    """
    configured = (None if file is None else _path(file, "admin_socket")) or SOCKET
    nodes = [] if os.path.lexists(configured) else node_sockets(configured)
    return nodes[0] if len(nodes) == 1 else configured


def node_sockets(configured: Path) -> list[Path]:
    """Return the sockets of the nodes of this machine, beside the configured one."""
    return sorted(path for path in configured.parent.glob("*.sock") if path != configured)


def state_dir(file: Path | None, environ: Mapping[str, str]) -> Path:
    """Return the state directory of a configuration, or the default."""
    if override := environ.get("REVIEWSD_STATE_DIR"):
        return Path(override)
    return (None if file is None else _path(file, "state_dir")) or STATE


def is_unpublished(file: Path | None, environ: Mapping[str, str]) -> bool:
    """Return whether nobody can have read what a configuration serves.

    Its address is that of this machine alone, and it has published nothing. Under another address the reviews may
    be served elsewhere, as by another node.
    """
    if file is None:
        return False
    base_url = environ.get("REVIEWSD_BASE_URL") or _settings(file).get("base_url")
    if urlsplit(f"{base_url}").hostname not in LOCAL:
        return False
    try:
        there = {path.name for path in state_dir(file, environ).iterdir()}
        return there.isdisjoint(("snapshots", "nodes"))
    except FileNotFoundError:
        return True
    except OSError:
        return False


def data_dir(file: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the data directory, if a configuration names one."""
    if override := environ.get("REVIEWSD_DATA_DIR"):
        return absolute(file.parent / override)
    return _path(file, "data_dir")


def _path(file: Path, key: str) -> Path | None:
    """Return the path of a key, if a configuration has it."""
    value = _settings(file).get(key)
    return absolute(file.parent / value) if isinstance(value, str) and value else None


def _settings(file: Path) -> Mapping[str, object]:
    """Return what a configuration has; nothing if it cannot be read.

    If it cannot be parsed, it has the keys whose lines can be: so the daemon is found that says what is wrong.
    """
    try:
        text = file.read_bytes()
    except OSError:
        return {}
    settings = _parsed(text)
    if settings is not None:
        return settings
    readable = (_parsed(line) or {} for line in text.splitlines() if line[:1].isalpha())
    return {key: value for line in readable for key, value in line.items()}


def _parsed(text: bytes) -> Mapping[str, object] | None:
    """Return what a YAML text has; None if it cannot be parsed."""
    import yaml  # 20 ms, needed only here

    try:
        settings = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  it is safe
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return settings if isinstance(settings, dict) else {}
