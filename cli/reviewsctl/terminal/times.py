"""Times and spans for people. Times are UTC, as in the daemon's log."""

import datetime

_MINUTE = 60  # seconds
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


def duration(seconds: float) -> str:
    """A span in its two largest units: ``12 s``, ``5 min``, ``3 h 12 min``, ``2 d 4 h``."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min"
    if whole < _DAY:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
    return f"{whole // _DAY} d {whole % _DAY // _HOUR} h"


def moment(then: datetime.datetime) -> str:
    """``2026-11-21 07:00:00 UTC``."""
    return then.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def ago(then: datetime.datetime, now: datetime.datetime) -> str:
    """``5 min ago``."""
    return f"{duration((now - then).total_seconds())} ago"


def days_ago(days: int) -> str:
    """``today``, ``yesterday``, ``12 days ago``; a day ahead of UTC counts as today."""
    if days <= 1:
        return "yesterday" if days == 1 else "today"
    return f"{days:,} days ago"


def until(then: datetime.datetime, now: datetime.datetime) -> str:
    """``in 5 min``, or ``now`` when it is over."""
    return f"in {duration((then - now).total_seconds())}" if then > now else "now"


def when(then: datetime.datetime, now: datetime.datetime) -> str:
    """``2026-11-21 07:00:00 UTC (5 min ago)``."""
    return f"{moment(then)} ({ago(then, now)})"
