"""The metrics: what each of them is called, and all of them as Prometheus reads them (O9).

What is counted comes as ``Counts``, what is read only when the metrics are comes from gauges. Here it gets its names, which are the operator's: alert rules and
dashboards depend on them.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector
from prometheus_client import generate_latest as text_of
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from reviewsd.domain.callback import Refusal
from reviewsd.mcp import methods
from reviewsd.mcp.tools import TOOLS
from reviewsd.runtime.counters import Counts
from reviewsd.websub import delivery, requests, verification

CONTENT_TYPE = CONTENT_TYPE_LATEST
"""Of the text."""

_PREFIX = "reviewsd_"
_TOOL_NAMES = tuple(tool.name for tool in TOOLS)

LabelValues = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """Something that is counted under this name, without the prefix."""

    name: str
    text: str
    labels: LabelValues = ()
    values: tuple[tuple[str, ...], ...] = ()
    """Of each label, where all are known: what never happened yet is 0, and not unknown."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """Something that is looked at when somebody asks: under this name, without the prefix."""

    name: str
    text: str
    read: Callable[[], float | None]
    """None while there is nothing to see."""


@dataclass(frozen=True, slots=True)
class InfoMetric:
    """A fact that is no number, as the label of a 1."""

    name: str
    text: str
    read: Callable[[], Mapping[str, str]]


COUNTERS = (
    Counted(
        "requests_total",
        "Answers to requests at the public address.",
        ("route", "method", "code"),
    ),
    Counted(
        "rejected_total",
        "Connections that were refused, and what came over them instead of a request.",
        ("reason",),
    ),
    Counted(
        "verification_total",
        "Verifications of a subscriber's intent.",
        ("result",),
        (tuple(verification.RESULTS.values()),),
    ),
    Counted("mcp_sessions_ended_total", "MCP sessions that their clients have ended.", ()),
    Counted(
        "delivery_attempts_total",
        "Deliveries attempted.",
        ("result",),
        (tuple(delivery.RESULTS.values()),),
    ),
    Counted(
        "callback_refused_total",
        "Requests to the hub whose callback was refused.",
        ("reason",),
        (tuple(reason.value for reason in Refusal),),
    ),
    Counted(
        "ratelimited_total",
        "Requests that were refused because of a limit, by the hub or (reads) by server.read_limit.",
        ("limit",),
        ((*requests.LIMITS, "reads"),),
    ),
    Counted(
        "data_reloads_total",
        "Reloads of the data.",
        ("outcome",),
        (("published", "unchanged", "refused", "failed"),),
    ),
    Counted("store_errors_total", "Transactions that the state store could not run."),
    Counted(
        "mcp_tool_calls_total",
        "Calls of MCP tools.",
        ("tool", "result"),
        (_TOOL_NAMES, methods.RESULTS),
    ),
    Counted(
        "mcp_delete_refused_total",
        "MCP sessions that could not be ended because too many are, in all or of one client.",
    ),
)

DURATIONS = (
    Counted(
        "request_duration_seconds",
        "From a whole request to its answer.",
        ("route",),
    ),
    Counted("store_latency_seconds", "Transactions of the state store, and their wait in line."),
)

LEVELS = (
    Counted("connections", "Open public connections."),
    Counted("inflight", "Requests that are being answered."),
    Counted("computations_waiting", "Searches and MCP messages that wait for their turn."),
    Counted("answer_bytes_held", "Bytes of MCP answers that their clients have not taken."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFigures:
    """What the store says of the hub."""

    subscriptions: Mapping[str, int]
    """By state."""
    due: int
    """Subscriptions that are behind their topic."""
    lag: float
    """Seconds since the change that the longest of them waits for."""
    paused: bool


class Metrics:
    """Makes the text.

    Args:
        counts: Returns what was counted.
        hub: How the hub is; None while that cannot be said.
        gauges: What else is looked at.
        infos: What is no number.
    """

    def __init__(
        self,
        counts: Callable[[], Counts],
        hub: Callable[[], Awaitable[HubFigures | None]],
        gauges: Sequence[Gauge],
        infos: Sequence[InfoMetric],
    ) -> None:
        self._counts = counts
        self._hub = hub
        self._gauges = gauges
        self._infos = infos
        self._process = ProcessCollector(registry=None)

    async def text(self) -> bytes:
        """All metrics as they are now, in Prometheus's text format."""
        hub = await self._hub()
        families = [
            *_counted(self._counts()),
            *(_gauge(each.name, each.text, each.read()) for each in self._gauges),
            *_hub(hub),
            *map(_info, self._infos),
        ]
        registry = CollectorRegistry()
        registry.register(_Ready(families))
        registry.register(self._process)
        return text_of(registry)


class _Ready(Collector):
    """Families that are known already."""

    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _counted(counts: Counts) -> Iterator[Metric]:
    found: dict[str, dict[LabelValues, float]] = {}
    for key, number in counts.items():
        name, *values = key.split(" ")
        found.setdefault(name, {})[tuple(values)] = number
    for each in COUNTERS:
        counter = CounterMetricFamily(_PREFIX + each.name, each.text, labels=each.labels)
        known = product(*each.values) if each.values or not each.labels else ()
        rows = dict.fromkeys(known, 0.0) | found.get(each.name, {})
        for labels, number in sorted(rows.items()):
            counter.add_metric(labels, number)
        yield counter
    for each in DURATIONS:
        yield _histogram(each, found)
    for each in LEVELS:
        yield _gauge(each.name, each.text, found.get(each.name, {}).get((), 0.0))


def _histogram(each: Counted, found: Mapping[str, Mapping[LabelValues, float]]) -> Metric:
    histogram = HistogramMetricFamily(_PREFIX + each.name, each.text, labels=each.labels)
    buckets: dict[LabelValues, list[tuple[str, float]]] = {}
    for labels, number in found.get(f"{each.name}_bucket", {}).items():
        buckets.setdefault(labels[:-1], []).append((labels[-1], number))
    for labels, total in sorted(found.get(f"{each.name}_sum", {}).items()):
        within = sorted(buckets[labels], key=lambda bucket: float(bucket[0]))
        histogram.add_metric(labels, within, total)
    return histogram


def _gauge(name: str, text: str, value: float | None) -> Metric:
    gauge = GaugeMetricFamily(_PREFIX + name, text)
    if value is not None:
        gauge.add_metric((), value)
    return gauge


def _hub(hub: HubFigures | None) -> Iterator[Metric]:
    subscriptions = GaugeMetricFamily(
        f"{_PREFIX}subscriptions", "Subscriptions, and requests for one.", labels=("state",)
    )
    if hub is not None:
        for state, number in hub.subscriptions.items():
            subscriptions.add_metric((state,), number)
    yield subscriptions
    text = "Subscriptions that have not got the current content."
    yield _gauge("due", text, None if hub is None else hub.due)
    text = "Age of the oldest change that a subscriber has not got."
    yield _gauge("delivery_lag_seconds", text, None if hub is None else hub.lag)
    text = "1 while the operator has the hub send nothing."
    yield _gauge("hub_paused", text, None if hub is None else hub.paused)


def _info(each: InfoMetric) -> Metric:
    facts = each.read()
    info = InfoMetricFamily(_PREFIX + each.name, each.text, labels=())
    info.add_metric((), dict(facts))
    return info
