"""Look-up of corrections, and validation of corrections.json (corrections.md)."""

import datetime
import json
from typing import Any

import msgspec
import pytest

from reviewsd.api.texts import merge_key
from reviewsd.domain.corrected import Withheld
from reviewsd.domain.corrections import (
    REASONS,
    Correction,
    Corrections,
    Erasure,
    Overlay,
    copy_digest,
    load,
    version_digests,
)
from reviewsd.domain.json_file import Findings
from reviewsd.domain.reviews import Review

AT = "2026-11-24T09:12:00Z"
LATER = datetime.datetime(2026, 11, 25, tzinfo=datetime.UTC)
EARLIER = datetime.datetime(2026, 11, 24, tzinfo=datetime.UTC)
ID, EDITED = "01J9ZK3V5Q8R2N7M4T6W1X0YAB", "01K0000000" + "8R2N7M4T6W1X0YAB"
KEY = "a random key"


def review(review_id: str = ID, **members: object) -> Review:
    given = {
        "id": review_id,
        "author": "Jane Doe",
        "rating": 2,
        "date": "2026-10-01",
        "text": "They left at noon.",
        "source": "google",
        "verified": False,
    }
    return msgspec.json.decode(json.dumps(given | members), type=Review)


def findings(text: bytes) -> list[str]:
    """The faults of a corrections.json, a line each."""
    collected = Findings()
    assert load(text, collected) is None
    return collected.error().lines()


def file(**members: object) -> bytes:
    return json.dumps({"version": 1, **members}).encode()


def entry(action: str = "hide", **members: object) -> dict[str, object]:
    return {"action": action, "reason": "spam", "at": AT, **members}


def test_example_of_the_specification_is_valid() -> None:
    text = file(
        reviews={
            ID: entry(),
            "01JWNEY4808WV9J5H71G83J9QC": entry("hide-text", reason="personal-data"),
            "01HV6Q2J8ZC3K5M7N9P1R3T5V7": entry("anonymize", reason="request"),
            "gone-before": {"action": "restore", "at": AT},
        },
        key=KEY,
        erased={"8R2N7M4T6W1X0YAC": {"copies": "00" * 16, "at": AT}},
    )
    corrections = load(text, Findings())
    assert corrections is not None
    assert 4 == len(corrections.reviews)
    assert {"8R2N7M4T6W1X0YAC"} == corrections.erased.keys()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"", "corrections.json:1:1: invalid JSON: it ends too early"),
        (b"[]", "corrections.json: $: expected object, got array"),
        (
            b'{"version": 2, "pages": []}',
            "corrections.json: $.version: 2 is of a later reviewsd; this one knows 1",
        ),
        (file(reviews=[]), "corrections.json: $.reviews: expected object, got array"),
        (file(review={}), 'corrections.json: $.review: unknown key "review"'),
        (file(reviews={ID: {"action": "hide", "at": AT}}), f"(id {ID}): missing"),
        (file(reviews={ID: entry(reason="negative")}), "reason: expected"),
        (file(reviews={ID: entry("remove")}), "action: expected"),
        (file(reviews={ID: entry(at="yesterday")}), "at: "),
        (b'{"version": 1, "reviews": {}, "reviews": {}}', 'member "reviews" twice'),
    ],
)
def test_faulty_file_is_refused_with_its_fault(text: bytes, fault: str) -> None:
    (line, *_) = findings(text)
    assert fault in line


def test_no_reason_says_that_a_review_is_negative() -> None:
    """Deleting reviews because they are negative is banned (EU 2005/29/EC annex I 23c)."""
    assert not {"negative", "other"} & set(REASONS)
    assert 10 == len(REASONS)


def test_version_of_a_review_with_another_date_has_the_same_correction() -> None:
    assert merge_key(ID) == merge_key(EDITED) == "8R2N7M4T6W1X0YAB"
    assert "shop-17" == merge_key("shop-17")
    hide = Correction(action="hide", reason="spam", at=LATER)
    assert hide == Overlay(Corrections(reviews={ID: hide})).find(review(EDITED))
    assert None is Overlay(Corrections(reviews={ID: hide})).find(review("another"))


def test_later_of_two_corrections_of_a_review_counts() -> None:
    hide = Correction(action="hide", reason="spam", at=EARLIER)
    restore = Correction(action="restore", at=LATER)
    assert restore == Overlay(Corrections(reviews={ID: restore, EDITED: hide})).find(review())


def test_erased_review_stays_erased_whatever_else_is_said() -> None:
    erasure = Erasure(at=EARLIER)
    restore = Correction(action="restore", at=LATER)
    both = Corrections(reviews={ID: restore}, erased={merge_key(ID): erasure})
    assert erasure == Overlay(both).find(review())


@pytest.mark.parametrize(
    ("copy", "is_found"),
    [
        (review("another-tool", author="JANE  doe", text="They left\nat noon."), True),
        (review("another-tool", source="Google"), True),
        (review("another-tool", rating=3), False),
        (review("another-tool", date="2026-10-02"), False),
        (review("another-tool", author="John Doe"), False),
        (review("another-tool", source="yelp"), False),
        (review("another-tool", text="They left at one."), False),
    ],
)
def test_copy_of_another_tool_has_the_same_correction(copy: Review, *, is_found: bool) -> None:
    erasure = Erasure(at=LATER, copies=copy_digest(KEY, review()))
    overlay = Overlay(Corrections(key=KEY, erased={merge_key(ID): erasure}))
    assert (erasure if is_found else None) == overlay.find(copy)


OTHER = "Other words of a customer."


def erasure_of(erased: Review) -> Erasure:
    members: dict[str, Any] = {**version_digests(KEY, erased)}
    return Erasure(at=LATER, **members)


def is_like_erased(overlay: Overlay, edited: Review) -> bool:
    """Return whether a review has a digest of an erased one."""
    return any(map(overlay.count_erased, overlay.version_digests(edited).values()))


@pytest.mark.parametrize(
    ("edited", "is_found"),
    [
        (review("new", author="JANE  doe", text=OTHER, rating=5, source="Google"), True),
        (review("new", author="Jane D.", text=OTHER), True),
        (review("new", author="John Doe"), True),
        (review("new", author="Anonymous"), True),
        (review("new", date="2026-10-02"), True),
        (review("new", author="John Doe", text=OTHER), False),
        (review("new", date="2026-10-02", text=OTHER), False),
        (review("new", author="Anonymous", text=OTHER), False),
        (review("new", author="John Doe", date="2026-10-02", rating=5), True),
        (review("new", source="yelp"), False),
    ],
)
def test_author_with_day_or_all_erased_words_is_known(edited: Review, *, is_found: bool) -> None:
    erasure = erasure_of(review())
    overlay = Overlay(Corrections(key=KEY, erased={merge_key(ID): erasure}))
    assert is_found == is_like_erased(overlay, edited)


@pytest.mark.parametrize(
    ("members", "is_found"),
    [
        ({"rating": 2}, True),
        ({"text": "They broke it"}, False),
        ({"author": "John Doe"}, True),
        ({"author": "A Google user", "text": None}, False),
        ({"date": "2026-10-02"}, False),
        ({"rating": 2, "text": "They broke it"}, False),
        ({"author": "John Doe", "text": None}, False),
    ],
)
def test_erased_words_are_known_without_name(members: dict[str, object], *, is_found: bool) -> None:
    """Few words on another day are those of many people."""
    facts: dict[str, object] = {"author": "Anonymous", "text": "Very good!", "rating": 5}
    erased, edited = review(ID, **facts), review(ID, **(facts | members))
    erasure = erasure_of(erased)
    overlay = Overlay(Corrections(key=KEY, erased={merge_key(ID): erasure}))
    assert is_found is is_like_erased(overlay, edited)


def test_versions_of_an_erased_review_are_not_known_without_its_digests() -> None:
    """It was erased without a name and words, or by an earlier version."""
    erased = {merge_key(ID): Erasure(at=LATER)}
    for key in (KEY, None):
        overlay = Overlay(Corrections(key=key, erased=erased))
        assert not is_like_erased(overlay, review())


def test_stars_alone_without_a_name_have_no_copies() -> None:
    """Two customers may have given the same stars on one day."""
    assert None is copy_digest(KEY, review(author="A Google user", text=None))
    assert None is not copy_digest(KEY, review(author="Jane Doe", text=None))


def test_digest_of_copies_says_nothing_without_its_key() -> None:
    digest = copy_digest(KEY, review())
    assert digest is not None
    assert copy_digest("another key", review()) != digest
    assert 32 == len(digest)


@pytest.mark.parametrize(
    ("withheld", "wordless", "sentence"),
    [
        ({}, 0, ""),
        ({"spam": 1}, 0, "1 of 3 reviews is not shown by the owner (1 spam)"),
        ({"spam": 1}, 1, "1 of 2 reviews is shown without its words by the owner (1 spam)"),
        ({"spam": 2}, 2, "2 of 2 reviews are shown without their words by the owner (2 spam)"),
    ],
)
def test_readers_are_told_of_one_and_of_several(
    withheld: dict[str, int], wordless: int, sentence: str
) -> None:
    assert sentence == Withheld(reasons=withheld, wordless=wordless).sentence(2)


def test_short_text_of_an_erased_review_is_known_on_another_day_by_its_author() -> None:
    old, new = (
        version_digests(KEY, review(text="Never called", date=day))
        for day in ("2026-10-01", "2026-10-02")
    )
    assert {"author_words"} == {name for name, digest in old.items() if new[name] == digest}
    assert "author_words" not in version_digests(KEY, review(text="They never called me back"))
