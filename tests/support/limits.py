"""Limits on the resources of a process, and its measured use of them."""

import itertools
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_MEASURED = """
import resource, subprocess, sys
ended = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(ended.returncode, usage.ru_maxrss, usage.ru_utime + usage.ru_stime)
"""
"""A small process between: the peak of a child begins with what its parent has (Linux, ``execve``)."""


class Used(NamedTuple):
    """The result of a command, and the resources that it used."""

    said: bytes
    """Its standard error."""
    status: int
    peak: int
    """KiB of memory."""
    seconds: float
    """Seconds of CPU."""


def measured(command: Sequence[str], environment: Mapping[str, str]) -> Used:
    """Run a command to its end, and measure it alone.

    Args:
        command: Its program and arguments.
        environment: Of the command, whole.
    """
    ended = subprocess.run(
        [sys.executable, "-S", "-c", _MEASURED, *command],
        env=environment,
        capture_output=True,
        check=True,
    )
    status, peak, seconds = ended.stdout.split()
    return Used(ended.stderr, int(status), int(peak), float(seconds))


def descriptor_limit(free: int, pid: "int | None" = None) -> int:
    """The RLIMIT_NOFILE with which a process can open so many more.

    Args:
        free: How many.
        pid: Of the process; None means this one.
    """
    listed = list(Path(f"/proc/{pid or 'self'}/fd").iterdir())
    used = {int(entry.name) for entry in listed if entry.is_symlink()}  # the listing's own is gone
    unused = (number for number in itertools.count() if number not in used)
    return next(itertools.islice(unused, free, None))  # it limits the numbers, which may have gaps


@contextmanager
def few_descriptors(free: int) -> Iterator[None]:
    """Have this process open no more than so many."""
    with _limited(resource.RLIMIT_NOFILE, descriptor_limit(free)):
        yield


@contextmanager
def file_size(most: int) -> Iterator[None]:
    """Limit the size of files that this process writes, which imitates a full disk."""
    with _limited(resource.RLIMIT_FSIZE, most):
        yield


@contextmanager
def _limited(kind: int, most: int) -> Iterator[None]:
    usual = resource.getrlimit(kind)
    resource.setrlimit(kind, (most, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(kind, usual)
