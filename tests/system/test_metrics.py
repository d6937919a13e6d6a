"""Metrics of a real daemon (O9, O13): on the admin socket, and where metrics.listen wants them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from reviewsd.api.places import KEPT_FOLDER
from reviewsd.api.status import SOURCES_FILE
from tests.support.agents import call, opened
from tests.support.daemon import BASE_URL, NO_PAGES, Daemon, free_port
from tests.support.subscriber import ask

ALERTS = Path(__file__).parents[2] / "config" / "alerts.yaml"
Samples = dict[str, dict[tuple[str, ...], float]]


def samples(text: str) -> Samples:
    """Every number, by the name of its metric and the values of its labels."""
    samples_by_name: Samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            row = tuple(sample.labels[name] for name in sorted(sample.labels))
            samples_by_name.setdefault(sample.name, {})[row] = sample.value
    return samples_by_name


def scrape(daemon: Daemon) -> Samples:
    answer = daemon.admin("GET", "/v1/metrics")
    assert 200 == answer.status
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return samples(answer.body.decode())


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    place = tmp_path_factory.mktemp("metrics")
    with Daemon(place, NO_PAGES) as daemon:
        write_sources(daemon, "ok")
        daemon.reload()  # it may be ready with what was published before, and not have looked at the data
        yield daemon


def write_sources(daemon: Daemon, state: str) -> None:
    """Write the states of the sources, as a sync does."""
    folder = daemon.data / KEPT_FOLDER
    folder.mkdir(exist_ok=True)
    times = dict.fromkeys(("read_at", "confirmed_at"), "2026-11-01T00:00:00Z")
    content = {"version": 1, "sources": {"google": {"state": state, "reviews": 7, **times}}}
    (folder / "new").write_text(json.dumps(content))
    (folder / "new").rename(folder / SOURCES_FILE)


def test_calls_of_tools_are_counted(daemon: Daemon) -> None:
    session = opened(daemon)
    call(daemon, session, "get_business")
    call(daemon, session, "search_reviews", rating=9)
    call(daemon, session, "invented")
    calls = scrape(daemon)["reviewsd_mcp_tool_calls_total"]  # result, tool
    assert (1, 1) == (calls["answered", "get_business"], calls["refused", "search_reviews"])
    assert 2 == sum(calls.values())


def test_reloads_are_told(daemon: Daemon) -> None:
    """R6"""
    good = (daemon.data / "reviews.json").read_bytes()
    before = scrape(daemon)
    assert {(): 1.0} == before["reviewsd_data_last_reload_successful"]
    (daemon.data / "reviews.json").write_text("[]")
    daemon.reload()
    after = scrape(daemon)
    assert {(): 0.0} == after["reviewsd_data_last_reload_successful"]
    moment = "reviewsd_data_last_reload_success_timestamp_seconds"
    assert before[moment] == after[moment]
    assert after["reviewsd_data_reloads_total"]["refused",] >= 1
    assert before["reviewsd_reviews"] == after["reviewsd_reviews"]
    assert before["reviewsd_snapshot_info"] == after["reviewsd_snapshot_info"]
    (daemon.data / "reviews.json").write_bytes(good)
    daemon.reload()
    after = scrape(daemon)
    assert {(): 1.0} == after["reviewsd_data_last_reload_successful"]
    assert after[moment][()] > before[moment][()]


def test_every_metric_that_an_alert_rule_names_is_there(daemon: Daemon) -> None:
    """O13: all but Prometheus's own ``up``."""
    metrics = scrape(daemon)
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        for rule in group["rules"]:
            names = set(re.findall(r"\b(?:reviewsd|process)_[a-z_]+", rule["expr"]))
            assert set() == names - set(metrics), rule["alert"]
            assert names or re.search(r"\bup\{", rule["expr"]), rule["alert"]


def test_a_listener_of_their_own_serves_them_and_nothing_else(tmp_path: Path) -> None:
    port = free_port()
    settings = f"{NO_PAGES}metrics: {{listen: 'tcp:{port}:interface=127.0.0.1'}}\n"
    with Daemon(tmp_path, settings) as daemon:
        assert 404 == daemon.get("/metrics").status
        public, daemon.port = daemon.port, port
        answer = daemon.get("/metrics")
        assert (200, "no-store") == (answer.status, answer.headers["Cache-Control"])
        assert "reviewsd" == answer.headers["Server"]
        assert "reviewsd_build_info" in samples(answer.body.decode())
        assert (200, b"") == ((head := daemon.request("HEAD", "/metrics")).status, head.body)
        for path in ("/", "/metrics/", "/reviews.json", "/v1/status"):
            assert (404, "text/plain") == (
                (own := daemon.get(path)).status,
                own.headers["Content-Type"],
            )
        assert 405 == daemon.request("POST", "/metrics", body=b"x").status
        daemon.port = public
        own_callback = f"{BASE_URL}:{port}/x"  # E1
        assert 403 == ask(daemon, own_callback).status
        assert 0 == daemon.stop()
