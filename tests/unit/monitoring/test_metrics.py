"""The metrics' names, and their text as a parser of Prometheus's own reads it (O9)."""

import ast
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from reviewsd.monitoring.metrics import (
    COUNTERS,
    DURATIONS,
    LEVELS,
    Gauge,
    HubFigures,
    InfoMetric,
    Metrics,
)
from reviewsd.runtime.counters import Counters, Counts, merged
from tests.support.hub import result_of

SOURCES = Path(__file__).parents[3] / "reviewsd"
QUIET = HubFigures(subscriptions={"active": 2, "pending": 1}, due=1, lag=12.5, paused=False)


def scrape(
    counts: Counts | None = None,
    hub: HubFigures | None = QUIET,
    gauges: Mapping[str, float | None] | None = None,
) -> dict[str, Metric]:
    """What a scrape finds, by name."""

    async def asked() -> HubFigures | None:
        return hub

    looked = [
        Gauge(name, "Help.", partial(value, number)) for name, number in (gauges or {}).items()
    ]
    infos = [InfoMetric("build", "The program.", lambda: {"version": "1.2.3"})]
    text = result_of(Metrics(lambda: counts or {}, asked, looked, infos).text()).decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


def value(number: float | None) -> float | None:
    return number


def rows(family: Metric) -> dict[tuple[str, ...], float]:
    return {tuple(each.labels.values()): each.value for each in family.samples}


def test_counts_are_told_under_their_labels() -> None:
    counters = Counters()
    for labels in (("/mcp", "POST", "200"), ("/mcp", "POST", "200"), ("other", "GET", "404")):
        counters.count("requests_total", *labels)
    (found,) = [scrape(counters.counts())["reviewsd_requests"]]
    assert "counter" == found.type
    assert [
        ({"route": "/mcp", "method": "POST", "code": "200"}, 2.0),
        ({"route": "other", "method": "GET", "code": "404"}, 1.0),
    ] == [(sample.labels, sample.value) for sample in found.samples]


def test_what_can_happen_but_never_did_is_zero() -> None:
    """Else the first of its kind raises no rate, and no alarm."""
    counters = Counters()
    counters.count("verification_total", "confirmed")
    found = scrape(counters.counts())
    assert {("confirmed",): 1.0, ("not-confirmed",): 0.0, ("unreachable",): 0.0} == rows(
        found["reviewsd_verification"]
    )
    assert {(): 0.0} == rows(found["reviewsd_store_errors"])
    assert 22 == len(rows(found["reviewsd_mcp_tool_calls"]))


def test_durations_are_a_histogram() -> None:
    counters = Counters()
    for seconds in (0.0001, 0.004, 11.0):
        counters.measure("store_latency_seconds", seconds)
    found = scrape(merged(counters.counts(), counters.counts()))["reviewsd_store_latency_seconds"]
    assert "histogram" == found.type
    samples = {(each.name, each.labels.get("le")): each.value for each in found.samples}
    name = "reviewsd_store_latency_seconds"
    expected = {"0.001": 2, "0.0025": 2, "0.005": 4, "10.0": 4, "+Inf": 6}
    assert expected == {le: samples[f"{name}_bucket", le] for le in expected}
    assert (6, 22.0082) == (samples[f"{name}_count", None], round(samples[f"{name}_sum", None], 6))


def test_levels_and_gauges_are_told() -> None:
    found = scrape({"connections": 5}, gauges={"reviews": 3, "age_seconds": None})
    assert [5.0] == [each.value for each in found["reviewsd_connections"].samples]
    assert [0.0] == [each.value for each in found["reviewsd_inflight"].samples]
    assert [3.0] == [each.value for each in found["reviewsd_reviews"].samples]
    assert [] == found["reviewsd_age_seconds"].samples  # there is nothing to see yet
    (build,) = found["reviewsd_build_info"].samples
    assert ({"version": "1.2.3"}, 1.0) == (build.labels, build.value)


def test_the_hub_is_told_or_left_out() -> None:
    found = scrape()
    assert {("active",): 2.0, ("pending",): 1.0} == rows(found["reviewsd_subscriptions"])
    names = ("due", "delivery_lag_seconds", "hub_paused")
    assert [1.0, 12.5, 0.0] == [found[f"reviewsd_{name}"].samples[0].value for name in names]
    found = scrape(hub=None)
    for name in ("subscriptions", *names):
        assert [] == found[f"reviewsd_{name}"].samples


def test_the_process_is_told() -> None:
    assert scrape()["process_resident_memory_bytes"].samples[0].value > 1e6


def test_everything_that_is_counted_has_its_metric() -> None:
    """A count under another name would be told to nobody."""
    counted = set()
    for module in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Call) and node.args:
                called = ast.unparse(node.func)
                name = node.args[0]
                if re.search(r"(_count|counters\.(count|measure)|^key)$", called) and isinstance(
                    name, ast.Constant
                ):
                    counted.add(str(name.value))
    known = {each.name for each in (*COUNTERS, *DURATIONS, *LEVELS)}
    assert set() == counted - known
    assert {
        "ratelimited_total",
        "verification_total",
        "requests_total",
        "store_latency_seconds",
    } < counted
