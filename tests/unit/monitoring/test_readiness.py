"""Readiness for load balancers (O10, R6): each check alone."""

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from reviewsd.monitoring.health import Health, Readiness
from reviewsd.publish.publisher import Publisher
from reviewsd.snapshot.snapshots import Snapshots

GOOD = {"snapshot": "ok", "data": "ok", "store": "ok", "running": "ok"}


class Harness:
    """``Readiness`` with everything that it checks."""

    def __init__(self) -> None:
        self.snapshots = SimpleNamespace(empty=False)
        self.publisher = SimpleNamespace(failing_since=None)
        self.health = SimpleNamespace(store_works=True)
        self.readiness = Readiness(
            cast("Snapshots", self.snapshots),
            cast("Publisher", self.publisher),
            cast("Health", self.health),
        )

    def answer(self) -> tuple[int, Any]:
        status, document = self.readiness.answer()
        return status, json.loads(document)


@pytest.fixture
def harness() -> Harness:
    return Harness()


def test_old_data_is_reported_as_degraded(harness: Harness) -> None:
    harness.publisher.failing_since = 1.0
    checks = {**GOOD, "data": "degraded"}
    assert (200, {"status": "degraded", "checks": checks}) == harness.answer()


def test_daemon_without_data_is_not_ready(harness: Harness) -> None:
    harness.snapshots.empty = True
    checks = {**GOOD, "snapshot": "failing"}
    assert (503, {"status": "unready", "checks": checks}) == harness.answer()


def test_daemon_is_not_ready_while_its_store_fails(harness: Harness) -> None:
    harness.health.store_works = False
    checks = {**GOOD, "store": "failing"}
    assert (503, {"status": "unready", "checks": checks}) == harness.answer()
    harness.health.store_works = True
    assert (200, {"status": "ready", "checks": GOOD}) == harness.answer()


def test_stopping_daemon_is_not_ready(harness: Harness) -> None:
    harness.publisher.failing_since = 1.0
    harness.readiness.stop()
    checks = {**GOOD, "data": "degraded", "running": "stopping"}
    assert (503, {"status": "unready", "checks": checks}) == harness.answer()
