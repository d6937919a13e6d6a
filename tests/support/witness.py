"""Subscribers that remember everything, and compare it with the rules of the hub.

What was delivered in which order is for ``judge.find_faults``; here is what shows at one request or in the rows
(I2, I4, I6, I8 to I10 of security-and-operations.md 10). ``tests/unit/websub/test_machine.py`` checks after
every step.
"""

import hmac
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from reviewsd.store.keys import Secrets
from reviewsd.websub.outbound.response_parser import NetworkFullError
from tests.support.hub import BASE_URL, MEDIA_TYPES, Answer, Exchange, Outcome, Time
from tests.support.judge import Delivery, find_faults

CROSSING = 50
"""Milliseconds in which an end may cross a delivery that was claimed before."""

Pair = tuple[str, str]
"""Callback and path of the topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A subscription in the store."""

    id: int
    pair: Pair
    delivered: int
    version: int
    sha256: str
    lease_expires_at: int
    verified_at: int
    failures: int
    claimed: bool
    secret: bytes | None
    terms: tuple[Any, ...]
    """The columns that only a confirmation may change (I8)."""


def read_rows(connection: sqlite3.Connection) -> dict[int, Row]:
    """Return all subscriptions by id."""
    rows = connection.execute(
        "SELECT s.id, s.callback, t.path, s.delivered_version, t.version, t.sha256,"
        " s.consecutive_failures, s.claim_token, s.lease_expires_at, s.verified_at,"
        " s.secret_sealed, s.lease_seconds, s.created_at"
        " FROM subscription s JOIN topic t ON t.id = s.topic_id"
    )
    return {
        row[0]: Row(
            id=row[0],
            pair=(row[1], row[2]),
            delivered=row[3],
            version=row[4],
            sha256=row[5],
            failures=row[6],
            claimed=row[7] is not None,
            lease_expires_at=row[8],
            verified_at=row[9],
            secret=row[10],
            terms=row[8:],
        )
        for row in rows
    }


class Witness:
    """All subscribers together, as one observer."""

    def __init__(self, connection: sqlite3.Connection, time: Time, secrets: Secrets) -> None:
        self._connection = connection
        self._time = time
        self._secrets = secrets
        self.violations: list[str] = []
        self.joined: Counter[Pair] = Counter()
        """Confirmations of a subscription, by pair."""
        self.ended: Counter[Pair] = Counter()
        """Confirmations of an end, by pair."""
        self.secrets_sent: defaultdict[Pair, set[bytes | None]] = defaultdict(set)
        self.outdated_signatures = 0
        """Deliveries that were signed with an earlier secret."""
        self._rows: dict[int, Row] = {}
        self._joins_written: Counter[Pair] = Counter()
        self._deliveries: defaultdict[int, list[Delivery]] = defaultdict(list)
        """By row; the change is the version of the topic."""
        self._verified: dict[int, int] = {}
        """When a row had been verified at its last delivery."""
        self._gone: set[int] = set()
        """Rows whose callback has responded 410."""
        self._running: dict[Exchange, tuple[Row, bool]] = {}
        """The row at the begin, and whether it was signed with the secret of that time."""

    # Requests -------------------------------------------------------------------------

    def delivers(self, exchange: Exchange) -> None:
        """Check a delivery that the hub has begun."""
        pair = pair_of(exchange)
        if not self.joined[pair]:
            self._report(f"{pair} never confirmed (I2)")
        rows = [row for row in read_rows(self._connection).values() if row.pair == pair]
        if not rows:
            if (since := self._ended_since(pair)) > CROSSING:
                self._report(f"{pair} has been no subscription for {since} ms (I2)")
            return
        (row,) = rows
        if any(running.id == row.id for running, _ in self._running.values()):
            self._report(f"a second delivery to {pair} is under way (I4)")
        if row.delivered == row.version:
            self._report(f"{pair} has version {row.version} already (I6)")
        if row.lease_expires_at <= self._time.now():
            self._report(f"the lease of {pair} is over (I9)")
        self._running[exchange] = row, self._check_content(exchange, row)
        renewed = self._verified.get(row.id, row.verified_at) != row.verified_at
        self._verified[row.id] = row.verified_at
        self._log(row, renewed=renewed)

    def _check_content(self, exchange: Exchange, row: Row) -> bool:
        """Check the body and the headers (I10); return whether the secret of now has signed."""
        pair, body = row.pair, exchange.body
        digest = sha256(body).hexdigest()
        if row.sha256 != digest:
            self._report(f"{pair} gets other content than the store has (I10)")
        secret = None if row.secret is None else self._secrets.unseal(row.secret, *pair)
        sent_secrets = self.secrets_sent[pair]
        if secret not in sent_secrets:
            self._report(f"{pair} never gave such a secret (I10)")
        if exchange.signature not in {_signature(key, body) for key in sent_secrets}:
            self._report(f"the signature for {pair} is wrong (I10)")
        lines = (
            b"Content-Type: " + MEDIA_TYPES[pair[1]],
            b"Content-Length: %d" % len(body),
            f'Link: <{BASE_URL}{pair[1]}>; rel="self", <{BASE_URL}/api/websub/hub>;'
            ' rel="hub"'.encode(),
            b'ETag: "%b"' % digest[:22].encode(),
        )
        if exchange.headers != list(lines):
            self._report(f"the headers for {pair} are wrong (I10)")
        # An earlier secret may sign while a new one is confirmed; that delivery does not count
        return exchange.signature == _signature(secret, body)

    def _log(self, row: Row, *, renewed: bool = False) -> None:
        """Log a delivery of which the hub knows no response yet."""
        delivery = Delivery(change=row.version, accepted=False, unsure=True, renewed=renewed)
        self._deliveries[row.id].append(delivery)

    def _ended_since(self, pair: Pair) -> float:
        """Return the milliseconds since a pair has ended."""
        ((at,),) = self._connection.execute(
            "SELECT MAX(at) FROM ended WHERE callback = ? AND topic = ?", pair
        ).fetchall()
        return float("inf") if at is None else self._time.now() - at

    def observe(self, exchange: Exchange, outcome: Outcome) -> None:
        """Record what the hub received."""
        if not exchange.is_delivery:
            self._confirmed(exchange, outcome)
            return
        row, signed = self._running.pop(exchange, (None, False))
        if row is None or isinstance(outcome, NetworkFullError):
            return
        status = outcome.code if isinstance(outcome, Answer) else 0
        if status == 410:
            self._gone.add(row.id)
        self.outdated_signatures += not signed
        deliveries, accepted = self._deliveries[row.id], 200 <= status < 300 and signed
        deliveries[-1] = replace(deliveries[-1], accepted=accepted, unsure=not signed)

    def _confirmed(self, exchange: Exchange, outcome: Outcome) -> None:
        challenge = exchange.query.get("hub.challenge", "").encode()
        if isinstance(outcome, Answer) and 200 <= outcome.code < 300:
            pair = pair_of(exchange)
            if challenge and outcome.body == challenge:
                joins = exchange.query["hub.mode"] == "subscribe"
                (self.joined if joins else self.ended)[pair] += 1

    def process_ended(self) -> None:
        """Forget requests under way; outcomes that were received may not be stored."""
        self._running.clear()
        for deliveries in self._deliveries.values():
            deliveries[-1:] = [replace(last, unsure=True) for last in deliveries[-1:]]
        for row in read_rows(self._connection).values():
            if row.claimed:  # perhaps it had not begun, and counts as an attempt all the same (D7)
                self._log(row)

    # Rows -------------------------------------------------------------------------

    def check(self) -> None:
        """Compare the rows with those of the last check, and with the requests."""
        rows = read_rows(self._connection)
        for row in rows.values():
            before = self._rows.get(row.id)
            if before is None or before.terms != row.terms:
                self._joins_written[row.pair] += 1
                if self._joins_written[row.pair] > self.joined[row.pair]:
                    self._report(f"{row.pair} has changed without a confirmation (I2, I8)")
            accepted = {
                delivery.change for delivery in self._deliveries[row.id] if delivery.accepted
            }
            if before is not None and row.delivered not in {*accepted, before.delivered}:
                self._report(f"{row.pair} has not accepted version {row.delivered} (I1)")
        for number in set(self._rows) - set(rows):
            self._check_end(self._rows[number])
        self._rows = rows
        self._assert()

    def _check_end(self, row: Row) -> None:
        """I7."""
        ended = self._connection.execute(
            "SELECT reason FROM ended WHERE callback = ? AND topic = ? ORDER BY id DESC", row.pair
        ).fetchall()
        reason = ended[0][0] if ended else "none is stored"
        deliveries = self._deliveries[row.id]
        faults = {*find_faults(deliveries, row.version, subscribed=False)}
        match reason.split()[0]:
            case "3":
                valid = True
            case "the" if "410" in reason:
                valid = row.id in self._gone
            case "the":
                renewed = self.joined[row.pair] > self._joins_written[row.pair]
                valid = renewed or row.lease_expires_at <= self._time.now()
            case "unsubscribed":
                valid = self.ended[row.pair] > 0
            case _:
                valid = False
        if not reason.startswith("3 "):
            faults.discard("wrongly removed")
        if faults or not valid:
            self._report(f"{row.pair} has ended: {reason}; {faults}, {deliveries} (I1, I3, I6, I7)")

    def converged(self) -> None:
        """Check that all subscribers are up to date: they are healthy, and time has gone by (I1)."""
        for row in read_rows(self._connection).values():
            if row.delivered != row.version or row.claimed or row.failures:
                self._report(f"{row} is not up to date (I1)")
            if deliveries := self._deliveries[row.id]:
                for fault in find_faults(deliveries, row.delivered, subscribed=True):
                    self._report(f"{row.pair}: {fault}, {deliveries} (I1, I3, I6, I7)")
        self._assert()

    def _assert(self) -> None:
        if self.violations:
            raise AssertionError("\n".join(self.violations))

    def _report(self, violation: str) -> None:
        self.violations.append(violation)


def _signature(secret: bytes | None, body: bytes) -> bytes | None:
    if secret is None:
        return None
    return b"sha256=" + hmac.new(secret, body, "sha256").hexdigest().encode()


def pair_of(exchange: Exchange) -> Pair:
    """Return the callback as it was subscribed, without a query of its own, and the topic."""
    target = exchange.callback.target.partition("?")[0]
    return f"https://{exchange.callback.authority}{target}", exchange.topic
