"""Each platform's export has the reviews that its documented fields say."""

import dataclasses

import msgspec
import pytest

from reviewsctl.importing.format import Row
from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import chosen
from reviewsctl.importing.settings import Settings
from reviewsd.domain.reviews import Review
from tests.support.shop import SAMPLES, records

Said = tuple[str, str, int, str, str | None, bool, str | None]
"""Source, author, rating, date, text, verified, and the date of the reply."""

EXPECTED: dict[str, list[Said]] = {
    "outscraper_trustpilot.csv": [
        ("trustpilot", "Jane Doe", 5, "2021-05-28", "Great firm\n\nThey came at once.", False,
         "2021-05-29"),
        ("trustpilot", "Max Power", 1, "2021-05-27", "Never came. I waited all day.", True, None),
    ],
    "facebook.json": [
        ("facebook", "Jane Doe", 5, "2025-03-14", "Great work, thanks.", False, None),
        ("facebook", "Max Power", 1, "2024-02-03", None, False, None),
        ("facebook", "Old Star", 4, "2016-05-01", "Good.", False, None),
    ],
    "apify_facebook.json": [
        ("facebook", "Jane Doe", 5, "2025-03-14", "Great work, thanks.", False, None),
        ("facebook", "Max Power", 1, "2024-02-03", "Never came.", False, None),
    ],
    "tripadvisor.json": [
        ("tripadvisor", "JaneD", 5, "2024-04-10",
         "A lovely evening\n\nWe had the best table of the house.", False, "2024-04-12"),
        ("tripadvisor", "MaxP", 2, "2024-03-01", "Cold food.", False, None),
    ],
    "apify_tripadvisor.json": [
        ("tripadvisor", "Jane D", 5, "2024-04-10",
         "A lovely evening\n\nWe had the best table of the house.", False, "2024-04-12"),
    ],
    "places_legacy.json": [
        ("google", "Jane Doe", 5, "2025-03-14", "Great work.", False, None),
        ("google", "Uwe B", 4, "2024-03-14", "Very good", False, None),
    ],
    "google_batch.json": [
        ("google", "Jane Doe", 5, "2025-03-14", "Great work.", False, None),
        ("google", "Max Power", 2, "2025-02-03", None, False, None),
    ],
    "serpapi.json": [
        ("google", "Jane Doe", 5, "2025-03-14", "Great work.", False, "2025-03-15"),
        ("google", "Uwe B", 4, "2024-03-14", "Sehr gut", False, None),
    ],
    "yotpo.json": [
        ("yotpo", "Jane D.", 5, "2025-03-14", "Perfect\n\nFits well.", True, "2025-03-15"),
        ("yotpo", "Max P.", 2, "2025-02-03", "Too small.", False, None),
    ],
    "yotpo.csv": [
        ("yotpo", "Jane D.", 5, "2025-03-14", "Perfect\n\nFits well.", True, None),
        ("yotpo", "Max P.", 2, "2025-02-23", "Too small.", False, None),
    ],
    "judgeme.json": [
        ("judge.me", "Camille Rousseau", 5, "2025-03-02", "Top\n\nVery good quality.", True, None),
        ("judge.me", "Tom", 4, "2025-03-01", "Ok\n\nConfirmed by e-mail only.", False, None),
    ],
    "judgeme.csv": [
        ("judge.me", "Camille Rousseau", 5, "2025-03-02", "Top\n\nVery good quality.", False,
         "2025-03-03"),
    ],
    "stamped.json": [
        ("stamped", "Jane Doe", 5, "2025-03-14", "Smooth\n\nMixes clean with no clumps.", True,
         "2025-03-14"),
        ("stamped", "Max", 3, "2025-02-03", "Hm.", False, None),
    ],
    "podium.json": [
        ("google", "Jane Doe", 5, "2025-03-14", "Great", False, "2025-03-15"),
        ("facebook", "Max Power", 1, "2025-02-03", None, False, None),
    ],
    "yelp.json": [  # 23:41 in San Francisco, by UTC the next day
        ("yelp", "Ella A.", 5, "2016-08-30", "Went back again to this place since...", False, None),
    ],
    "outscraper.csv": [  # MM/DD/YYYY
        ("google", "Jane Doe", 5, "2025-03-14", 'Great, "fast" work.\nTwo lines.', False,
         "2025-03-15"),
        ("google", "Star Only", 4, "2025-02-03", None, False, None),
    ],
    "birdeye.json": [
        ("google", "Jane Doe", 5, "2025-03-14", "Great work.", False, "2025-03-15"),
        ("facebook", "Max Power", 5, "2025-02-03", "They came at once.", False, None),
    ],
    "deutsch.csv": [
        ("import", "Jörg Müller", 4, "2025-03-14", "Gut\n\nSchnell und sauber gearbeitet.", True,
         "2025-03-14"),
        ("import", "Uwe Braun", 2, "2024-10-03", "Kam zu spät, sehr ärgerlich.", False, None),
    ],
    "francais.csv": [
        ("import", "Camille Rousseau", 5, "2025-03-14",
         "Parfait\n\nTravail rapide et soigné, merci.", False, "2025-03-14"),
        ("import", "Luc Petit", 3, "2024-08-02", "Correct mais un peu cher.", False, None),
    ],
    "espanol.csv": [
        ("import", "José Ñandú", 5, "2025-03-14", "Perfecto\n\nMuy rápido y muy amable.", False,
         "2025-03-14"),
        ("import", "Ana Ruiz", 1, "2024-08-02", "No vinieron nunca a la cita.", False, None),
    ],
}  # fmt: skip


def settings(*, recommended: bool = True, best: int | None = None) -> Settings:
    return Settings(verified=False, scale=Scale(best=best, recommended=recommended))


def read(name: str, how: Settings) -> tuple[list[bytes], list[str]]:
    return records(parts_of(SAMPLES / name), how)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_review_is_what_the_export_says_and_valid_to_the_daemon(name: str) -> None:
    result, _ = read(name, settings(best=5 if name == "francais.csv" else None))
    reviews = [msgspec.json.decode(record, type=Review) for record in result]

    assert EXPECTED[name] == [
        (
            review.source,
            review.author,
            review.rating,
            review.date.isoformat(),
            review.text,
            review.verified,
            review.owner_reply.date.isoformat() if review.owner_reply else None,
        )
        for review in reviews
    ]
    assert "@" not in b"".join(result).decode()


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
