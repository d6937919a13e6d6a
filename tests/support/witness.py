"""Subscribers that remember everything, and compare it with the rules of the hub.

It checks the invariants I1 to I10 of security-and-operations.md 10, as far as they show outside or in
the rows; ``tests/unit/websub/test_machine.py`` checks them after every step.
"""

import hmac
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from reviewsd.store.keys import Secrets
from reviewsd.store.rows import MAX_DEATHS
from reviewsd.websub.outbound.response_parser import NetworkFullError
from tests.support.hub import BASE_URL, MEDIA_TYPES, Answer, Exchange, Outcome, Time

CROSSING = 50
"""Milliseconds in which an end may cross a delivery that was claimed before."""

Pair = tuple[str, str]
"""Callback and path of the topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A subscription in the store."""

    id: int
    pair: Pair
    host: str
    delivered: int
    version: int
    sha256: str
    lease_expires_at: int
    verified_at: int
    failures: int
    claimed: bool
    deaths: int
    """Consecutive processes that died during an attempt."""
    terms: tuple[Any, ...]
    """The columns that only a confirmation may change (I8)."""
    secret: bytes | None


def read_rows(connection: sqlite3.Connection) -> dict[int, Row]:
    """Return all subscriptions by id."""
    rows = connection.execute(
        "SELECT s.id, s.callback, t.path, s.callback_host, s.delivered_version, t.version,"
        " t.sha256, s.lease_expires_at, s.verified_at, s.consecutive_failures, s.claim_token,"
        " s.secret_sealed, s.lease_seconds, s.created_at, s.deaths"
        " FROM subscription s JOIN topic t ON t.id = s.topic_id"
    )
    return {
        row[0]: Row(
            id=row[0],
            pair=(row[1], row[2]),
            host=row[3],
            delivered=row[4],
            version=row[5],
            sha256=row[6],
            lease_expires_at=row[7],
            verified_at=row[8],
            failures=row[9],
            claimed=row[10] is not None,
            deaths=row[14],
            terms=(row[7], row[8], row[11], row[12], row[13]),
            secret=row[11],
        )
        for row in rows
    }


class Witness:
    """All subscribers together, as one observer.

    Args:
        connection: The store's.
        time: The clocks.
        secrets: Opens sealed secrets.
    """

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
        self.forbidden: set[str] = set()
        """Blocked hosts, which must not be called."""
        self.quiet_since: int | None = None
        """The time of the hub's pause, milliseconds of the wall clock."""
        self.removed: set[Pair] = set()
        """Pairs that the operator has removed or blocked."""
        self.pushed = False
        self._rows: dict[int, Row] = {}
        self._joins_written: Counter[Pair] = Counter()
        self._outcomes: defaultdict[int, list[bool | None]] = defaultdict(list)
        """Whether each delivery succeeded, by row; None: 410."""
        self._accepted: defaultdict[int, set[int]] = defaultdict(set)
        self._accepted_by_process: dict[tuple[int, int], int] = {}
        """The last verification of a subscription in this process, by row and version."""
        self._newest: Counter[Pair] = Counter()
        self._running: dict[Exchange, tuple[Row, bool]] = {}
        """The row at the begin, and whether it was signed with the secret of that time."""
        self.outdated_signatures = 0
        """Deliveries that were signed with an earlier secret."""
        self._lossy: set[int] = set()
        """Rows whose outcomes the end of a process may have lost."""
        self._deaths: Counter[int] = Counter()
        """Processes that ended during an attempt, by row."""

    # Requests -------------------------------------------------------------------------

    def begins(self, exchange: Exchange) -> None:
        """Check a request that the hub has begun."""
        host = exchange.callback.host
        if not exchange.is_delivery and exchange.query["hub.mode"] == "denied":
            return
        if host in self.forbidden:
            self._report(f"{host} is blocked and was called (H7)")
        if self.quiet_since is not None and self._time.now() > self.quiet_since + 1000:
            self._report(f"the hub is paused and has called {host} (H7)")
        if exchange.is_delivery:
            self._delivered(exchange)

    def _delivered(self, exchange: Exchange) -> None:  # noqa: C901 - a rule a line
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
        if row.version < self._newest[pair]:
            self._report(f"{pair} sees version {row.version} after {self._newest[pair]} (I3)")
        self._newest[pair] = row.version
        if row.delivered == row.version:
            self._report(f"{pair} has version {row.version} already (I6)")
        if (
            self._accepted_by_process.get((row.id, row.version)) == row.verified_at
            and not self.pushed
        ):
            self._report(f"{pair} took version {row.version} of this process already (D6)")
        if row.lease_expires_at <= self._time.now():
            self._report(f"the lease of {pair} is over (I9)")
        digest = sha256(exchange.body).hexdigest()
        if row.sha256 != digest:
            self._report(f"{pair} gets other content than the store has (I10)")
        secret = None if row.secret is None else self._secrets.unseal(row.secret, *pair)
        sent_secrets = self.secrets_sent[pair]
        if secret not in sent_secrets:
            self._report(f"{pair} never gave such a secret (I10)")
        if exchange.signature not in {_signature(key, exchange.body) for key in sent_secrets}:
            self._report(f"the signature for {pair} is wrong (I10)")
        # An earlier secret may sign while a new one is confirmed; that delivery does not count
        self._running[exchange] = row, exchange.signature == _signature(secret, exchange.body)
        lines = (
            b"Content-Type: " + MEDIA_TYPES[pair[1]],
            b"Content-Length: %d" % len(exchange.body),
            f'Link: <{BASE_URL}{pair[1]}>; rel="self", <{BASE_URL}/api/websub/hub>;'
            ' rel="hub"'.encode(),
            b'ETag: "%b"' % digest[:22].encode(),
        )
        if exchange.headers != list(lines):
            self._report(f"the headers for {pair} are wrong (I10)")

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
        good = 200 <= status < 300
        self._outcomes[row.id].append(None if status == 410 else good)
        self.outdated_signatures += not signed
        if good and signed:
            self._accepted[row.id].add(row.version)
            self._accepted_by_process[row.id, row.version] = row.verified_at

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
        self._accepted_by_process.clear()
        rows = read_rows(self._connection)
        self._lossy |= set(rows)
        self._deaths.update(row.id for row in rows.values() if row.claimed)

    # Rows -------------------------------------------------------------------------

    def check(self, contents: Mapping[str, bytes], caps: Mapping[str, int]) -> None:
        """Compare the rows with those of the last check, and with the requests."""
        rows = read_rows(self._connection)
        for row in rows.values():
            self._check_row(row, self._rows.get(row.id))
        for number in set(self._rows) - set(rows):
            self._check_end(self._rows[number])
        self._check_caps(rows, contents, caps)
        self._rows = rows
        self._assert()

    def _check_row(self, row: Row, before: Row | None) -> None:
        if before is None or before.terms != row.terms:
            self._joins_written[row.pair] += 1
            if self._joins_written[row.pair] > self.joined[row.pair]:
                self._report(f"{row.pair} has changed without a confirmation (I2, I8)")
        deliverable = self._accepted[row.id] | ({before.delivered} if before is not None else set())
        if before is not None and row.delivered not in deliverable | {0}:
            self._report(f"{row.pair} has not accepted version {row.delivered} (I1)")
        if row.delivered == 0 and not self.pushed:
            self._report(f"{row.pair} will receive everything again (I6)")
        failed = len(self._outcomes[row.id]) - len(self._accepted_since(row.id))
        if row.deaths > self._deaths[row.id]:
            self._report(f"no {row.deaths} processes have died during {row.pair} (D7)")
        if row.failures > failed and row.deaths < MAX_DEATHS:
            self._report(f"{row.pair} has not failed {row.failures} times (I7)")

    def _accepted_since(self, number: int) -> list[bool | None]:
        return [outcome for outcome in self._outcomes[number] if outcome]

    def _check_end(self, row: Row) -> None:
        """I7."""
        ended = self._connection.execute(
            "SELECT reason FROM ended WHERE callback = ? AND topic = ? ORDER BY id DESC", row.pair
        ).fetchall()
        reason = ended[0][0] if ended else "none is stored"
        outcomes = self._outcomes[row.id]
        match reason.split()[0]:
            case "3":
                last = outcomes if row.id in self._lossy else outcomes[-3:]
                valid = last.count(False) >= 3 and outcomes[-1] is False
                valid |= self._deaths[row.id] >= MAX_DEATHS
            case "the" if "410" in reason:
                valid = outcomes[-1:] == [None]
            case "the":
                renewed = self.joined[row.pair] > self._joins_written[row.pair]
                valid = renewed or row.lease_expires_at <= self._time.now()
            case "unsubscribed":
                valid = self.ended[row.pair] > 0
            case "removed" | "blocked":
                valid = row.pair in self.removed
            case _:
                valid = False
        if not valid:
            self._report(f"{row.pair} has ended without a reason: {reason}, after {outcomes} (I7)")

    def _check_caps(
        self, rows: Mapping[int, Row], contents: Mapping[str, bytes], caps: Mapping[str, int]
    ) -> None:
        """I5, H5."""
        pairs = {row.pair for row in rows.values()}
        pending = self._connection.execute(
            "SELECT v.callback, t.path, v.callback_host, v.mode, v.requester FROM verification v"
            " JOIN topic t ON t.id = v.topic_id"
        ).fetchall()
        new = [intent for intent in pending if (intent[0], intent[1]) not in pairs]
        hosts = Counter(row.host for row in rows.values()) + Counter(intent[2] for intent in new)
        ((topics,),) = self._connection.execute("SELECT COUNT(*) FROM topic").fetchall()
        for name, number in (
            ("active", len(rows) + len(new)),
            ("active_per_host", max(hosts.values(), default=0)),
            ("pending", len(new)),
        ):
            if number > caps[name]:
                self._report(f"{number} rows are more than hub.limits.{name} (I5)")
        if topics > len(contents):
            self._report(f"there are {topics} topics (I5)")
        if any(intent[3] == "unsubscribe" for intent in new):
            self._report("a request to end nothing is kept")

    def converged(self) -> None:
        """Check that all subscribers are up to date: they are healthy, and time has gone by (I1)."""
        for row in read_rows(self._connection).values():
            if row.delivered != row.version or row.claimed or row.failures:
                self._report(f"{row} is not up to date (I1)")
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
