"""The text of findings, and agreement of msgspec and ``explain`` (data-model.md 5)."""

import datetime
import json
from typing import Annotated, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from reviewsd.api.files import Diagnostic
from reviewsd.api.spelling import nearest
from reviewsd.domain import insights, reviews
from reviewsd.domain.data_errors import explain, member, show
from reviewsd.domain.diagnostic_text import headline
from reviewsd.domain.reviews import Text
from tests.support.broken import INSIGHTS, REVIEWS, Document, encoded, nearly
from tests.support.examples import examples


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ({"a": 1}, "object"),
        ([1], "array"),
        (None, "null"),
        (True, "true"),
        (-0.5, "-0.5"),
        (float("-inf"), "-inf"),
        (10**38, "1" + "0" * 38),
        (10**40, f"1{'0' * 36}..."),
        ('say "é"', r'"say \"é\""'),
        ("x" * 38, f'"{"x" * 38}"'),
        ("x" * 39, f'"{"x" * 36}...'),
        (
            "a\n\x1b\x7f\x85\u2028\u202e\U000e0041",
            r'"a\n\u001b\u007f\u0085\u2028\u202e\udb40\udc41"',
        ),
    ],
)
def test_a_value_is_shown_short_and_on_one_line(value: object, printed: str) -> None:
    assert printed == show(value)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("rating", "$.rating"),
        ("straße", "$.straße"),
        ("1", '$["1"]'),
        ("", '$[""]'),
        ("a.b", '$["a.b"]'),
    ],
)
def test_a_member_that_is_no_identifier_is_quoted(name: str, path: str) -> None:
    assert path == member("$", name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ratting", '; did you mean "rating"?'),
        ("RATING", '; did you mean "rating"?'),
        ("x", ""),
        ("", ""),
    ],
)
def test_the_nearest_name_is_near(name: str, hint: str) -> None:
    assert hint == nearest(name, ["author", "rating", "date"])


@pytest.mark.parametrize(
    ("path", "review_id", "line"),
    [
        ("$.reviews[812].rating", "01J9", "reviews.json: $.reviews[812].rating (id 01J9): missing"),
        ("$.business.name", None, "reviews.json: $.business.name: missing"),
        ("", None, "reviews.json: missing"),
    ],
)
def test_a_finding_is_one_line(path: str, review_id: str | None, line: str) -> None:
    result = Diagnostic(file="reviews.json", path=path, reason="missing", id=review_id)
    assert line == headline(result)


class Known(Struct, forbid_unknown_fields=True):
    size: Annotated[int, Meta(ge=1)]
    unit: Literal["m", "s"] = "m"
    day: Annotated[datetime.date | None, Meta(description="x")] = None
    names: dict[Text, Annotated[str, Meta(min_length=2, max_length=4)]] = {}
    weight: float = 0


@pytest.mark.parametrize(
    ("value", "faults"),
    [
        ({"size": 1, "unit": "s", "day": "2025-01-01", "names": {"a": "ab"}}, []),
        ([], [("$", "expected object, got array")]),
        ({}, [("$.size", "missing")]),
        ({"size": 0}, [("$.size", "expected 1 or more, got 0")]),
        ({"size": 1, "unit": "h"}, [("$.unit", 'expected one of "m", "s", got "h"')]),
        ({"size": 1, "day": "x"}, [("$.day", 'expected YYYY-MM-DD, got "x"')]),
        ({"size": 1, "day": 1}, [("$.day", "expected string or null, got integer 1")]),
        (
            {"size": 1, "names": {"a b": ""}},
            [('$.names["a b"]', "expected 2..4 characters, got 0")],
        ),
        ({"size": 1, "names": {"": "ab"}}, [('$.names[""]', "name must not be empty")]),
        ({"size": 1, "weight": 10**400}, [("$.weight", "Number out of range")]),
        ({"size": 1, "names": []}, [("$.names", "expected object, got array")]),
        (
            {"sise": 2},
            [("$.size", "missing"), ("$.sise", 'unknown key "sise"; did you mean "size"?')],
        ),
        ({"size": 1, "sise": 2}, [("$.sise", 'unknown key "sise"; did you mean "size"?')]),
        (
            {"size": "1", "x": 1},
            [
                ("$.size", 'expected integer, got string "1"'),
                ("$.x", 'unknown key "x"; there are: size, unit, day, names, weight'),
            ],
        ),
    ],
)
def test_each_fault_is_explained(value: object, faults: list[tuple[str, str]]) -> None:
    assert faults == list(explain(value, Known))


@pytest.mark.parametrize(
    ("value", "kind", "names"),
    [
        (
            {"day": "monday", "open": "09:00", "Close": "17:00"},
            reviews.OpeningHours,
            {"opens": "open", "closes": "Close"},
        ),
        (
            {"weekday": "monday", "from": "09:00", "to": "17:00"},
            reviews.OpeningHours,
            {"day": "weekday", "opens": "from", "closes": "to"},
        ),
        ({"lat": 53.27, "lng": -9.05}, reviews.Geo, {"latitude": "lat", "longitude": "lng"}),
    ],
)
def test_misnamed_member_is_found(value: object, kind: object, names: dict[str, str]) -> None:
    faults = [(f"$.{name}", f'missing; rename "{old}" to "{name}"') for name, old in names.items()]
    assert faults == list(explain(value, kind))


def test_day_that_is_closed_is_to_be_left_out() -> None:
    """Its member was to be renamed to "closes"."""
    hours = {"day": "tuesday", "closed": True}
    reason = "missing; leave out the days that are closed"
    assert [("$.opens", reason), ("$.closes", reason)] == list(explain(hours, reviews.OpeningHours))


def test_name_of_another_member_is_not_offered() -> None:
    hours = {"opens": "09:00", "closes": "17:00"}
    assert [("$.day", "missing")] == list(explain(hours, reviews.OpeningHours))


ROOTS: list[tuple[object, Document]] = [
    (reviews.Business, REVIEWS["business"]),
    (reviews.AggregateRating, REVIEWS["aggregate_rating"]),
    (reviews.Review, REVIEWS["reviews"][1]),
    (insights.Insights, INSIGHTS),
]
"""Types that all others are within, and a value of each."""


@given(data=st.data())
@examples(150)
def test_explain_agrees_with_msgspec(data: st.DataObject) -> None:
    kind, valid = data.draw(st.sampled_from(ROOTS))
    text = encoded(data.draw(nearly(valid)))
    try:
        msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        accepted = False
    else:
        accepted = True
    faults = list(explain(json.loads(text), kind))
    assert accepted == (not faults)
