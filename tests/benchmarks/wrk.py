"""wrk, from Debian's package: how it is run, and what it says.

What wrk 4.1.0 counts, found by trying: a close after an answer that announced it (``Connection:
close``) is followed by a new connection and is no error. Every other end of a connection is one:
``read`` also after a whole answer, when nothing was asked since; ``write`` when the reset came first.
A status of 400 or more is counted, 304 is not. An answer later than the timeout counts when it comes.
"""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

_REQUESTS = re.compile(r"(\d+) requests in ([\d.]+)(us|ms|s|m)\b")
_ERRORS = re.compile(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_STATUS = re.compile(r"Non-2xx or 3xx responses: (\d+)")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The result of a run of wrk."""

    requests: int
    """Answered ones."""
    seconds: float
    connect: int
    read: int
    write: int
    timeout: int
    status: int
    """Answers of 400 or more."""

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds

    @property
    def failures(self) -> int:
        """The number of failed requests of any kind."""
        return self.connect + self.read + self.write + self.timeout + self.status


def run(url: str, headers: Sequence[str] = (), *, seconds: int, script: Sequence[str] = ()) -> Said:
    """Ask for a URL again and again, on 16 connections with one request under way each.

    Args:
        url: What is asked for.
        headers: Lines of each request.
        seconds: For how long; whole ones.
        script: In Lua, and its arguments; none when empty.
    """
    command = ["wrk", "-t1", "-c16", f"-d{seconds}s", "--timeout=2s"]
    for header in headers:
        command += ["-H", header]
    command += ["-s", script[0], url, "--", *script[1:]] if script else [url]
    return said(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def said(text: str) -> Said:
    """Read a report."""
    requests = _REQUESTS.search(text)
    if requests is None:
        raise ValueError(text)
    errors, status = _ERRORS.search(text), _STATUS.search(text)
    connect, read, write, timeout = map(int, errors.groups() if errors else "0000")
    return Said(
        requests=int(requests[1]),
        seconds=float(requests[2]) * _UNITS[requests[3]],
        connect=connect,
        read=read,
        write=write,
        timeout=timeout,
        status=int(status[1]) if status else 0,
    )
