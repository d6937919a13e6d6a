"""Each platform's export has the reviews that its documented fields say."""

import dataclasses
import json
import re

import msgspec
import pytest

from reviewsctl.importing.format import Row
from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import chosen
from reviewsctl.importing.settings import Settings
from reviewsd.domain.reviews import Review
from tests.support.shop import SAMPLES, records

EXPECTED: dict[str, list[list[object]]] = {}
"""Source, author, rating, date, text, verified, and the date and text of the reply of each review of a sample."""

for _line in (SAMPLES.parent / "expected.jsonl").read_text().splitlines():
    _name, *_review = json.loads(_line)
    EXPECTED.setdefault(_name, []).append(_review)


def settings(*, recommended: bool = True, best: int | None = None) -> Settings:
    return Settings(verified=False, scale=Scale(best=best, recommended=recommended))


def read(name: str, how: Settings) -> tuple[list[bytes], list[str]]:
    return records(parts_of(SAMPLES / name), how)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_review_is_what_the_export_says_and_valid_to_the_daemon(name: str) -> None:
    """Outscraper writes the month first; the time of Yelp is that of San Francisco, by UTC the next day.

    Of an author without a name, here "Hidden", and of addresses nothing is taken.
    """
    result, _ = read(name, settings(best=5 if name == "francais.csv" else None))
    reviews = [msgspec.json.decode(record, type=Review) for record in result]

    assert EXPECTED[name] == [
        [
            review.source,
            review.author,
            review.rating,
            review.date.isoformat(),
            review.text,
            review.verified,
            review.owner_reply and [review.owner_reply.date.isoformat(), review.owner_reply.text],
        ]
        for review in reviews
    ]
    assert not re.search("@|Hidden", b"".join(result).decode())


def test_recommendation_is_refused_without_the_setting() -> None:
    reason = (
        "a recommendation has no stars (--set recommended=yes takes it as 5, its opposite as 1)"
    )
    assert [reason, reason] == read("facebook.json", settings(recommended=False))[1]
    assert [reason, reason] == read("apify_facebook.json", settings(recommended=False))[1]
    assert [reason] == read("birdeye.json", settings(recommended=False))[1]


@pytest.mark.parametrize(
    ("name", "column"),
    [("yotpo.csv", "Review Status"), ("judgeme.csv", "curated"), ("judgeme.json", "hidden")],
)
def test_review_that_its_platform_withholds_is_skipped(name: str, column: str) -> None:
    assert [f'not public (column "{column}")'] == read(name, settings())[1]


def test_verification_of_the_export_overrides_the_operator() -> None:
    how = dataclasses.replace(settings(), verified=True)
    stated = [msgspec.json.decode(record)["verified"] for record in read("yotpo.json", how)[0]]
    unsaid = [msgspec.json.decode(record)["verified"] for record in read("serpapi.json", how)[0]]
    assert ([True, False], [True, True]) == (stated, unsaid)


def test_a_review_of_google_is_one_with_and_without_its_name() -> None:
    export = chosen(parts_of(SAMPLES / "google_api.json"), "auto")
    reader = export.format.reader(export.sources[0].head, settings())
    fields = dict(export.sources[0].head.sample[0])
    named = reader(Row({**fields, "name": "accounts/1/locations/2/reviews/X", "reviewId": "X"}))
    without = {name: value for name, value in fields.items() if name != "name"}
    assert named.key == reader(Row({**without, "reviewId": "X"})).key
