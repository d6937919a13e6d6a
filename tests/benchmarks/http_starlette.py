"""The documents in Starlette, tuned: bytes and headers made at the start, entity tags compared.

    uvicorn --app-dir tests/benchmarks --loop uvloop --http httptools --no-access-log http_starlette:app

with PEER_DATA naming a directory that has the files by their paths. Runs in the peers' venv.
"""

import os
from pathlib import Path

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


app = Starlette(routes=[Route("/reviews.json", reviews), Route("/api/feed.json", feed)])
