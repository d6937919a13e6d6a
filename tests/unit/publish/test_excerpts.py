"""Excerpts: small, valid, true to what they are made of, and outspoken (mcp.md 5.4)."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.domain.reviews import Business, Review
from reviewsd.publish import documents
from reviewsd.publish.excerpts import MAX_LISTED, excerpt, head, listed, part

REST = "the whole is elsewhere"
REVIEW = {
    "id": "a",
    "author": "Ann",
    "rating": 5,
    "date": "2025-01-01",
    "source": "google",
    "verified": True,
}

REPEATED = st.tuples(st.sampled_from(["x", "日", "👍", '"', "\x01", "ab "]), st.integers(1, 7_000))
TEXT = st.text(max_size=40) | REPEATED.map(lambda pair: pair[0] * pair[1])
SMALL = st.none() | st.booleans() | st.integers() | st.just(2**70) | st.text(max_size=20)
MANY = st.tuples(SMALL, st.integers(1, 2_000)).map(lambda pair: [pair[0]] * pair[1])
JSON = st.recursive(
    SMALL | TEXT | MANY,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=80), inner, max_size=6)
    ),
    max_leaves=6,
)


def compact(value: object) -> bytes:
    return msgspec.json.encode(value)


def rendered(given: dict[str, Any]) -> bytes:
    raw = compact(given)
    return documents.render_review(raw, msgspec.json.decode(raw, type=Review))


# -- any object


@given(
    members=st.dictionaries(
        st.sampled_from(Business.__struct_fields__) | st.text(max_size=80), JSON, max_size=6
    ),
    most=st.sampled_from([6_000, 16_000]),
)
def test_excerpt_fits_and_lists_removed_parts(members: dict[str, Any], most: int) -> None:
    original = compact(members)
    result = excerpt(original, most, Business.__struct_fields__, REST)
    if len(original) <= most:
        assert original == result
        return
    assert len(result) <= most
    shorter = json.loads(result)
    assert result == compact(shorter)
    assert shorter.pop("truncated").endswith(REST)
    assert list(shorter) == [name for name in members if name in Business.__struct_fields__]
    for name, value in shorter.items():
        assert type(value) is type(members[name]) or value is None


def test_unknown_members_are_removed_first() -> None:
    members = {"name": "x" * 2_000, "odd": "y" * 2_000, "hours": [1, 2], "truncated": True}
    result = json.loads(excerpt(compact(members), 3_000, Business.__struct_fields__, REST))
    assert {"name": "x" * 2_000, "hours": [1, 2], "truncated": f"odd: left out; {REST}"} == result


def test_long_lists_and_texts_of_an_excerpt_are_shortened() -> None:
    members = {
        "description": "日" * 3_000,
        "service_areas": [f"area {n}" for n in range(500)],
        "address": {"street": "s" * 5_000, "city": "Dover"},
    }
    result = json.loads(excerpt(compact(members), 16_000, Business.__struct_fields__, REST))
    assert "日" * 1_333 + "…" == result["description"]
    assert [f"area {n}" for n in range(100)] == result["service_areas"]
    assert {"street": "s" * 4_000 + "…", "city": "Dover"} == result["address"]
    assert result["truncated"] == (
        "address.street: the first 4,000 of 5,000 characters; "
        "description: the first 1,333 of 3,000 characters; "
        f"service_areas: the first 100 of 500; {REST}"
    )


def test_at_most_five_things_are_told() -> None:
    members = {f"odd{n}": "x" * 500 for n in range(9)} | {"name": "A"}
    result = json.loads(excerpt(compact(members), 3_000, Business.__struct_fields__, REST))
    notes = "; ".join(f"odd{n}: left out" for n in range(5))
    assert {"name": "A", "truncated": f"{notes}; and 4 more; {REST}"} == result


@given(text=st.text(max_size=60), most=st.integers(0, 80))
@example(text="\x01\x02", most=11)
@example(text="👍👍", most=7)
def test_the_head_of_a_text_is_as_long_as_may_be(text: str, most: int) -> None:
    result = head(text, most)
    assert text.startswith(result)
    assert len(compact(result)) - 2 <= most
    assert result == text or len(compact(text[: len(result) + 1])) - 2 > most


# -- reviews


MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "author": st.text(min_size=1, max_size=20),
        "author_avatar_url": st.none() | st.just("https://a.example/b.png"),
        "text": st.none() | TEXT,
        "source_url": st.none() | st.just("https://a.example/1"),
        "owner_reply": st.none()
        | st.fixed_dictionaries(
            {"text": TEXT, "date": st.just("2025-01-02")}, optional={"by": JSON}
        ),
        "odd": JSON,
        "truncated": SMALL,  # their own word for something
        "rating_of_parts": st.none(),
    },
)


@given(MEMBERS)
def test_a_listed_review_is_the_review_without_nulls_and_avatar(members: dict[str, Any]) -> None:
    served = rendered(REVIEW | members)
    original = json.loads(served)
    result = listed(served)
    assert len(result) <= MAX_LISTED
    shorter = json.loads(result)
    if result.endswith(b'get_review has more of it"}'):
        assert len(served) > MAX_LISTED
    else:
        assert shorter == {
            name: value
            for name, value in original.items()
            if value is not None and name not in {"author_avatar_url", "truncated"}
        }
        assert [name for name in original if name in shorter] == list(shorter)


@given(MEMBERS)
def test_the_parts_of_a_review_are_its_text(members: dict[str, Any]) -> None:
    served = rendered(REVIEW | members)
    text = json.loads(served)["text"]
    read, offset = "", 0
    while True:
        result = part(served, offset, REST)
        decoded = json.loads(result.review)
        assert len(result.review) <= 16_000
        assert decoded.keys() <= json.loads(served).keys() | {"truncated"}
        read += decoded["text"] or ""
        if result.next_offset is None:
            break
        assert len(read) == result.next_offset
        offset = result.next_offset
    assert (text or "") == read
    assert (text is None) == (decoded["text"] is None)


def test_an_empty_text_is_none() -> None:
    assert "text" not in json.loads(listed(rendered(REVIEW | {"text": ""})))


@pytest.mark.parametrize("extra", [{}, {"extra": 1}], ids=["plain", "with a member of its own"])
def test_listed_review_says_when_it_changed_not_when_it_came(extra: dict[str, object]) -> None:
    """An agent that asks for changes wants to know when; two times for each review are many tokens."""
    stamps = {"added_at": "2026-11-24T08:30:00Z", "changed_at": "2026-11-24T11:00:00+01:00"}
    result = json.loads(listed(rendered({**REVIEW, **stamps, **extra})))
    assert {**REVIEW, "changed_at": "2026-11-24T10:00:00Z", **extra} == result
