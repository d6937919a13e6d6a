"""The process that the crash tests let die: the hub's own transactions on our own Database.

Everything in it is determined, times and tokens too: after n transactions the store always holds the
same, and a digest of its rows identifies the transaction after which it crashed.

Its arguments are ``PLACE TRACED full|weak``. It is forked (``tests.support.fork_server``), as Python and Twisted take
longer to start than all the rest takes to run.

In ``PLACE/log`` it notes what a subscriber would learn: ``3 DIGEST`` once transaction 3 is
acknowledged, ``! 3 REASON`` when the store has failed it.
"""

import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred
from twisted.internet.task import react

from reviewsd.domain.subscription import (
    Caps,
    Confirmed,
    DeliveryFailed,
    DeliveryGone,
    DeliverySucceeded,
    Intent,
    Mode,
    Unreachable,
)
from reviewsd.http1.urls import TOPICS
from reviewsd.store import deliveries, intents, rows, upkeep
from reviewsd.store.deliveries import bump
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import SqlCursor, StoreError

STORE = "state/state.db"
LOG = "log"
READY, GO = "ready", "go"

ROUNDS = 7
CHECKPOINT_PAGES = 40
"""Small, so that the log is moved into the database and begun again a few times."""

_START = 1_700_000_000_000
_LEASE = 864_000
_TRIES = 100

Step = Callable[[SqlCursor], object]


class Hub:
    """The life of a hub in short."""

    def __init__(self) -> None:
        self.now = _START
        self._version = 0
        self._verifying: list[intents.IntentClaim] = []
        self._delivering: list[deliveries.DeliveryClaim] = []

    def steps(self) -> Iterator[Step]:
        """Its transactions, in order."""
        yield partial(rows.take_over, now=self.now)
        for number in range(ROUNDS):
            yield partial(self._change, number)
            yield partial(self._ask, number, Mode.SUBSCRIBE)
            if number >= 4:
                yield partial(self._ask, number - 4, Mode.UNSUBSCRIBE)
            yield partial(self._turn_verifications, f"v{number}")
            yield partial(self._turn_verifications, None)
            yield partial(self._turn_deliveries, f"d{number}")
            yield partial(self._turn_deliveries, None)
            yield self._sweep

    def _contents(self) -> dict[str, str]:
        return {path: f"{path} {self._version}" for path in TOPICS}

    def _change(self, number: int, cursor: SqlCursor) -> None:
        self._version = number
        bump(cursor, self._contents(), self.now, self.now)

    def _ask(self, number: int, mode: Mode, cursor: SqlCursor) -> None:
        intent = Intent(
            mode=mode,
            requested_topic=TOPICS[number % 3],
            secret=b"sealed %d" % number,
            lease_seconds=_LEASE,
            challenge=f"{mode} {number}",
            topic_version=0,
            requester="192.0.2.1",
            requested_at=self.now,
            expires_at=self.now + 600_000,
            next_attempt_at=self.now,
        )
        caps = Caps(active=100, active_per_host=100, pending=100, pending_per_client=100)
        callback = (f"https://subscriber.com/{number}?{'x' * 500}", "subscriber.com")
        intents.record_request(
            cursor, TOPICS[number % 3], callback, intent, caps, backing_off=False
        )

    def _sweep(self, cursor: SqlCursor) -> None:
        pairs = {pair for pair, _ in upkeep.expired(cursor, self.now)}
        upkeep.end_expired(cursor, pairs, self.now)

    def _turn_verifications(self, token: str | None, cursor: SqlCursor) -> None:
        """Claim what is due; without a token, write what came of the claimed."""
        if token is not None:
            due, _ = intents.find_due(cursor, self.now, 10, ())
            self._verifying = intents.settle_and_claim(cursor, (), due, token, self.now)
            return
        results = [
            intents.VerificationOutcome(claim, Unreachable() if claim.id % 5 == 4 else Confirmed())
            for claim in self._verifying
        ]
        intents.settle_and_claim(cursor, results, (), "", self.now)

    def _turn_deliveries(self, token: str | None, cursor: SqlCursor) -> None:
        contents = self._contents()
        if token is not None:
            due, _ = deliveries.find_due(cursor, contents, self.now, 10, ())
            self._delivering, _ = deliveries.settle_and_claim(
                cursor, (), due, contents, token, self.now
            )
            return
        results = [_outcome(claim) for claim in self._delivering]
        deliveries.settle_and_claim(cursor, results, (), contents, "", self.now)


def _outcome(claim: deliveries.DeliveryClaim) -> deliveries.DeliveryOutcome:
    if claim.id == 3:
        return deliveries.DeliveryOutcome(
            claim=claim, event=DeliveryFailed((0, 0)), status=500, error="500"
        )
    if claim.id == 5:
        return deliveries.DeliveryOutcome(
            claim=claim, event=DeliveryGone(), status=410, error="410"
        )
    return deliveries.DeliveryOutcome(
        claim=claim, event=DeliverySucceeded(claim.topic.version), status=204
    )


def digest(cursor: SqlCursor) -> str:
    """Return a digest of all rows of all tables."""
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    sha = hashlib.sha256()
    for (table,) in cursor.execute(tables).fetchall():
        rows = cursor.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
        sha.update(repr((table, rows)).encode())
    return sha.hexdigest()[:16]


class Log:
    """The log of a writer."""

    def __init__(self, place: Path) -> None:
        self._file = os.open(place / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def acknowledged(self, transactions: int, rows_digest: str) -> None:
        """Log the number of acknowledged transactions, and the digest after them."""
        os.write(self._file, f"{transactions} {rows_digest}\n".encode())

    def failed(self, transactions: int, error: StoreError) -> None:
        """Log the number of transactions before the one that failed."""
        os.write(self._file, f"! {transactions} {error}\n".encode())


async def write(reactor: ReactorBase, place: Path, traced: int, *, weak: bool) -> None:
    """Run the transactions in two lives, each with its own Database that is closed in the end.

    Args:
        reactor: The reactor.
        place: A directory.
        traced: The life that strace is to see: 0, or 1. Its counters are those of one thread.
        weak: Do with less than synchronous=FULL.
    """
    hub, log = Hub(), Log(place)
    steps = list(enumerate(hub.steps()))
    half = len(steps) // 2
    for life, part in enumerate((steps[:half], steps[half:])):
        if life == traced:
            _wait_for_strace(place)
        database = Database(place / STORE, reactor)
        try:
            await database.open()
        except StoreError as error:
            log.failed(part[0][0], error)
        await _live(database, hub, part, log, weak=weak)
        await database.close()


async def _live(
    database: Database, hub: Hub, steps: Sequence[tuple[int, Step]], log: Log, *, weak: bool
) -> None:
    """Run transactions one after the other; go on when the store fails, as the hub does."""

    def prepare(cursor: SqlCursor) -> str:
        cursor.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        if weak:
            cursor.execute("PRAGMA synchronous = NORMAL")
        return digest(cursor)

    def apply(step: Step, before: str, cursor: SqlCursor) -> str:
        """A step, unless it turns out that the commit which failed has come to be."""
        if digest(cursor) == before:
            step(cursor)
        return digest(cursor)

    before = await _patiently(database, steps[0][0], prepare, log)
    log.acknowledged(steps[0][0], before)
    for index, step in steps:
        hub.now = _START + index * 1000
        before = await _patiently(database, index, partial(apply, step, before), log)
        log.acknowledged(index + 1, before)


async def _patiently(
    database: Database, index: int, work: Callable[[SqlCursor], str], log: Log
) -> str:
    for _ in range(_TRIES):
        try:
            return await database.run(work)
        except StoreError as error:
            log.failed(index, error)
    raise StoreError("it never came back")


def _wait_for_strace(place: Path) -> None:
    """Make a file that says that it stands still, and wait for the one that lets it go on."""
    (place / READY).touch()
    while not (place / GO).exists():
        time.sleep(0.001)


def main() -> None:
    """Write; the exit code is 0."""
    place, traced, weak = sys.argv[1:]
    react(
        lambda reactor: Deferred.fromCoroutine(
            write(reactor, Path(place), int(traced), weak=weak == "weak")
        )
    )
