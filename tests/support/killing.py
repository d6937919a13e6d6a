"""Kills a command before a change of a directory."""

import os
import signal
import sys
from collections.abc import Callable

CHANGES = {"os.rename", "os.remove", "os.link", "os.mkdir"}
"""Events of Python's audit hook."""


def killed_before(change: int, command: Callable[[], object]) -> bool:
    """Run a command in a child that is killed before one of its changes; False if it has fewer."""
    child = os.fork()
    if not child:
        changes = 0

        def audit(event: str, _: object) -> None:
            nonlocal changes
            if event in CHANGES:
                if changes == change:
                    os.kill(os.getpid(), signal.SIGKILL)
                changes += 1

        sys.addaudithook(audit)
        code = 1
        try:
            command()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in {0, -signal.SIGKILL}
    return code != 0
