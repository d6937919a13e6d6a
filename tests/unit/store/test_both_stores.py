"""The hub's SQL has the same effect on SQLite and on PostgreSQL.

Random transactions in random order return the same from both stores, and leave the same rows. The rules
themselves are tested on SQLite; this test extends them to PostgreSQL.
"""

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from typing import Any, cast

import psycopg
import pytest

import reviewsd.store.sqlite  # noqa: F401  registers the adapter of lists
from reviewsd.domain.subscription import (
    Caps,
    Confirmed,
    DeliveryFailed,
    DeliveryGone,
    DeliverySucceeded,
    Intent,
    Mode,
    NotConfirmed,
    Unreachable,
)
from reviewsd.http1.urls import TOPICS
from reviewsd.store import deliveries, intents, listing, notices, rows, upkeep
from reviewsd.store.deliveries import DeliveryOutcome
from reviewsd.store.intents import VerificationOutcome
from reviewsd.store.postgres import MarkedCursor, translated
from reviewsd.store.rows import Pair
from reviewsd.store.schema import MIGRATIONS
from reviewsd.store.transactions import SqlCursor
from tests.support import examples
from tests.support.postgres import Server, needed

pytestmark = [needed, pytest.mark.processes]

START = 1_760_000_000_000
TABLES = ("meta", "topic", "subscription", "verification", "block")
HOSTS = ("a.example", "b.example", "10.0.0.1")
CAPS = Caps(active=6, active_per_host=3, pending=4, pending_per_client=3)
WAITS = (1_000, 5_000)

Work = Callable[[SqlCursor], Any]


@pytest.fixture(scope="module")
def connection() -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    with Server() as server, psycopg.connect(server.database()) as connection:
        for statement in chain.from_iterable(MIGRATIONS):
            connection.execute(translated(statement).encode())
        connection.commit()
        yield connection


class Both:
    """A database of each engine."""

    def __init__(
        self, lite: sqlite3.Connection, postgres: psycopg.Connection[tuple[Any, ...]]
    ) -> None:
        self._cursors = (cast("SqlCursor", lite.cursor()), MarkedCursor(postgres))
        self.now = START
        self.content = "0"

    def run(self, work: Work) -> Any:
        first, second = (work(cursor) for cursor in self._cursors)
        assert first == second
        assert self._rows(0) == self._rows(1)
        return first

    def _rows(self, which: int) -> list[list[tuple[Any, ...]]]:
        cursor = self._cursors[which]
        rows = [cursor.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in TABLES]
        # One sweep ends many subscriptions in no particular order.
        ended = cursor.execute("SELECT callback, topic, reason, at FROM ended").fetchall()
        return [*rows, sorted(ended)]


def transact_randomly(both: Both, chance: random.Random, number: int) -> None:  # noqa: PLR0915 - a list
    """Run one random transaction on both databases."""
    one_of, maybe = chance.choice, partial(chance.choice, (False, True))
    now, token = both.now, f"token {number}"
    digests = dict.fromkeys(TOPICS, both.content)

    def ask() -> None:
        host = one_of(HOSTS)
        request = Intent(
            mode=one_of([Mode.SUBSCRIBE, Mode.SUBSCRIBE, Mode.UNSUBSCRIBE]),
            requested_topic="given",
            secret=one_of([None, b"\0sealed"]),
            verify_token=one_of([None, b"\0token"]),
            lease_seconds=one_of([5, 864_000]),
            challenge=token,
            topic_version=0,
            requester=one_of(["192.0.2.1/32", "192.0.2.2/32"]),
            requested_at=now,
            expires_at=now + 600_000,
            next_attempt_at=now,
        )
        callback = (f"https://{host}/{chance.randrange(3)}", host)
        topic, backing_off = one_of(TOPICS), maybe()
        both.run(
            lambda cursor: intents.record_request(
                cursor, topic, callback, request, CAPS, backing_off=backing_off
            )
        )

    def verify() -> None:
        without = set(chance.sample(HOSTS, one_of([0, 0, 0, 1, 3])))
        limit = chance.randint(1, 5)
        due, _ = both.run(lambda cursor: intents.find_due(cursor, now, limit, without))
        claims = both.run(lambda cursor: intents.settle_and_claim(cursor, (), due, token, now))
        events = [*[Confirmed()] * 6, NotConfirmed(), Unreachable(), None]
        results = [
            VerificationOutcome(claim, one_of(events)) for claim in claims if chance.random() < 0.8
        ]
        both.run(lambda cursor: intents.settle_and_claim(cursor, results, (), token, now + 1))

    def deliver() -> None:
        without = set(chance.sample(HOSTS, one_of([0, 0, 0, 1, 3])))
        limit = chance.randint(1, 5)
        due, _ = both.run(lambda cursor: deliveries.find_due(cursor, digests, now, limit, without))
        claims, _ = both.run(
            lambda cursor: deliveries.settle_and_claim(cursor, (), due, digests, token, now)
        )
        results = []
        for claim in claims:
            delivered = DeliverySucceeded(claim.topic.version)
            event = one_of(
                [
                    delivered,
                    delivered,
                    delivered,
                    *[DeliveryFailed(WAITS)] * 4,
                    DeliveryGone(),
                    None,
                ]
            )
            failed = isinstance(event, DeliveryFailed)
            status = one_of([None, 500]) if failed else 200
            results.append(
                DeliveryOutcome(
                    claim=claim, event=event, status=status, error="why" if failed else None
                )
            )
        both.run(
            lambda cursor: deliveries.settle_and_claim(cursor, results, (), digests, token, now + 1)
        )

    def change() -> None:
        both.content = one_of(["0", "1", "2"])
        digests = dict.fromkeys(TOPICS, both.content)
        revision, newer_only = chance.randrange(number + 1), maybe()
        both.run(
            lambda cursor: deliveries.bump(cursor, digests, revision, now, newer_only=newer_only)
        )

    def read() -> None:
        topic = one_of([None, *TOPICS])
        after = one_of([None, "1", "p0", "p2"])
        callback = one_of([None, f"https://{HOSTS[0]}/0"])
        both.run(lambda cursor: listing.page(cursor, topic, callback, after, 3))
        both.run(lambda cursor: listing.topic_states(cursor, now))
        both.run(lambda cursor: listing.count_pending(cursor, now))
        both.run(upkeep.paused)
        both.run(upkeep.blocks)
        both.run(lambda cursor: listing.delivery_results(cursor, (1, 2, 3), now - 1))

    def order() -> None:
        value, dry = one_of([*HOSTS, "10.0.0.0/8"]), maybe()
        name = one_of(["1", "2", "p1", "p2"])
        names = one_of([None, [], ["p1"], ["1", "2", "p3"]])
        topic = one_of([None, *TOPICS])
        work: Work = one_of(
            [
                lambda cursor: upkeep.pause(cursor, now),
                upkeep.resume,
                lambda cursor: upkeep.block(cursor, value, "note", now, dry_run=dry),
                lambda cursor: upkeep.unblock(cursor, value),
                lambda cursor: listing.remove(cursor, name, "reason", now),
                lambda cursor: sorted(listing.make_due(cursor, names, topic, now)),
                lambda cursor: upkeep.end_expired(cursor, sorted_pairs(cursor, now), now),
                lambda cursor: sorted(map(repr, rows.take_over(cursor, now))),
            ]
        )
        both.run(work)

    one_of([ask, ask, ask, verify, verify, deliver, deliver, change, read, order])()
    both.now += one_of([0, 10, 2_000, 100_000])


def sorted_pairs(cursor: SqlCursor, now: int) -> list[Pair]:
    pairs = {pair for pair, _ in upkeep.expired(cursor, now)}
    return sorted(pairs, key=lambda pair: (pair.topic_id, pair.callback))


def truncate(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Delete the rows that an earlier test has left."""
    for table in (*TABLES, "ended"):
        restart = "" if table in ("meta", "block") else " RESTART IDENTITY CASCADE"
        connection.execute(f"TRUNCATE {table}{restart}".encode())


@pytest.mark.parametrize("seed", range(examples.number(8)))
def test_random_transactions_have_the_same_effect_on_both(
    connection: psycopg.Connection[tuple[Any, ...]], seed: int
) -> None:
    truncate(connection)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as lite:
        for statement in chain.from_iterable(MIGRATIONS):
            lite.execute(statement)
        both, chance = Both(lite, connection), random.Random(seed)
        both.run(lambda cursor: deliveries.bump(cursor, dict.fromkeys(TOPICS, "0"), 0, START))
        for number in range(80):
            transact_randomly(both, chance, number)
    connection.commit()


def test_notices_are_the_same_in_both(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    truncate(connection)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as lite:
        for statement in chain.from_iterable(MIGRATIONS):
            lite.execute(statement)
        both = Both(lite, connection)
        assert (0, None) == both.run(notices.known_ids)
        assert both.run(lambda cursor: notices.replace_known_ids(cursor, 0, b"\0" * 8))
        assert not both.run(lambda cursor: notices.replace_known_ids(cursor, 0, b""))
        assert (1, b"\0" * 8) == both.run(notices.known_ids)
        for target, state in (("a", "{}"), ("b", "{}"), ("a", '{"attempts":1}')):
            both.run(partial(notices.save_target_state, target=target, state=state))
        both.run(lambda cursor: notices.drop_other_targets(cursor, ["a", "c"]))
        assert {"a": '{"attempts":1}'} == both.run(notices.target_states)
    connection.rollback()
