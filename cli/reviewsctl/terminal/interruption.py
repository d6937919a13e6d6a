"""Ctrl-C and the other signals that stop a command: they print one line and leave no files.

It imports only modules that Python has loaded, so that it guards the first lines of the program.
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


class Stopped(KeyboardInterrupt):  # no error, as its base
    """A signal that stops the command.

    Attributes:
        exit_code: The exit code of a shell for a process that the signal ended.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number


def begin() -> None:
    """Make Ctrl-C print a line instead of a traceback while the program is loaded."""
    signal.signal(signal.SIGINT, _end)


def loaded() -> None:
    """Make Ctrl-C raise a KeyboardInterrupt again, which commands catch."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    sys.stderr.write(_LINE)
    sys.stderr.flush()
    os._exit(128 + number)


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Make the first signal in the block raise ``Stopped``; later ones do not interrupt the cleanup."""

    def stop(number: int, _frame: FrameType | None) -> NoReturn:
        for stopping in _STOPPING:
            signal.signal(stopping, signal.SIG_IGN)
        raise Stopped(number)

    handlers = {number: signal.getsignal(number) for number in _STOPPING}
    try:
        for number, handler in handlers.items():
            if handler is not signal.SIG_IGN:  # set by nohup
                signal.signal(number, stop)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold signals for the block; one that comes during it comes too late to stop the command."""
    is_done = False
    try:
        with signals_deferred():
            yield
            is_done = True
    except KeyboardInterrupt:
        if not is_done:
            raise


@contextlib.contextmanager
def signals_deferred() -> Iterator[None]:
    """Hold signals that stop a command until the block is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
