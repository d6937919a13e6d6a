"""Long output on a terminal goes through a pager, as git's does."""

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

from reviewsctl.terminal.columns import Screen

DEFAULT: Final = "less"
FLAGS: Final = {"LESS": "FRX", "LV": "-c"}
"""What pagers are told where the operator tells them nothing: keep colours, leave the text there."""

_BATCH: Final = 1000  # lines that are written at once


def screen() -> Screen:
    """What stdout is."""
    if not sys.stdout.isatty():
        return Screen()
    return Screen(shutil.get_terminal_size().columns, paint=not os.environ.get("NO_COLOR"))


def show_lines(lines: Iterable[str], *, pager: bool) -> None:
    """Print lines; more than a terminal holds, through ``$PAGER``.

    Args:
        lines: May raise; what was printed before stays.
        pager: Whether one may be used.
    """
    command = _command() if pager and sys.stdout.isatty() else None
    left = iter(lines)
    if command is None:
        _print(left)
        return
    first = list(islice(left, shutil.get_terminal_size().lines))
    if len(first) < shutil.get_terminal_size().lines:
        _print(first)
    else:
        _page(command, chain(first, left))


def _command() -> list[str] | None:
    """The pager; none where there is none, or it is to be none."""
    command = shlex.split(os.environ.get("PAGER", DEFAULT))
    if not command or command == ["cat"] or shutil.which(command[0]) is None:
        return None
    return command


def _print(lines: Iterable[str]) -> None:
    for batch in _batches(lines):
        typer.echo(batch)


def _page(command: list[str], lines: Iterable[str]) -> None:
    """Write to a pager until its reader has had enough, and wait for that."""
    with subprocess.Popen(  # noqa: S603  the operator's own choice
        command, stdin=subprocess.PIPE, env={**FLAGS, **os.environ}, encoding="utf-8"
    ) as pager:
        assert pager.stdin is not None  # noqa: S101  it is a pipe
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pager
        try:
            # closing writes what is left: also into the void, once the reader has quit
            with contextlib.suppress(BrokenPipeError), pager.stdin as pipe:
                for batch in _batches(lines):
                    pipe.write(batch + "\n")
            pager.wait()
        finally:
            signal.signal(signal.SIGINT, before)


def _batches(lines: Iterable[str]) -> Iterator[str]:
    left = iter(lines)
    while batch := list(islice(left, _BATCH)):
        yield "\n".join(batch)
