"""The progress of long jobs outside a terminal."""

import pytest

from reviewsctl.terminal.progress import Progress, progress_line
from reviewsd.api.jobs import Step


def test_without_a_terminal_a_line_comes_every_10_s(capsys: pytest.CaptureFixture[str]) -> None:
    """A reload of a few seconds wrote a line for each tenth of each stage into the log of a script."""
    now = 0.0
    progress = Progress(lambda: now)
    for stage, done in (("reading", 10), ("reading", 90), ("writing", 20), ("writing", 100)):
        progress.show(Step(stage=stage, done=done, total=100))
        now += 5
    now = 21
    progress.show(Step(stage="syncing", done=1, total=2))
    assert [
        "writing 20% (20 of 100)",
        "syncing 50% (1 of 2)",
    ] == capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("step", "line"),
    [
        (Step(stage="reading", done=0, total=10), "reading 0% (0 of 10)"),
        (Step(stage="reading", done=11, total=10), "reading 100% (11 of 10)"),
        (
            Step(stage="validating", done=412_000, total=1_000_000),
            "validating 41% (412,000 of 1,000,000)",
        ),
        (
            Step(stage="pushing", done=4000, total=10_000, failed=7),
            "pushing 40% (4,000 of 10,000, 7 failed)",
        ),
        (Step(stage="\x1b[2J", done=1, total=2), "\\u001b[2J 50% (1 of 2)"),
    ],
)
def test_step_is_one_line_with_its_share_and_its_failures(step: Step, line: str) -> None:
    assert line == progress_line(step)
