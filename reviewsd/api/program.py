"""When this program was installed, which tells two builds of one version apart."""

from pathlib import Path


def installed_at() -> float:
    """Return the time at which the files of this program were written, in POSIX seconds."""
    return Path(__file__).stat().st_mtime
