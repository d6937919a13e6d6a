"""Probes of a real daemon that is well (O10)."""

from pathlib import Path
from typing import Any

from tests.support.daemon import NO_PAGES, Daemon
from tests.support.raw import exchange

GOOD = {"snapshot": "ok", "data": "ok", "store": "ok", "running": "ok"}
PUBLIC = NO_PAGES + "server: {readyz: true}\n"


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
        assert exchange(daemon.port, by_address).startswith(b"HTTP/1.1 200 ")  # probes know no name
        health = daemon.admin("GET", "/v1/health")
        assert (200, {"status": "ok"}) == (health.status, health.json())


def test_readiness_is_public_only_when_configured(tmp_path: Path) -> None:
    with Daemon(tmp_path, NO_PAGES) as daemon:
        assert 404 == daemon.get("/readyz").status
        assert 200 == daemon.admin("GET", "/v1/ready").status
