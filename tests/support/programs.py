"""Other programs that tests run to their end."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def run_program(
    command: Sequence[str | Path], *, timeout: float = 120, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program, and return its exit code and what it has written, as text."""
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, check=check, **options
    )
