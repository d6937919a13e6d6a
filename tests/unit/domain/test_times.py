"""When a review counts as published and as changed (field.md, Feeds and times)."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain import times
from reviewsd.domain.reviews import OwnerReply, Review


def at(text: str | None) -> datetime.datetime | None:
    return None if text is None else datetime.datetime.fromisoformat(text)


def review(
    day: str = "2026-11-24",
    reply: str | None = None,
    added_at: str | None = None,
    changed_at: str | None = None,
) -> Review:
    date = datetime.date.fromisoformat
    return Review(
        id="r1",
        author="Jane D.",
        rating=4,
        date=date(day),
        source="google",
        verified=True,
        owner_reply=None if reply is None else OwnerReply(text="Thanks.", date=date(reply)),
        added_at=at(added_at),
        changed_at=at(changed_at),
    )


NOON, MORNING = "2026-11-24T12:00:00Z", "2026-11-24T08:30:00Z"
NEXT_DAY, NEXT_WEEK = "2026-11-25T08:00:00Z", "2026-12-01T09:00:00Z"
THE_DAY_BEFORE = "2026-11-23T22:15:00Z"  # which is the day itself in Auckland


@pytest.mark.parametrize(
    ("added_at", "changed_at", "expected"),
    [
        (None, None, NOON),
        (NEXT_WEEK, None, NOON),
        (MORNING, None, MORNING),
        (THE_DAY_BEFORE, None, THE_DAY_BEFORE),
        (MORNING, NEXT_DAY, MORNING),
        (None, MORNING, MORNING),
        (None, NEXT_WEEK, NOON),
        ("2026-11-24T10:30:00+02:00", None, MORNING),
    ],
)
def test_review_is_published_at_noon_of_its_day_or_when_it_was_added(
    added_at: str | None, changed_at: str | None, expected: str
) -> None:
    """Noon of today may lie ahead, and feed readers hide or pin what comes from the future."""
    result = times.published_at(review(added_at=added_at, changed_at=changed_at))
    assert expected == times.spelled(result)


@pytest.mark.parametrize(
    ("reply", "added_at", "changed_at", "expected"),
    [
        (None, None, None, NOON),
        ("2026-11-20", None, None, NOON),
        ("2026-11-26", None, None, "2026-11-26T12:00:00Z"),
        (None, NEXT_WEEK, None, NEXT_WEEK),
        (None, MORNING, NEXT_DAY, NEXT_DAY),
        ("2026-11-26", MORNING, NEXT_DAY, NEXT_DAY),  # the reply is of tomorrow, in Auckland
        (None, None, THE_DAY_BEFORE, THE_DAY_BEFORE),
    ],
)
def test_review_is_updated_when_it_was_stamped_last(
    reply: str | None, added_at: str | None, changed_at: str | None, expected: str
) -> None:
    result = times.updated_at(review(reply=reply, added_at=added_at, changed_at=changed_at))
    assert expected == times.spelled(result)


@given(st.datetimes(timezones=st.just(datetime.UTC)))
def test_time_survives_as_microseconds(moment: datetime.datetime) -> None:
    assert moment == times.from_microseconds(times.microseconds(moment))
