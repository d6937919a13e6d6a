"""The memory limit of the publishing process.

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


def limit(root: Path = Path("/")) -> MemoryLimit | None:
    """Return the limit of the publishing process; None if the kernel reports no memory.

    Args:
        root: Root of the file system.
    """
    limits = [number for group in _groups(root) if (number := _number(group / "memory.max"))]
    if limits:
        return _limit(min(limits), "the service's memory limit (MemoryMax=)")
    rows = (line.split() for line in _text(root / "proc/meminfo").splitlines())
    machine = next((int(row[1]) for row in rows if row[:1] == ["MemTotal:"]), None)
    return None if machine is None else _limit(machine * 1024, "this machine's memory")


def _groups(root: Path) -> Iterator[Path]:
    """Yield the folders of the control group of this process and of those above it."""
    lines = _text(root / "proc/self/cgroup").splitlines()
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), None)
    if own is not None:
        here = root / _GROUPS / own
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


def _text(path: Path) -> str:
    """Read a file of the kernel; "" if a sandbox hides it."""
    try:
        return path.read_text()
    except OSError:
        return ""
