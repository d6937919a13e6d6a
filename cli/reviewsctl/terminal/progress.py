"""The progress of a long job: bars on a terminal, else a line for each 10 %.

The import of rich takes 40 ms, so only a job that shows its steps imports this.
"""

import contextlib
from collections.abc import Callable, Iterator

import typer
from rich import progress as bars
from rich.console import Console
from rich.text import Text

from reviewsctl.terminal.escaping import printable
from reviewsd.api.jobs import Step


@contextlib.contextmanager
def shown(screen: Console) -> Iterator[Callable[[Step], None]]:
    """Yield a function that shows steps on stderr."""
    if not screen.is_interactive:
        yield _Lines().show
        return
    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(bar_width=20),
        bars.MofNCompleteColumn(),
        bars.TaskProgressColumn(),
        _Figures(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=screen, transient=True) as display:
        yield _Bars(display).show


def percent(progress: Step) -> int:
    """Return the progress of a stage, 0 to 100; a stage without work is at 100."""
    if progress.total <= 0:
        return 100
    return max(0, min(100, progress.done * 100 // progress.total))


def progress_line(progress: Step) -> str:
    """Return a step of a job as a line."""
    failed = f", {progress.failed:,} failed" if progress.failed else ""
    return (
        f"{printable(progress.stage)} {percent(progress)} % "
        f"({progress.done:,} of {progress.total:,}{failed})"
    )


def figures(progress: Step, speed: float | None) -> str:
    """Return the text beside a bar: ``3 failed, 6,000 left, 512/s``."""
    parts = [] if progress.failed is None else [f"{progress.failed:,} failed"]
    parts.append(f"{max(0, progress.total - progress.done):,} left")
    if speed:
        parts.append(f"{speed:,.0f}/s")
    return ", ".join(parts)


class _Lines:
    def __init__(self) -> None:
        self._printed: set[tuple[str, int]] = set()

    def show(self, step: Step) -> None:
        tenth = percent(step) // 10
        if step.total > 0 and tenth > 0 and (step.stage, tenth) not in self._printed:
            self._printed.add((step.stage, tenth))
            typer.echo(progress_line(step), err=True)


class _Bars:
    """A bar for each stage."""

    def __init__(self, display: bars.Progress) -> None:
        self._display = display
        self._bars: dict[str, bars.TaskID] = {}

    def show(self, step: Step) -> None:
        stage = printable(step.stage)
        if stage not in self._bars:
            self._bars[stage] = self._display.add_task(stage, total=step.total, step=step)
        self._display.update(self._bars[stage], completed=step.done, total=step.total, step=step)


class _Figures(bars.ProgressColumn):
    def render(self, task: bars.Task) -> Text:
        return Text(figures(task.fields["step"], task.speed))
