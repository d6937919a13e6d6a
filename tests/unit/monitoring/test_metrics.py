"""The metrics' names, and their text as a parser of Prometheus's own reads it (O9)."""

import ast
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock

from reviewsd.api.hub import HubState
from reviewsd.api.status import SourceCondition
from reviewsd.monitoring.metrics import HUB_TIMEOUT, Metrics
from reviewsd.publish.source_states import SourceReport
from reviewsd.runtime.counters import Counters, Counts, merged
from reviewsd.snapshot.snapshots import Snapshots
from tests.support.hub import result_of

SOURCES = Path(__file__).parents[3] / "reviewsd"
STATE = HubState(
    paused=False,
    active=2,
    pending=1,
    due=1,
    in_flight=0,
    oldest_due_at=datetime(2026, 1, 1, tzinfo=UTC),
    blocks=0,
    opened_networks=(),
    store="ok",
)
HUB_GAUGES = ("subscriptions", "due", "delivery_lag_seconds", "hub_paused")


def metrics(
    counts: Counts | None = None,
    hub: Callable[[], Deferred[HubState]] = lambda: succeed(STATE),
    clock: Clock | None = None,
    revision: str = "",
    sources: SourceReport | None = None,
) -> Metrics:
    snapshots = SimpleNamespace(empty=not revision, current=SimpleNamespace(revision=revision))
    report = succeed(sources or SourceReport())
    return Metrics(
        clock or Clock(), lambda: counts or {}, hub, lambda: report, cast("Snapshots", snapshots)
    )


def parsed(text: bytes) -> dict[str, Metric]:
    return {family.name: family for family in text_string_to_metric_families(text.decode())}


def scrape(counts: Counts | None = None) -> dict[str, Metric]:
    """Return the families of a scrape by name."""
    return parsed(result_of(metrics(counts).text()))


def rows(family: Metric) -> dict[tuple[str, ...], float]:
    return {tuple(sample.labels.values()): sample.value for sample in family.samples}


def test_count_is_reported_under_its_labels() -> None:
    counters = Counters()
    for labels in (("/mcp", "POST", "200"), ("/mcp", "POST", "200"), ("other", "GET", "404")):
        counters.count("requests_total", *labels)
    family = scrape(counters.counts())["reviewsd_requests"]
    assert "counter" == family.type
    assert [
        ({"route": "/mcp", "method": "POST", "code": "200"}, 2.0),
        ({"route": "other", "method": "GET", "code": "404"}, 1.0),
    ] == [(sample.labels, sample.value) for sample in family.samples]


def test_counter_with_known_labels_begins_at_zero() -> None:
    """Else the first event of its kind raises no rate, and no alert."""
    counters = Counters()
    counters.count("verification_total", "confirmed")
    families = scrape(counters.counts())
    assert {("confirmed",): 1.0, ("not-confirmed",): 0.0, ("unreachable",): 0.0} == rows(
        families["reviewsd_verification"]
    )
    assert {(): 0.0} == rows(families["reviewsd_store_errors"])
    assert 22 == len(rows(families["reviewsd_mcp_tool_calls"]))


def test_durations_are_a_histogram() -> None:
    counters = Counters()
    for seconds in (0.0001, 0.004, 11.0):
        counters.measure("store_latency_seconds", seconds)
    name = "reviewsd_store_latency_seconds"
    family = scrape(merged(counters.counts(), counters.counts()))[name]
    assert "histogram" == family.type
    samples = {(sample.name, sample.labels.get("le")): sample.value for sample in family.samples}
    expected = {"0.001": 2, "0.0025": 2, "0.005": 4, "10.0": 4, "+Inf": 6}
    assert expected == {le: samples[f"{name}_bucket", le] for le in expected}
    assert (6, 22.0082) == (samples[f"{name}_count", None], round(samples[f"{name}_sum", None], 6))


def test_gauge_without_value_has_no_sample() -> None:
    families = scrape({"connections": 5, "store_up": 1.0})
    assert {(): 5.0} == rows(families["reviewsd_connections"])
    assert {(): 1.0} == rows(families["reviewsd_store_up"])
    assert {} == rows(families["reviewsd_reviews"])


@pytest.mark.parametrize(("revision", "labels"), [("", {}), ("r1", {"revision": "r1"})])
def test_infos_are_labels(revision: str, labels: dict[str, str]) -> None:
    families = parsed(result_of(metrics(revision=revision).text()))
    (snapshot,) = families["reviewsd_snapshot_info"].samples
    assert (labels, 1.0) == (snapshot.labels, snapshot.value)
    (build,) = families["reviewsd_build_info"].samples
    assert {"version", "python", "twisted"} == set(build.labels)


def test_state_of_hub_is_reported() -> None:
    families = scrape()
    assert {("active",): 2.0, ("pending",): 1.0} == rows(families["reviewsd_subscriptions"])
    assert [1.0, 0.0] == [rows(families[f"reviewsd_{name}"])[()] for name in ("due", "hub_paused")]
    assert rows(families["reviewsd_delivery_lag_seconds"])[()] > 0


def test_slow_store_leaves_only_the_hub_out() -> None:
    clock = Clock()
    texts: list[bytes] = []
    waiting = Deferred.fromCoroutine(metrics({"connections": 5}, Deferred, clock).text())
    waiting.addCallback(texts.append)
    clock.advance(HUB_TIMEOUT)
    families = parsed(*texts)
    assert [{}] * len(HUB_GAUGES) == [rows(families[f"reviewsd_{name}"]) for name in HUB_GAUGES]
    assert {(): 5.0} == rows(families["reviewsd_connections"])


def test_each_source_is_reported_with_its_state() -> None:
    google = SourceCondition(
        state="stopped", reviews=213, failures=2, read_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    report = SourceReport({"google": google, "new-one": SourceCondition()})
    families = parsed(result_of(metrics(sources=report).text()))
    states = rows(families["reviewsd_source_state"])
    assert 10 == len(states)
    assert {("google", "stopped"), ("new-one", "new")} == {row for row in states if states[row]}
    assert 213.0 == rows(families["reviewsd_source_reviews"])["google",]
    assert 2.0 == rows(families["reviewsd_source_failures"])["google",]
    assert {("google",): 1767225600.0} == rows(
        families["reviewsd_source_last_read_timestamp_seconds"]
    )
    assert {} == rows(families["reviewsd_source_last_success_timestamp_seconds"])
    assert {(): 1.0} == rows(families["reviewsd_sources_readable"])


def test_unreadable_states_of_sources_are_reported() -> None:
    families = parsed(result_of(metrics(sources=SourceReport(problem="damaged")).text()))
    assert {(): 0.0} == rows(families["reviewsd_sources_readable"])
    assert {} == rows(families["reviewsd_source_state"])


def test_every_count_has_its_metric() -> None:
    """A count under another name would not be reported."""
    names = set()
    for module in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Call) and node.args:
                function = ast.unparse(node.func)
                name = node.args[0]
                if re.search(r"(_count|counters\.(count|measure)|^key)$", function) and isinstance(
                    name, ast.Constant
                ):
                    names.add(str(name.value))
            elif isinstance(node, ast.FunctionDef) and node.name == "gauges":
                names |= {
                    str(key.value)
                    for value in ast.walk(node)
                    if isinstance(value, ast.Dict)
                    for key in value.keys
                    if isinstance(key, ast.Constant)
                }
    lines = result_of(metrics().text()).decode().splitlines()
    metric_names = {line.split()[2] for line in lines if line.startswith("# TYPE reviewsd_")}
    assert set() == {f"reviewsd_{name}" for name in names} - metric_names
    assert {
        "ratelimited_total",
        "verification_total",
        "requests_total",
        "store_latency_seconds",
        "reviews",
        "store_up",
        "data_retry_timestamp_seconds",
    } < names
