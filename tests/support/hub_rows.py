"""The hub's rows to test with: the three topics, and the shortest ways to everything else."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from reviewsd.domain.subscription import Caps, Confirmed, Intent, Mode
from reviewsd.store import deliveries, intents
from reviewsd.store.deliveries import DeliveryClaim, DeliveryOutcome, EndedSubscription
from reviewsd.store.intents import IntentClaim, RequestOutcome, VerificationOutcome
from reviewsd.store.rows import Due, Pair
from reviewsd.store.transactions import SqlCursor
from tests.support.hub import CALLBACK, FEED, JSON_FEED, REVIEWS, START, connect, transact

T = TypeVar("T")

HOST = "subscriber.example.org"
PAIR = Pair(1, CALLBACK, HOST)
OLD = {FEED: "f1", JSON_FEED: "j1", REVIEWS: "r1"}
NEW = {FEED: "f2", JSON_FEED: "j1", REVIEWS: "r1"}
CLAIM = 90_000
CAPS = Caps(active=100, active_per_host=100, pending=100, pending_per_client=100)
ASKED = Intent(
    mode=Mode.SUBSCRIBE,
    requested_topic="feed.xml",
    secret=b"sealed",
    lease_seconds=1000,
    challenge="c",
    verify_token=b"token\0",
    topic_version=0,
    requester="192.0.2.7/32",
    requested_at=START,
    expires_at=START + 600_000,
    next_attempt_at=START,
)
WAITS = (60_000, 1_800_000)


class Rows:
    """A store with the three topics at version 1."""

    def __init__(self) -> None:
        self.connection = connect()
        self.run(lambda cursor: deliveries.bump(cursor, OLD, START, START))

    def run(self, work: Callable[[SqlCursor], T]) -> T:
        return transact(self.connection, work)

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    def ask(self, number: int = 0, **change: Any) -> RequestOutcome:
        host = f"s{number}.example.org" if number else HOST
        callback = (f"https://{host}/cb" if number else CALLBACK, host)
        request = replace(ASKED, **{"challenge": f"c{number}", **change})
        return self.run(
            lambda cursor: intents.record_request(
                cursor, FEED, callback, request, CAPS, backing_off=False
            )
        )

    def verifiable(self, now: int = START, without: tuple[str, ...] = ()) -> list[Due]:
        return list(self.run(lambda cursor: intents.find_due(cursor, now, 100, without))[0])

    def verify(
        self, now: int = START, results: tuple[VerificationOutcome, ...] = (), token: str = ""
    ) -> list[IntentClaim]:
        due, token = self.verifiable(now), token or f"t{now}"
        return self.run(lambda cursor: intents.settle_and_claim(cursor, results, due, token, now))

    def subscribe(self, count: int = 1) -> None:
        for number in range(count):
            self.ask(number)
        done = tuple(VerificationOutcome(claim, Confirmed()) for claim in self.verify())
        self.verify(results=done)

    def owed(
        self, now: int = START, contents: dict[str, str] = NEW, without: tuple[str, ...] = ()
    ) -> list[Due]:
        return list(
            self.run(lambda cursor: deliveries.find_due(cursor, contents, now, 100, without))[0]
        )

    def deliver(
        self, now: int = START, results: tuple[DeliveryOutcome, ...] = (), token: str = ""
    ) -> tuple[list[DeliveryClaim], list[EndedSubscription]]:
        due, token = self.owed(now), token or f"t{now}"
        return self.run(
            lambda cursor: deliveries.settle_and_claim(cursor, results, due, NEW, token, now)
        )

    def bump(self) -> None:
        self.run(lambda cursor: deliveries.bump(cursor, NEW, START, START))
