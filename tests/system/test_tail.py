"""``reviewsctl tail``: what happens, as it happens (A3)."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.support.commands import CLI, started
from tests.support.daemon import NO_PAGES, Daemon
from tests.support.generate import write_data


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path, NO_PAGES + "data: {poll_interval: 0.05}\n") as daemon:
        yield daemon


@contextmanager
def tail(daemon: Daemon, *options: str) -> Iterator["subprocess.Popen[str]"]:
    """Listens when the block begins."""
    environ = {**os.environ, "PYTHONPATH": str(CLI)}
    with started(environ, "--socket", str(daemon.socket), "tail", *options) as process:
        try:
            assert "event" in line(process.stdout) or options
            yield process
        finally:
            process.kill()


def line(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline()


def test_a_change_is_shown_as_it_happens(daemon: Daemon) -> None:
    with tail(daemon) as process:
        write_data(daemon.data, reviews=7)
        columns = line(process.stdout).split(maxsplit=2)
        assert ("load", True) == (columns[1], columns[2].startswith("published "))
        assert "change" == line(process.stdout).split()[1]
        (daemon.data / "reviews.json").write_text("{")
        columns = line(process.stdout).split(maxsplit=2)
        assert ("load", True) == (
            columns[1],
            columns[2].startswith("data refused; the last good data "),
        )


def test_ctrl_c_ends_it_and_nothing_else(daemon: Daemon) -> None:
    with tail(daemon) as process:
        process.send_signal(signal.SIGINT)
        assert ("", "") == process.communicate(timeout=60)
        assert 130 == process.returncode
    assert 0 == daemon.ctl("status", "-q").returncode
    assert "Traceback" not in daemon.log.read_text()


def test_tail_ends_when_the_daemon_stops(daemon: Daemon) -> None:
    with tail(daemon) as process:
        assert 0 == daemon.stop()
        _, error = process.communicate(timeout=60)
        assert 3 == process.returncode
    assert error.startswith("Error: reviewsd is not reachable: it has stopped\n")
    assert [] == daemon.unusual
