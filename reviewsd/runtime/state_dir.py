"""The state directory: private, owned by this user, and used by one daemon at a time."""

import fcntl
import os
import stat
from pathlib import Path

EX_CONFIG = 78
"""Exit code for a fault in configuration, data or state, which a restart does not end (sysexits.h, O7)."""

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
    failure, code = "cannot be used", EX_CONFIG
    descriptor = -1
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = _open_lock(directory)
        failure = "cannot be locked"  # e.g. by a network file system without locks
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        failure, code = "cannot be written", 1  # e.g. to a full disk: a restart may succeed
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        reason = f"{failure}: {error.strerror}"
        if isinstance(error, BlockingIOError):
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            reason = f"is used by another reviewsd, pid {holder or 'unknown'}"
        if descriptor >= 0:
            os.close(descriptor)
        raise StartError(f"state_dir {directory} {reason}", code) from error
    return descriptor


def is_locked(directory: Path) -> bool:
    """Return whether a daemon uses the directory; False also if its lock cannot be read."""
    try:
        descriptor = os.open(directory / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a network file system without locks
        return False
    finally:
        os.close(descriptor)
    return False


def _open_lock(directory: Path) -> int:
    """Open the lock file, after the directory was made private."""
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        status = os.fstat(folder)
        if status.st_uid != os.geteuid():
            raise StartError(
                f"state_dir {directory} belongs to uid {status.st_uid}, not to this daemon's uid "
                f"{os.geteuid()}; change its owner or the setting",
                EX_CONFIG,
            )
        os.fchmod(folder, 0o700)
        if status.st_mode & 0o022:
            _check_entries(folder, directory)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(LOCK, flags, 0o600, dir_fd=folder)
    finally:
        os.close(folder)


def _check_entries(folder: int, directory: Path) -> None:
    """Refuse entries of other users, whose links could lead to files of the daemon."""
    with os.scandir(folder) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            is_linked = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
            if status.st_uid != os.geteuid() or is_linked:
                raise StartError(
                    f"state_dir {directory} could be written by others, and {entry.name} in it may be "
                    "theirs: remove it",
                    EX_CONFIG,
                )
