"""Sources of the type ``file``: the newest file of a pattern, once it is quiet."""

import datetime
import glob
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reviewsctl.sources.faults import FileGrowsError, ReadFailedError
from reviewsctl.sources.paging import Download
from reviewsd.api.spelling import nearest

QUIET_SECONDS: Final = 60
"""A file that was written since then may still be growing."""

_LOCK: Final = "~$"  # begins the name of Excel's file beside a table that is open
_MAX_BYTES: Final = 2**31


def fitting(pattern: str) -> list[str]:
    """Return the paths that a pattern fits."""
    paths = glob.glob(pattern)  # noqa: PTH207  # it is one string
    # names with a dot match no * anyway
    return [path for path in paths if not Path(path).name.startswith(_LOCK)]


def no_file(pattern: str) -> ReadFailedError:
    """Return the fault of a pattern that fits no file, with the name of one that is like it."""
    there = fitting(f"{Path(pattern).parent}/*")
    hint = nearest(Path(pattern).name, (Path(path).name for path in there))
    return ReadFailedError(
        f"there is no file {pattern}", f"Put an export there, or change its path{hint or '.'}"
    )


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads the newest file of a pattern.

    It is copied, so that what is imported cannot change meanwhile.
    """

    pattern: str
    now: Callable[[], datetime.datetime]

    def read(self, spool: Path, look: str, *, full: bool) -> Download | None:
        """Read the file, unless it is the one that was read last."""
        path, facts = self._newest()
        current = f"{path.name} {facts.st_size} {facts.st_mtime_ns}"
        if current == look and not full:
            return None
        if facts.st_size > _MAX_BYTES:
            raise ReadFailedError(f"{path} has more than {_MAX_BYTES >> 30} GiB")
        copy = spool / path.name
        try:
            shutil.copyfile(path, copy)
            after = path.stat()
        except OSError as fault:
            raise ReadFailedError(f"{path}: {fault.strerror}") from fault
        if (after.st_size, after.st_mtime_ns, after.st_ino) != (
            *(facts.st_size, facts.st_mtime_ns, facts.st_ino),
        ):
            raise ReadFailedError(f"{path} changed while it was read")
        os.utime(copy, ns=(facts.st_atime_ns, facts.st_mtime_ns))  # the import compares ages
        return Download(files=[copy], look=current, origin=str(path), is_current=False)

    def _newest(self) -> tuple[Path, os.stat_result]:
        matches = []
        for name in fitting(self.pattern):
            try:
                facts = os.stat(name)  # noqa: PTH116  # with the path beside it
            except OSError:
                continue  # it went away meanwhile
            matches.append((facts.st_mtime_ns, name, facts))
        if not matches:
            raise no_file(self.pattern)
        quiet = (self.now().timestamp() - QUIET_SECONDS) * 1e9
        still = [entry for entry in matches if entry[0] <= quiet]
        if not still:
            raise FileGrowsError(f"{self.pattern} was written less than a minute ago, and may grow")
        _, name, facts = max(still, key=lambda entry: entry[:2])
        if not Path(name).is_file():
            raise ReadFailedError(f"{name} is no file")
        return Path(name), facts
