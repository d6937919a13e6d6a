"""A daemon with a wall clock that a test sets, by libfaketime; the monotonic clocks are real."""

from pathlib import Path

import pytest

LIBRARY = next(
    iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))),
    None,
)
"""The variant for programs with threads."""

needed = pytest.mark.skipif(
    LIBRARY is None, reason="no libfaketime: apt-get install faketime sets the clock of a process"
)
"""Marks tests that set a process's clock."""


class WallClock:
    """The wall clock of all processes that are started with ``environ``.

    Args:
        file: Says how far it is off; it is read whenever one of them asks for the time.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.environ = {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }
        self.set(0)

    def set(self, seconds: int) -> None:
        """Set it so many seconds ahead of the right time, or behind."""
        aside = self._file.with_suffix(".new")
        aside.write_text(f"{seconds:+d}\n")
        aside.replace(self._file)  # never half of it
