"""A signal that stops a command: one line, whatever the moment, and clearing up is not disturbed."""

import os
import signal
import subprocess
import sys

import pytest

from reviewsctl.terminal.interruption import Stopped, stoppable
from tests.support.commands import CLI


def test_while_the_program_is_loaded_it_ends_with_one_line() -> None:
    code = (
        "import os, signal; from reviewsctl.terminal import interruption; interruption.begin(); "
        "os.kill(os.getpid(), signal.SIGINT); import typer"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(CLI)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (130, "Error: interrupted: nothing was written\n") == (run.returncode, run.stderr)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_stops_and_others_let_it_clear_up(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    cleared = []

    def work() -> None:
        with stoppable():
            try:
                os.kill(os.getpid(), number)
            finally:
                os.kill(os.getpid(), number)
                cleared.append("all")

    with pytest.raises(Stopped) as caught:
        work()

    assert ["all"] == cleared
    assert 128 + number == caught.value.exit_code
    assert before == signal.getsignal(number)
