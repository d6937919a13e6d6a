"""wrk, from Debian's package: how it is run, and what it says.

What wrk 4.1.0 counts, found by trying: a close after an answer that announced it (``Connection:
close``) is followed by a new connection and is no error. Every other end of a connection is one:
``read`` also after a whole answer, when nothing was asked since; ``write`` when the reset came first.
A status of 400 or more is counted, 304 is not. An answer later than the timeout counts when it comes.
"""

import re
import subprocess
from collections.abc import Sequence

_REQUESTS = re.compile(r"(\d+) requests in ")
_ERRORS = re.compile(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_STATUS = re.compile(r"Non-2xx or 3xx responses: (\d+)")


def run(
    url: str, headers: Sequence[str] = (), *, seconds: int, script: Sequence[str] = ()
) -> tuple[int, int]:
    """Ask for a URL again and again, on 16 connections with one request under way each.

    Args:
        url: What is asked for.
        headers: Lines of each request.
        seconds: For how long; whole ones.
        script: In Lua, and its arguments; none when empty.

    Returns:
        The numbers of answers and of failures.
    """
    command = ["wrk", "-t1", "-c16", f"-d{seconds}s", "--timeout=2s"]
    for header in headers:
        command += ["-H", header]
    command += ["-s", script[0], url, "--", *script[1:]] if script else [url]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    answers, errors, statuses = (form.search(text) for form in (_REQUESTS, _ERRORS, _STATUS))
    assert answers is not None, text
    failures = sum(map(int, errors.groups())) if errors else 0
    return int(answers[1]), failures + (int(statuses[1]) if statuses else 0)
