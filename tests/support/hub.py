"""The whole hub without network and disk: the store in memory, time a number, callbacks as told.

It is put together as ``reviewsd.app.hub`` does it; what differs is in ``Context``, ``Store`` and
``Client``, the protocols that the hub asks for.
"""

import itertools
import sqlite3
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, urlencode

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock, deferLater
from twisted.logger import LogEvent, capturedLogs
from twisted.python.failure import Failure

from reviewsd.app.hub import assemble
from reviewsd.config import convert
from reviewsd.config.schema import Config
from reviewsd.config.schema import HubConfig as Settings
from reviewsd.domain.callback import Callback
from reviewsd.http1 import urls
from reviewsd.http1.representation import Representation
from reviewsd.snapshot.snapshots import Snapshot
from reviewsd.store import deliveries, intents
from reviewsd.store.schema import MIGRATIONS
from reviewsd.store.secrets import Secrets
from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import SqlCursor, StoreError
from reviewsd.websub.context import Context
from reviewsd.websub.delivery import Deliverer, Delivery
from reviewsd.websub.denial import Denials
from reviewsd.websub.form import MEDIA_TYPE, HubAnswer
from reviewsd.websub.hub import Hub
from reviewsd.websub.operator import Operator
from reviewsd.websub.operator_state import OperatorState
from reviewsd.websub.outbound.outcomes import (
    Answered,
    AttemptOutcome,
    Push,
    Throttled,
    Unanswered,
)
from reviewsd.websub.rate_limits import Backoffs
from reviewsd.websub.scheduler import Scheduler
from reviewsd.websub.slots import Slot
from reviewsd.websub.subscribe import SubscribeEndpoint

BASE_URL = "https://reviews.example.com"
CALLBACK = "https://subscriber.example.org/cb?id=1"
FEED, JSON_FEED, REVIEWS = urls.TOPICS
CLIENT = "192.0.2.7/32"
ADDRESS = "198.51.99.7"
START = 1_760_000_000_000
"""Milliseconds: 2025-10-09T08:53:20Z"""
BUDGET = 20_000
"""Transactions in one test, after which something runs in circles."""

T = TypeVar("T")


def result_of(coroutine: Coroutine[Deferred[Any], Any, T]) -> T:
    """What a coroutine returns that needs no time."""
    box: list[T | Failure] = []
    Deferred.fromCoroutine(coroutine).addBoth(box.append)
    (result,) = box
    if isinstance(result, Failure):
        result.raiseException()
    return result


class Time:
    """Monotonic and wall clock, which may part."""

    def __init__(self) -> None:
        self.clock = Clock()
        self._epoch = START

    def now(self) -> int:
        return self._epoch + round(self.clock.seconds() * 1000)

    def jump(self, seconds: float) -> None:
        """Somebody sets the wall clock."""
        self._epoch += round(seconds * 1000)

    def go(self, seconds: float) -> None:
        """Let time go by, so that all that happens meanwhile happens at its own time."""
        clock, end = self.clock, self.clock.seconds() + seconds
        for _ in range(BUDGET):
            following = [call.getTime() for call in clock.getDelayedCalls()]
            step = min([*following, end]) - clock.seconds()
            clock.advance(max(step, 0.0))
            if clock.seconds() >= end and min([*following, end]) >= end:
                return
        raise AssertionError("time does not go by: something wakes for ever")

    def in_thread(self, work: Callable[[], T]) -> Deferred[T]:
        """What would run beside the reactor, at the next moment."""
        return deferLater(self.clock, 0.0, work)

    def restart(self) -> None:
        """The process is another one: its clock begins anew."""
        self._epoch = self.now()
        self.clock = Clock()


def connect(path: str = ":memory:") -> sqlite3.Connection:
    """A store's connection with all tables."""
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


class MemoryStore:
    """A ``world.Store`` whose transactions take their time, one after the other.

    Args:
        connection: What remains when this process is gone.
        clock: For the time that they take.
    """

    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        self.connection = connection
        self._clock = clock
        self.latency: float | None = None
        """Seconds until a transaction is carried out; None: at once."""
        self.fault: Callable[[], str | None] = lambda: None
        """Asked at each transaction: ``before`` it is lost, ``after`` only its answer is."""
        self.transactions = 0
        self.dead = False
        """The process was killed: nothing is carried out, nothing returns."""
        self._seen = -1

    async def run(self, work: Callable[[SqlCursor], T], _purpose: Purpose = Purpose.WORK) -> T:
        self.transactions += 1
        if self.transactions > BUDGET:
            raise AssertionError("the store is used for ever")
        if self.latency is not None:
            await deferLater(self._clock, self.latency)
        if self.dead:
            await Deferred[None]()
        fault = self.fault()
        if fault == "before":
            raise StoreError("disk I/O error")
        result = transact(self.connection, work)
        if fault == "after":
            raise StoreError("disk I/O error")
        return result

    async def changed(self) -> bool:
        self.transactions += 1
        if self.dead:
            await Deferred[None]()
        if self.fault():
            raise StoreError("disk I/O error")
        before, self._seen = self._seen, self.connection.total_changes
        return before != self._seen

    def rows(self, sql: str, *values: str | int) -> list[tuple[Any, ...]]:
        """What a query finds."""
        return self.connection.execute(sql, values).fetchall()


@dataclass(kw_only=True, eq=False)
class Exchange:
    """A request to a callback."""

    callback: Callback
    push: Push | None
    """None: it is a verification, or a denial."""
    at: float
    """On the monotonic clock."""
    ended: Deferred[AttemptOutcome] = field(default_factory=Deferred)
    """For who wants to answer himself."""
    hangs: bool = False
    """Whether it waits for that."""

    @property
    def question(self) -> dict[str, str]:
        """The parameters."""
        return dict(parse_qsl(self.callback.target.partition("?")[2]))

    @property
    def topic(self) -> str:
        """The path that the request is about."""
        if self.push is None:
            return "/" + self.question["hub.topic"].removeprefix(BASE_URL).lstrip("/")
        return self.push.headers.split(b"Link: <")[1].partition(b">")[0].decode()[len(BASE_URL) :]

    @property
    def body(self) -> bytes:
        assert self.push is not None
        return b"".join(bytes(part) for part in self.push.body)


Behaviour = Callable[[Exchange], AttemptOutcome | None]
"""How a callback answers; None: it leaves its answer to ``ended``, and so perhaps never gives one."""


def answered(status: int, body: bytes = b"", **headers: bytes) -> Answered:
    """An answer of HTTP."""
    named = {name.replace("_", "-").encode(): value for name, value in headers.items()}
    return Answered(status=status, headers=named, body=body, address=ADDRESS)


UNANSWERED = Unanswered("the connection was refused", ADDRESS)


def good(exchange: Exchange) -> AttemptOutcome:
    """Confirms and accepts everything."""
    challenge = "" if exchange.push is not None else exchange.question.get("hub.challenge", "")
    return answered(200, challenge.encode())


def hanging(exchange: Exchange) -> AttemptOutcome | None:
    """Never answers."""
    return None


def confirming(behaviour: Behaviour) -> Behaviour:
    """Confirms everything, but behaves like that when it is sent something."""
    return lambda exchange: (good if exchange.push is None else behaviour)(exchange)


class Callbacks:
    """A ``world.Client``: every callback there is."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self.behaviour: Behaviour = good
        self.hosts: dict[str, Behaviour] = {}
        """Who behaves in another way."""
        self.addresses: dict[str, str] = {}
        """Where a host is; in an address network of its own where nothing is said."""
        self.latency: float | None = None
        """Seconds that an answer takes."""
        self.requesters: list[str] = []
        """For whom it was asked."""
        self.asked: list[Exchange] = []
        self.sent: list[Exchange] = []
        self.underway: list[Exchange] = []
        self.most: dict[str, int] = {}
        """By host: how many exchanges were under way at most."""
        self.turned_away = 0
        self.told: Callable[[Exchange, AttemptOutcome], None] = lambda _exchange, _outcome: None
        """Hears what the hub hears."""

    async def verify(self, callback: Callback, *, timeout: float, slot: Slot) -> AttemptOutcome:
        self.requesters.append(slot.due.requester)
        return await self._exchange(callback, None, timeout, slot)

    async def deliver(
        self, callback: Callback, push: Push, *, timeout: float, slot: Slot
    ) -> AttemptOutcome:
        return await self._exchange(callback, push, timeout, slot)

    async def _exchange(
        self, callback: Callback, push: Push | None, timeout: float, slot: Slot
    ) -> AttemptOutcome:
        host = callback.host
        number = len(self.addresses)
        address = self.addresses.setdefault(host, f"11.{number // 256}.{number % 256}.1")
        if not slot.try_dial(address):
            self.turned_away += 1
            return Throttled(address)
        clock = self._time.clock
        exchange = Exchange(callback=callback, push=push, at=clock.seconds())
        (self.asked if push is None else self.sent).append(exchange)
        self.underway.append(exchange)
        at_once = sum(each.callback.host == host for each in self.underway)
        self.most[host] = max(self.most.get(host, 0), at_once)
        try:
            outcome = self.hosts.get(host, self.behaviour)(exchange)
            if outcome is None:
                timed_out = Unanswered(f"no answer within {timeout:g} s", address)
                timer = clock.callLater(timeout, exchange.ended.callback, timed_out)
                exchange.hangs = True
                try:
                    outcome = await exchange.ended
                finally:
                    exchange.hangs = False
                    if timer.active():
                        timer.cancel()
            elif self.latency is not None:
                await deferLater(clock, self.latency)
            if not isinstance(outcome, Throttled):
                outcome = replace(outcome, address=address)
            self.told(exchange, outcome)
            return outcome
        finally:
            self.underway[:] = [each for each in self.underway if each is not exchange]

    def bodies(self, topic: str = FEED) -> list[bytes]:
        """What was sent of a topic."""
        return [each.body for each in self.sent if each.topic == topic]


def snapshot(text: str, others: Mapping[str, str] | None = None) -> Snapshot:
    """Data, as far as the hub looks at it: topics that hold their path and the text.

    Args:
        text: Of all topics.
        others: By path: another text.
    """
    texts = {**dict.fromkeys(urls.TOPICS, text), **(others or {})}
    bodies = {path: content(path, each) for path, each in texts.items()}
    fingerprint = SimpleNamespace(
        reviews=SimpleNamespace(mtime_ns=10**9), insights=None, settings=None
    )
    made = SimpleNamespace(
        manifest=SimpleNamespace(
            documents=[
                SimpleNamespace(path=path, sha256=sha256(body).hexdigest())
                for path, body in bodies.items()
            ]
        ),
        documents={
            path: SimpleNamespace(identity=_representation(path, body))
            for path, body in bodies.items()
        },
        seen=SimpleNamespace(fingerprint=fingerprint),
    )
    return cast("Snapshot", made)


def content(path: str, text: str) -> bytes:
    """The bytes of a topic in such a snapshot."""
    return f"{path} {text}".encode()


def _representation(path: str, body: bytes) -> Representation:
    return Representation(
        parts=(body[:3], memoryview(body)[3:]),
        media_type=MEDIA_TYPES[path],
        etag=b'"' + sha256(body).hexdigest()[:22].encode() + b'"',
    )


MEDIA_TYPES: Mapping[str, bytes] = {
    FEED: b"application/atom+xml; charset=utf-8",
    JSON_FEED: b"application/feed+json",
    REVIEWS: b"application/json",
}


def form(callback: str, mode: str, topic: str, **more: str) -> tuple[bytes, bytes]:
    """A request's body and media type; ``lease_seconds`` and ``secret`` as keywords."""
    fields = {"hub.callback": callback, "hub.mode": mode, "hub.topic": topic}
    fields |= {f"hub.{name}": value for name, value in more.items()}
    return urlencode(fields).encode(), MEDIA_TYPE


@dataclass(kw_only=True, eq=False)
class HubProcess:
    """One process: everything that dies with it."""

    time: Time
    callbacks: Callbacks
    store: MemoryStore
    operator_state: OperatorState
    secrets: Secrets
    backoffs: Backoffs
    distribution: Deliverer
    verifying: Scheduler[intents.IntentClaim, intents.Verified]
    delivering: Scheduler[Delivery, deliveries.DeliveryOutcome]
    endpoint: SubscribeEndpoint
    hub: Hub
    operator: Operator
    denials: Denials
    following: "HubProcess | None" = None
    """The process after this one."""

    def post(
        self,
        callback: str = CALLBACK,
        mode: str = "subscribe",
        topic: str = FEED,
        client: str = CLIENT,
        **more: str,
    ) -> HubAnswer:
        """Ask the hub for something; ``lease_seconds`` and ``secret`` as keywords."""
        return self.wait(self.endpoint.receive(*form(callback, mode, topic, **more), client))

    def wait(self, coroutine: Coroutine[Deferred[Any], Any, T]) -> T:
        """What a coroutine returns that needs the store's time at most."""
        if self.store.latency is None:
            return result_of(coroutine)
        box: list[T | Failure] = []
        Deferred.fromCoroutine(coroutine).addBoth(box.append)
        while not box:
            self.time.go(self.store.latency)
        result = box[0]
        if isinstance(result, Failure):
            result.raiseException()
        return result

    def publish(self, text: str, others: Mapping[str, str] | None = None) -> None:
        """New data."""
        self.hub.topics_changed(snapshot(text, others))

    def kill(self) -> None:
        """End it without a word: what was not in the store is lost."""
        self.store.dead = True

    def stop(self) -> None:
        """End it in order; takes up to 20 seconds, and a transaction."""
        for stop in (self.hub.stop, self.denials.stop):
            ended = Deferred.fromCoroutine(stop())
            self.time.go(0.0 if ended.called else 21.0)
            assert ended.called


CAREFREE = Settings()


def begin(
    connection: sqlite3.Connection,
    time: Time,
    callbacks: Callbacks,
    settings: Settings = CAREFREE,
    *,
    start: bool = True,
) -> HubProcess:
    """A process, as ``wiring.build_hub`` makes it."""
    config = Config(base_url=BASE_URL, data_dir=Path("/nowhere"), hub=settings)
    numbers = itertools.count(connection.total_changes)
    context = Context(
        clock=time.clock,
        now=time.now,
        token=lambda: f"token-{next(numbers)}-{time.now()}",
        chance=lambda: 0.5,
        in_thread=time.in_thread,
    )
    store = MemoryStore(connection, time.clock)
    secrets = Secrets([b"k" * 32])
    parts = assemble(config, context, store, callbacks, convert.addresses(config), secrets, set())
    process = HubProcess(
        time=time,
        callbacks=callbacks,
        store=store,
        operator_state=parts.operator_state,
        secrets=secrets,
        backoffs=parts.backoffs,
        distribution=parts.distribution,
        verifying=parts.verifying,
        delivering=parts.delivering,
        endpoint=parts.endpoint,
        hub=parts.hub,
        operator=parts.operator,
        denials=parts.denials,
    )
    if start:
        process.hub.start()
    return process


@contextmanager
def living(settings: Settings = CAREFREE, text: str | None = "first") -> Iterator[HubProcess]:
    """A hub that has begun, and its data; no bug may reach the log."""
    with no_bugs():
        time = Time()
        process = begin(connect(), time, Callbacks(time), settings)
        if text is not None:
            process.publish(text)
            time.go(0.0)
        yield process
        while process.following is not None:
            process = process.following
        process.stop()
        assert [] == time.clock.getDelayedCalls()


@contextmanager
def no_bugs() -> Iterator[None]:
    """Fail when an exception has reached the log."""
    with capturedLogs() as events:
        yield
    bugs = [_bug(event) for event in events if "log_failure" in event]
    if bugs:
        raise AssertionError("\n".join(bugs))


def _bug(event: LogEvent) -> str:
    return str(event["log_failure"].getTraceback())


def again(
    process: HubProcess, settings: Settings = CAREFREE, text: str | None = None
) -> HubProcess:
    """The process after that one, which is killed, over the same store."""
    process.kill()
    process.time.restart()
    process.callbacks.underway.clear()
    process.following = following = begin(
        process.store.connection, process.time, process.callbacks, settings
    )
    if text is not None:
        following.publish(text)
    process.time.go(0.0)
    return following
