"""Remedies that depend on whether reviewsctl runs in a container, where there is no sudo.

The image sets the environment variable ``container``, as Podman and systemd do for what they run
(systemd.io/CONTAINER_INTERFACE). The files ``/.dockerenv`` and ``/run/.containerenv`` were rejected:
each is made by one engine, and by none that Kubernetes uses.
"""

import os
from pathlib import Path

from reviewsd.api.disk import is_full, room


def in_container() -> bool:
    """Return whether this process runs in a container."""
    return bool(os.environ.get("container"))  # noqa: SIM112  # the name has small letters


def to_write(folder: Path, otherwise: str, fault: BaseException | None = None) -> str:
    """Return the remedy for a folder that cannot be written: room on its disk, or another user.

    For another user, outside a container, it ends with ``otherwise``.
    """
    if is_full(fault):
        return f"Make room: {room(folder)}."
    if not in_container():
        return f"Use sudo, or {otherwise}"
    if _is_read_only(folder):
        return (
            f"{folder} is mounted to be read only. Run this in a container of its own that mounts it to "
            'be written: docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD/data:/data"'
        )
    return (
        f"Run the container as the owner of the folder that is mounted at {folder}: --user UID:GID, "
        f"and --userns=keep-id with rootless Podman. Or give the folder to uid {os.geteuid()}: chown, "
        "on the host."
    )


def _is_read_only(folder: Path) -> bool:
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def as_root(command: str) -> str:
    """Return a command that needs root, as the operator types it."""
    return f"{command} (on the host)" if in_container() else f"sudo {command}"
