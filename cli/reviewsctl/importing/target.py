"""Finds reviews.json: in the data directory of the daemon's configuration, or in a named one."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from reviewsctl.daemon.default_paths import GO_TO_FOLDER, NO_CONFIGURATION, data_dir
from reviewsctl.files.folders import LinkError, real
from reviewsctl.files.ownership import user_name
from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsd.api.places import ForeignFileError, find_configuration

FILE = "reviews.json"


def configuration_in_use(
    data: Path | None, config: Path | None, environ: Mapping[str, str]
) -> Path | None:
    """Return the configuration that names the data directory; None where an option names it.

    Raises:
        ImportRefusedError: It belongs to another user.
    """
    if data is not None:
        return None
    try:
        return config or find_configuration(environ)
    except ForeignFileError as foreign:
        raise ImportRefusedError(
            f"{foreign.path} belongs to {user_name(foreign.owner)}",
            f"To use it all the same: --config {_typed(foreign.path)}; "
            "or name the data directory: --data DIR",
        ) from foreign


def reviews_file(data: Path | None, config: Path | None, environ: Mapping[str, str]) -> Path:
    """Return the path of reviews.json, links followed, by root only its own.

    Args:
        data: The value of ``--data``.
        config: The value of ``--config``.
        environ: ``REVIEWSD_DATA_DIR`` and ``REVIEWSD_CONFIG``, as the daemon heeds them.

    Raises:
        SayMoreError: No option or configuration names the data directory.
        ImportRefusedError: There is no such directory.
    """
    configuration = configuration_in_use(data, config, environ)
    folder = data if data is not None else _configured(configuration, environ)
    if not folder.is_dir():
        raise ImportRefusedError(
            f"there is no directory {folder}",
            f"Make it: mkdir -p {_typed(folder)}    or name another one with --data DIR",
        )
    try:
        return real(folder / FILE)
    except LinkError as fault:
        who = "" if fault.owner is None else f" as {user_name(fault.owner)}"
        raise ImportRefusedError(
            f"{fault.filename}: {fault.strerror}", f"Run this{who}, without sudo."
        ) from fault


def _configured(configuration: Path | None, environ: Mapping[str, str]) -> Path:
    if configuration is None:
        if override := environ.get("REVIEWSD_DATA_DIR"):
            return Path.cwd() / override
        raise SayMoreError(
            NO_CONFIGURATION,
            f"{GO_TO_FOLDER}, or name the data directory with --data DIR, or make a configuration: reviewsctl init",
        )
    folder = data_dir(configuration, environ)
    if folder is None and not os.access(configuration, os.R_OK):
        raise ImportRefusedError(
            f"cannot read {configuration}",
            "Name the data directory with --data DIR, or use sudo.",
        )
    if folder is None:
        raise ImportRefusedError(
            f"{configuration} has no data_dir",
            f"See what is wrong: reviewsd --check --config {_typed(configuration)}",
        )
    return folder


def _typed(path: Path) -> str:
    """Return a path as it can be typed into a shell."""
    return shlex.quote(str(path))
