"""Equal bytes have equal entity tags, and different bytes different ones (contract 2)."""

from collections.abc import Sequence
from itertools import product

from reviewsd.http1 import urls
from tests.support.columns import Review, review
from tests.support.pages import NO_PAGES, Place
from tests.support.publishing import in_memory

IDS = ("a", "b", "c")
VERSIONS: tuple[tuple[int, str, str], ...] = (
    (5, "2025-01-01", "The boiler works."),
    (5, "2025-01-01", "The boiler works!"),
    (1, "2025-01-02", "The boiler works."),
)
DAYS = ("2024-12-31", "2025-01-01", "2025-01-02", "2025-01-03")
CURSOR = "MjAyNS0wMS0wMS9i"  # the 1st of January, b
SEARCHES = [
    "&".join(filter(None, parts))
    for parts in product(
        (
            "",
            "rating=5",
            "query=works.",
            "mentions_technician=sam",
            "mentions_aspect=price&sentiment=negative",
        ),
        ("", "limit=1", "limit=2", "until=2025-01-01"),
        ("", f"cursor={CURSOR}"),
    )
]


PRICE = {"id": "price", "sentiment": "negative"}


def as_written(review_id: str, version: tuple[int, str, str]) -> Review:
    rating, date, text = version
    return review(review_id, rating=rating, date=date, text=text)


ADDRESSES = [
    *(f"{urls.SINCE}{day}" for day in DAYS),
    *(f"{urls.SEARCH}?{query}" for query in SEARCHES),
    *(urls.REVIEWS, urls.INSIGHTS, urls.JSON_FEED, urls.ATOM_FEED),
    *(urls.json_page(CURSOR), urls.atom_page(CURSOR)),
]
"""Computed answers and documents."""


def publish(place: Place, reviews: Sequence[Review], name: str, mentioned: str) -> None:
    """Publish reviews, some of which mention a technician."""
    insight = {"technicians": ["Sam"], "aspects": [PRICE]}
    per_review = dict.fromkeys(mentioned, insight)
    insights = {"entities": {"technicians": ["Sam"]}, "per_review": per_review}
    place.publish(reviews, {"name": name}, insights)


class Client:
    """Remembers the tag of each body at an address, and the body of each tag."""

    def __init__(self) -> None:
        self.tags: dict[tuple[str, bytes], bytes] = {}
        self.bodies: dict[tuple[str, bytes], bytes] = {}

    def see(self, place: Place) -> None:
        for address in ADDRESSES:
            answer = place.get(address)
            body, tag = answer.body, answer.header("ETag").encode()
            assert tag == self.tags.setdefault((address, body), tag), address
            assert body == self.bodies.setdefault((address, tag), body), address


def test_tags_identify_bytes_for_every_change_of_three_reviews() -> None:
    """Each review is absent or in one of three versions; business and insights change as well."""
    with in_memory() as folder:
        place, client = Place(folder, settings=NO_PAGES), Client()
        for number, versions in enumerate(product((None, *VERSIONS), repeat=len(IDS))):
            reviews = [
                as_written(review_id, version)
                for review_id, version in zip(IDS, versions, strict=True)
                if version is not None
            ]
            publish(place, reviews, f"Acme {number % 2}", "ab"[number % 3 :])
            client.see(place)
