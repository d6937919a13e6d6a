"""Documents as they are served: canonical, complete, faithful (data-model.md 1 and 2, contract 1).

The property tests compare with a second, plain reading of the data model: ``filled``.
"""

import json
from contextlib import suppress
from decimal import ROUND_HALF_UP, Decimal
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import Dataset, load
from reviewsd.domain.insights import Insights
from reviewsd.domain.insights_file import InsightsFile
from reviewsd.domain.reviews import Review, mean
from reviewsd.publish import documents
from tests.support.broken import INSIGHTS, REVIEWS, Document, encoded, nearly
from tests.support.datasets import REVIEWS_FILE, expected_of, spelled

LEAST = {"business": {"name": "A"}, "reviews": []}


def served(text: bytes) -> bytes:
    """``/reviews.json`` for a reviews file."""
    dataset = load(text, None)
    records = [
        documents.render_review(raw, msgspec.json.decode(raw, type=Review))
        for raw in dataset.records
    ]
    return documents.reviews_head(dataset) + b",".join(records) + documents.reviews_tail(dataset)


def dataset_of(**members: object) -> Dataset:
    return load(encoded(LEAST | members), None)


def review_of(**members: object) -> Document:
    return {**REVIEWS["reviews"][0], **members}


def rated(*ratings: int) -> list[Document]:
    return [review_of(id=f"r{index}", rating=rating) for index, rating in enumerate(ratings)]


@given(stars=st.dictionaries(st.integers(1, 5), st.integers(1, 10**6), min_size=1))
def test_the_mean_is_that_of_decimal_arithmetic(stars: dict[int, int]) -> None:
    total = Decimal(sum(rating * count for rating, count in stars.items()))
    expected = (total / sum(stars.values())).quantize(Decimal("0.01"), ROUND_HALF_UP)
    assert expected == Decimal(str(mean(stars)))


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"updated_at": "2025-06-01T04:00:00Z"}, "2025-06-01T04:00:00Z"),
        ({"updated_at": "2025-06-01t04:00:00z"}, "2025-06-01T04:00:00Z"),
        ({"updated_at": "2025-06-01 04:00:00+00:00"}, "2025-06-01T04:00:00Z"),
        ({"updated_at": "2025-01-01T01:30:00+02:00"}, "2024-12-31T23:30:00Z"),
        ({"updated_at": "2024-12-31T20:00:00-05:45"}, "2025-01-01T01:45:00Z"),
        ({"updated_at": "2025-06-01T04:00:00.25Z"}, "2025-06-01T04:00:00.250000Z"),
        ({"updated_at": "2025-06-01T04:00:00.000001+14:00"}, "2025-05-31T14:00:00.000001Z"),
        ({"updated_at": "0001-01-01T00:00:00Z"}, "0001-01-01T00:00:00Z"),
        ({"updated_at": "2020-01-01T00:00:00Z", "reviews": rated(5)}, "2020-01-01T00:00:00Z"),
        ({"updated_at": None, "reviews": rated(5)}, "2025-03-14T12:00:00Z"),
        ({"reviews": [review_of(), review_of(id="b", date="2025-03-15")]}, "2025-03-15T12:00:00Z"),
        ({"reviews": REVIEWS["reviews"]}, "2025-03-15T12:00:00Z"),  # of a reply
        (
            {"reviews": [*rated(5), review_of(id="b", added_at="2026-11-24T08:30:00Z")]},
            "2026-11-24T08:30:00Z",
        ),
        ({"reviews": [review_of(changed_at="2025-03-14T01:30:00+02:00")]}, "2025-03-13T23:30:00Z"),
        ({"updated_at": None}, None),
        ({}, None),
    ],
)
def test_updated_at_comes_from_the_data(members: Document, expected: str | None) -> None:
    assert expected == documents.updated_at(dataset_of(**members))


def loaded(given: bytes, **members: object) -> tuple[InsightsFile, Dataset]:
    """Load insights, and the reviews beside them."""
    dataset = load(encoded(LEAST | members), given)
    assert dataset.insights is not None
    return dataset.insights, dataset


def insights_of(given: Document, **members: object) -> str:
    return b"".join(documents.render_insights(*loaded(encoded(given), **members))).decode()


FILLED_IN = {
    "version": 1,
    "generated_at": "2025-03-14T12:00:00Z",
    "model": "unknown",
    "date_range": {"earliest": None, "latest": None},
    "aspects": [],
    "entities": {"technicians": [], "services": [], "problems": [], "service_areas": []},
    "topics": [],
    "temporal": {"monthly": []},
    "per_review": {},
    "faq": [],
}


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ({}, {}),
        ({"per_review": {"r1": {}, "r0": {"score": 1}}}, {"review_count": 2}),
        ({"generated_at": None, "summary": None}, {}),
        (
            {
                "pull_quote": "Q",
                "summary": "S",
                "z": 1,
                "y": 2,
                "a": 3,
                "b": 4,
                "Ä": [{"b": 1, "a": 2}],
            },
            {},
        ),
        (
            {"review_count": 7, "date_range": {}, "entities": {"services": ["b", {"label": "a"}]}},
            {},
        ),
        (dict(reversed(INSIGHTS.items())), {}),
    ],
)
def test_insights_are_as_given_and_filled_in_at_the_top(given: Document, changed: Document) -> None:
    """Nested values do not change, nor does their order; figures are not invented."""
    members_with_defaults = FILLED_IN | changed | given
    known_members = {
        name: members_with_defaults[name]
        for name in Insights.__struct_fields__
        if name in members_with_defaults
    }
    expected = known_members | {
        name: given[name] for name in sorted(given.keys() - known_members.keys())
    }
    # escapes stay too, so no ensure_ascii=False
    names = json.dumps(expected, separators=(",", ":")).replace(r'"\u00c4":', '"Ä":')
    assert names == insights_of(given, reviews=rated(5))


def test_entry_without_an_id_is_one_entry() -> None:
    """It was taken for the part of made insights that has all entries."""
    parts = dict(documents.insights_parts(*loaded(encoded({"per_review": {"": {}}}))))
    assert b"{}" == parts[""]


def test_omitted_member_has_no_value() -> None:
    with pytest.raises(ValueError, match="overall_sentiment is omitted"):
        documents.insights_member(*loaded(b"{}"), "overall_sentiment")


def test_an_empty_set_has_insights_of_no_time() -> None:
    assert json.loads(insights_of({}))["generated_at"] is None


def test_insights_keep_the_spelling_of_numbers() -> None:
    text = b'{ "version" : 10 , "x" : [ 1.10 , 1e400 , -0 ] , "overall_sentiment" : { "score" : 0.50 } }'
    document_bytes = b"".join(documents.render_insights(*loaded(text)))
    assert document_bytes.startswith(b'{"version":10,"generated_at":null,')
    assert b'"overall_sentiment":{"score":0.50},' in document_bytes
    assert document_bytes.endswith(b',"faq":[],"x":[1.10,1e400,-0]}')


# Any data set, against a plain reading of the data model


@given(document=REVIEWS_FILE, random=st.randoms(use_true_random=False))
def test_a_data_set_has_one_form_however_it_is_written(document: Document, random: Random) -> None:
    """Whatever the white space, the escapes and the order of the members; and it is its own form."""
    expected = spelled(expected_of(document))
    document_bytes = served(spelled(document, random).encode())
    assert expected == document_bytes.decode()
    assert document_bytes == served(document_bytes)


@given(document=nearly(REVIEWS), insights=nearly(INSIGHTS))
def test_valid_dataset_can_be_rendered(document: Document, insights: Document) -> None:
    with suppress(DataError):
        document_bytes = served(encoded(document))
        assert document_bytes == served(document_bytes)
    with suppress(DataError):
        document_bytes = insights_of(insights).encode()
        assert document_bytes.decode() == insights_of(json.loads(document_bytes))
