"""The documents in aiohttp's server under uvloop, tuned: bytes made at the start, no access log.

    python tests/benchmarks/http_aiohttp.py PORT

with PEER_DATA naming a directory that has the files by their paths. Runs in the peers' venv.
"""

import os
import sys
from pathlib import Path

import uvloop  # type: ignore[import-not-found,unused-ignore]
from aiohttp import web  # type: ignore[import-not-found,unused-ignore]

_PLACE = Path(os.environ["PEER_DATA"])
_JSON = "application/json"
_TAG, _GZIP_TAG = '"peer"', '"peer-gzip"'
_REVIEWS = (_PLACE / "reviews.json").read_bytes()
_REVIEWS_GZIP = (_PLACE / "reviews.json.gz").read_bytes()
_FEED = (_PLACE / "api" / "feed.json").read_bytes()
_HEADERS = {"ETag": _TAG, "Vary": "Accept-Encoding", "Content-Type": _JSON}
_GZIP_HEADERS = {**_HEADERS, "ETag": _GZIP_TAG, "Content-Encoding": "gzip"}
_KNOWN = {"ETag": _TAG, "Vary": "Accept-Encoding"}
_GZIP_KNOWN = {"ETag": _GZIP_TAG, "Vary": "Accept-Encoding"}


async def reviews(request: web.Request) -> web.Response:
    """Serve GET /reviews.json."""
    headers = request.headers
    if "gzip" in headers.get("Accept-Encoding", ""):
        if headers.get("If-None-Match") == _GZIP_TAG:
            return web.Response(status=304, headers=_GZIP_KNOWN)
        return web.Response(body=_REVIEWS_GZIP, headers=_GZIP_HEADERS)
    if headers.get("If-None-Match") == _TAG:
        return web.Response(status=304, headers=_KNOWN)
    return web.Response(body=_REVIEWS, headers=_HEADERS)


async def feed(request: web.Request) -> web.Response:
    """Serve GET /api/feed.json."""
    if request.headers.get("If-None-Match") == _TAG:
        return web.Response(status=304, headers=_KNOWN)
    return web.Response(body=_FEED, headers=_HEADERS)


if __name__ == "__main__":
    app = web.Application()
    app.add_routes([web.get("/reviews.json", reviews), web.get("/api/feed.json", feed)])
    uvloop.install()
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)
