"""The embed at the door: a real daemon, over its socket, through a change of the data (pages.md 7)."""

import gzip
import json
from pathlib import Path

import pytest

from tests.support.daemon import Daemon

pytestmark = pytest.mark.processes

OPTIONS = "layout=grid&theme=dark&count=12&min_rating=4&accent=ffb400"


def test_review_that_is_hidden_leaves_every_embed(tmp_path: Path) -> None:
    """Other sites show the embed, so a withheld review may stay in none of its variants."""
    with Daemon(tmp_path, "data: {poll_interval: 60}\n") as daemon:
        variants = ("/embed", "/embed?layout=grid&count=12", f"/embed?{OPTIONS}")
        reviews = json.loads((daemon.data / "reviews.json").read_bytes())["reviews"]
        newest = reviews[0]
        before = [daemon.get(path) for path in variants]
        packed = daemon.get(variants[-1], {"Accept-Encoding": "gzip"})
        head = daemon.request("HEAD", variants[-1])
        tag = before[-1].headers["ETag"]
        again = daemon.get(variants[-1], {"If-None-Match": tag})
        script, badge = daemon.get("/embed.js"), daemon.get("/badge.svg?size=l&theme=dark")
        wrong = daemon.get("/embed?count=99", {"Accept": "text/html"})
        data = ("--data", str(daemon.data), "--yes")
        hidden = daemon.ctl("reviews", "hide", newest["id"], "--reason", "spam", *data)
        outcome = daemon.reload()["outcome"]
        after = [daemon.get(path) for path in variants]

    assert [200] * 3 == [answer.status for answer in before]
    assert all(newest["id"].encode() in answer.body for answer in before)
    assert before[-1].body == gzip.decompress(packed.body)
    assert (200, b"", tag) == (head.status, head.body, head.headers["ETag"])
    assert (304, b"") == (again.status, again.body)
    assert (200, "text/javascript; charset=utf-8") == (
        script.status,
        script.headers["Content-Type"],
    )
    assert (200, "image/svg+xml") == (badge.status, badge.headers["Content-Type"])
    assert (400, "no-store") == (wrong.status, wrong.headers["Cache-Control"])
    assert "frame-ancestors *" in wrong.headers["Content-Security-Policy"]
    assert (0, "published") == (hidden.returncode, outcome), hidden.stderr
    assert not any(newest["id"].encode() in answer.body for answer in after)
    assert all(b"1 of 122 reviews is not shown" in answer.body for answer in after)
    assert tag != after[-1].headers["ETag"]
