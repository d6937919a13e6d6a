"""The whole hub under everything that can happen, in any order (I1 to I10).

A run of minutes by hand: ``REVIEWSD_EXAMPLES=50 pytest tests/unit/websub/test_machine.py``.
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

from reviewsd.config.schema import Deliveries, HubLimitsConfig, Verification
from reviewsd.config.schema import HubConfig as Settings
from reviewsd.http1 import urls
from reviewsd.store.claims import MAX_DEATHS
from reviewsd.store.secrets import Secrets
from reviewsd.store.transactions import StoreError
from reviewsd.websub.outbound.outcomes import AttemptOutcome, Throttled
from tests.support.examples import number
from tests.support.hub import (
    ADDRESS,
    FEED,
    REVIEWS,
    UNANSWERED,
    Callbacks,
    Exchange,
    HubProcess,
    Time,
    answered,
    begin,
    connect,
    content,
    form,
    good,
    no_bugs,
    snapshot,
)
from tests.support.witness import Row, Witness, read_rows

LIMITS = HubLimitsConfig(
    active=5,
    active_per_host=3,
    pending=3,
    pending_per_client=2,
    requests_per_minute=10_000,
    requests_per_minute_and_host=10_000,
)
CAPS = {"active": 5, "active_per_host": 3, "pending": 3}
SETTINGS = Settings(
    limits=LIMITS,
    delivery=Deliveries(concurrency=3, per_host=2, per_address=2),
    verification=Verification(per_host=2, per_address=2),
)
ADDRESSES = {"a.example.org": "11.1.1.1", "b.example.org": "11.1.1.2", "c.example.net": "11.2.1.1"}
"""The first two are neighbours."""
LATENCY = 0.01
"""Seconds that a transaction takes; and an answer five of these."""

callbacks = st.sampled_from([f"https://{host}/{n}" for host in ADDRESSES for n in range(2)])
hosts = st.sampled_from(sorted(ADDRESSES))
topics = st.sampled_from([FEED, REVIEWS])
secrets = st.sampled_from(["", "one", "two"])
answers = st.sampled_from(["good", "wrong", "error", "patience", "gone", "lost", "crowded"])
manners = st.sampled_from(["good", "good", "hang", "hang", "error", "lost", "patience", "gone"])


moments = st.sampled_from([0.0, LATENCY / 2, LATENCY, 0.1, 1.0, 6.0])
"""How much time goes by after an operation has begun: nothing waits for its end."""


def answer_of(name: str, exchange: Exchange) -> AttemptOutcome | None:
    match name:
        case "good":
            return good(exchange)
        case "wrong":
            return answered(200 if exchange.push is None else 302, b"something else")
        case "error":
            return answered(500)
        case "patience":
            return answered(503, retry_after=b"90")
        case "gone":
            return answered(410)
        case "lost":
            return UNANSWERED
        case "crowded":
            return Throttled(ADDRESS)
        case _:
            return None


class HubMachine(RuleBasedStateMachine):
    """Nothing waits for anything: operations are begun, and go on while time goes by."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.stack.enter_context(no_bugs())
        self.time = Time()
        self.connection = connect()
        self.witness = Witness(self.connection, self.time, Secrets([b"k" * 32]))
        self.asking: dict[str, str] = {}
        self.sending: dict[str, str] = {}
        self.texts = dict.fromkeys(urls.TOPICS, "0")
        self.changes = 0
        self.faults: deque[str | None] = deque()
        self.processes: list[HubProcess] = []
        self.process = self._begin()
        self._go(1.0)

    def _begin(self) -> HubProcess:
        callbacks = Callbacks(self.time)
        callbacks.addresses.update(ADDRESSES)
        callbacks.latency = 5 * LATENCY
        callbacks.told = self.witness.told
        callbacks.behaviour = self._behave
        process = begin(self.connection, self.time, callbacks, SETTINGS, start=False)
        process.store.latency = LATENCY
        process.store.fault = lambda: self.faults.popleft() if self.faults else None
        process.hub.start()
        process.hub.topics_changed(snapshot("", self.texts))
        self.processes.append(process)  # kept: what is collected is finalised, and would run on
        return process

    def _behave(self, exchange: Exchange) -> AttemptOutcome | None:
        if not self.process.operator_state.paused:
            self.witness.quiet_since = None
        self.witness.forbidden = {block.value for block in self.process.operator_state.blocks}
        self.witness.begins(exchange)
        manner = self.asking if exchange.push is None else self.sending
        return answer_of(manner.get(exchange.callback.host, "good"), exchange)

    def _do(self, operation: Coroutine[Deferred[Any], Any, Any]) -> Deferred[Any]:
        """Begin something, which a store that fails may fail."""
        return Deferred.fromCoroutine(operation).addErrback(Failure.trap, StoreError)

    def _go(self, seconds: float) -> None:
        self.time.go(seconds)

    # What happens ---------------------------------------------------------------------------------

    @initialize(
        pairs=st.sets(st.tuples(callbacks, topics), min_size=1, max_size=4),
        sent=st.fixed_dictionaries(dict.fromkeys(ADDRESSES, manners)),
    )
    def begin_with(self, pairs: set[tuple[str, str]], sent: dict[str, str]) -> None:
        for callback, topic in sorted(pairs):
            self._subscribe(callback, topic, "864000", "one", "192.0.2.1/32")
        self._go(6.0)
        self.sending = sent

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
        self._go(seconds)

    def _subscribe(self, callback: str, topic: str, lease: str, secret: str, client: str) -> None:
        self.witness.asked_secrets[callback, topic].add(secret.encode() or None)
        body = form(callback, "subscribe", topic, lease_seconds=lease, secret=secret)
        self._do(self.process.endpoint.receive(*body, client))

    @precondition(lambda self: self.rows())
    @rule(at=st.integers(0, 5), mode=st.sampled_from(["subscribe", "unsubscribe"]), seconds=moments)
    def renew_or_end(self, at: int, mode: str, seconds: float) -> None:
        callback, topic = self._row(at).pair
        self.witness.asked_secrets[callback, topic].add(None)
        body = form(callback, mode, topic, lease_seconds="1000")
        self._do(self.process.endpoint.receive(*body, "192.0.2.1/32"))
        self._go(seconds)

    @rule(host=hosts, asked=manners, sent=manners)
    def behave(self, host: str, asked: str, sent: str) -> None:
        self.asking[host], self.sending[host] = asked, sent

    @precondition(lambda self: self.hanging())
    @rule(at=st.integers(0, 5), name=answers, seconds=moments)
    def answer(self, at: int, name: str, seconds: float) -> None:
        """One that hangs answers after all."""
        waiting = self.hanging()
        exchange = waiting[at % len(waiting)]
        exchange.ended.callback(answer_of(name, exchange) or UNANSWERED)
        self._go(seconds)

    def hanging(self) -> list[Exchange]:
        return [each for each in self.process.callbacks.underway if each.hangs]

    @rule(changed=st.sets(topics, min_size=1), back=st.booleans(), seconds=moments)
    def change(self, changed: set[str], back: bool, seconds: float) -> None:  # noqa: FBT001
        self._write(changed, "0" if back else None)
        self.process.hub.topics_changed(snapshot("", self.texts))
        self._go(seconds)

    def _write(self, changed: set[str], text: str | None = None) -> None:
        self.changes += 1
        self.texts.update(dict.fromkeys(changed, text or str(self.changes)))

    @rule(seconds=st.sampled_from([0.03, 1.0, 6.0, 16.0, 31.0]))
    def wait(self, seconds: float) -> None:
        self._go(seconds)

    @rule(seconds=st.sampled_from([61.0, 301.0, 700.0, 1900.0]))
    def wait_long(self, seconds: float) -> None:
        self._go(seconds)

    @rule(changed=st.sets(topics), orderly=st.booleans(), seconds=moments)
    def restart(self, changed: set[str], orderly: bool, seconds: float) -> None:  # noqa: FBT001
        """It is stopped, or killed; perhaps the data are others then."""
        self.faults.clear()
        if orderly:
            self._go(5 * LATENCY)  # what was asked for has been answered
            self.process.stop()
            assert [] == self.time.clock.getDelayedCalls()
        self.process.kill()
        self.witness.process_ended()
        self._write(changed)
        self.time.restart()
        self.process = self._begin()
        self._go(seconds)

    @rule(faults=st.lists(st.sampled_from(["before", "after", None]), min_size=1, max_size=4))
    def store_fails(self, faults: list[str | None]) -> None:
        self.faults.extend(faults)

    @precondition(lambda self: self.rows())
    @rule(at=st.integers(0, 5), seconds=moments)
    def remove(self, at: int, seconds: float) -> None:
        row = self._row(at)
        self.witness.ordered.add(row.pair)
        self._do(self.process.operator.remove(str(row.id), "spam"))
        self._go(seconds)

    def rows(self) -> list[Row]:
        return list(read_rows(self.connection).values())

    def _row(self, at: int) -> Row:
        rows = self.rows()
        return rows[at % len(rows)]

    @precondition(lambda self: not self.process.operator_state.blocks)
    @rule(host=hosts, seconds=moments)
    def block(self, host: str, seconds: float) -> None:
        self.witness.ordered |= {
            (f"https://{host}/{n}", topic) for n in range(2) for topic in (FEED, REVIEWS)
        }
        self._do(self.process.operator.block(host, "", False))  # noqa: FBT003
        self._go(seconds)

    @precondition(lambda self: self.process.operator_state.blocks)
    @rule()
    def unblock(self) -> None:
        self._do(self.process.operator.unblock(self.process.operator_state.blocks[0].value))

    @precondition(lambda self: self.rows())
    @rule(topic=st.one_of(st.none(), topics), seconds=moments)
    def push(self, topic: str | None, seconds: float) -> None:
        self.witness.pushed = True
        self._do(self.process.operator.push_later(None, topic))
        self._go(seconds)

    @precondition(lambda self: not self.process.operator_state.paused)
    @rule(seconds=moments)
    def pause(self, seconds: float) -> None:
        self._do(self.process.operator.pause())
        self._go(seconds)

    @precondition(lambda self: self.process.operator_state.paused)
    @rule()
    def resume(self) -> None:
        self._do(self.process.operator.resume())

    # What is always so ----------------------------------------------------------------------------

    @invariant()
    def all_is_right(self) -> None:
        if not self.process.operator_state.paused:
            self.witness.quiet_since = None
        elif self.witness.quiet_since is None:
            self.witness.quiet_since = self.time.now()
        bodies = {path: content(path, text) for path, text in self.texts.items()}
        self.witness.check(bodies, CAPS)

    def teardown(self) -> None:
        """Everybody is well, and time goes by: all have what is current, and it is quiet."""
        with self.stack:
            self.faults.clear()
            self.asking.clear()
            self.sending.clear()
            self.resume()
            for seconds in (1.0, 31.0, 100.0, 700.0, 3700.0):
                self._go(seconds)
                self.all_is_right()
            self.witness.converged()
            ((pending,),) = self.connection.execute("SELECT COUNT(*) FROM verification").fetchall()
            assert 0 == pending
            store = self.process.store
            before = store.transactions
            self._go(600.0)
            assert store.transactions - before <= 3 * 11
            self.process.stop()
            assert [] == self.time.clock.getDelayedCalls()


def test_a_delivery_of_which_process_after_process_dies_fails_without_an_attempt() -> None:
    """The state machine comes here by chance, once in many thousand runs (D7)."""
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
        machine.all_is_right()
    machine.wait(31.0)
    (row,) = machine.rows()
    assert not machine.hanging()
    assert 1 == row.failures
    machine.all_is_right()
    machine.teardown()


def test_what_is_sent_while_the_secret_changes_is_sent_again_with_the_new_one() -> None:
    """Else a subscriber that holds to its new secret would drop it, and never get it (W5).

    The delivery is claimed with the secret of before, and waits for a place in its network.
    """
    machine = HubMachine()
    machine.begin_with(
        {
            ("https://a.example.org/1", FEED),
            *(("https://a.example.org/0", each) for each in (FEED, REVIEWS)),
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
    machine.all_is_right()
    machine.restart({REVIEWS}, orderly=False, seconds=0.0)
    machine.wait(1.0)
    assert machine.witness.outdated_signatures
    machine.all_is_right()
    machine.teardown()


TestHub = HubMachine.TestCase
TestHub.settings = settings(
    max_examples=number(40),
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow],
)
