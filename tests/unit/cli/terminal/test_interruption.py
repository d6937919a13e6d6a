"""A signal that stops a command raises once, and clearing up is not disturbed."""

import signal
import sys

import pytest

from tests.support.commands import CLI
from tests.support.programs import run_program

WORK = """
import os, sys
from reviewsctl.terminal.interruption import Stopped, raise_signals
number = int(sys.argv[1])
raise_signals()
try:
    try:
        os.kill(os.getpid(), number)
    finally:
        os.kill(os.getpid(), number)
        print("cleared")
except Stopped as stopped:
    print(stopped.exit_code)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_first_signal_raises_while_others_let_it_clear_up(number: signal.Signals) -> None:
    run = run_program([sys.executable, "-c", WORK, str(int(number))], env={"PYTHONPATH": str(CLI)})
    assert (0, f"cleared\n{128 + number}\n", "") == (run.returncode, run.stdout, run.stderr)
