"""Full disks, as both programs report them."""

import errno
import shutil
import tempfile
from pathlib import Path
from typing import Final

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


def is_full(fault: BaseException | None) -> bool:
    """Return whether an operation failed because a disk is full, or the quota of its user."""
    return isinstance(fault, OSError) and fault.errno in _FULL


def room(folder: Path) -> str:
    """Return the room on the disk of a folder, or where temporary files are, if they have less."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    places = (there, Path(tempfile.gettempdir()))
    place = min(places, key=lambda path: shutil.disk_usage(path).free)
    return f"{size(shutil.disk_usage(place).free)} are free at {place}"


def size(count: float) -> str:
    """Return a number of bytes, such as ``12 MiB``."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:  # noqa: PLR2004  # the step between binary units
            return f"{count:,.0f} {unit}"
        count /= 1024
    return f"{count:,.1f} TiB"
