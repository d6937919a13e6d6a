"""The progress of long jobs outside a terminal."""

import pytest

from reviewsctl.terminal.progress import Progress
from reviewsd.api.jobs import Step


def test_outside_a_terminal_there_is_a_line_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
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
