"""Reads CPU, memory, descriptors and threads of a process and its descendants from /proc."""

import time
from dataclasses import dataclass
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


def age(pid: int) -> float:
    """Seconds since a process was started; 0 when it is gone."""
    fields = _stat(pid)
    uptime = float((_PROC / "uptime").read_text().split()[0])
    return uptime - int(fields[19]) / 100 if fields else 0.0


def _stat(pid: int) -> list[str]:
    """The fields of ``/proc/PID/stat`` from the state on; none when it is gone."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The sizes of one process, or of several together; memory in kB."""

    rss: int
    private: int
    """Memory that is not shared with another process, mapped files included."""
    anonymous: int
    """Memory without a file behind it."""
    descriptors: int
    threads: int

    def __add__(self, addend: "Sizes") -> "Sizes":
        return Sizes(
            rss=self.rss + addend.rss,
            private=self.private + addend.private,
            anonymous=self.anonymous + addend.anonymous,
            descriptors=self.descriptors + addend.descriptors,
            threads=self.threads + addend.threads,
        )


def sizes(pid: int) -> Sizes:
    """Return the sizes of a process."""
    place = _PROC / str(pid)
    status = _numbers((place / "status").read_text())
    rollup = _numbers((place / "smaps_rollup").read_text())
    return Sizes(
        rss=status["VmRSS"],
        private=rollup["Private_Clean"] + rollup["Private_Dirty"],
        anonymous=status["RssAnon"],
        descriptors=len(list((place / "fd").iterdir())),
        threads=status["Threads"],
    )


def _numbers(text: str) -> dict[str, int]:
    lines = (line.partition(":") for line in text.splitlines())
    return {
        name: int(rest.split()[0])
        for name, colon, rest in lines
        if colon and rest.split() and rest.split()[0].isdigit()
    }
