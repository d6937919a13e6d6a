"""Ctrl-C, and the other signals that stop a command: one line, and nothing left behind.

Kept to what the interpreter has loaded already: the first lines of the program are to be guarded.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Final, NoReturn

_STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LINE: Final = "Error: interrupted: nothing was written\n"


class Stopped(KeyboardInterrupt):  # it is no error, as the one it is made of
    """A signal that stops the command.

    Attributes:
        exit_code: What a shell shows of a process that a signal ended.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number


def begin() -> None:
    """While the program is loaded, Ctrl-C ends it with a line instead of a traceback."""
    signal.signal(signal.SIGINT, _end)


def loaded() -> None:
    """From here on Ctrl-C is a KeyboardInterrupt again, which commands know."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    sys.stderr.write(_LINE)
    sys.stderr.flush()
    os._exit(128 + number)


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """For the block, the first signal raises Stopped; further ones do not disturb the clearing up."""

    def stop(number: int, _frame: FrameType | None) -> NoReturn:
        for each in _STOPPING:
            signal.signal(each, signal.SIG_IGN)
        raise Stopped(number)

    before = {each: signal.getsignal(each) for each in _STOPPING}
    try:
        for each, handler in before.items():
            if handler is not signal.SIG_IGN:  # as nohup wants it
                signal.signal(each, stop)
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
