"""Equal bytes have equal entity tags, others different ones, whatever else has changed (contract 2)."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock

from reviewsd.http1 import urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.snapshot import snapshots as module
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.web.reads import Reads
from tests.support.columns import Review, review
from tests.support.examples import examples
from tests.support.publishing import Directories, in_memory
from tests.support.workload import workload

IDS = ("a", "b", "c")
VERSIONS: tuple[tuple[int, str, str], ...] = (
    (5, "2025-01-01", "The boiler works."),
    (5, "2025-01-01", "The boiler works!"),
    (1, "2025-01-02", "The boiler works."),
)
DAYS = ("2024-12-31", "2025-01-01", "2025-01-02", "2025-01-03")
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
        ("", f"cursor={'MjAyNS0wMS0wMS9i'}"),  # the 1st of January, b
    )
]


PRICE = {"id": "price", "sentiment": "negative"}


def as_written(review_id: str, version: tuple[int, str, str]) -> Review:
    rating, date, text = version
    return review(review_id, rating=rating, date=date, text=text)


class Harness:
    """Answers from a data directory that changes."""

    def __init__(self, place: Path) -> None:
        self.directories = Directories(place)
        self.snapshots = Snapshots(self.directories.snapshots)
        self.clock = Clock()
        replies = Responses("https://a.example", "public", lambda: 0.0)
        self.reads = Reads(self.snapshots, replies, workload(self.clock))

    def publish(self, reviews: Sequence[Review], name: str = "Acme", mentioned: str = "") -> None:
        per_review = {each: {"technicians": ["Sam"], "aspects": [PRICE]} for each in mentioned}
        insights = {"entities": {"technicians": ["Sam"]}, "per_review": per_review}
        self.directories.write(*reviews, name=name, insights=insights)
        self.directories.publish()
        self.snapshots.refresh()

    def answers(self) -> Iterator[tuple[str, bytes, bytes]]:
        """Address, body and tag of every answer that is computed, and of every document."""
        for day in DAYS:
            since = self.reads.since(Request(b"GET", b""), day)
            assert isinstance(since, Response)
            yield day, *_said(since)
        for query in SEARCHES:
            yield query, *_said(self.search(query))
        for path in (urls.REVIEWS, urls.INSIGHTS, urls.JSON_FEED, urls.ATOM_FEED):
            yield path, *_said(self.reads.document(Request(b"GET", path.encode())))

    def search(self, query: str) -> Response:
        answer = self.reads.search(Request(b"GET", b"", query.encode()))
        if isinstance(answer, Response):
            return answer
        replies: list[Response] = []  # the machine is busy, and it was done in steps
        answer.addCallback(replies.append)
        while not replies:
            self.clock.advance(1)
        return replies[0]


def _said(reply: Response) -> tuple[bytes, bytes]:
    (tag,) = (line for line in reply.block.split(b"\r\n") if line.startswith(b"ETag: "))
    return b"".join(reply.body), tag


class Client:
    """Remembers the tag of every body it has seen at an address, and the other way round."""

    def __init__(self) -> None:
        self.tags: dict[tuple[str, bytes], bytes] = {}
        self.bodies: dict[tuple[str, bytes], bytes] = {}

    def see(self, harness: Harness) -> None:
        for address, body, tag in harness.answers():
            assert tag == self.tags.setdefault((address, body), tag), address
            assert body == self.bodies.setdefault((address, tag), body), address


def test_every_change_of_three_reviews() -> None:
    """Each is absent or in one of three versions; and what stands beside them changes too."""
    with in_memory() as place:
        harness, client = Harness(place), Client()
        for number, versions in enumerate(product((None, *VERSIONS), repeat=len(IDS))):
            reviews = [
                as_written(review_id, version)
                for review_id, version in zip(IDS, versions, strict=True)
                if version is not None
            ]
            harness.publish(reviews, f"Acme {number % 2}", "ab"[number % 3 :])
            client.see(harness)


_REVIEWS = st.lists(
    st.builds(
        review,
        st.sampled_from([f"r{n}" for n in range(30)]),
        rating=st.integers(1, 5),
        date=st.sampled_from(DAYS),
        text=st.sampled_from(["The boiler works.", "It works. Sam was here.", None]),
    ),
    unique_by=lambda each: each["id"],
    max_size=30,
)


@given(editions=st.lists(_REVIEWS, min_size=2, max_size=4))
@examples(12)
def test_any_change_of_many(editions: list[list[Review]]) -> None:
    with in_memory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SMALL", 0)
        harness, client = Harness(place), Client()
        for edition in editions:
            harness.publish(edition)
            client.see(harness)
