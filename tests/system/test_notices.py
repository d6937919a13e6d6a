"""A real daemon tests its targets of notices on request (notices.md).

docs/how-to/notices.md is typed with a service that is notified of a new review.
"""

from pathlib import Path

import pytest

from tests.support.daemon import NO_PAGES, Daemon
from tests.support.notified import NotifiedService

pytestmark = pytest.mark.processes

NOTIFY = "notify: [{name: owner, url_file: owner.url, stars: 1, data: true}]\n"


def test_daemon_without_targets_says_where_they_are_explained(tmp_path: Path) -> None:
    with Daemon(tmp_path, NO_PAGES) as daemon:
        done = daemon.ctl("notify", "test")
        assert 4 == done.returncode
        assert (
            "has no targets under notify; if the file has them now, restart reviewsd (docs/how-to/notices.md)"
            in done.stderr
        )


def test_failed_and_unknown_targets_are_named_without_their_addresses(tmp_path: Path) -> None:
    with NotifiedService() as service:
        service.write_address(tmp_path / "owner.url")
        with Daemon(tmp_path, f"{NO_PAGES}{NOTIFY}") as daemon:
            done = daemon.ctl("notify", "test")
            assert (0, "owner  sent\n") == (done.returncode, done.stdout), done.stderr
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
            for secret in ("Password", "Token", str(service.server_address[1])):
                assert secret not in daemon.log.read_text()
