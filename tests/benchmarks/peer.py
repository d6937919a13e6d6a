"""Documents and searches in Starlette, plain but tuned, to compare with ours. Runs in a venv of its own.

Everything is prepared at the start: documents, headers and records as bytes, casefolded texts, columns for the filters.
Entity tags of documents are compared. It has no error bodies, no CORS, no reloads.

    uvicorn --app-dir tests/benchmarks --loop uvloop --http httptools --no-access-log peer:app

with PEER_DATA naming what ``http_servers.prepare`` wrote.
"""

import base64
import os
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson  # type: ignore[import-not-found,unused-ignore]  # only in the peer's venv
from starlette.applications import (  # type: ignore[import-not-found,unused-ignore]
    Starlette,
)
from starlette.requests import Request  # type: ignore[import-not-found,unused-ignore]
from starlette.responses import Response  # type: ignore[import-not-found,unused-ignore]
from starlette.routing import Route  # type: ignore[import-not-found,unused-ignore]

_PLACE = Path(os.environ["PEER_DATA"])
_JSON = "application/json"

_TAG, _GZIP_TAG = '"peer"', '"peer-gzip"'
_REVIEWS = (_PLACE / "reviews.json").read_bytes()
_REVIEWS_GZIP = (_PLACE / "reviews.json.gz").read_bytes()
_FEED = (_PLACE / "api" / "feed.json").read_bytes()
_HEADERS = {"etag": _TAG, "vary": "Accept-Encoding"}
_GZIP_HEADERS = {"etag": _GZIP_TAG, "vary": "Accept-Encoding", "content-encoding": "gzip"}

ROWS = orjson.loads(_REVIEWS)["reviews"]  # newest first
RECORDS = [orjson.dumps(row) for row in ROWS]
_TEXTS = [(row["text"] or "").casefold() for row in ROWS]
_RATINGS = [row["rating"] for row in ROWS]
_DATES = [row["date"] for row in reversed(ROWS)]
_KEYS = [(row["date"], row["id"]) for row in reversed(ROWS)]
_COUNT = len(ROWS)
_MENTIONS = {
    field: {key: sorted(places) for key, places in by_name.items()}
    for field, by_name in orjson.loads((_PLACE / "mentions.json").read_bytes()).items()
}


def find(parameters: Mapping[str, str]) -> tuple[int, Sequence[int], str | None]:
    """Return the number of matches, the positions of one page, and the cursor of the next page."""
    first = _COUNT - bisect_right(_DATES, parameters["until"]) if "until" in parameters else 0
    last = _COUNT - bisect_left(_DATES, parameters["since"]) if "since" in parameters else _COUNT
    matches: list[int] | range = range(first, last)
    for name, field in (("mentions_technician", "t"), ("mentions_service", "s")):
        if name in parameters:
            places = _MENTIONS[field].get(parameters[name].strip().casefold(), [])
            places = places[bisect_left(places, first) : bisect_left(places, last)]
            if not isinstance(matches, range):
                indexed = set(matches)
                places = [place for place in places if place in indexed]
            matches = places
    if "rating" in parameters:
        rating = int(parameters["rating"])
        matches = [place for place in matches if _RATINGS[place] == rating]
    if "min_rating" in parameters:
        least = float(parameters["min_rating"])
        matches = [place for place in matches if _RATINGS[place] >= least]
    if "query" in parameters:
        needle, texts = parameters["query"].casefold(), _TEXTS
        matches = [place for place in matches if needle in texts[place]]
    start = 0
    if "cursor" in parameters:
        plain = base64.urlsafe_b64decode(parameters["cursor"] + "==").decode()
        day, _, review_id = plain.partition("/")
        start = bisect_left(matches, _COUNT - bisect_left(_KEYS, (day, review_id)))
    limit = int(parameters.get("limit", 20))
    page = matches[start : start + limit]
    cursor = None
    if start + limit < len(matches):
        key = "/".join(_KEYS[_COUNT - 1 - page[-1]])
        cursor = base64.urlsafe_b64encode(key.encode()).rstrip(b"=").decode()
    return len(matches), page, cursor


def rendered(matched: int, page: Sequence[int], cursor: str | None) -> bytes:
    """Return a search result as JSON."""
    head = b'{"matched":%d,"returned":%d,"reviews":[' % (matched, len(page))
    body = b",".join([RECORDS[place] for place in page])
    return b"".join((head, body, b'],"next_cursor":', orjson.dumps(cursor), b"}"))


async def search(request: Request) -> Response:
    """Serve GET /api/reviews/search."""
    return Response(rendered(*find(request.query_params)), media_type=_JSON)


async def since(request: Request) -> Response:
    """Serve GET /api/reviews/since/{date}."""
    day = request.path_params["date"]
    count = _COUNT - bisect_left(_DATES, day)
    head = b'{"since":"%s","matched":%d,"returned":%d,"reviews":['
    body = b",".join(RECORDS[:count])
    return Response(b"".join((head % (day.encode(), count, count), body, b"]}")), media_type=_JSON)


async def reviews(request: Request) -> Response:
    """Serve GET /reviews.json."""
    headers = request.headers
    if "gzip" in headers.get("accept-encoding", ""):
        if headers.get("if-none-match") == _GZIP_TAG:
            return Response(status_code=304, headers=_GZIP_HEADERS)
        return Response(_REVIEWS_GZIP, media_type=_JSON, headers=_GZIP_HEADERS)
    if headers.get("if-none-match") == _TAG:
        return Response(status_code=304, headers=_HEADERS)
    return Response(_REVIEWS, media_type=_JSON, headers=_HEADERS)


async def feed(request: Request) -> Response:
    """Serve GET /api/feed.json."""
    if request.headers.get("if-none-match") == _TAG:
        return Response(status_code=304, headers=_HEADERS)
    return Response(_FEED, media_type=_JSON, headers=_HEADERS)


app = Starlette(
    routes=[
        Route("/reviews.json", reviews),
        Route("/api/feed.json", feed),
        Route("/api/reviews/search", search),
        Route("/api/reviews/since/{date}", since),
    ]
)
