"""The progress of a long job: a bar on a terminal, else a line every ten seconds."""

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import typer

from reviewsctl.terminal.escaping import printable
from reviewsd.api.jobs import Step

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

_INTERVAL: Final = 10.0
"""Seconds between lines; the log of a job that ends sooner has its outcome alone."""


class Progress:
    """Shows steps on stderr."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last_line_at = now()
        self._bars: Bars | None = None
        self._task: tuple[str, TaskID] | None = None  # the stage of the bar

    def show(self, step: Step) -> None:
        """Show a step; a stage without work has none."""
        if step.total <= 0:
            return
        if sys.stderr.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}:
            self._show_bar(step)
            return
        if self._now() - self._last_line_at >= _INTERVAL:
            self._last_line_at = self._now()
            typer.echo(progress_line(step), err=True)

    def _show_bar(self, step: Step) -> None:
        if self._bars is None:
            self._bars = _bars()
            self._bars.start()
        failed = f", {step.failed:,} failed" if step.failed else ""
        shown = f"{printable(step.stage)}{failed}"
        if self._task is not None and self._task[0] == step.stage:
            _, task = self._task
            self._bars.update(task, description=shown, completed=step.done, total=step.total)
            return
        if self._task is not None:
            self._bars.remove_task(self._task[1])
        task = self._bars.add_task(shown, completed=step.done, total=step.total)
        self._task = step.stage, task

    def close(self) -> None:
        """Hide the bar until the next step."""
        if self._bars is not None:
            self._bars.stop()
        self._bars = self._task = None


def _bars() -> "Bars":
    from rich import progress  # 40 ms, see main
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(bar_width=20),
        progress.MofNCompleteColumn(),
        progress.TaskProgressColumn(),
        progress.TimeRemainingColumn(),
    )
    return progress.Progress(*columns, console=Console(stderr=True), transient=True)


def percent(progress: Step) -> int:
    """Return the progress of a stage, 0 to 100; a stage without work is at 100."""
    if progress.total <= 0:
        return 100
    return max(0, min(100, progress.done * 100 // progress.total))


def progress_line(progress: Step) -> str:
    """Return a step of a job as a line."""
    failed = f", {progress.failed:,} failed" if progress.failed else ""
    return (
        f"{printable(progress.stage)} {percent(progress)}% "
        f"({progress.done:,} of {progress.total:,}{failed})"
    )
