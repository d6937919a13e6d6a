"""When a source is read: due times, pauses after failures, the age of what was read (sources.md 3)."""

import datetime
from collections.abc import Collection, Mapping
from typing import Final

from reviewsctl.sources.state import Missing, SourceState
from reviewsd.api.texts import counted
from reviewsd.config.source_rules import GOOGLE_MAX_AGE, seconds
from reviewsd.config.source_schema import ReviewSource

DAY: Final = datetime.timedelta(days=1)
BETWEEN_MISSES: Final = datetime.timedelta(hours=6)
"""Two complete reads less than this apart count once for a review that is missing from both."""

_MAX_DOUBLINGS: Final = 20


def interval(text: str) -> datetime.timedelta:
    """Return an interval of the configuration."""
    return datetime.timedelta(seconds=seconds(text))


def is_due(state: SourceState, now: datetime.datetime) -> bool:
    """Return whether a source is to be read; also if the clock went back behind its last run."""
    if state.next_at is None or state.tried_at is None:
        return True
    return now >= state.next_at or now < state.tried_at


def is_full_due(source: ReviewSource, state: SourceState, now: datetime.datetime) -> bool:
    """Return whether a source is to be read completely, whatever a first look finds."""
    return state.read_at is None or not (
        datetime.timedelta() <= now - state.read_at < interval(source.full)
    )


def next_run(source: ReviewSource, state: SourceState, now: datetime.datetime) -> datetime.datetime:
    """Return the time of the next run, after a run that ended in ``state``."""
    if state.state == "stopped":
        return now + DAY
    pause = interval(source.every)
    if state.state == "failed":
        pause *= 2 ** min(max(0, state.failures - 1), _MAX_DOUBLINGS)
    return now + (pause if state.is_read else min(pause, max(DAY, interval(source.every))))


def max_age(source: ReviewSource) -> datetime.timedelta | None:
    """Return how long reviews stay after the last complete read; None without a limit."""
    if source.max_age is not None:
        return interval(source.max_age)
    return interval(GOOGLE_MAX_AGE) if source.type == "google-business" else None


def is_expired(source: ReviewSource, state: SourceState, now: datetime.datetime) -> bool:
    """Return whether the reviews of a source have to leave."""
    limit = max_age(source)
    if limit is None or state.read_at is None or not state.places:
        return False
    return now - state.read_at >= limit


def age_warning(source: ReviewSource, state: SourceState, now: datetime.datetime) -> str:
    """Return a warning if the reviews of a source have to leave soon; else nothing.

    It begins at a third of ``max_age``, day 10 of Google's 30.
    """
    limit = max_age(source)
    if limit is None or state.read_at is None or (now - state.read_at) * 3 < limit:
        return ""
    remaining = max(datetime.timedelta(), limit - (now - state.read_at))
    urgency = "critical: " if remaining * 3 <= limit else ""
    return f"{urgency}its reviews leave in {counted(remaining.days, 'day')} unless it can be read"


def removal_time(source: ReviewSource, state: SourceState) -> datetime.datetime | None:
    """Return the time after which a read removes all reviews that are missing; None where none is."""
    if not isinstance(source.gone, int):
        return None
    left = ((miss.at, source.gone - miss.count) for miss in state.missing.values())
    return max((at + count * BETWEEN_MISSES for at, count in left), default=None)


class GoneRule:
    """Decides which reviews are removed that a complete read does not have.

    Args:
        min_misses: Reads without a review before it is removed, at least six hours apart.
        missing: The reviews that were missing before, by merge key.
        now: The time of the read.
        at_once: Whether all of them are removed, as the operator accepts the loss.
    """

    def __init__(
        self,
        min_misses: int,
        missing: Mapping[str, Missing],
        now: datetime.datetime,
        *,
        at_once: bool = False,
    ) -> None:
        self._min_misses = min_misses
        self._before = missing
        self._now = now
        self._at_once = at_once
        self.missing: dict[str, Missing] = {}
        """The reviews that are missing now, and stay."""

    def __call__(self, key: str) -> bool:
        """Return whether the review with this merge key is removed."""
        miss = self._before.get(key)
        if miss is None:
            miss = Missing(count=1, at=self._now)
        elif not datetime.timedelta() <= self._now - miss.at < BETWEEN_MISSES:
            miss = Missing(count=miss.count + 1, at=self._now)
        if self._at_once or miss.count >= self._min_misses:
            return True
        self.missing[key] = miss
        return False

    def keep(self, keys: Collection[str]) -> None:
        """Forget reviews that are not among these after all, as a row was found to be an edited version of them."""
        self.missing = {key: miss for key, miss in self.missing.items() if key in keys}
