"""How much memory the publishing process may take, and whether the kernel killed it for its memory.

The bound is a share of what the service may have: the least limit of its control group and of those above
it (cgroup v2; ``MemoryMax=`` of the unit), or else the memory of the machine. The rest is for the processes
that serve. With its own bound the publishing process fails by itself, and can say why; the kernel takes
it first all the same when the others have become large (``publication.main``).
"""

import resource
from collections.abc import Iterator
from pathlib import Path

from reviewsd.publish.messages import MemoryLimit

SHARE = 0.75
"""Of the service's memory that the publishing process may take."""

_GROUPS = Path("sys/fs/cgroup")


class Memory:
    """What the kernel says of memory.

    Args:
        root: Of the file system.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def limit(self) -> MemoryLimit | None:
        """What the publishing process may take; None where the kernel does not say."""
        limits = [number for group in self._groups() if (number := _number(group / "memory.max"))]
        if limits:
            return _limit(min(limits), "the service's memory limit (MemoryMax=)")
        machine = _field(self._root / "proc/meminfo", "MemTotal:")
        return None if machine is None else _limit(machine * 1024, "this machine's memory")

    def killed(self) -> int:
        """How many processes of the service the kernel has killed for want of memory."""
        own = next(self._groups(), None)
        return 0 if own is None else _field(own / "memory.events", "oom_kill") or 0

    def _groups(self) -> Iterator[Path]:
        """The folders of the control group of this process and of those above it."""
        lines = _text(self._root / "proc/self/cgroup").splitlines()
        own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), None)
        if own is not None:
            here = self._root / _GROUPS / own
            yield here
            yield from here.parents[: len(Path(own).parts)]


def private_memory() -> int:
    """What this process has taken by now, bytes: what RLIMIT_DATA bounds."""
    pages = Path("/proc/self/statm").read_text().split()[5]
    return int(pages) * resource.getpagesize()


def _limit(most: int, of: str) -> MemoryLimit:
    return MemoryLimit(int(SHARE * most), f"{SHARE:.0%} of {of}, which is {most >> 20:,} MiB")


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None  # "max" is no limit


def _field(path: Path, name: str) -> int | None:
    """A number of a file with a name and a number on each line."""
    rows = (line.split() for line in _text(path).splitlines())
    return next((int(row[1]) for row in rows if row[:1] == [name]), None)


def _text(path: Path) -> str:
    """What the kernel says; nothing where it does not: a sandbox may hide it."""
    try:
        return path.read_text()
    except OSError:
        return ""
