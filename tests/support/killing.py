"""Kills a command before any change of a directory."""

import os
import signal
import sys
from collections.abc import Callable

CHANGES = {"os.rename", "os.remove", "os.link", "os.mkdir"}


def killed_before(change: int, command: Callable[[], object]) -> bool:
    """Run a command in a child that is killed before one of its changes; False if it has fewer."""
    child = os.fork()
    if not child:
        count = 0

        def audit(event: str, _: object) -> None:
            nonlocal count
            count += event in CHANGES
            if event in CHANGES and count > change:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(audit)
        code = 1
        try:
            command()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) in {0, -signal.SIGKILL}
    return os.WIFSIGNALED(status)
