"""The metrics under the names that operators see, as text for Prometheus (O9).

The numbers are the ``Counts`` of their owners. Alert rules and dashboards depend on the names.
"""

import platform
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, PROCESS_COLLECTOR, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from twisted.internet.defer import Deferred, TimeoutError, ensureDeferred  # noqa: A004  Twisted's
from twisted.internet.interfaces import IReactorTime

from reviewsd.api.hub import HubState
from reviewsd.domain.callback import Refusal
from reviewsd.mcp import methods
from reviewsd.mcp.tools import TOOLS
from reviewsd.publish.source_states import SourceReport
from reviewsd.runtime.counters import BUCKETS, Counts
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.websub import delivery, requests, verification

CONTENT_TYPE = CONTENT_TYPE_LATEST.encode()

HUB_TIMEOUT = 2.0
"""Seconds that the store has for the state of the hub; after that its metrics have no samples."""

_PREFIX = "reviewsd_"

Labels = dict[str, Iterable[str]]
"""The values of each label of a metric. Each combination of a counter begins at 0."""

_OPEN: tuple[str, ...] = ()
"""The values of a label that are no closed set, so that no combination begins at 0."""

COUNTERS: dict[str, tuple[str, Labels]] = {
    "requests_total": (
        "Answers to requests at the public address.",
        {"route": _OPEN, "method": _OPEN, "code": _OPEN},
    ),
    "rejected_total": (
        "Connections that were refused, and what came over them instead of a request.",
        {"reason": _OPEN},
    ),
    "verification_total": (
        "Verifications of a subscriber's intent.",
        {"result": verification.RESULTS.values()},
    ),
    "mcp_sessions_ended_total": ("MCP sessions that their clients have ended.", {}),
    "delivery_attempts_total": ("Deliveries attempted.", {"result": delivery.RESULTS.values()}),
    "callback_refused_total": (
        "Requests to the hub whose callback was refused.",
        {"reason": [reason.value for reason in Refusal]},
    ),
    "ratelimited_total": (
        "Requests that were refused because of a limit, by the hub or (reads) by server.read_limit.",
        {"limit": [*requests.LIMITS, "reads"]},
    ),
    "data_reloads_total": (
        "Reloads of the data.",
        {"outcome": ["published", "unchanged", "refused", "failed"]},
    ),
    "store_errors_total": ("Transactions that the state store could not run.", {}),
    "mcp_tool_calls_total": (
        "Calls of MCP tools.",
        {"tool": [tool.name for tool in TOOLS], "result": methods.RESULTS},
    ),
    "mcp_delete_refused_total": (
        "MCP sessions that could not be ended because too many are, in all or of one client.",
        {},
    ),
}

DURATIONS: dict[str, tuple[str, Labels]] = {
    "request_duration_seconds": ("From a whole request to its answer.", {"route": _OPEN}),
    "store_latency_seconds": ("Transactions of the state store, and their wait in line.", {}),
}

GAUGES: dict[str, tuple[str, Labels]] = {
    "connections": ("Open public connections.", {}),
    "inflight": ("Requests that are being answered.", {}),
    "mcp_streams": ("Open streams of changes of MCP.", {}),
    "computations_waiting": ("Searches and MCP messages that wait for their turn.", {}),
    "answer_bytes_held": ("Bytes of MCP answers that their clients have not taken.", {}),
    "reviews": ("Reviews that are served.", {}),
    "snapshot_age_seconds": ("Time since the data that is served was published.", {}),
    "data_last_reload_successful": (
        "1 when what is served is what the files say, 0 when they could not be published.",
        {},
    ),
    "data_last_reload_success_timestamp_seconds": (
        "When the files were last found published, or were published; POSIX time.",
        {},
    ),
    "data_retry_timestamp_seconds": (
        "When a publication that failed is tried again, POSIX time; nothing where none waits.",
        {},
    ),
    "reactor_lag_seconds": ("How late the reactor was in the last minute, at the worst.", {}),
    "store_up": ("1 while the state store works.", {}),
    "threadpool_queue": ("Work that waits for a thread.", {}),
    "subscriptions": ("Subscriptions, and requests for one.", {"state": _OPEN}),
    "due": ("Subscriptions that have not got the current content.", {}),
    "delivery_lag_seconds": ("Age of the oldest change that a subscriber has not got.", {}),
    "sources_readable": ("0 while sources.json of the data directory is damaged, else 1.", {}),
    "source_state": ("1 for the state that a source is in.", {"source": _OPEN, "state": _OPEN}),
    "source_reviews": ("Reviews of the last complete read of a source.", {"source": _OPEN}),
    "source_failures": ("Consecutive failed runs of a source.", {"source": _OPEN}),
    "source_last_read_timestamp_seconds": (
        "When a source was last read completely; POSIX time.",
        {"source": _OPEN},
    ),
    "source_last_success_timestamp_seconds": (
        "When a source was last read completely, or found unchanged; POSIX time.",
        {"source": _OPEN},
    ),
    "hub_paused": ("1 while the operator has the hub send nothing.", {}),
}


@dataclass(frozen=True, slots=True)
class Metrics:
    """Renders the metrics as they are at a moment."""

    clock: IReactorTime
    """Schedules the time-out of the hub."""
    counts: Callable[[], Counts]
    hub: Callable[[], Coroutine[Deferred[Any], Any, HubState] | Deferred[HubState]]
    sources: Callable[[], Awaitable[SourceReport]]
    snapshots: Snapshots

    async def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        hub = await self._hub_counts()
        sources = (await self.sources()).counts()
        revision = "" if self.snapshots.empty else self.snapshots.current.revision
        return generate_latest(_Scrape({**self.counts(), **hub, **sources}, revision))

    async def _hub_counts(self) -> Counts:
        """Return the numbers of the hub; none if the store does not answer in time."""
        try:
            state = await ensureDeferred(self.hub()).addTimeout(HUB_TIMEOUT, self.clock)
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


class _Scrape(Collector):
    """The families of all metrics at one moment, in the order of the text."""

    def __init__(self, counts: Counts, revision: str) -> None:
        self._revision = revision
        self._rows: defaultdict[str, dict[tuple[str, ...], float]] = defaultdict(dict)
        """The numbers by name, then by the values of the labels."""
        for key, number in sorted(counts.items(), key=lambda item: item[0].split(" ")):
            name, *labels = key.split(" ")
            self._rows[name][tuple(labels)] = number

    def collect(self) -> Iterator[Metric]:
        for name, (text, labels) in COUNTERS.items():
            counter = CounterMetricFamily(_PREFIX + name, text, labels=[*labels])
            numbers = dict.fromkeys(product(*labels.values()), 0.0) | self._rows[name]
            for values, number in sorted(numbers.items()):
                counter.add_metric(values, number)
            yield counter
        for name, (text, labels) in DURATIONS.items():
            histogram = HistogramMetricFamily(_PREFIX + name, text, labels=[*labels])
            counted = self._rows[f"{name}_bucket"]
            for values, seconds in self._rows[f"{name}_sum"].items():
                buckets = [(bound, counted[*values, bound]) for bound in BUCKETS]
                histogram.add_metric(values, buckets, seconds)
            yield histogram
        for name, (text, labels) in GAUGES.items():
            gauge = GaugeMetricFamily(_PREFIX + name, text, labels=[*labels])
            for values, number in self._rows[name].items():
                gauge.add_metric(values, number)
            yield gauge
        python, twisted = platform.python_version(), version("twisted")
        build = {"version": version("reviewsd"), "python": python, "twisted": twisted}
        yield InfoMetricFamily(f"{_PREFIX}build", "The program.", build)
        snapshot = {"revision": self._revision} if self._revision else {}
        yield InfoMetricFamily(f"{_PREFIX}snapshot", "The data that is served.", snapshot)
        yield from PROCESS_COLLECTOR.collect()
