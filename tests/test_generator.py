"""The generated data sets: of the published shapes, the same every time, and like real reviews."""

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


def _ids(entities: tuple[str | Entity, ...]) -> set[str | None]:
    return {entity.id for entity in entities if isinstance(entity, Entity)}


def test_the_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_data(tmp_path / name, reviews=1200, seed=7)
    for file in ("reviews.json", "insights.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_without_insights_the_reviews_are_the_same_and_an_old_file_goes(tmp_path: Path) -> None:
    write_data(tmp_path, reviews=300)
    before = (tmp_path / "reviews.json").read_bytes()
    write_data(tmp_path, reviews=300, insights=False)
    assert before == (tmp_path / "reviews.json").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["reviews.json"]


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_there_are_as_many_reviews_as_asked_for(count: int, tmp_path: Path) -> None:
    """Where a comma could be missing or one too many."""
    write_data(tmp_path, reviews=count)
    file = msgspec.json.decode((tmp_path / "reviews.json").read_bytes(), type=_ReviewsFile)
    insights = msgspec.json.decode((tmp_path / "insights.json").read_bytes(), type=Insights)
    assert count == len(file.reviews)
    assert count >= len(insights.per_review) >= count // 2


def test_every_member_of_a_review_is_written(directory: Path) -> None:
    """All but stamps and locations, which only an import knows."""
    file = msgspec.json.decode((directory / "reviews.json").read_bytes())
    members = {field.encode_name for field in msgspec.structs.fields(Review)} - {
        *STAMPS,
        "location",
    }
    assert {frozenset(members)} == {frozenset(review) for review in file["reviews"]}


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


@pytest.mark.parametrize(
    ("needle", "least", "most"),
    [
        ("the", 0.6, 0.95),
        ("service", 0.1, 0.4),
        ("honest", 0.02, 0.2),
        ("é", 0.005, 0.1),
        ("xiomara", 0.0, 0.005),
    ],
)
def test_needles_are_dense_and_rare(
    needle: str, least: float, most: float, reviews: tuple[Review, ...]
) -> None:
    texts = [review.text.casefold() for review in reviews if review.text is not None]
    assert least <= sum(needle in text for text in texts) / len(texts) <= most
