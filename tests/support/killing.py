"""Kills a command at an event of Python's audit hook, such as a change of a directory."""

import os
import signal
import sys
from collections.abc import Callable, Collection

CHANGES = {"os.rename", "os.remove", "os.link", "os.mkdir"}


def killed_before(change: int, command: Callable[[], object]) -> bool:
    """Run a command in a child that is killed before one of its changes; False if it has fewer."""
    _, code = run(command, change + 1, CHANGES)
    assert code in {0, -signal.SIGKILL}
    return code != 0


def run(command: Callable[[], object], kill: int, counted: Collection[str]) -> tuple[int, int]:
    """Run a command in a child; returns its events, 0 if it was killed, and its exit code.

    Args:
        command: What it runs.
        kill: The number of the event that it is killed at; 0 for none.
        counted: The events that count.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        events = 0

        def audit(event: str, _: object) -> None:
            nonlocal events
            events += event in counted
            if event in counted and events == kill:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(audit)
        code = 1
        try:
            command()
            code = 0
        finally:
            os.write(writing, str(events).encode())
            os._exit(code)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        return int(pipe.read() or 0), os.waitstatus_to_exitcode(status)
