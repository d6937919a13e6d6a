"""An owner is notified of new reviews by a real daemon and a real service (notices.md)."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import BASE_URL, NO_PAGES, Daemon, until
from tests.support.notified import NotifiedService

pytestmark = pytest.mark.processes

NOTIFY = "notify: [{name: owner, url_file: owner.url, stars: 1, data: true}]\n"
BAD: dict[str, Any] = {
    "id": "bad-1",
    "author": "Ann",
    "rating": 1,
    "date": "2026-11-20",
    "source": "google",
    "source_url": "https://maps.example.com/bad-1",
    "text": "Never again, @everyone",
    "verified": False,
}


@pytest.fixture
def service() -> Iterator[NotifiedService]:
    with NotifiedService() as service:
        yield service


def add(daemon: Daemon, **members: object) -> None:
    """Add a review to the data, and publish it."""
    file = daemon.data / "reviews.json"
    content = json.loads(file.read_bytes())
    content["reviews"].append({**BAD, **members})
    file.write_text(json.dumps(content))
    assert "published" == daemon.reload()["outcome"]


def test_daemon_without_targets_says_where_they_are_explained(tmp_path: Path) -> None:
    with Daemon(tmp_path, NO_PAGES) as daemon:
        done = daemon.ctl("notify", "test")
        assert 4 == done.returncode
        assert (
            "has no targets under notify; if the file has them now, restart reviewsd (docs/how-to/notices.md)"
            in done.stderr
        )


def test_new_review_of_one_star_is_reported_once(tmp_path: Path, service: NotifiedService) -> None:
    """Also after a kill: the message may have arrived, and what was reported is kept."""
    service.write_address(tmp_path / "owner.url")
    with Daemon(tmp_path, f"data: {{poll_interval: 60}}\n{NO_PAGES}{NOTIFY}") as daemon:
        done = daemon.ctl("notify", "test")
        assert (0, "owner  sent\n") == (done.returncode, done.stdout), done.stderr
        until(lambda: "notices to owner begin" in daemon.log.read_text(), "the first check")
        add(daemon)
        until(lambda: len(service.messages) == 2, "the notice")
        assert "1 new review of one star" == service.titles[1]
        assert [
            "\u2605\u2606\u2606\u2606\u2606 Ann, google, 2026-11-20",
            "Never again, @\u200beveryone",
            f"{BASE_URL}/api/reviews/bad-1",
            "https://maps.example.com/bad-1",
        ] == service.messages[1]["message"].splitlines()
        until(lambda: "notice sent to owner" in daemon.log.read_text(), "the end of the attempt")
        daemon.stop(signal.SIGKILL)
        daemon.start()
        service.status = 503
        done = daemon.ctl("notify", "test", "owner")
        assert (1, "owner  failed: status 503\n") == (done.returncode, done.stdout)
        done = daemon.ctl("notify", "test", "nobody")
        assert 4 == done.returncode
        assert (
            'was started with has no target "nobody"; there are: owner; restart reviewsd if the file has more now.'
            in done.stderr
        )
        assert 0 == daemon.stop()
        assert 3 == len(service.messages)
        log = daemon.log.read_text()
        assert 1 == log.count("notice sent to owner: 1 new review of one star")
        for secret in ("Password", "Token", "127.0.0.1:" + service.address.split(":")[3][:5]):
            assert secret not in log
