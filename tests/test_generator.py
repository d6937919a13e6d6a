"""The generated data sets: of the published shapes, the same every time, and like real reviews."""

import datetime
import itertools
import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from reviewsd.domain.insights import Entity, Insights
from reviewsd.domain.reviews import Business, Review
from reviewsd.domain.times import STAMPS
from tests.support.generate import write_data


class _ReviewsFile(msgspec.Struct, frozen=True):
    business: Business
    reviews: tuple[Review, ...]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generated")
    write_data(folder, reviews=2000)
    return folder


@pytest.fixture(scope="module")
def reviews(directory: Path) -> tuple[Review, ...]:
    return msgspec.json.decode((directory / "reviews.json").read_bytes(), type=_ReviewsFile).reviews


@pytest.fixture(scope="module")
def insights(directory: Path) -> Insights:
    return msgspec.json.decode((directory / "insights.json").read_bytes(), type=Insights)


@pytest.fixture(scope="module")
def texts(reviews: tuple[Review, ...]) -> list[str]:
    return [review.text for review in reviews if review.text is not None]


def _share(texts: list[str], needle: str) -> float:
    return sum(needle in text.casefold() for text in texts) / len(texts)


def _ids(entities: tuple[str | Entity, ...]) -> set[str | None]:
    return {entity.id for entity in entities if isinstance(entity, Entity)}


def test_the_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_data(tmp_path / name, reviews=1200, seed=7)
    for file in ("reviews.json", "insights.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_another_seed_gives_other_reviews(tmp_path: Path) -> None:
    write_data(tmp_path / "one", reviews=50, seed=1)
    write_data(tmp_path / "two", reviews=50, seed=2)
    one, two = ((tmp_path / name / "reviews.json").read_bytes() for name in ("one", "two"))
    assert one != two


def test_without_insights_the_reviews_are_the_same_and_an_old_file_goes(tmp_path: Path) -> None:
    write_data(tmp_path, reviews=300)
    before = (tmp_path / "reviews.json").read_bytes()
    write_data(tmp_path, reviews=300, insights=False)
    assert before == (tmp_path / "reviews.json").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["reviews.json"]


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001])
def test_there_are_as_many_reviews_as_asked_for(count: int, tmp_path: Path) -> None:
    """Around the size of a batch, where a comma could be missing or one too many."""
    counts: list[int] = []
    write_data(tmp_path, reviews=count, progress=counts.append)
    file = msgspec.json.decode((tmp_path / "reviews.json").read_bytes(), type=_ReviewsFile)
    insights = msgspec.json.decode((tmp_path / "insights.json").read_bytes(), type=Insights)
    assert count == len(file.reviews)
    assert len(insights.per_review) == insights.review_count
    assert count == max(counts, default=0)


def test_every_member_of_a_review_is_written(directory: Path) -> None:
    """All but stamps and locations, which only an import knows."""
    file = msgspec.json.decode((directory / "reviews.json").read_bytes())
    members = {field.encode_name for field in msgspec.structs.fields(Review)} - {
        *STAMPS,
        "location",
    }
    assert {frozenset(members)} == {frozenset(review) for review in file["reviews"]}


def test_ids_are_ulids_of_the_day_and_unique(reviews: tuple[Review, ...]) -> None:
    assert len(reviews) == len({review.id for review in reviews})
    digits = {digit: value for value, digit in enumerate("0123456789ABCDEFGHJKMNPQRSTVWXYZ")}
    for review in reviews:
        assert len(review.id) == 26
        milliseconds = sum(digits[c] * 32 ** (9 - at) for at, c in enumerate(review.id[:10]))
        moment = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC)
        assert review.date == moment.date()


def test_insights_name_only_what_exists(reviews: tuple[Review, ...], insights: Insights) -> None:
    ids = {review.id for review in reviews}
    assert set(insights.per_review) <= ids
    entities = insights.entities
    for analysis in insights.per_review.values():
        assert set(analysis.technicians) <= _ids(entities.technicians)
        assert set(analysis.services) <= _ids(entities.services)
        assert set(analysis.problems) <= _ids(entities.problems)
        assert set(analysis.service_areas) <= _ids(entities.service_areas)
        assert set(analysis.topics) <= _ids(insights.topics)
    for entity in (*entities.technicians, *entities.services, *insights.aspects):
        assert isinstance(entity, Entity)
        assert set(entity.example_review_ids) <= ids


def test_counts_of_mentions_are_exact(insights: Insights) -> None:
    counted = Counter(
        service for analysis in insights.per_review.values() for service in analysis.services
    )
    stated = {
        entity.id: entity.mention_count
        for entity in insights.entities.services
        if isinstance(entity, Entity)
    }
    assert counted == +Counter(stated)


def test_ratings_are_shared_out_as_in_real_reviews(reviews: tuple[Review, ...]) -> None:
    counts = Counter(review.rating for review in reviews)
    for rating, expected in {5: 0.62, 4: 0.17, 3: 0.07, 2: 0.05, 1: 0.09}.items():
        assert counts[rating] / len(reviews) == pytest.approx(expected, abs=0.03)


def test_dates_grow_over_eight_years_and_come_in_no_order(reviews: tuple[Review, ...]) -> None:
    dates = [review.date for review in reviews]
    years = Counter(date.year for date in dates)
    assert datetime.date(2017, 7, 1) <= min(dates)
    assert max(dates) <= datetime.date(2025, 6, 30)
    assert years[2018] * 2 < years[2024]
    weekdays = Counter(date.weekday() for date in dates)
    assert weekdays[6] < weekdays[0]
    rising = sum(one < two for one, two in itertools.pairwise(dates))
    assert rising / len(dates) == pytest.approx(0.5, abs=0.05)


def test_replies_come_to_three_reviews_in_ten_and_later(reviews: tuple[Review, ...]) -> None:
    replies = [(review, review.owner_reply) for review in reviews if review.owner_reply]
    assert len(replies) / len(reviews) == pytest.approx(0.3, abs=0.03)
    assert all(review.date <= reply.date for review, reply in replies)


def test_lengths_are_log_normal(reviews: tuple[Review, ...], texts: list[str]) -> None:
    lengths = sorted(map(len, texts))
    assert 1 - len(texts) / len(reviews) == pytest.approx(0.12, abs=0.025)
    assert lengths[len(lengths) // 2] == pytest.approx(180, rel=0.1)
    assert sum(lengths) / len(lengths) > 1.2 * lengths[len(lengths) // 2]
    assert lengths[0] < 40
    assert lengths[-1] > 1200


def test_words_follow_zipf_with_many_rare_ones(texts: list[str]) -> None:
    words = Counter(word for text in texts for word in re.findall(r"\w+", text.casefold()))
    assert 4_000 < len(words) < 10_000
    assert sum(count == 1 for count in words.values()) > len(words) / 4
    (most_common, count), *_ = words.most_common(1)
    assert most_common == "the"
    assert 0.02 < count / words.total() < 0.08


@pytest.mark.parametrize(
    ("needle", "least", "most"),
    [
        ("e", 0.95, 1.0),
        ("the", 0.6, 0.95),
        ("great", 0.1, 0.4),
        ("service", 0.1, 0.4),
        ("boiler", 0.05, 0.2),
        ("honest", 0.02, 0.2),
        ("é", 0.005, 0.1),
        ("xiomara", 0.0, 0.005),
    ],
)
def test_needles_are_dense_and_rare(
    needle: str, least: float, most: float, texts: list[str]
) -> None:
    assert least <= _share(texts, needle) <= most


def test_no_sentence_makes_up_more_than_three_per_cent(texts: list[str]) -> None:
    sentences = Counter(
        sentence
        for text in texts
        for sentence in {part.strip().casefold() for part in re.split(r"[.!]+(?:\s|$)", text)}
        - {""}
    )
    assert sentences.most_common(1)[0][1] < 0.03 * len(texts)


def test_some_texts_have_emoji_capitals_and_other_scripts(texts: list[str]) -> None:
    assert sum(bool(re.search("[\U0001f300-\U0001faff]", t)) for t in texts) / len(texts) > 0.03
    assert 0.002 < sum(bool(re.search("[а-я]", t)) for t in texts) / len(texts) < 0.05  # noqa: RUF001 - Cyrillic
    assert sum(bool(re.search(r"\b[A-Z]{4,} [A-Z]{2,}\b", t)) for t in texts) / len(texts) > 0.02


def test_seven_in_ten_are_analysed_and_mentions_are_dense_and_rare(insights: Insights) -> None:
    assert len(insights.per_review) / 2000 == pytest.approx(0.7, abs=0.03)
    technicians = [
        e.mention_count or 0 for e in insights.entities.technicians if isinstance(e, Entity)
    ]
    assert (
        len(technicians),
        len(insights.entities.services),
        len(insights.aspects),
    ) == (40, 25, 12)
    assert max(technicians) == technicians[0]
    assert technicians[0] / 2000 == pytest.approx(0.12, abs=0.02)
    assert min(technicians) < 10
