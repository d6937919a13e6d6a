"""Ctrl-C and the other signals that stop a command: they raise, so that it leaves no files."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Final, NoReturn

_STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):  # no error, as its base
    """A signal that stops the command.

    Attributes:
        exit_code: The exit code of a shell for a process that the signal ended.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number


def raise_signals() -> None:
    """Make the first signal raise ``Stopped``; later ones do not interrupt the cleanup."""

    def stop(number: int, _frame: FrameType | None) -> NoReturn:
        for stopping in _STOPPING:
            signal.signal(stopping, signal.SIG_IGN)
        raise Stopped(number)

    for number in _STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # set by nohup
            signal.signal(number, stop)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold signals for the block; one that comes during it comes too late to stop the command."""
    before, is_done = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING), False
    try:
        try:
            yield
            is_done = True
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    except KeyboardInterrupt:
        if not is_done:
            raise
