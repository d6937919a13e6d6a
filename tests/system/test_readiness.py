"""Probes of a real daemon (O10): each dependency broken in turn."""

import resource
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

from reviewsd.monitoring.health import LATE_SECONDS
from tests.support.daemon import Daemon, until

GOOD = {"snapshot": "ok", "data": "ok", "store": "ok", "running": "ok"}
PUBLIC = "server: {readyz: true}\n"


def asked(daemon: Daemon) -> tuple[int, Any]:
    """Return the readiness that both listeners report, as soon as their answers agree."""
    for _ in range(3):
        public, own = daemon.get("/readyz"), daemon.admin("GET", "/v1/ready")
        if public.body == own.body:
            break
    assert (public.status, public.body) == (own.status, own.body)
    assert ("no-store", "no-store") == (
        public.headers["Cache-Control"],
        own.headers["Cache-Control"],
    )
    return public.status, public.json()


def test_all_is_well(tmp_path: Path) -> None:
    with Daemon(tmp_path, PUBLIC) as daemon:
        assert (200, {"status": "ready", "checks": GOOD}) == asked(daemon)
        assert (200, b"") == ((head := daemon.request("HEAD", "/readyz")).status, head.body)
        assert 405 == daemon.request("POST", "/readyz").status
        by_address = b"GET /readyz HTTP/1.1\r\nHost: 10.1.2.3:80\r\nConnection: close\r\n\r\n"
        assert daemon.raw(by_address).startswith(b"HTTP/1.1 200 ")  # probes know no name
        health = daemon.admin("GET", "/v1/health")
        assert (200, {"status": "ok"}) == (health.status, health.json())


def test_readiness_is_public_only_when_configured(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        assert 404 == daemon.get("/readyz").status
        assert 200 == daemon.admin("GET", "/v1/ready").status


def test_a_broken_store_is_told_until_it_works_again(tmp_path: Path) -> None:
    """D9: reads go on."""
    settings = f"{PUBLIC}hub: {{min_interval: 0}}\n"
    with Daemon(tmp_path, settings) as daemon:
        allow = partial(resource.prlimit, daemon.process.pid, resource.RLIMIT_FSIZE)
        allow((0, resource.RLIM_INFINITY))
        daemon.admin("POST", "/v1/blocks?value=example.org")  # something to write
        unready = 503, {"status": "unready", "checks": {**GOOD, "store": "failing"}}
        until(lambda: asked(daemon) == unready, "a store that is known to fail")
        assert 200 == daemon.get("/reviews.json").status
        metrics = daemon.ctl("metrics").stdout
        assert "reviewsd_store_up 0.0" in metrics
        allow((resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        until(lambda: asked(daemon)[0] == 200, "a store that works")


def test_a_daemon_that_was_frozen_gives_no_sign_of_life_until_it_has_caught_up(
    tmp_path: Path,
) -> None:
    """O3: the reactor was late."""
    with Daemon(tmp_path, environ={"WATCHDOG_USEC": "300000"}) as daemon:
        until(lambda: "WATCHDOG=1" in daemon.heard, "a sign of life")
        daemon.process.send_signal(signal.SIGSTOP)
        time.sleep(LATE_SECONDS + 0.5)
        signs = daemon.heard.count("WATCHDOG=1")
        daemon.process.send_signal(signal.SIGCONT)
        until(lambda: "no sign of life for systemd" in daemon.log.read_text(), "a warning")
        assert signs == daemon.heard.count("WATCHDOG=1")
        until(lambda: daemon.heard.count("WATCHDOG=1") > signs, "a sign of life")
