"""The whole hub under requests, changes, responses, faults and restarts in any order (I1 to I4, I6 to I10).

A longer run by hand: ``REVIEWSD_EXAMPLES=50 pytest tests/unit/websub/test_machine.py``.
"""

from collections import deque
from collections.abc import Coroutine
from contextlib import ExitStack
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from reviewsd.config.hub_schema import HubConfig as Settings
from reviewsd.config.hub_schema import HubLimitsConfig
from reviewsd.domain.subscription import Caps
from reviewsd.http1 import urls
from reviewsd.store.keys import Secrets
from reviewsd.store.rows import MAX_DEATHS
from reviewsd.store.transactions import StoreError
from reviewsd.websub.hub import HubLimits
from reviewsd.websub.outbound.response_parser import NetworkFullError
from reviewsd.websub.slots import VERIFICATIONS, SlotLimits
from tests.support.examples import number
from tests.support.hub import (
    FEED,
    REFUSED,
    REVIEWS,
    Answer,
    Callbacks,
    Exchange,
    HubProcess,
    Outcome,
    Time,
    connect,
    form,
    good,
    no_bugs,
    snapshot,
    start_process,
)
from tests.support.witness import Row, Witness, read_rows

SETTINGS = Settings(limits=HubLimitsConfig(active_per_host=3, requests_per_minute=10_000))
LIMITS = HubLimits(
    caps=Caps(active=5, pending=3, pending_per_client=2),
    deliveries=SlotLimits(3, 2, 2),
    verifications=VERIFICATIONS._replace(per_host=2, per_network=2),
)
ADDRESSES = {"a.example.org": "11.1.1.1", "b.example.org": "11.1.1.2", "c.example.net": "11.2.1.1"}
"""The first two are in one network."""
LATENCY = 0.01
"""Seconds of a transaction; a response takes five times as long."""

callbacks = st.sampled_from([f"https://{host}/{n}" for host in ADDRESSES for n in range(2)])
hosts = st.sampled_from(sorted(ADDRESSES))
topics = st.sampled_from([FEED, REVIEWS])
secrets = st.sampled_from(["", "one", "two"])
answers = st.sampled_from(["good", "wrong", "error", "patience", "gone", "lost", "crowded"])
manners = st.sampled_from(["good", "good", "hang", "hang", "error", "lost", "patience", "gone"])


moments = st.sampled_from([0.0, LATENCY / 2, LATENCY, 0.1, 1.0, 6.0])
"""Seconds after the begin of an operation; nothing waits for its end."""


def answer_of(name: str, exchange: Exchange) -> Outcome | None:
    match name:
        case "good":
            return good(exchange)
        case "wrong":
            return Answer(200 if not exchange.is_delivery else 302, b"something else")
        case "error":
            return Answer(500)
        case "patience":
            return Answer(503, b"", b"90")
        case "gone":
            return Answer(410)
        case "lost":
            return REFUSED
        case "crowded":
            return NetworkFullError()
        case _:
            return None


class HubMachine(RuleBasedStateMachine):
    """Operations are begun, and run while time goes by; nothing waits for them."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.stack.enter_context(no_bugs())
        self.time = Time()
        self.connection = connect()
        self.witness = Witness(self.connection, self.time, Secrets([b"k" * 32]))
        self.get_manners: dict[str, str] = {}
        self.post_manners: dict[str, str] = {}
        self.texts = dict.fromkeys(urls.TOPICS, "0")
        self.changes = 0
        self.faults: deque[str | None] = deque()
        self.processes: list[HubProcess] = []
        self.process = self._begin()
        self._advance(1.0)

    def _begin(self) -> HubProcess:
        callbacks = Callbacks(self.time)
        callbacks.addresses.update(ADDRESSES)
        callbacks.latency = 5 * LATENCY
        callbacks.observer = self.witness.observe
        callbacks.behavior = self._behave
        process = start_process(
            self.connection, self.time, callbacks, SETTINGS, LIMITS, start=False
        )
        process.store.latency = LATENCY
        process.store.fault = lambda: self.faults.popleft() if self.faults else None
        process.hub.start()
        process.hub.topics_changed(snapshot("", self.texts))
        self.processes.append(process)  # else its coroutines would be closed, and run their ends
        return process

    def _behave(self, exchange: Exchange) -> Outcome | None:
        if exchange.is_delivery:
            self.witness.delivers(exchange)
        manner = self.get_manners if not exchange.is_delivery else self.post_manners
        return answer_of(manner.get(exchange.callback.host, "good"), exchange)

    def _do(self, operation: Coroutine[Deferred[Any], Any, Any]) -> Deferred[Any]:
        """Begin an operation, which a failing store may fail."""
        return Deferred.fromCoroutine(operation).addErrback(Failure.trap, StoreError)

    def _advance(self, seconds: float) -> None:
        self.time.advance(seconds)

    # Events ---------------------------------------------------------------------------------

    @initialize(
        pairs=st.sets(st.tuples(callbacks, topics), min_size=1, max_size=4),
        posts=st.fixed_dictionaries(dict.fromkeys(ADDRESSES, manners)),
    )
    def begin_with(self, pairs: set[tuple[str, str]], posts: dict[str, str]) -> None:
        for callback, topic in sorted(pairs):
            self._subscribe(callback, topic, "864000", "one", "192.0.2.1/32")
        self._advance(6.0)
        self.post_manners = posts

    @rule(
        callback=callbacks,
        topic=topics,
        lease=st.sampled_from(["300", "1000", "864000"]),
        secret=secrets,
        client=st.sampled_from(["192.0.2.1/32", "192.0.2.2/32"]),
        seconds=moments,
    )
    def subscribe(
        self, callback: str, topic: str, lease: str, secret: str, client: str, seconds: float
    ) -> None:
        self._subscribe(callback, topic, lease, secret, client)
        self._advance(seconds)

    def _subscribe(self, callback: str, topic: str, lease: str, secret: str, client: str) -> None:
        self.witness.secrets_sent[callback, topic].add(secret.encode() or None)
        body = form(callback, "subscribe", topic, lease_seconds=lease, secret=secret)
        self._do(self.process.requests.receive(*body, client))

    @precondition(lambda self: self.rows())
    @rule(at=st.integers(0, 5), mode=st.sampled_from(["subscribe", "unsubscribe"]), seconds=moments)
    def renew_or_end(self, at: int, mode: str, seconds: float) -> None:
        callback, topic = self._row(at).pair
        self.witness.secrets_sent[callback, topic].add(None)
        body = form(callback, mode, topic, lease_seconds="1000")
        self._do(self.process.requests.receive(*body, "192.0.2.1/32"))
        self._advance(seconds)

    @rule(host=hosts, gets=manners, posts=manners)
    def behave(self, host: str, gets: str, posts: str) -> None:
        self.get_manners[host], self.post_manners[host] = gets, posts

    @precondition(lambda self: self.hanging())
    @rule(at=st.integers(0, 5), name=answers, seconds=moments)
    def answer(self, at: int, name: str, seconds: float) -> None:
        """Let a hanging callback respond."""
        waiting = self.hanging()
        exchange = waiting[at % len(waiting)]
        exchange.outcome.callback(answer_of(name, exchange) or REFUSED)
        self._advance(seconds)

    def hanging(self) -> list[Exchange]:
        return [exchange for exchange in self.process.callbacks.running if exchange.hangs]

    @rule(changed=st.sets(topics, min_size=1), back=st.booleans(), seconds=moments)
    def change(self, changed: set[str], back: bool, seconds: float) -> None:
        self._write(changed, "0" if back else None)
        self.process.hub.topics_changed(snapshot("", self.texts))
        self._advance(seconds)

    def _write(self, changed: set[str], text: str | None = None) -> None:
        self.changes += 1
        self.texts.update(dict.fromkeys(changed, text or str(self.changes)))

    @rule(seconds=st.sampled_from([0.03, 1.0, 6.0, 16.0, 31.0, 61.0, 301.0, 700.0, 1900.0]))
    def wait(self, seconds: float) -> None:
        self._advance(seconds)

    @rule(changed=st.sets(topics), orderly=st.booleans(), seconds=moments)
    def restart(self, changed: set[str], orderly: bool, seconds: float) -> None:
        """Stop or kill the process, and perhaps change the data."""
        self.faults.clear()
        if orderly:
            self._advance(5 * LATENCY)  # requests have been answered
            self.process.stop()
            assert [] == self.time.clock.getDelayedCalls()
        self.process.kill()
        self.witness.process_ended()
        self._write(changed)
        self.time.restart()
        self.process = self._begin()
        self._advance(seconds)

    @rule(faults=st.lists(st.sampled_from(["before", "after", None]), min_size=1, max_size=4))
    def store_fails(self, faults: list[str | None]) -> None:
        self.faults.extend(faults)

    def rows(self) -> list[Row]:
        return list(read_rows(self.connection).values())

    def _row(self, at: int) -> Row:
        rows = self.rows()
        return rows[at % len(rows)]

    # Invariants ----------------------------------------------------------------------------

    @invariant()
    def check(self) -> None:
        self.witness.check()

    def teardown(self) -> None:
        """Let all callbacks recover and time go by: all are up to date, and the hub is idle."""
        with self.stack:
            self.faults.clear()
            self.get_manners.clear()
            self.post_manners.clear()
            for seconds in (1.0, 31.0, 100.0, 700.0, 3700.0):
                self._advance(seconds)
                self.check()
            self.witness.converged()
            ((pending,),) = self.connection.execute("SELECT COUNT(*) FROM verification").fetchall()
            assert 0 == pending
            store = self.process.store
            before = store.transactions
            self._advance(600.0)
            assert store.transactions - before <= 3 * 11
            self.process.stop()
            assert [] == self.time.clock.getDelayedCalls()


def test_delivery_that_kills_processes_fails_without_an_attempt() -> None:
    """The state machine gets here once in many thousand runs (D7)."""
    machine = HubMachine()
    machine.begin_with({("https://a.example.org/0", FEED)}, {"a.example.org": "hang"})
    machine.change({FEED}, back=False, seconds=0.0)
    for _ in range(MAX_DEATHS):
        for _ in range(40):
            if machine.hanging():
                break
            machine.wait(1.0)
        assert machine.hanging()
        machine.restart(set(), orderly=False, seconds=0.0)
        machine.check()
    machine.wait(31.0)
    (row,) = machine.rows()
    assert not machine.hanging()
    assert 1 == row.failures
    machine.check()
    machine.teardown()


def test_delivery_that_crosses_a_new_secret_is_made_again() -> None:
    """Else a subscriber that insists on its new secret would drop it, and never have it (W5).

    The delivery is claimed with the earlier secret, and waits for a place in its network.
    """
    machine = HubMachine()
    machine.begin_with(
        {
            ("https://a.example.org/1", FEED),
            *(("https://a.example.org/0", topic) for topic in (FEED, REVIEWS)),
        },
        {},
    )
    for callback, client, secret, seconds in (
        ("https://b.example.org/1", "192.0.2.2/32", "", 0.0),
        ("https://c.example.net/0", "192.0.2.2/32", "", 0.0),
        ("https://b.example.org/0", "192.0.2.1/32", "", 1.0),
        ("https://b.example.org/0", "192.0.2.1/32", "one", 0.0),
    ):
        machine.subscribe(callback, REVIEWS, "300", secret, client, seconds)
    machine.subscribe("https://a.example.org/0", FEED, "300", "", "192.0.2.1/32", LATENCY)
    machine.check()
    machine.restart({REVIEWS}, orderly=False, seconds=0.0)
    machine.wait(1.0)
    assert machine.witness.outdated_signatures
    machine.check()
    machine.teardown()


TestHub = HubMachine.TestCase
TestHub.settings = settings(
    max_examples=number(40), stateful_step_count=40, suppress_health_check=[HealthCheck.too_slow]
)
