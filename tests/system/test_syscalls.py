"""The system calls of the daemon are inside the filter of the unit (O6).

Outside of it a call fails with EPERM, which is noticed on the operator's machine only: there is no
systemd where tests run. So a daemon is traced while it does all that it does.
"""

import os
import shutil
from functools import cache
from pathlib import Path

import pytest

from tests.support.conversation import Conversation, replies
from tests.support.daemon import Daemon, until
from tests.support.programs import run_program
from tests.support.subscriber import Subscriber, settings
from tests.system.crash.tracing import STRACE, obstacle

UNIT = Path(__file__).parents[2] / "systemd" / "reviewsd.service"

AS_ROOT = {"fchown"}
"""SQLite gives the files beside the database its owner, which only root can do."""

pytestmark = [
    pytest.mark.skipif(obstacle() != "", reason=obstacle()),
    pytest.mark.skipif(
        shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
    ),
]


@cache
def calls_of(name: str) -> frozenset[str]:
    """Return the calls of a set of systemd, which may contain other sets."""
    if not name.startswith("@"):
        return frozenset((name,))
    done = run_program(["systemd-analyze", "--no-pager", "syscall-filter", name], check=True)
    members = [line.strip() for line in done.stdout.splitlines()[1:]]
    sets = [calls_of(member) for member in members if member and not member.startswith("#")]
    return frozenset().union(*sets)


def allowed() -> frozenset[str]:
    """Return the calls that the unit allows; later lists change the earlier (systemd.exec(5))."""
    allowed: frozenset[str] = frozenset()
    for line in UNIT.read_text().splitlines():
        if line.startswith("SystemCallFilter="):
            words = line.partition("=")[2].split()
            named = frozenset().union(*(calls_of(word.removeprefix("~")) for word in words))
            allowed = allowed - named if words[0].startswith("~") else allowed | named
    return allowed


def asked(summary: str) -> set[str]:
    """The calls in a summary of strace's: the last word of each row between the rules."""
    rows = summary.split("\n------ ")
    return {line.split()[-1] for line in rows[1].splitlines()[1:] if line.strip()}


def test_the_filter_is_understood() -> None:
    assert {"read", "clone3", "accept4", "epoll_wait"} <= allowed()
    assert set() == {"chown", "setuid", "mount", "setrlimit", "ptrace"} & allowed()


def test_every_call_is_let_through(tmp_path: Path) -> None:
    assert STRACE is not None
    summary = tmp_path / "strace"
    with Subscriber(tmp_path, reply=replies) as subscriber:
        daemon = Daemon(tmp_path, settings(subscriber.ca_file))
        # -D: the daemon stays our child, and strace writes when the last process has ended
        daemon.launch([STRACE, "-D", "-f", "-c", "-o", str(summary)])
        try:
            daemon.wait_ready()
            Conversation(daemon, subscriber).live()
            for order in (["backup", str(tmp_path / "copy")], ["reload"], ["metrics"]):
                assert 0 == daemon.ctl(*order).returncode
            assert 0 == daemon.stop()
        finally:
            daemon.close()
    until(lambda: summary.exists() and "total" in summary.read_text(), "strace's summary")
    calls = asked(summary.read_text())
    assert len(calls) > 40
    assert set() == calls - allowed() - (AS_ROOT if os.geteuid() == 0 else set())
