"""Finds the process that listens on a TCP port, for the error of a start (proc(5))."""

from collections.abc import Iterator
from pathlib import Path

_LISTENING = "0A"  # TCP_LISTEN in /proc/net/tcp


def port_holder(port: int, proc: Path = Path("/proc")) -> str | None:
    """Return e.g. ``nginx (pid 123)``; None if it is no process that this user may inspect."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port, proc)}
    for process in proc.glob("[0-9]*"):
        if sockets.intersection(_open_files(process)):
            return f"{_name(process)} (pid {process.name})"
    return None


def _listening_inodes(port: int, proc: Path) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        try:
            lines = (proc / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue  # a kernel without IPv6 has no tcp6
        for fields in map(str.split, lines):
            local_port = int(fields[1].rpartition(":")[2], 16)
            if local_port == port and fields[3] == _LISTENING:
                yield fields[9]


def _open_files(process: Path) -> Iterator[str]:
    try:
        for descriptor in (process / "fd").iterdir():
            yield str(descriptor.readlink())
    except OSError:  # it has ended, or belongs to another user
        return


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return "a process"
