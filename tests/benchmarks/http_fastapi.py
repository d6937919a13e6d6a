"""The documents in FastAPI, twice: ``app``, tuned, and ``encoding``, as most write it.

    uvicorn --app-dir tests/benchmarks --loop uvloop --http httptools --no-access-log http_fastapi:app

with PEER_DATA naming a directory that has the files by their paths. Runs in the peers' venv.

*Tuned* returns responses over bytes made at the start; the request's headers are declared as FastAPI's
users do. *Encoding* makes the JSON from the data for each answer, with orjson, the entity tag from that,
and has GZipMiddleware.
"""

import hashlib
import os
from pathlib import Path
from typing import Annotated

import orjson  # type: ignore[import-not-found,unused-ignore]  # only in the peers' venv
from fastapi import FastAPI, Header, Response  # type: ignore[import-not-found,unused-ignore]
from fastapi.middleware.gzip import (  # type: ignore[import-not-found,unused-ignore]
    GZipMiddleware,
)

_PLACE = Path(os.environ["PEER_DATA"])
_JSON = "application/json"
_TAG, _GZIP_TAG = '"peer"', '"peer-gzip"'
_REVIEWS = (_PLACE / "reviews.json").read_bytes()
_REVIEWS_GZIP = (_PLACE / "reviews.json.gz").read_bytes()
_FEED = (_PLACE / "api" / "feed.json").read_bytes()
_HEADERS = {"etag": _TAG, "vary": "Accept-Encoding"}
_GZIP_HEADERS = {"etag": _GZIP_TAG, "vary": "Accept-Encoding", "content-encoding": "gzip"}
_REVIEWS_DATA = orjson.loads(_REVIEWS)
_FEED_DATA = orjson.loads(_FEED)

Given = Annotated[str | None, Header()]

app = FastAPI()
encoding = FastAPI()
encoding.add_middleware(GZipMiddleware, minimum_size=1000)


@app.get("/reviews.json")  # type: ignore[untyped-decorator,unused-ignore]
async def reviews(accept_encoding: Given = None, if_none_match: Given = None) -> Response:
    """Serve GET /reviews.json."""
    if accept_encoding is not None and "gzip" in accept_encoding:
        if if_none_match == _GZIP_TAG:
            return Response(status_code=304, headers=_GZIP_HEADERS)
        return Response(_REVIEWS_GZIP, media_type=_JSON, headers=_GZIP_HEADERS)
    if if_none_match == _TAG:
        return Response(status_code=304, headers=_HEADERS)
    return Response(_REVIEWS, media_type=_JSON, headers=_HEADERS)


@app.get("/api/feed.json")  # type: ignore[untyped-decorator,unused-ignore]
async def feed(if_none_match: Given = None) -> Response:
    """Serve GET /api/feed.json."""
    if if_none_match == _TAG:
        return Response(status_code=304, headers=_HEADERS)
    return Response(_FEED, media_type=_JSON, headers=_HEADERS)


@encoding.get("/reviews.json")  # type: ignore[untyped-decorator,unused-ignore]
async def encoded_reviews(if_none_match: Given = None) -> Response:
    """Serve GET /reviews.json, encoded for each request."""
    return _encoded(_REVIEWS_DATA, if_none_match)


@encoding.get("/api/feed.json")  # type: ignore[untyped-decorator,unused-ignore]
async def encoded_feed(if_none_match: Given = None) -> Response:
    """Serve GET /api/feed.json, encoded for each request."""
    return _encoded(_FEED_DATA, if_none_match)


def _encoded(data: object, if_none_match: str | None) -> Response:
    body = orjson.dumps(data)
    tag = f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'
    if if_none_match == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(body, media_type=_JSON, headers={"etag": tag})
