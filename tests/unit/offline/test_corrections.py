"""Corrections of a data directory, as ``reviewsctl reviews`` makes and applies them (corrections.md)."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec
import pytest

from reviewsd.api.texts import merge_key
from reviewsd.domain.corrections import Action, Correction, Corrections, Overlay
from reviewsd.domain.dataset import load
from reviewsd.domain.reviews import Review
from reviewsd.offline.corrections import ReviewsWithCorrections, merge, parse, without_erased
from reviewsd.offline.passed_corrections import PassedCorrection, strictest, with_passed
from tests.support.columns import review

NOW = datetime(2026, 5, 1, 12, 0, 0, 250_000, UTC)
REVIEWS = [review("a", rating=5), review("b", rating=5), review("c", rating=1)]


def uncorrected(*reviews: Any, **members: object) -> tuple[ReviewsWithCorrections, bytes]:
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
    content = json.loads(without_erased(text, erased.corrections, NOW)[0])
    assert ["a", "b"] == [entry["id"] for entry in content["reviews"]]
    assert [recent, {"id": "c", "at": "2026-05-01T12:00:00.250000Z"}] == content["removed"]


def test_reviews_that_are_alike_are_erased_one_by_one_if_their_ids_are_their_own() -> None:
    """Three customers of a table with ids wrote "Great" on one day; all were erased with the first."""
    alike = [{**review(name, text="Great"), "author": "Ann"} for name in ("a", "b", "c")]
    text = json.dumps({"business": {"name": "B"}, "reviews": alike}).encode()
    own_ids = {merge_key(name) for name in ("a", "b", "c")}
    reviews = ReviewsWithCorrections(load(text, None), Corrections(), own_ids)
    erased = reviews.with_erasure(named(reviews, "a"), NOW)
    content = json.loads(without_erased(text, erased.corrections, NOW)[0])
    assert ["b", "c"] == [entry["id"] for entry in content["reviews"]]
    hidden = reviews.with_correction(named(reviews, "a"), "hide", "request", NOW)
    assert ["restore", "restore"] == [
        hidden.action(entry.review) for entry in hidden.reviews if entry.review.id != "a"
    ]


def test_earlier_version_without_an_erased_review_has_no_entry_of_it() -> None:
    reviews, _ = uncorrected(*REVIEWS)
    corrections = reviews.with_erasure(named(reviews, "c"), NOW).corrections
    _, earlier = uncorrected(*[review for review in REVIEWS if review["id"] != "c"])
    assert (earlier, []) == without_erased(earlier, corrections, NOW)


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


def test_erased_review_that_the_file_has_again_is_no_selection() -> None:
    """ "7% of the reviews are hidden" stood beside "1 of 28 reviews is not shown"."""
    reviews, _ = uncorrected(*(review(name, text=name) for name in "abcdef"))
    hidden = reviews.with_correction(named(reviews, "a"), "hide", "spam", NOW)
    again = hidden.with_erasure(named(reviews, "b"), NOW)
    assert "1 of 5 reviews is not shown by the owner (1 spam)" == again.readers_note
    assert None is again.selection_warning


def test_two_copies_that_are_hidden_are_one_review_of_a_selection() -> None:
    """Else hiding a review in each of its sources would be asked about as two of a young business."""
    copy = {**review("copy", text="great  WORK"), "source": "table"}
    reviews, _ = uncorrected(
        review("a", text="Great work"), copy, REVIEWS[1], review("d", rating=4)
    )
    both = [*named(reviews, "a"), *named(reviews, "copy")]
    assert reviews.with_correction(both, "hide", "request", NOW).selection_warning is None
    two = [*named(reviews, "d"), *both]
    warning = reviews.with_correction(two, "hide", "request", NOW).selection_warning
    assert "67% of the reviews are hidden; a reader would call this selecting" == warning


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("hide", {"anonymous", "shown"}),
        ("hide-text", {"anonymous", "shown"}),
        ("anonymize", {"shown"}),
        ("erase", {"hidden", "anonymous", "shown"}),
    ],
)
def test_copies_that_are_left_are_those_that_no_such_correction_reaches(
    action: Literal[Action, "erase"], expected: set[str]
) -> None:
    names = ("hidden", "anonymous", "shown")
    copies = [{**review(name, text="great  WORK"), "source": name} for name in names]
    reviews, _ = uncorrected(
        review("a", text="Great work"), review("same-platform", text="Great work"), *copies
    )
    reviews = reviews.with_correction(named(reviews, "anonymous"), "anonymize", "request", NOW)
    reviews = reviews.with_correction(named(reviews, "hidden"), "hide", "request", NOW)
    chosen = named(reviews, "a")
    if action == "erase":
        after = reviews.with_erasure(chosen, NOW)
    else:
        after = reviews.with_correction(chosen, action, "request", NOW)
    assert expected == {copy.id for copy in after.copies_left(chosen, action)}


@pytest.mark.parametrize("text", [None, "", "Great!"])
def test_text_of_less_than_two_words_has_no_copies(text: str | None) -> None:
    """Two people may have written it on one day."""
    reviews, _ = uncorrected(review("a", text=text), {**review("b", text=text), "source": "b"})
    chosen = named(reviews, "a")
    hidden = reviews.with_correction(chosen, "hide", "request", NOW)
    assert [] == hidden.copies_left(chosen, "hide")


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


@pytest.mark.parametrize(
    ("actions", "action"),
    [
        (["hide"], "hide"),
        (["hide-text"], "hide-text"),
        (["anonymize", "anonymize"], "anonymize"),
        (["anonymize", "hide"], "hide"),
        (["hide-text", "hide"], "hide"),
        (["anonymize", "hide-text"], "stars-only"),
        (["stars-only", "anonymize"], "stars-only"),
        (["stars-only", "hide"], "hide"),
    ],
)
def test_strictest_withholds_what_each_withholds(actions: list[Action], action: Action) -> None:
    corrections = [Correction(action=item, reason="spam", at=NOW) for item in actions]
    assert (action, "spam") == strictest(corrections)


def test_reason_is_that_of_the_strictest() -> None:
    corrections = [
        Correction(action="anonymize", reason="request", at=NOW),
        Correction(action="hide-text", reason="offensive", at=NOW),
    ]
    assert ("stars-only", "offensive") == strictest(corrections)


def passed(record: Mapping[str, object]) -> PassedCorrection:
    return PassedCorrection(record=record, action="hide", reason="spam", predecessors=["a"])


def test_passed_correction_finds_copies_and_leaves_others_alone() -> None:
    reviews, _ = uncorrected(*REVIEWS)
    before = reviews.with_correction(named(reviews, "a"), "restore", None, NOW).encoded()
    new = review("d", text="Other words")
    after = parse(with_passed(before, [passed(new), passed(REVIEWS[0])], [], [], NOW))
    assert {"a": "restore", "d": "hide"} == {name: it.action for name, it in after.reviews.items()}
    copy = Overlay(after).find(msgspec.convert({**new, "id": "e"}, Review))
    assert copy is not None
    assert "hide" == copy.action
    assert Overlay(after).find(msgspec.convert(REVIEWS[2], Review)) is None


def test_passed_correction_of_an_invalid_review_is_by_its_id() -> None:
    reviews, _ = uncorrected(*REVIEWS)
    before = reviews.with_correction(named(reviews, "a"), "hide", "spam", NOW).encoded()
    invalid = {"id": "d", "rating": "many"}
    after = parse(with_passed(before, [passed(invalid)], [], [], NOW))
    assert "hide" == after.reviews["d"].action
    assert after.reviews["d"].copies is None
    assert Overlay(after).of_id("d") is after.reviews["d"]


def test_passed_correction_needs_no_key_of_copies() -> None:
    after = parse(with_passed(b'{"reviews": {}}', [passed(review("d"))], [], [], NOW))
    assert (None, None) == (after.key, after.reviews["d"].copies)
