"""The progress of a long job: bars on a terminal, else a line for each 10 %.

The import of rich takes 40 ms, so only a job that shows its steps imports this.
"""

import contextlib
from collections.abc import Callable, Iterator

import typer
from rich import progress as bars
from rich.console import Console

from reviewsctl.terminal.escaping import printable
from reviewsd.api.jobs import Step


@contextlib.contextmanager
def shown(screen: Console) -> Iterator[Callable[[Step], None]]:
    """Yield a function that shows steps on stderr."""
    if not screen.is_interactive:
        printed: set[tuple[str, int]] = set()

        def show_line(step: Step) -> None:
            tenth = step.stage, percent(step) // 10
            if step.total > 0 and tenth[1] > 0 and tenth not in printed:
                printed.add(tenth)
                typer.echo(progress_line(step), err=True)

        yield show_line
        return
    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(bar_width=20),
        bars.MofNCompleteColumn(),
        bars.TaskProgressColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=screen, transient=True) as display:
        tasks: dict[str, bars.TaskID] = {}

        def show_bar(step: Step) -> None:
            stage = printable(step.stage)
            if stage not in tasks:
                tasks[stage] = display.add_task(stage)
            failed = f", {step.failed:,} failed" if step.failed else ""
            display.update(
                tasks[stage],
                description=f"{stage}{failed}",
                completed=step.done,
                total=step.total,
            )

        yield show_bar


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
