"""The whole hub without network and disk: a store in memory, a clock that tests advance, and callbacks.

It is built like that of a daemon; the three differences are its Context, its Store, and the agent that
treq sends its requests to.
"""

import itertools
import sqlite3
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, urlencode

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock, deferLater
from twisted.logger import LogEvent, capturedLogs
from twisted.python.failure import Failure
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IBodyProducer, IResponse
from zope.interface import implementer

from reviewsd.config import convert
from reviewsd.config.hub_schema import HubConfig, HubLimitsConfig
from reviewsd.config.schema import Config
from reviewsd.domain.callback import Callback, parse_stored
from reviewsd.http1 import urls
from reviewsd.http1.representation import Rendered
from reviewsd.snapshot.snapshots import Snapshot
from reviewsd.store import sqlite  # noqa: F401  registers the adapter of lists at sqlite3
from reviewsd.store.keys import Secrets
from reviewsd.store.schema import MIGRATIONS
from reviewsd.store.transactions import Purpose, SqlCursor, Store, StoreError
from reviewsd.websub.context import Context
from reviewsd.websub.hub import DEFAULT_LIMITS, Hub, HubLimits
from reviewsd.websub.operator import Operator
from reviewsd.websub.outbound.agent import MAX_CHALLENGE_BODY, CallbackResponse
from reviewsd.websub.outbound.client import CallbackRequest
from reviewsd.websub.outbound.response_parser import (
    NetworkFullError,
    NoResponseError,
    ResponseParser,
)
from reviewsd.websub.requests import MEDIA_TYPE, HubRequests, HubResponse

BASE_URL = "https://reviews.example.com"
CALLBACK = "https://subscriber.example.org/cb?id=1"
FEED, JSON_FEED, REVIEWS = urls.TOPICS
CLIENT = "192.0.2.7/32"
START = 1_760_000_000_000
"""Milliseconds: 2025-10-09T08:53:20Z"""
OPEN = HubLimitsConfig(requests_per_minute=10_000, active_per_host=10_000)
GENEROUS = HubConfig(limits=OPEN)
"""For tests with many requests, or many callbacks at a host."""
MAX_STEPS = 20_000
"""Transactions of one test, or delayed calls, after which something runs in circles."""

T = TypeVar("T")


def result_of(coroutine: Coroutine[Deferred[Any], Any, T]) -> T:
    """Return the result of a coroutine that needs no time."""
    results: list[T | Failure] = []
    Deferred.fromCoroutine(coroutine).addBoth(results.append)
    (result,) = results
    if isinstance(result, Failure):
        result.raiseException()
    return result


class Time:
    """A monotonic and a wall clock, which may part."""

    def __init__(self) -> None:
        self.clock = Clock()
        self._epoch = START

    def now(self) -> int:
        return self._epoch + round(self.clock.seconds() * 1000)

    def jump(self, seconds: float) -> None:
        """Set the wall clock."""
        self._epoch += round(seconds * 1000)

    def advance(self, seconds: float) -> None:
        """Let time go by; each delayed call is made at its own time."""
        clock, end = self.clock, self.clock.seconds() + seconds
        for _ in range(MAX_STEPS):
            times = [call.getTime() for call in clock.getDelayedCalls()]
            step = min([*times, end]) - clock.seconds()
            clock.advance(max(step, 0.0))
            if clock.seconds() >= end and min([*times, end]) >= end:
                return
        raise AssertionError("delayed calls are made without end")

    def in_thread(self, work: Callable[[], T]) -> Deferred[T]:
        """Call a function at the next moment, as if in a thread."""
        return deferLater(self.clock, 0.0, work)

    def restart(self) -> None:
        """Begin another process, with a monotonic clock of its own."""
        self._epoch = self.now()
        self.clock = Clock()


# The store ----------------------------------------------------------------------------------------


def connect(path: str = ":memory:") -> sqlite3.Connection:
    """Return a store's connection with all tables."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    if connection.execute("PRAGMA user_version").fetchone() == (0,):
        for statement in itertools.chain.from_iterable(MIGRATIONS):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    return connection


def transact(connection: sqlite3.Connection, work: Callable[[SqlCursor], T]) -> T:
    """Run a transaction."""
    cursor = connection.cursor()
    cursor.execute("BEGIN IMMEDIATE")
    try:
        result = work(cast("SqlCursor", cursor))
    except BaseException:
        cursor.execute("ROLLBACK")
        raise
    cursor.execute("COMMIT")
    return result


class MemoryStore(Store):
    """A Store with transactions that take time on a test's clock, one after the other."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        self.connection = connection
        self._clock = clock
        self.latency: float | None = None
        """Seconds before a transaction is carried out; None: at once."""
        self.fault: Callable[[], str | None] = lambda: None
        """Called for each transaction: ``before`` loses it, ``after`` only its result."""
        self.transactions = 0
        self.dead = False
        """Whether the process was killed: nothing is carried out, nothing returns."""
        self._changes_seen = -1

    async def run(self, work: Callable[[SqlCursor], T], purpose: Purpose = Purpose.WORK) -> T:
        self.transactions += 1
        if self.transactions > MAX_STEPS:
            raise AssertionError("the store is used without end")
        if self.latency is not None:
            await deferLater(self._clock, self.latency)
        if self.dead:
            await Deferred[None]()
        return self._transact(work, purpose)

    def _transact(self, work: Callable[[SqlCursor], T], _purpose: Purpose) -> T:
        fault = self.fault()
        if fault == "before":
            raise StoreError("disk I/O error")
        result = transact(self.connection, work)
        if fault == "after":
            raise StoreError("disk I/O error")
        return result

    def now(self) -> int:
        return round(self._clock.seconds() * 1000)

    def _disconnect(self) -> None:
        self.connection.close()

    async def changed(self) -> bool:
        self.transactions += 1
        if self.dead:
            await Deferred[None]()
        if self.fault():
            raise StoreError("disk I/O error")
        before, self._changes_seen = self._changes_seen, self.connection.total_changes
        return before != self._changes_seen

    def rows(self, sql: str, *values: str | int) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.connection.execute(sql, values).fetchall()


# Callbacks ----------------------------------------------------------------------------------------


class Answer(CallbackResponse):
    """A response, as the agent would give it to treq."""

    def __init__(self, status: int, body: bytes = b"", retry_after: bytes | None = None) -> None:
        header = b"" if retry_after is None else b"Retry-After: %b\r\n" % retry_after
        length = b"Content-Length: %d\r\n" % len(body)
        parser = ResponseParser(MAX_CHALLENGE_BODY)
        parser.feed(b"HTTP/1.1 %d Status\r\n%b%b\r\n%b" % (status, length, header, body))
        super().__init__(parser)
        self.body = body


Outcome = Answer | NoResponseError | NetworkFullError
"""The result of an exchange."""

REFUSED = NoResponseError("the connection was refused")


@dataclass(kw_only=True, eq=False)
class Exchange:
    """A request to a callback."""

    method: bytes
    callback: Callback
    request: CallbackRequest
    at: float
    """The time of the request on the monotonic clock."""
    outcome: Deferred[Outcome] = field(default_factory=Deferred)
    """Called back by a test that responds itself."""
    hangs: bool = False
    """Whether the exchange waits for ``outcome``."""

    @property
    def is_delivery(self) -> bool:
        return self.method == b"POST"

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the query."""
        return dict(parse_qsl(self.callback.target.partition("?")[2]))

    @property
    def headers(self) -> list[bytes]:
        """The header lines without the signature."""
        lines = self.request.headers.removesuffix(b"\r\n").split(b"\r\n")
        return [line for line in lines if not line.startswith(b"X-Hub-Signature")]

    @property
    def signature(self) -> bytes | None:
        """The value of X-Hub-Signature."""
        _, separator, rest = self.request.headers.partition(b"X-Hub-Signature: ")
        return rest.removesuffix(b"\r\n") if separator else None

    @property
    def topic(self) -> str:
        """The path of the topic."""
        if not self.is_delivery:
            return "/" + self.query["hub.topic"].removeprefix(BASE_URL).lstrip("/")
        link = self.request.headers.split(b"Link: <")[1].partition(b">")[0]
        return link.decode()[len(BASE_URL) :]

    @property
    def body(self) -> bytes:
        return bytes(self.request.body)


Behavior = Callable[[Exchange], Outcome | None]
"""Returns the outcome of an exchange; None leaves it to the test, by ``Exchange.outcome``."""


def good(exchange: Exchange) -> Outcome:
    """Confirm and accept everything."""
    challenge = "" if exchange.is_delivery else exchange.query.get("hub.challenge", "")
    return Answer(200, challenge.encode())


def hanging(_exchange: Exchange) -> Outcome | None:
    """Never respond."""
    return None


def lost(_exchange: Exchange) -> Outcome | None:
    """Refuse the connection."""
    return REFUSED


def confirming(behavior: Behavior) -> Behavior:
    """Confirm everything, and respond to deliveries in a certain way."""
    return lambda exchange: (behavior if exchange.is_delivery else good)(exchange)


@implementer(IAgent)
class Callbacks:
    """All callbacks, as the agent that treq sends its requests to."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self.behavior: Behavior = good
        self.hosts: dict[str, Behavior] = {}
        """Hosts that behave in another way."""
        self.addresses: dict[str, str] = {}
        """The address of a host; by default in a network of its own."""
        self.latency: float | None = None
        """Seconds until a response."""
        self.timeouts = {b"GET": 15.0, b"POST": 30.0}
        """The settings of the configuration."""
        self.requesters: list[str] = []
        self.gets: list[Exchange] = []
        self.posts: list[Exchange] = []
        self.running: list[Exchange] = []
        self.peak: dict[str, int] = {}
        """The highest number of concurrent exchanges, by host."""
        self.turned_away = 0
        self.observer: Callable[[Exchange, Outcome], None] = lambda _exchange, _outcome: None
        """Called with what the hub receives."""

    def request(
        self,
        method: bytes,
        uri: bytes,  # noqa: ARG002
        headers: Headers | None = None,  # noqa: ARG002
        bodyProducer: IBodyProducer | None = None,  # noqa: N803
    ) -> Deferred[IResponse]:
        assert isinstance(bodyProducer, CallbackRequest)
        callback = parse_stored(bodyProducer.callback.url)
        return Deferred.fromCoroutine(self._request(method, callback, bodyProducer))

    async def _request(
        self, method: bytes, callback: Callback, request: CallbackRequest
    ) -> IResponse:
        if method == b"GET":
            self.requesters.append(request.slot.due.requester)
        host, number = callback.host, len(self.addresses)
        address = self.addresses.setdefault(host, f"11.{number // 256}.{number % 256}.1")
        if not request.slot.try_enter_network(address):
            self.turned_away += 1
            raise NetworkFullError
        clock = self._time.clock
        exchange = Exchange(method=method, callback=callback, request=request, at=clock.seconds())
        (self.posts if exchange.is_delivery else self.gets).append(exchange)
        self.running.append(exchange)
        at_host = sum(running.callback.host == host for running in self.running)
        self.peak[host] = max(self.peak.get(host, 0), at_host)
        try:
            outcome = await self._outcome(exchange)
        except CancelledError:
            if clock.seconds() - exchange.at >= self.timeouts[method] - 1e-6:
                self.observer(exchange, NoResponseError("no answer in time"))
            raise
        finally:
            self.running[:] = [running for running in self.running if running is not exchange]
        self.observer(exchange, outcome)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _outcome(self, exchange: Exchange) -> Outcome:
        outcome = self.hosts.get(exchange.callback.host, self.behavior)(exchange)
        if outcome is None:
            exchange.hangs = True
            try:
                return await exchange.outcome
            finally:
                exchange.hangs = False
        if self.latency is not None:
            await deferLater(self._time.clock, self.latency)
        return outcome

    def bodies(self) -> list[bytes]:
        """Return the bodies of the feed's deliveries."""
        return [exchange.body for exchange in self.posts if exchange.topic == FEED]


# Data ---------------------------------------------------------------------------------------------


def snapshot(text: str, other_texts: Mapping[str, str] | None = None) -> Snapshot:
    """Return a snapshot with topics that hold their path and a text."""
    texts = {**dict.fromkeys(urls.TOPICS, text), **(other_texts or {})}
    bodies = {path: content(path, text) for path, text in texts.items()}
    fingerprint = SimpleNamespace(
        reviews=SimpleNamespace(mtime_ns=10**9), insights=None, settings=None
    )
    result = SimpleNamespace(
        manifest=SimpleNamespace(
            documents=[
                SimpleNamespace(path=path, sha256=sha256(body).hexdigest())
                for path, body in bodies.items()
            ]
        ),
        documents={path: _rendered(path, body) for path, body in bodies.items()},
        build=SimpleNamespace(fingerprint=fingerprint),
    )
    return cast("Snapshot", result)


def content(path: str, text: str) -> bytes:
    """Return the bytes of a topic in such a snapshot."""
    return f"{path} {text}".encode()


def _rendered(path: str, body: bytes) -> Rendered:
    return Rendered(
        body=memoryview(body),
        media_type=MEDIA_TYPES[path],
        etag=b'"' + sha256(body).hexdigest()[:22].encode() + b'"',
    )


MEDIA_TYPES: Mapping[str, bytes] = {
    FEED: b"application/atom+xml; charset=utf-8",
    JSON_FEED: b"application/feed+json",
    REVIEWS: b"application/json",
}


def form(callback: str, mode: str, topic: str, **more: str) -> tuple[bytes, bytes]:
    """Return a request's body and media type; ``lease_seconds`` and ``secret`` as keywords."""
    fields = {"hub.callback": callback, "hub.mode": mode, "hub.topic": topic}
    fields |= {f"hub.{name}": value for name, value in more.items()}
    return urlencode(fields).encode(), MEDIA_TYPE


# Processes ----------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class HubProcess:
    """One process: everything that dies with it."""

    time: Time
    callbacks: Callbacks
    store: MemoryStore
    secrets: Secrets
    context: Context
    hub: Hub
    successor: "HubProcess | None" = None
    """The process after this one."""

    @property
    def operator(self) -> Operator:
        return self.hub.operator

    @property
    def requests(self) -> HubRequests:
        return self.hub.requests

    def post(
        self,
        callback: str = CALLBACK,
        mode: str = "subscribe",
        topic: str = FEED,
        client: str = CLIENT,
        **more: str,
    ) -> HubResponse:
        """Send a request to the hub; ``lease_seconds`` and ``secret`` as keywords."""
        return self.wait(self.requests.receive(*form(callback, mode, topic, **more), client))

    def wait(self, coroutine: Coroutine[Deferred[Any], Any, T]) -> T:
        """Return the result of a coroutine that needs no time but the store's."""
        if self.store.latency is None:
            return result_of(coroutine)
        results: list[T | Failure] = []
        Deferred.fromCoroutine(coroutine).addBoth(results.append)
        while not results:
            self.time.advance(self.store.latency)
        result = results[0]
        if isinstance(result, Failure):
            result.raiseException()
        return result

    def publish(self, text: str, other_texts: Mapping[str, str] | None = None) -> None:
        """Publish new data."""
        self.hub.topics_changed(snapshot(text, other_texts))

    def kill(self) -> None:
        """End it without notice: what is not in the store is lost."""
        self.store.dead = True

    def stop(self) -> None:
        """End it in order; takes up to 20 seconds, and a transaction."""
        stopped = Deferred.fromCoroutine(self.hub.stop())
        self.time.advance(0.0 if stopped.called else 21.0)
        assert stopped.called


DEFAULTS = HubConfig()


def start_process(
    connection: sqlite3.Connection,
    time: Time,
    callbacks: Callbacks,
    settings: HubConfig = DEFAULTS,
    limits: HubLimits = DEFAULT_LIMITS,
    *,
    start: bool = True,
) -> HubProcess:
    """Start a process over a store."""
    config = Config(base_url=BASE_URL, data_dir=Path("/nowhere"), hub=settings)
    numbers = itertools.count(connection.total_changes)
    context = Context(
        clock=time.clock,
        now=time.now,
        token=lambda: f"token-{next(numbers)}-{time.now()}",
        random=lambda: 0.5,
        in_thread=time.in_thread,
    )
    store = MemoryStore(connection, time.clock)
    secrets = Secrets([b"k" * 32])
    addresses = convert.addresses(config)
    hub = Hub(config, context, store, secrets, addresses, callbacks, set(), limits)
    if start:
        hub.start()
    return HubProcess(
        time=time, callbacks=callbacks, store=store, secrets=secrets, context=context, hub=hub
    )


@contextmanager
def hub_process(
    settings: HubConfig = DEFAULTS, text: str | None = "first", limits: HubLimits = DEFAULT_LIMITS
) -> Iterator[HubProcess]:
    """Run a hub with data; no exception may reach the log."""
    with no_bugs():
        time = Time()
        process = start_process(connect(), time, Callbacks(time), settings, limits)
        if text is not None:
            process.publish(text)
            time.advance(0.0)
        yield process
        while process.successor is not None:
            process = process.successor
        process.stop()
        assert [] == time.clock.getDelayedCalls()


@contextmanager
def no_bugs() -> Iterator[None]:
    """Fail when an exception has reached the log."""
    with capturedLogs() as events:
        yield
    tracebacks = [_traceback(event) for event in events if "log_failure" in event]
    if tracebacks:
        raise AssertionError("\n".join(tracebacks))


def _traceback(event: LogEvent) -> str:
    return str(event["log_failure"].getTraceback())


def restart(
    process: HubProcess, settings: HubConfig = DEFAULTS, text: str | None = None
) -> HubProcess:
    """Kill a process, and start another one over its store."""
    process.kill()
    process.time.restart()
    process.callbacks.running.clear()
    process.successor = successor = start_process(
        process.store.connection, process.time, process.callbacks, settings
    )
    if text is not None:
        successor.publish(text)
    process.time.advance(0.0)
    return successor
