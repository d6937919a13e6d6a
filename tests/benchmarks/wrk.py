"""wrk, from Debian's package: how it is run, and what it says.

What wrk 4.1.0 counts, found by trying: a close after an answer that announced it (``Connection:
close``) is followed by a new connection and is no error. Every other end of a connection is one:
``read`` also after a whole answer, when nothing was asked since; ``write`` when the reset came first.
A status of 400 or more is counted, 304 is not. An answer later than the timeout counts when it comes.
"""

import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

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


class Wrk:
    """Runs on entering; ``end`` or its time ends it.

    Args:
        url: What is asked for, again and again.
        headers: Lines of each request.
        connections: Each with one request under way.
        seconds: Whole ones.
        timeout: Seconds after which an answer counts as late.
        script: In Lua, and its arguments; none when empty.
    """

    def __init__(
        self,
        url: str,
        headers: Sequence[str] = (),
        *,
        connections: int = 16,
        seconds: int,
        timeout: int = 2,
        script: Sequence[str] = (),
    ) -> None:
        self._command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", f"--timeout={timeout}s"]
        for header in headers:
            self._command += ["-H", header]
        self._command += ["-s", script[0], url, "--", *script[1:]] if script else [url]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()

    def wait(self) -> Said:
        """Wait until its time is over."""
        text, _ = self._process.communicate()
        return said(text)

    def end(self) -> Said:
        """Have it end now."""
        self._process.send_signal(signal.SIGINT)
        return self.wait()


def run(
    url: str,
    headers: Sequence[str] = (),
    *,
    connections: int = 16,
    seconds: int,
    script: Sequence[str] = (),
) -> Said:
    """Run it for so long."""
    with Wrk(url, headers, connections=connections, seconds=seconds, script=script) as wrk:
        return wrk.wait()


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
