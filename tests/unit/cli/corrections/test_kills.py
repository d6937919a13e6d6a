"""A command that is killed leaves whole files, and shows nothing that was to go (corrections.md)."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reviewsd.offline.corrections import read
from tests.support.columns import review
from tests.support.commands import CLI, REVIEWSCTL
from tests.support.fork_server import ROOT

pytestmark = pytest.mark.processes

SECRET, ERASED = "They broke the blue vase", "01J9ZK3V5Q8R2N7M4T6W1X0YAB"
KILLS, SEED = 12, 20261126


def test_killed_erasure_leaves_whole_files_and_shows_nothing_that_was_to_go(tmp_path: Path) -> None:
    """Either nothing has happened yet, or the review is not shown."""
    reviews = [review(ERASED, text=SECRET), *(review(f"r{number}") for number in range(2_000))]
    target = tmp_path / "reviews.json"
    command = [sys.executable, "-m", REVIEWSCTL, "reviews", "erase", ERASED, "--reason", "request"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{CLI}"}
    moments = random.Random(SEED)
    finished = 0.0
    for number in range(KILLS + 1):
        target.write_text(json.dumps({"business": {"name": "Acme"}, "reviews": reviews}))
        (tmp_path / "corrections.json").unlink(missing_ok=True)
        (tmp_path / ".reviewsctl" / "corrections.log").unlink(missing_ok=True)
        began = time.monotonic()
        process = subprocess.Popen(
            [*command, "--yes", "--data", str(tmp_path)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if number:  # the first one says how long it takes
            time.sleep(finished * moments.uniform(0.3, 1.0))
            process.send_signal(signal.SIGKILL)
        process.wait()
        finished = finished or time.monotonic() - began
        result = {item.review.id: item for item in read(tmp_path).reviews}
        if (tmp_path / "corrections.json").exists() and ERASED in result:
            correction = result[ERASED].correction
            assert correction is not None
            assert "erase" == correction.action
        assert len(result) in {2_000, 2_001}
