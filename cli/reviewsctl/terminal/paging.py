"""The pager of long output on a terminal, as with git."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final

import typer

DEFAULT: Final = "less"
FLAGS: Final = {"LESS": "FRX", "LV": "-c"}
"""Default options of pagers: keep colors, and leave the text on the screen."""

_BATCH: Final = 1000  # lines that are written at once


def show_lines(lines: Iterable[str], *, pager: bool) -> None:
    """Print lines, through ``$PAGER`` if they do not fit on the terminal.

    Args:
        lines: Iterating them may raise; the lines before stay printed.
        pager: Whether a pager may be used.
    """
    command = _command() if pager and sys.stdout.isatty() else None
    remaining = iter(lines)
    if command is None:
        _print(remaining)
        return
    first = list(islice(remaining, shutil.get_terminal_size().lines))
    if len(first) < shutil.get_terminal_size().lines:
        _print(first)
    else:
        _page(command, chain(first, remaining))


def _command() -> list[str] | None:
    """Return the command of the pager, or None without one."""
    command = shlex.split(os.environ.get("PAGER", DEFAULT))
    if not command or command == ["cat"] or shutil.which(command[0]) is None:
        return None
    return command


def _print(lines: Iterable[str]) -> None:
    for batch in _batches(lines):
        typer.echo(batch)


def _page(command: list[str], lines: Iterable[str]) -> None:
    """Write to a pager until the operator quits it."""
    with subprocess.Popen(  # noqa: S603  the operator's own choice
        command, stdin=subprocess.PIPE, env={**FLAGS, **os.environ}, encoding="utf-8"
    ) as pager:
        assert pager.stdin is not None  # noqa: S101  it is a pipe
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pager
        try:
            # closing the pipe writes its buffer, which fails once the pager has ended
            with contextlib.suppress(BrokenPipeError), pager.stdin as pipe:
                for batch in _batches(lines):
                    pipe.write(batch + "\n")
            pager.wait()
        finally:
            signal.signal(signal.SIGINT, before)


def _batches(lines: Iterable[str]) -> Iterator[str]:
    remaining = iter(lines)
    while batch := list(islice(remaining, _BATCH)):
        yield "\n".join(batch)
