"""The tools about the business and its reviews: slices of ``/reviews.json``, joined (mcp.md 5.5)."""

from collections.abc import Generator
from itertools import takewhile
from typing import cast

from msgspec.structs import replace

from reviewsd.domain.insights import PerReview
from reviewsd.domain.queries import SearchQuery
from reviewsd.formats import documents, fragments
from reviewsd.mcp.answers import ENVELOPE, KNOWN, Call, Steps, answered, fitting, refused
from reviewsd.mcp.arguments import quoted


def get_business(call: Call) -> Steps:
    """The profile, the rating, the number of reviews."""
    yield
    shelves = call.snapshot.shelves
    return answered(bytes(shelves.joined(shelves.rows(fragments.BUSINESS))))


def search_reviews(call: Call) -> Steps:
    """A page of the reviews that match: the same as over HTTP, as far as the budget goes."""
    query = SearchQuery(**call.values)  # type: ignore[arg-type]  # each is of its parameter's kind
    return answered((yield from _page(call, query)))


def get_reviews_since(call: Call) -> Steps:
    """A page of the reviews of a day and all later ones."""
    values = dict(call.values)
    since = values.pop("date")
    query = SearchQuery(since=since, **values)  # type: ignore[arg-type]  # as above
    page = yield from _page(call, query)
    return answered(b'{"since":"%s",%s' % (str(since).encode(), page[1:]))


def _page(call: Call, query: SearchQuery) -> Generator[None, None, bytes]:
    snapshot = call.snapshot
    hits = yield from snapshot.search(query)
    records = snapshot.joined(hits.positions)
    if len(records) > call.budget - ENVELOPE:  # in bytes; it may have fewer characters
        count = fitting([snapshot.record(each) for each in hits.positions], call.budget)
        if count < len(hits.positions):
            hits = replace(hits, positions=hits.positions[:count], more=True)
            records = snapshot.joined(hits.positions)
    following = snapshot.cursor(hits)
    after = None if following is None else following.encode()
    return documents.search_result(hits.matched, len(hits.positions), records, after)


def get_review(call: Call) -> Steps:
    """One review, and what the insights say of it."""
    yield
    snapshot = call.snapshot
    review_id = cast("str", call.values["id"])
    position = snapshot.position(review_id)
    if position is None:
        return refused(f"{call.tool}: {_unknown(call, review_id)}")
    insight = snapshot.insight(position)
    said = b"null" if insight is None else documents.complete(bytes(insight), PerReview)
    return answered(b'{"review":%s,"insight":%s}' % (snapshot.record(position), said))


def _unknown(call: Call, review_id: str) -> str:
    """What helps where there is no such review."""
    snapshot = call.snapshot
    newest = [snapshot.id_at(each) for each in range(min(KNOWN, snapshot.manifest.review_count))]
    if not newest:
        return "there are no reviews yet."
    wanted = review_id.strip().casefold()
    near = [snapshot.id_at(each) for each in snapshot.neighbours(review_id)]
    nearest = max(near, key=lambda each: _alike(each.casefold(), wanted))
    return (
        f"no review has the id {quoted(review_id)}; the nearest id is {quoted(nearest)}. "
        f"The newest ids: {', '.join(newest)}. Use search_reviews to find reviews by their text."
    )


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
