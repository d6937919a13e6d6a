"""The metrics under the names that operators see, as text for Prometheus (O9).

The numbers are the ``Counts`` of their owners. Alert rules and dashboards depend on the names.
"""

import platform
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector
from prometheus_client import generate_latest as render
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from twisted.internet.defer import Deferred, TimeoutError  # noqa: A004  Twisted's
from twisted.internet.interfaces import IReactorTime

from reviewsd.api.hub import HubState
from reviewsd.domain.callback import Refusal
from reviewsd.mcp import methods
from reviewsd.mcp.tools import TOOLS
from reviewsd.publish.source_states import SourceReport
from reviewsd.runtime.counters import Counts
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.websub import delivery, requests, verification

CONTENT_TYPE = CONTENT_TYPE_LATEST

HUB_TIMEOUT = 2.0
"""Seconds that the store has for the state of the hub; after that its metrics have no samples."""

_PREFIX = "reviewsd_"
_TOOL_NAMES = tuple(tool.name for tool in TOOLS)

Rows = dict[str, dict[tuple[str, ...], float]]
"""Numbers by name, then by the values of the labels."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A metric: its name without the prefix, its help text, and its labels."""

    name: str
    text: str
    labels: tuple[str, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()
    """The values of each label of a counter, if they are a closed set: each combination begins at 0."""


COUNTERS = (
    Definition(
        "requests_total", "Answers to requests at the public address.", ("route", "method", "code")
    ),
    Definition(
        "rejected_total",
        "Connections that were refused, and what came over them instead of a request.",
        ("reason",),
    ),
    Definition(
        "verification_total",
        "Verifications of a subscriber's intent.",
        ("result",),
        (tuple(verification.RESULTS.values()),),
    ),
    Definition("mcp_sessions_ended_total", "MCP sessions that their clients have ended."),
    Definition(
        "delivery_attempts_total",
        "Deliveries attempted.",
        ("result",),
        (tuple(delivery.RESULTS.values()),),
    ),
    Definition(
        "callback_refused_total",
        "Requests to the hub whose callback was refused.",
        ("reason",),
        (tuple(reason.value for reason in Refusal),),
    ),
    Definition(
        "ratelimited_total",
        "Requests that were refused because of a limit, by the hub or (reads) by server.read_limit.",
        ("limit",),
        ((*requests.LIMITS, "reads"),),
    ),
    Definition(
        "data_reloads_total",
        "Reloads of the data.",
        ("outcome",),
        (("published", "unchanged", "refused", "failed"),),
    ),
    Definition("store_errors_total", "Transactions that the state store could not run."),
    Definition(
        "mcp_tool_calls_total",
        "Calls of MCP tools.",
        ("tool", "result"),
        (_TOOL_NAMES, methods.RESULTS),
    ),
    Definition(
        "mcp_delete_refused_total",
        "MCP sessions that could not be ended because too many are, in all or of one client.",
    ),
)

DURATIONS = (
    Definition("request_duration_seconds", "From a whole request to its answer.", ("route",)),
    Definition("store_latency_seconds", "Transactions of the state store, and their wait in line."),
)

GAUGES = (
    Definition("connections", "Open public connections."),
    Definition("inflight", "Requests that are being answered."),
    Definition("computations_waiting", "Searches and MCP messages that wait for their turn."),
    Definition("answer_bytes_held", "Bytes of MCP answers that their clients have not taken."),
    Definition("reviews", "Reviews that are served."),
    Definition("snapshot_age_seconds", "Time since the data that is served was published."),
    Definition(
        "data_last_reload_successful",
        "1 when what is served is what the files say, 0 when they could not be published.",
    ),
    Definition(
        "data_last_reload_success_timestamp_seconds",
        "When the files were last found published, or were published; POSIX time.",
    ),
    Definition(
        "data_retry_timestamp_seconds",
        "When a publication that failed is tried again, POSIX time; nothing where none waits.",
    ),
    Definition("reactor_lag_seconds", "How late the reactor was in the last minute, at the worst."),
    Definition("store_up", "1 while the state store works."),
    Definition("threadpool_queue", "Work that waits for a thread."),
    Definition("subscriptions", "Subscriptions, and requests for one.", ("state",)),
    Definition("due", "Subscriptions that have not got the current content."),
    Definition("delivery_lag_seconds", "Age of the oldest change that a subscriber has not got."),
    Definition(
        "sources_readable", "0 while sources.json of the data directory is damaged, else 1."
    ),
    Definition("source_state", "1 for the state that a source is in.", ("source", "state")),
    Definition("source_reviews", "Reviews of the last complete read of a source.", ("source",)),
    Definition("source_failures", "Runs of a source in a row that did not succeed.", ("source",)),
    Definition(
        "source_last_read_timestamp_seconds",
        "When a source was last read completely; POSIX time.",
        ("source",),
    ),
    Definition(
        "source_last_success_timestamp_seconds",
        "When a source was last read completely, or found unchanged; POSIX time.",
        ("source",),
    ),
    Definition("hub_paused", "1 while the operator has the hub send nothing."),
)


class Metrics:
    """Renders the metrics.

    Args:
        clock: Schedules the time-out of the hub.
        counts: Returns the numbers of this process.
        hub: Returns the state of the hub.
        sources: Returns the states of the sources.
        snapshots: The data that is served.
    """

    def __init__(
        self,
        clock: IReactorTime,
        counts: Callable[[], Counts],
        hub: Callable[[], Awaitable[HubState]],
        sources: Callable[[], Awaitable[SourceReport]],
        snapshots: Snapshots,
    ) -> None:
        self._clock = clock
        self._counts = counts
        self._hub = hub
        self._sources = sources
        self._snapshots = snapshots
        self._process = ProcessCollector(registry=None)

    async def text(self) -> bytes:
        """Return all metrics as they are now, in Prometheus's text format."""
        hub = await self._hub_counts()
        sources = (await self._sources()).counts()
        counts = {**self._counts(), **hub, **sources}
        registry = CollectorRegistry()
        registry.register(_Families([*_families(counts), *self._infos()]))
        registry.register(self._process)
        return render(registry)

    async def _hub_counts(self) -> Counts:
        """Return the numbers of the hub; none if the store does not answer in time."""

        async def ask() -> HubState:
            return await self._hub()

        try:
            state = await Deferred.fromCoroutine(ask()).addTimeout(HUB_TIMEOUT, self._clock)
        except TimeoutError:
            return {}
        due_at = state.oldest_due_at
        return {
            "subscriptions active": state.active,
            "subscriptions pending": state.pending,
            "due": state.due,
            "delivery_lag_seconds": max(time.time() - due_at.timestamp(), 0.0) if due_at else 0.0,
            "hub_paused": state.paused,
        }

    def _infos(self) -> Iterator[Metric]:
        build = {
            "version": version("reviewsd"),
            "python": platform.python_version(),
            "twisted": version("twisted"),
        }
        yield InfoMetricFamily(f"{_PREFIX}build", "The program.", build)
        revision = {} if self._snapshots.empty else {"revision": self._snapshots.current.revision}
        yield InfoMetricFamily(f"{_PREFIX}snapshot", "The data that is served.", revision)


class _Families(Collector):
    """Families that are complete already."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _families(counts: Counts) -> Iterator[Metric]:
    rows: Rows = {}
    for key, number in counts.items():
        name, *labels = key.split(" ")
        rows.setdefault(name, {})[tuple(labels)] = number
    for metric in COUNTERS:
        counter = CounterMetricFamily(_PREFIX + metric.name, metric.text, labels=metric.labels)
        zeros = product(*metric.values) if metric.values or not metric.labels else ()
        numbers = dict.fromkeys(zeros, 0.0) | rows.get(metric.name, {})
        for values, number in sorted(numbers.items()):
            counter.add_metric(values, number)
        yield counter
    for metric in DURATIONS:
        yield _histogram(metric, rows)
    for metric in GAUGES:
        gauge = GaugeMetricFamily(_PREFIX + metric.name, metric.text, labels=metric.labels)
        for values, number in sorted(rows.get(metric.name, {}).items()):
            gauge.add_metric(values, number)
        yield gauge


def _histogram(metric: Definition, rows: Rows) -> Metric:
    histogram = HistogramMetricFamily(_PREFIX + metric.name, metric.text, labels=metric.labels)
    buckets: dict[tuple[str, ...], list[tuple[str, float]]] = {}
    for values, number in rows.get(f"{metric.name}_bucket", {}).items():
        buckets.setdefault(values[:-1], []).append((values[-1], number))
    for values, total in sorted(rows.get(f"{metric.name}_sum", {}).items()):
        bounds = sorted(buckets[values], key=lambda bucket: float(bucket[0]))
        histogram.add_metric(values, bounds, total)
    return histogram
