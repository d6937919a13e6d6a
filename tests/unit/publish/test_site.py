"""Statistics and changes of all reviews, for pages and sitemaps."""

import json

import msgspec

from reviewsd.domain.dataset import load
from reviewsd.domain.reviews import Review
from reviewsd.pages.site import Statistics
from reviewsd.publish import site as sites
from tests.support.site import review


def test_sitemap_has_the_day_on_which_a_review_changed_last() -> None:
    """A crawler fetches a page again when that day is later than its last visit."""
    reviews = [
        review(1, date="2024-02-29"),
        review(2, date="2024-03-01", owner_reply={"text": "Thanks.", "date": "2024-03-05"}),
        review(3, date="2024-03-02", added_at="2026-11-24T08:30:00Z"),
    ]
    file = {"business": {"name": "Acme"}, "reviews": reviews}
    records = load(json.dumps(file).encode(), None).records

    result = [(review_id, str(day)) for review_id, day in sites.changes(records, 3)]

    assert [("r1", "2024-02-29"), ("r2", "2024-03-05"), ("r3", "2026-11-24")] == result


def counted(replies: list[dict[str, object]]) -> Statistics:
    """Return the statistics of reviews of one day with these replies."""
    statistics = Statistics()
    for number, reply in enumerate(replies, start=1):
        statistics.add(
            msgspec.convert(review(number, date="2024-03-01", owner_reply=reply), Review)
        )
    return statistics


def replied(*days: str) -> list[dict[str, object]]:
    return [{"text": "Thanks.", "date": day} for day in days]


LATER = replied("2024-03-04", "2024-03-05", "2024-03-06")


def test_reply_without_a_day_of_its_own_has_no_reply_time() -> None:
    """Its day is that of the review: the page said that half of all replies came on that day."""
    made_up: dict[str, object] = {"text": "Thanks.", "date": "2024-03-01", "undated": True}
    statistics = counted([made_up, made_up, *LATER])
    assert (5, 4) == (statistics.replies, statistics.median_reply_days)


def test_reply_before_its_review_has_no_reply_time() -> None:
    """It counted as a reply on the same day; ``check`` warns of it."""
    statistics = counted([*replied("2024-02-29", "2024-02-28"), *LATER])
    assert (5, 4) == (statistics.replies, statistics.median_reply_days)


def test_few_replies_have_no_reply_time() -> None:
    """One reply with a day said how soon half of all replies come."""
    assert None is counted(LATER[:2]).median_reply_days
    undated = [{**reply, "undated": True} for reply in LATER]
    assert 4 == counted([*undated, *LATER]).median_reply_days
    assert None is counted([*undated, *undated[:1], *LATER]).median_reply_days
