"""Probes of a real daemon (O10): each dependency broken in turn."""

import resource
import signal
import socket
import sqlite3
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.parametrize("path", ["/v1/health", "/v1/ready", "/v1/metrics"])
def test_the_operators_door_keeps_its_rules(tmp_path: Path, path: str) -> None:
    """A2, A3"""
    with Daemon(tmp_path) as daemon:
        answer = daemon.admin("GET", path)
        assert (200, "1") == (answer.status, answer.headers["Reviewsd-Api"])
        assert (200, b"") == ((head := daemon.admin("HEAD", path)).status, head.body)
        assert 403 == daemon.admin("GET", path, {"Origin": "https://evil.example"}).status
        refused = daemon.admin("POST", path)
        assert (405, "GET, HEAD") == (refused.status, refused.headers["Allow"])
        assert 404 == daemon.admin("GET", f"{path}/x").status


def test_broken_data_is_told_and_harms_nobody(tmp_path: Path) -> None:
    """R6"""
    with Daemon(tmp_path, PUBLIC) as daemon:
        (daemon.data / "reviews.json").write_text("[]")
        daemon.reload()
        assert (200, {"status": "degraded", "checks": {**GOOD, "data": "degraded"}}) == asked(
            daemon
        )
        assert 200 == daemon.get("/reviews.json").status


def test_a_broken_store_is_told_until_it_works_again(tmp_path: Path) -> None:
    """D9: reads go on."""
    settings = f"{PUBLIC}hub: {{min_interval: 0}}\n"
    with Daemon(tmp_path, settings) as daemon:
        assert daemon.process is not None
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


def test_a_damaged_store_at_the_start(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path, PUBLIC)
    daemon.state.mkdir(mode=0o700)
    (daemon.state / "state.sqlite").write_bytes(b"this is no database" * 1000)
    with (
        pytest.raises(sqlite3.DatabaseError),
        closing(sqlite3.connect(daemon.state / "state.sqlite")) as damaged,
    ):
        damaged.execute("SELECT 1 FROM subscription")
    with daemon:
        assert (503, {**GOOD, "store": "failing"}) == (
            (answer := asked(daemon))[0],
            answer[1]["checks"],
        )


def test_while_it_stops_it_says_so(tmp_path: Path) -> None:
    with Daemon(tmp_path, PUBLIC) as daemon:
        assert daemon.process is not None
        with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as client:
            client.sendall(b"GET /readyz HTTP/1.1\r\n")
            daemon.get("/healthz")  # this request has been read when the answer comes
            daemon.process.send_signal(signal.SIGTERM)
            until(lambda: "STOPPING=1" in daemon.heard, "STOPPING=1")
            client.sendall(b"Host: a\r\n\r\n")
            received = b""
            while piece := client.recv(65_536):
                received += piece
        assert received.startswith(b"HTTP/1.1 503 ")
        assert b'"running":"stopping"' in received
        assert 0 == daemon.ended()


def test_a_daemon_that_was_frozen_gives_no_sign_of_life_until_it_has_caught_up(
    tmp_path: Path,
) -> None:
    """O3: the reactor was late."""
    with Daemon(tmp_path, environ={"WATCHDOG_USEC": "300000"}) as daemon:
        assert daemon.process is not None
        until(lambda: "WATCHDOG=1" in daemon.heard, "a sign of life")
        daemon.process.send_signal(signal.SIGSTOP)
        time.sleep(LATE_SECONDS + 0.5)
        signs = daemon.heard.count("WATCHDOG=1")
        daemon.process.send_signal(signal.SIGCONT)
        until(lambda: "no sign of life for systemd" in daemon.log.read_text(), "a warning")
        assert signs == daemon.heard.count("WATCHDOG=1")
        until(lambda: daemon.heard.count("WATCHDOG=1") > signs, "a sign of life")
