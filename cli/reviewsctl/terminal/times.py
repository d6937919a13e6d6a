"""Times and durations for people, in UTC, as in the daemon's log."""

import datetime

_MINUTE = 60  # seconds
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


def duration(seconds: float) -> str:
    """Return a duration in its two largest units: ``12 s``, ``5 min``, ``3 h 12 min``, ``2 d 4 h``."""
    total = max(0, int(seconds))
    if total < _MINUTE:
        return f"{total} s"
    if total < _HOUR:
        return f"{total // _MINUTE} min"
    if total < _DAY:
        return f"{total // _HOUR} h {total % _HOUR // _MINUTE} min"
    return f"{total // _DAY} d {total % _DAY // _HOUR} h"


def moment(then: datetime.datetime) -> str:
    """Return a time as ``2026-11-21 07:00:00 UTC``."""
    return then.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def ago(then: datetime.datetime, now: datetime.datetime) -> str:
    """Return the age of a time as ``5 min ago``."""
    return f"{duration((now - then).total_seconds())} ago"


def days_ago(days: int) -> str:
    """Return ``today``, ``yesterday``, ``12 days ago`` or ``in 9,674 days``; a day ahead of UTC counts as today."""
    if days < -1:
        return f"in {-days:,} days"
    if days <= 1:
        return "yesterday" if days == 1 else "today"
    return f"{days:,} days ago"


def until(then: datetime.datetime, now: datetime.datetime) -> str:
    """Return ``in 5 min``, or ``now`` for a past time."""
    return f"in {duration((then - now).total_seconds())}" if then > now else "now"


def when(then: datetime.datetime, now: datetime.datetime) -> str:
    """Return a time and its age: ``2026-11-21 07:00:00 UTC (5 min ago)``."""
    return f"{moment(then)} ({ago(then, now)})"
