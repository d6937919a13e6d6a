"""Reads CPU and memory of a process and its descendants from /proc."""

import time
from pathlib import Path

_PROC = Path("/proc")


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    parents: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    pids = [pid]
    for member in pids:
        pids += parents.get(member, [])
    return pids


def cpu(pid: int) -> float:
    """Seconds of CPU that a process has used, user and system, all threads, ended ones too.

    The sum of utime and stime of ``/proc/PID/stat``, in nanoseconds instead of ticks.
    """
    return time.clock_gettime((~pid << 3) | 2)  # clock_getcpuclockid(3)


def _stat(pid: int) -> list[str]:
    """The fields of ``/proc/PID/stat`` from the state on; none when it is gone."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def memory(pid: int, kind: str = "RssAnon") -> float:
    """MB of one kind, as ``/proc/PID/status`` has them."""
    status = (_PROC / str(pid) / "status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(kind))
    return int(line.split()[1]) / 1024
