"""Corrections of a data directory, as ``reviewsctl reviews`` makes and applies them (corrections.md)."""

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import pytest

from reviewsctl.importing.reviews_file import removed_member
from reviewsd.domain.corrections import Corrections
from reviewsd.domain.dataset import load
from reviewsd.domain.reviews import Review
from reviewsd.offline.corrections import ReviewsWithCorrections, merge, without_erased
from tests.support.columns import review

NOW = datetime(2026, 5, 1, 12, 0, 0, 250_000, UTC)
REVIEWS = [review("a", rating=5), review("b", rating=5), review("c", rating=1)]


def uncorrected(*reviews: Any, **members: object) -> tuple[ReviewsWithCorrections, bytes]:  # noqa: ANN401
    """Return reviews without corrections, and the text of their file."""
    text = json.dumps({"business": {"name": "B"}, "reviews": reviews, **members}).encode()
    return ReviewsWithCorrections(load(text, None), Corrections()), text


def named(reviews: ReviewsWithCorrections, review_id: str) -> list[Review]:
    return [reviews.find(review_id)]


def test_erased_review_becomes_an_entry_of_removed() -> None:
    """A client that reads changes within the same second sees the time of the erasure, not an earlier one."""
    lately = (NOW - timedelta(days=89)).isoformat()
    old = {"id": "y", "at": (NOW - timedelta(days=91)).isoformat()}
    recent = {"id": "z", "at": lately, "note": "unknown members stay"}
    reviews, text = uncorrected(*REVIEWS, removed=[old, recent])
    erased = reviews.with_erasure(named(reviews, "c"), NOW)
    content = json.loads(without_erased(text, erased.corrections, partial(removed_member, now=NOW)))
    assert ["a", "b"] == [entry["id"] for entry in content["reviews"]]
    assert [recent, {"id": "c", "at": "2026-05-01T12:00:00.250000Z"}] == content["removed"]


def test_earlier_version_without_an_erased_review_has_no_entry_of_it() -> None:
    reviews, text = uncorrected(*REVIEWS)
    corrections = reviews.with_erasure(named(reviews, "c"), NOW).corrections
    assert "removed" not in json.loads(without_erased(text, corrections))
    assert text == without_erased(text, reviews.corrections)


def test_hiding_the_bad_review_looks_like_a_selection() -> None:
    reviews, _ = uncorrected(*REVIEWS)
    hidden = reviews.with_correction(named(reviews, "c"), "hide", "spam", NOW)
    assert (None, "") == (reviews.selection_warning, reviews.readers_note)
    assert hidden.selection_warning is not None
    assert "1 of 3 reviews is not shown by the owner (1 spam)" == hidden.readers_note


def test_first_hidden_review_of_a_young_business_is_no_selection() -> None:
    """It is more than 5 % of fewer than 20 reviews, whichever it is."""
    reviews, _ = uncorrected(*(review(name, text=name) for name in "abc"))
    warnings = []
    for review_id in "abc":
        reviews = reviews.with_correction(named(reviews, review_id), "hide", "spam", NOW)
        warnings.append(reviews.selection_warning)
    assert [
        None,
        "67% of the reviews are hidden; a reader would call this selecting",
        "no review is shown",
    ] == warnings


@pytest.mark.parametrize(
    ("reference", "review_id"),
    [
        ("abcd.md", "abcd.md"),
        ("abcd", "abcd"),
        ("Same", "Same"),
        ("same", "same"),
        ("https://x.example/r/1", "https://x.example/r/1"),
        ("https://b.example/r/abcd", "abcd"),
        ("https://b.example/r/abcd/", "abcd"),
        ("https://b.example/r/other.md", "other"),
        ("OTHER", "other"),
        ("othe", "other"),
        ("ther.md", "other"),
    ],
)
def test_exact_id_is_found_before_similar_ones(reference: str, review_id: str) -> None:
    """An erasure cannot be undone, so no other review may be taken for the one that is named."""
    ids = ("abcd.md", "abcd", "Same", "same", "https://x.example/r/1", "other")
    reviews, _ = uncorrected(*map(review, ids))
    assert review_id == reviews.find(reference).id


def test_correction_of_an_erased_review_is_not_restored() -> None:
    """Its reason would stay on the disk."""
    reviews, _ = uncorrected(*REVIEWS)
    hidden = reviews.with_correction(named(reviews, "c"), "hide", "spam", NOW).corrections
    erased = reviews.with_erasure(named(reviews, "c"), NOW).corrections
    for current, restored in ((erased, hidden), (hidden, erased)):
        merged = msgspec.json.decode(merge(current, restored), type=Corrections)
        assert ({}, ["c"]) == (merged.reviews, list(merged.erased))


def test_later_correction_of_a_review_survives_a_merge() -> None:
    reviews, _ = uncorrected(*REVIEWS)
    earlier = reviews.with_correction(named(reviews, "a"), "hide", "spam", NOW).corrections
    later = reviews.with_correction(
        named(reviews, "a"), "restore", None, NOW + timedelta(seconds=1)
    ).corrections
    for current, restored in ((earlier, later), (later, earlier)):
        merged = msgspec.json.decode(merge(current, restored), type=Corrections)
        assert "restore" == merged.reviews["a"].action
