"""The examples of the OpenAPI document: a small data directory, rendered by the serving code.

So examples always match the responses. The business is fictional.
"""

from dataclasses import replace
from typing import cast

import msgspec

from reviewsd.domain.dataset import load
from reviewsd.domain.insights_file import InsightsFile
from reviewsd.domain.issues import InvalidParametersError
from reviewsd.domain.parameters import read_query
from reviewsd.domain.reviews import Review
from reviewsd.domain.search_parameters import FEED_CURSOR
from reviewsd.domain.search_query import Cursor
from reviewsd.http1 import problems
from reviewsd.publish import atom, documents, feed, json_feed
from reviewsd.publish.feed import FeedPage
from reviewsd.publish.openapi.schemas import Json

_REVIEWS = b"""{
"business": {"id": "acme-plumbing", "name": "Acme Plumbing", "category": "Plumber",
  "url": "https://acme.example", "phone": "+1-555-0100",
  "address": {"street": "12 Quay St", "city": "Portsmouth", "region": "NH", "country": "US"},
  "geo": {"latitude": 43.07, "longitude": -70.76},
  "hours": [{"day": "monday", "opens": "08:00", "closes": "17:00"}],
  "service_areas": ["Portsmouth", "Dover"]},
"reviews": [{"id": "01J9ZK3V5Q8R2N7M4T6W1X0YAB", "author": "Jane D.", "rating": 4,
  "date": "2025-03-14", "text": "Sam fixed the boiler in an hour.", "source": "google",
  "source_url": "https://maps.example/r/1", "verified": true,
  "owner_reply": {"text": "Thank you, Jane!", "date": "2025-03-15"}}]
}"""

_INSIGHTS = b"""{
"version": 1, "generated_at": "2025-06-01T04:00:00Z", "model": "lexicon-1",
"date_range": {"earliest": "2025-03-14", "latest": "2025-03-14"},
"overall_sentiment": {"score": 0.8, "positive_pct": 100, "neutral_pct": 0, "negative_pct": 0},
"aspects": [{"id": "punctuality", "label": "Punctuality", "mention_count": 1,
  "positive_count": 1, "neutral_count": 0, "negative_count": 0, "positive_pct": 100, "score": 0.8,
  "top_phrases": ["in an hour"], "example_review_ids": ["01J9ZK3V5Q8R2N7M4T6W1X0YAB"]}],
"entities": {"technicians": [{"id": "sam", "name": "Sam", "mention_count": 1}],
  "services": [{"id": "boiler-repair", "label": "Boiler repair", "mention_count": 1}]},
"topics": [{"id": "boilers", "label": "Boilers", "mention_count": 1}],
"temporal": {"trend": "stable", "monthly": [{"month": "2025-03", "review_count": 1,
  "average_rating": 4.0, "score": 0.8, "positive_pct": 100}]},
"per_review": {"01J9ZK3V5Q8R2N7M4T6W1X0YAB": {"sentiment": "positive", "score": 0.8,
  "aspects": [{"id": "punctuality", "sentiment": "positive", "phrase": "in an hour"}],
  "technicians": ["sam"], "services": ["boiler-repair"], "topics": ["boilers"]}},
"faq": [{"question": "How fast do they come?", "answer": "Reviewers speak of the same day."}],
"summary": "Customers praise quick repairs.", "pull_quote": "Fixed in an hour."
}"""


INVALID_SEARCH = b"rating=7&limit=500"
"""The query of the example of invalid parameters."""

_PROBLEMS = (
    problems.NOT_FOUND,
    problems.NO_REVIEW,
    problems.REVIEW_REMOVED,
    problems.NOT_PUBLISHED,
    problems.NOT_ACCEPTABLE,
    problems.PRECONDITION_FAILED,
    problems.CONTENT_TOO_LARGE,
    problems.MISDIRECTED,
    problems.TOO_MANY_REQUESTS,
)


def answers(base_url: str) -> Json:
    """Return a response of each kind by its name; Atom as text."""
    dataset = load(_REVIEWS, _INSIGHTS)
    (raw,) = dataset.records
    typed = msgspec.json.decode(raw, type=Review)
    rendered = documents.render_review(raw, typed)
    review = _decode(rendered)
    frame = feed.frame_of(dataset, base_url, "reviews.example.com", 2025, {})
    insights = cast("InsightsFile", dataset.insights)
    (insight,) = msgspec.json.decode(
        insights.members["per_review"], type=dict[str, msgspec.Raw]
    ).values()
    page = FeedPage(frame=frame, entries=(frame.entry(typed, bytes(insight)),))
    older = replace(page, cursor=str(FEED_CURSOR.example))
    return {
        "reviews": _decode(
            documents.reviews_head(dataset) + rendered + documents.reviews_tail(dataset)
        ),
        "review": review,
        "insights": _decode(b"".join(documents.render_insights(insights, dataset))),
        "json_feed": _decode(b"".join(json_feed.render(page))),
        "json_feed_page": _decode(b"".join(json_feed.render(older))),
        "atom_feed": b"".join(atom.render(page)).decode(),
        "atom_feed_page": b"".join(atom.render(older)).decode(),
        "search": {
            "matched": 2,
            "returned": 1,
            "reviews": [review],
            "next_cursor": Cursor(typed.date, typed.id).encode(),
        },
        "since": {"since": str(typed.date), "matched": 1, "returned": 1, "reviews": [review]},
    }


def refusals(base_url: str) -> Json:
    """Return the body of each error response to a read, by the kind of the problem."""
    bodies: Json = {item.kind: _decode(problems.render(base_url, item)) for item in _PROBLEMS}
    try:
        read_query(INVALID_SEARCH)
    except InvalidParametersError as error:
        problem = problems.invalid_parameters(error.issues)
        bodies[problem.kind] = _decode(problems.render(base_url, problem, error.issues))
    return bodies


def _decode(content: bytes) -> Json:
    return msgspec.json.decode(content, type=Json)
