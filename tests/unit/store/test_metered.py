"""Transactions that are counted and timed (O9)."""

from collections.abc import Callable
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from reviewsd.runtime.counters import Counters
from reviewsd.store.metered import ANSWER_SECONDS, MeteredStore
from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import StoreError


class Slow:
    """A store that answers when it is told to."""

    def __init__(self) -> None:
        self.answers: list[Deferred[Any]] = []

    async def run(self, work: Callable[[Any], Any], _purpose: Purpose = Purpose.WORK) -> Any:  # noqa: ANN401  any result
        answer: Deferred[Any] = Deferred()
        self.answers.append(answer)
        return work(await answer)

    async def changed(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("error", "failures"), [(None, 0), (StoreError("full"), 1), (ValueError("a bug"), 0)]
)
def test_each_transaction_counts_and_only_failures_of_the_store_are_its_errors(
    error: Exception | None, failures: int
) -> None:
    store, clock, counters = Slow(), Clock(), Counters()
    results: list[object] = []
    metered = MeteredStore(store, clock, counters)
    Deferred.fromCoroutine(metered.run(lambda cursor: f"did {cursor}")).addCallbacks(
        results.append, lambda failure: results.append(failure.value)
    )
    clock.advance(0.2)
    if error is None:
        store.answers[0].callback("it")
    else:
        store.answers[0].errback(error)

    assert ["did it" if error is None else error] == results
    counts = counters.counts()
    assert failures == counts.get("store_errors_total", 0)
    assert pytest.approx(0.2) == counts["store_latency_seconds_sum"]
    assert (0, 1) == (
        counts["store_latency_seconds_bucket 0.1"],
        counts["store_latency_seconds_bucket 0.25"],
    )


@pytest.mark.parametrize("purpose", Purpose)
def test_only_clients_that_wait_for_an_acknowledgement_are_told_of_silence(
    purpose: Purpose,
) -> None:
    """D9: nobody waits for a minute. What the hub does itself must know how a transaction ended."""
    store, clock, counters = Slow(), Clock(), Counters()
    results: list[object] = []
    metered = MeteredStore(store, clock, counters)
    running = Deferred.fromCoroutine(metered.run(lambda cursor: f"did {cursor}", purpose))
    running.addCallbacks(results.append, lambda failure: results.append(failure.type))
    clock.advance(ANSWER_SECONDS + 1)
    told = purpose in {Purpose.REQUEST, Purpose.SESSIONS}
    assert ([StoreError] if told else []) == results
    assert told == counters.counts().get("store_errors_total", 0)

    store.answers[0].callback("it")  # what comes too late is no error
    assert [StoreError if told else "did it"] == results
    assert [] == clock.getDelayedCalls()
