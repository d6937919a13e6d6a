"""The memory limit of the publishing process, and the number of processes killed by the kernel.

The limit is a share of the service's memory: the lowest limit of its control group and of the groups
above (cgroup v2; ``MemoryMax=`` of the unit), or else the memory of the machine. The rest is for the
serving processes. With a limit, the publishing process fails by itself and reports why. The kernel
still kills it first if the others grow (``publication.main``).
"""

import resource
from collections.abc import Iterator
from pathlib import Path

from reviewsd.publish.messages import MemoryLimit

SHARE = 0.75
"""The share of the service's memory that the publishing process may use."""

_GROUPS = Path("sys/fs/cgroup")


class Memory:
    """The kernel's memory limits and counters.

    Args:
        root: Root of the file system.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def limit(self) -> MemoryLimit | None:
        """Return the limit of the publishing process; None if the kernel reports no memory."""
        limits = [number for group in self._groups() if (number := _number(group / "memory.max"))]
        if limits:
            return _limit(min(limits), "the service's memory limit (MemoryMax=)")
        machine = _field(self._root / "proc/meminfo", "MemTotal:")
        return None if machine is None else _limit(machine * 1024, "this machine's memory")

    def killed(self) -> int:
        """Return the number of processes of the service that the kernel killed for lack of memory."""
        own = next(self._groups(), None)
        return 0 if own is None else _field(own / "memory.events", "oom_kill") or 0

    def _groups(self) -> Iterator[Path]:
        """Yield the folders of the control group of this process and of those above it."""
        lines = _text(self._root / "proc/self/cgroup").splitlines()
        own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), None)
        if own is not None:
            here = self._root / _GROUPS / own
            yield here
            yield from here.parents[: len(Path(own).parts)]


def private_memory() -> int:
    """Return the bytes of this process that RLIMIT_DATA limits."""
    pages = Path("/proc/self/statm").read_text().split()[5]
    return int(pages) * resource.getpagesize()


def _limit(size: int, source: str) -> MemoryLimit:
    return MemoryLimit(int(SHARE * size), f"{SHARE:.0%} of {source}, which is {size >> 20:,} MiB")


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None  # "max" is no limit


def _field(path: Path, name: str) -> int | None:
    """Return a number from a file with a name and a number on each line."""
    rows = (line.split() for line in _text(path).splitlines())
    return next((int(row[1]) for row in rows if row[:1] == [name]), None)


def _text(path: Path) -> str:
    """Read a file of the kernel; "" if a sandbox hides it."""
    try:
        return path.read_text()
    except OSError:
        return ""
