"""The steps of a long job as a person sees them: bars on a terminal, else a line per 10 %.

Imports rich, which costs 40 ms: only a job that shows its steps imports this.
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
    """Shows the steps it is told while the block runs; on stderr, because they are no data."""
    if not screen.is_interactive:
        yield _Lines().tell
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
        yield _Bars(display).tell


def percent(progress: Step) -> int:
    """How much of a stage is done, 0 to 100; a stage with nothing to do is done."""
    if progress.total <= 0:
        return 100
    return max(0, min(100, progress.done * 100 // progress.total))


def progress_line(progress: Step) -> str:
    """One step of a job on a line of its own."""
    failed = f", {progress.failed:,} failed" if progress.failed else ""
    return (
        f"{printable(progress.stage)} {percent(progress)} % "
        f"({progress.done:,} of {progress.total:,}{failed})"
    )


def figures(progress: Step, speed: float | None) -> str:
    """What a bar does not say: ``3 failed, 6,000 left, 512/s``."""
    parts = [] if progress.failed is None else [f"{progress.failed:,} failed"]
    parts.append(f"{max(0, progress.total - progress.done):,} left")
    if speed:
        parts.append(f"{speed:,.0f}/s")
    return ", ".join(parts)


class _Lines:
    def __init__(self) -> None:
        self._shown: set[tuple[str, int]] = set()

    def tell(self, step: Step) -> None:
        tenth = percent(step) // 10
        if step.total > 0 and tenth > 0 and (step.stage, tenth) not in self._shown:
            self._shown.add((step.stage, tenth))
            typer.echo(progress_line(step), err=True)


class _Bars:
    """A bar for each stage."""

    def __init__(self, display: bars.Progress) -> None:
        self._display = display
        self._bars: dict[str, bars.TaskID] = {}

    def tell(self, step: Step) -> None:
        stage = printable(step.stage)
        if stage not in self._bars:
            self._bars[stage] = self._display.add_task(stage, total=step.total, step=step)
        self._display.update(self._bars[stage], completed=step.done, total=step.total, step=step)


class _Figures(bars.ProgressColumn):
    def render(self, task: bars.Task) -> Text:
        return Text(figures(task.fields["step"], task.speed))
