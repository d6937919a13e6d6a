"""Merging: what is there stays byte for byte, and doing it twice changes nothing."""

import datetime
import io
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.merge import Merge
from reviewsctl.importing.merge_plan import MergePlan
from reviewsctl.importing.options import ImportOptions
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.review import Entry, PlatformReview, entry_of
from reviewsctl.importing.review_merge import stamp
from reviewsctl.importing.reviews_file import rewrite
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.staging import Staging
from reviewsd.domain.reviews import Review

UTC = datetime.UTC
NOW = datetime.datetime(2026, 11, 22, tzinfo=UTC)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
FOUND = st.builds(
    PlatformReview,
    source=st.sampled_from(["google", "yelp"]),
    key=st.none() | st.sampled_from(["a", "b", "c", "d"]),
    author=st.none() | TEXTS,
    rating=st.integers(1, 5),
    created=st.integers(0, 4_000_000_000).map(lambda at: datetime.datetime.fromtimestamp(at, UTC)),
    text=st.none() | TEXTS,
    source_url=st.sampled_from([None, "https://example.com/1"]),
    reply=st.none() | st.tuples(TEXTS, st.none()),
)
UNKNOWN = st.dictionaries(
    st.sampled_from(["x_a", "x_b", "id", "rating"]),
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
)


def entries(reviews: list[PlatformReview]) -> list[Entry]:
    return [entry_of(review, Settings(verified=True)) for review in reviews]


def merge(
    there: bytes | None, new: list[Entry], *, replace: bool = False
) -> tuple[bytes, MergeResult]:
    out = io.BytesIO()
    staged = Staging()
    for entry in new:
        staged.add(entry)
    options = ImportOptions(
        exports=[],
        target=Path("reviews.json"),
        format_name="auto",
        settings=Settings(),
        replace=replace,
        yes=False,
        dry_run=False,
        now=NOW,
    )
    replaced = dict.fromkeys(staged.places(), "") if replace else {}
    document = Document(there or b'{"business":{"name":"Acme"}}', "reviews.json")
    result = Merge(MergePlan(options=options, staged=staged, replaced=replaced)).run(document)
    rewrite(out, document, result.records, result.members, stamp(NOW))
    return out.getvalue(), result


def counts(result: MergeResult, *fates: Fate) -> tuple[int, ...]:
    """Return the numbers of reviews with these fates."""
    return tuple(map(result.count, fates))


@given(st.lists(FOUND), st.lists(UNKNOWN), st.booleans())
def test_a_second_import_changes_nothing(
    reviews: list[PlatformReview], existing: list[dict[str, object]], replace: bool
) -> None:
    there = json.dumps(
        {"business": {"name": "x"}, "reviews": existing}, ensure_ascii=False
    ).encode()
    first, _ = merge(there, entries(reviews), replace=replace)
    second, result = merge(first, entries(reviews), replace=replace)
    assert not result.is_different
    assert first == second


@given(st.lists(FOUND))
def test_order_of_export_does_not_matter_to_what_is_known(reviews: list[PlatformReview]) -> None:
    unique = {entry.key: entry for entry in entries(reviews)}
    text, result = merge(None, list(unique.values()))
    again, second = merge(text, list(reversed(unique.values())))
    assert counts(result, Fate.NEW) == counts(second, Fate.UNCHANGED)
    assert (0, 0) == counts(second, Fate.NEW, Fate.CHANGED)
    assert text == again


@given(st.lists(FOUND))
def test_merged_file_is_valid_to_the_daemon(reviews: list[PlatformReview]) -> None:
    text, _ = merge(None, entries(reviews))
    file = json.loads(text)
    ids = [review["id"] for review in file["reviews"]]
    assert len(set(ids)) == len(ids)
    msgspec.convert(file["reviews"], list[Review], strict=False)


@given(st.lists(UNKNOWN))
def test_record_without_changes_keeps_its_bytes(existing: list[dict[str, object]]) -> None:
    records = [json.dumps(record, indent=1, ensure_ascii=False) for record in existing]
    there = '{"x":1.50,"reviews" : [ ' + " ,".join(records) + ' ],"business":{"name":"x"}}'
    text, result = merge(there.encode(), [])
    assert (len(existing), 0) == counts(result, Fate.KEPT, Fate.NEW)
    for record in records:
        assert record in text.decode()
    assert "1.50" in text.decode()


def test_member_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(ImportRefusedError, match="not UTF-8"):
        merge(b'{"business": {}, "x_a": "\xff", "reviews": []}', [])


OLD, NEW = (
    PlatformReview(
        source="google",
        key="a",
        author="Jane",
        rating=4,
        created=datetime.datetime(2025, month, 1, tzinfo=UTC),
        text=text,
        edited=datetime.datetime(2025, month, 1, tzinfo=UTC),
    )
    for text, month in (("old", 2), ("new", 3))
)


def test_later_of_two_versions_counts_in_any_order() -> None:
    for order in ([OLD, NEW], [NEW, OLD]):
        text, result = merge(None, entries(order))
        assert ["new"] == [review["text"] for review in json.loads(text)["reviews"]]
        assert 1 == result.count(Fate.NEW)


def test_edited_review_whose_platform_gave_it_a_new_date_is_the_same() -> None:
    there, _ = merge(None, entries([OLD]))
    text, result = merge(there, entries([NEW]))
    (before,), (after,) = (json.loads(content)["reviews"] for content in (there, text))
    assert (0, 1) == counts(result, Fate.NEW, Fate.CHANGED)
    assert (before["id"], "new", "2025-03-01") == (after["id"], after["text"], after["date"])


def test_hand_made_ids_that_end_alike_stay_apart() -> None:
    """Only what comes from an export is found by the end of its id; a hash ends like no other."""
    alike = [{"id": f"01J9ZK3V5{number}0000000000000000"} for number in (1, 2)]
    text, result = merge(json.dumps({"reviews": alike}).encode(), [])
    assert alike == json.loads(text)["reviews"]
    assert 2 == result.count(Fate.KEPT)


def test_ours_are_merged_by_the_whole_id() -> None:
    there = b'{"reviews": [{"id": "01J9ZK3V500000000000000000", "rating": 1}]}'
    edited, same = (
        Entry(key=key, source="google", record={"id": key, **more})
        for key, more in (
            ("01J9ZK3V600000000000000000", dict[str, object]()),
            ("01J9ZK3V500000000000000000", {"rating": 2}),
        )
    )
    _, result = merge(there, [edited, same])

    assert (1, 1, 0) == counts(result, Fate.NEW, Fate.CHANGED, Fate.KEPT)


def test_null_and_absent_are_the_same() -> None:
    there = b'{"reviews": [{"id": "x", "text": null}]}'
    same = Entry(key="x", source="google", record={"id": "x", "text": None, "source_url": None})
    _, result = merge(there, [same])
    assert (1, 0) == counts(result, Fate.UNCHANGED, Fate.CHANGED)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (b'"x_tags":["boiler", 1e2],"x_n":1.50', b'"x_tags":["boiler", 1e2],"x_n":1.50'),
        (b'"y":"\\ud800","z":NaN', b'"y":"\xef\xbf\xbd","z":null'),
    ],
    ids=["verbatim", "what only lenient readers accept"],
)
def test_changed_review_keeps_members_that_no_export_has(members: bytes, expected: bytes) -> None:
    there = b'{"reviews": [{"id":"x","rating":1,%b}]}' % members
    text, _ = merge(there, [Entry(key="x", source="google", record={"id": "x", "rating": 5})])
    stamp = b'"changed_at":"2026-11-22T00:00:00Z"'
    assert b'{"id":"x","rating":5,%b,%b}' % (expected, stamp) in text
