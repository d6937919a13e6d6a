"""The time at which this program was installed, by which two builds of one version differ."""

from pathlib import Path


def installed_at() -> float:
    """Return the time at which the files of this program were written, in POSIX seconds."""
    return Path(__file__).stat().st_mtime
