"""Ids are the same in every import, without any state (interfaces.md 2)."""

import datetime
import re

from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.importing.review import encode, stable_id
from reviewsd.api.texts import merge_key

WHEN = datetime.datetime(2016, 7, 30, 22, 36, 16, 385_000, tzinfo=datetime.UTC)


def test_the_time_is_that_of_the_specification_of_ulids() -> None:
    """github.com/ulid/spec: 1469918176385 is 01ARYZ6S41."""
    assert "01ARYZ6S41" == stable_id("google", "x", WHEN)[:10]
    assert "7ZZZZZZZZZZZZZZZZZZZZZZZZZ" == encode(b"\xff" * 16)


@given(st.text(), st.text(), st.datetimes(), st.timezones())
def test_an_id_is_a_ulid_and_names_the_moment_not_its_spelling(
    source: str, key: str, when: datetime.datetime, zone: datetime.tzinfo
) -> None:
    there = when.replace(year=max(1971, min(when.year, 9998)), tzinfo=datetime.UTC, month=3, day=3)
    identifier = stable_id(source, key, there)
    assert re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", identifier)
    assert identifier == stable_id(source, key, there.astimezone(zone))
    assert identifier == stable_id(source, key, there.replace(tzinfo=None))
    assert merge_key(identifier) == merge_key(stable_id(source, key, WHEN))


@given(st.datetimes())
def test_no_date_is_too_early(when: datetime.datetime) -> None:
    assert 26 == len(stable_id("x", "y", when))


def test_other_ids_are_opaque() -> None:
    assert "r-1" == merge_key("r-1")
    assert "01arz3ndektsv4rrffq69g5fav" == merge_key("01arz3ndektsv4rrffq69g5fav")
