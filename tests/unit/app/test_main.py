"""The end of the process when the start has failed."""

import subprocess
import sys
from pathlib import Path

import pytest

FAILING = """
import errno, sys
from pathlib import Path
from reviewsd.__main__ import run_daemon

async def start(reactor):
    raise {error}

sys.exit(run_daemon(start, Path("state")))
"""


@pytest.mark.processes
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has a disk that is full")
def test_failed_start_ends_the_process_even_if_it_cannot_be_reported() -> None:
    """Else systemd shows a daemon that runs, serves nothing and ignores SIGTERM."""
    with open("/dev/full", "w") as full:  # noqa: PTH123  a device
        for error in ('OSError(errno.ENOSPC, "disk full")', 'ValueError("a bug")'):
            program = FAILING.format(error=error)
            run = subprocess.run(
                [sys.executable, "-c", program], stderr=full, timeout=30, check=False
            )
            assert 1 == run.returncode
