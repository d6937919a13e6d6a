"""The state directory: owned by this user, private, and used by one daemon at a time."""

import fcntl
import os
from pathlib import Path

EX_CONFIG = 78
"""Configuration, data or state is wrong: starting again cannot help (sysexits.h, O7)."""

LOCK = "lock"


class StartError(Exception):
    """The daemon cannot start.

    Attributes:
        code: The exit code.
    """

    def __init__(self, message: str, code: int) -> None:
        self.code = code
        super().__init__(message)


def lock_state(directory: Path) -> int:
    """Make the directory private and take its lock.

    Returns:
        The lock's file descriptor; the lock lasts until it is closed, or the process ends.

    Raises:
        StartError: The directory cannot be used, or another daemon uses it (D7, O12).
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = directory.stat().st_uid
        if owner != os.geteuid():
            raise StartError(
                f"state_dir {directory} belongs to uid {owner}, not to this daemon's uid "
                f"{os.geteuid()}; change its owner or the setting",
                EX_CONFIG,
            )
        directory.chmod(0o700)
        descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StartError(
            f"state_dir {directory} cannot be used: {error.strerror}", EX_CONFIG
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
        os.close(descriptor)
        raise StartError(
            f"state_dir {directory} is used by another reviewsd, pid {holder or 'unknown'}",
            EX_CONFIG,
        ) from None
    except OSError as error:  # a network file system without locks, for one
        os.close(descriptor)
        raise StartError(
            f"state_dir {directory} cannot be locked: {error.strerror}", EX_CONFIG
        ) from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor
