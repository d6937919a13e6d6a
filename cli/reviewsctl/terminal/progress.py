"""The progress of a long job: a bar on a terminal, else a line every ten seconds."""

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import typer

from reviewsd.api.jobs import Step
from reviewsd.api.texts import printable

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
        self._tasks: dict[str, TaskID] = {}  # the bar by its stage; there is one at most

    def show(self, step: Step) -> None:
        """Show a step; a stage without work has none."""
        if step.total <= 0:
            return
        if sys.stderr.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}:
            self._show_bar(step)
        elif self._now() - self._last_line_at >= _INTERVAL:
            self._last_line_at = self._now()
            typer.echo(progress_line(step), err=True)

    def _show_bar(self, step: Step) -> None:
        if self._bars is None:
            self._bars = _bars()
            self._bars.start()
        failed = f", {step.failed:,} failed" if step.failed else ""
        text = f"{printable(step.stage)}{failed}"
        if step.stage in self._tasks:
            task = self._tasks[step.stage]
            self._bars.update(task, description=text, completed=step.done, total=step.total)
            return
        for task in self._tasks.values():
            self._bars.remove_task(task)
        task = self._bars.add_task(text, completed=step.done, total=step.total)
        self._tasks = {step.stage: task}

    def close(self) -> None:
        """Hide the bar until the next step."""
        if self._bars is not None:
            self._bars.stop()
        self._bars, self._tasks = None, {}


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


def progress_line(step: Step) -> str:
    """Return a step as a line; its work is never 0."""
    percent = max(0, min(100, step.done * 100 // step.total))
    failed = f", {step.failed:,} failed" if step.failed else ""
    return f"{printable(step.stage)} {percent}% ({step.done:,} of {step.total:,}{failed})"
