"""Subscribers that remember everything, and hold it against what the hub may do.

The invariants I1 to I10 of security-and-operations.md 10, as far as they can be seen from outside or
in the rows; ``tests/unit/websub/test_machine.py`` checks them after every step.
"""

import hmac
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from reviewsd.store.claims import MAX_DEATHS
from reviewsd.store.secrets import Secrets
from reviewsd.websub.outbound.outcomes import Answered, AttemptOutcome, Throttled
from tests.support.hub import BASE_URL, MEDIA_TYPES, Exchange, Time

CROSSING = 50
"""Milliseconds in which an end and a delivery that was claimed before may cross."""

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
    """Processes in a row that died during an attempt."""
    terms: tuple[Any, ...]
    """What only a confirmation may change (I8)."""
    secret: bytes | None


def read_rows(connection: sqlite3.Connection) -> dict[int, Row]:
    """All subscriptions, by id."""
    found = connection.execute(
        "SELECT s.id, s.callback, t.path, s.callback_host, s.delivered_version, t.version,"
        " t.sha256, s.lease_expires_at, s.verified_at, s.consecutive_failures, s.claim_token,"
        " s.secret_sealed, s.lease_seconds, s.created_at, s.deaths"
        " FROM subscription s JOIN topic t ON t.id = s.topic_id"
    )
    return {
        each[0]: Row(
            id=each[0],
            pair=(each[1], each[2]),
            host=each[3],
            delivered=each[4],
            version=each[5],
            sha256=each[6],
            lease_expires_at=each[7],
            verified_at=each[8],
            failures=each[9],
            claimed=each[10] is not None,
            deaths=each[14],
            terms=(each[7], each[8], each[11], each[12], each[13]),
            secret=each[11],
        )
        for each in found
    }


class Witness:
    """All subscribers together.

    Args:
        connection: The store's.
        time: What time it is.
        secrets: Opens sealed secrets.
    """

    def __init__(self, connection: sqlite3.Connection, time: Time, secrets: Secrets) -> None:
        self._connection = connection
        self._time = time
        self._secrets = secrets
        self.violations: list[str] = []
        self.joined: Counter[Pair] = Counter()
        """How often a callback has confirmed a subscription."""
        self.left: Counter[Pair] = Counter()
        """How often it has confirmed an end."""
        self.asked_secrets: defaultdict[Pair, set[bytes | None]] = defaultdict(set)
        self.forbidden: set[str] = set()
        """Hosts that must not be contacted: they are blocked."""
        self.quiet_since: int | None = None
        """Since when the hub is known to be paused, milliseconds of the wall clock."""
        self.ordered: set[Pair] = set()
        """What the operator has removed or blocked."""
        self.pushed = False
        self._rows: dict[int, Row] = {}
        self._joins_written: Counter[Pair] = Counter()
        self._outcomes: defaultdict[int, list[bool | None]] = defaultdict(list)
        """By row: whether a delivery succeeded; None: 410."""
        self._accepted: defaultdict[int, set[int]] = defaultdict(set)
        self._taken: dict[tuple[int, int], int] = {}
        """The same, while this process lives; and when the subscription had last been verified."""
        self._newest: Counter[Pair] = Counter()
        self._underway: dict[Exchange, tuple[Row, bool]] = {}
        """The row when it was begun, and whether it was signed with the secret of then."""
        self.outdated_signatures = 0
        """Deliveries that were signed with a secret of before."""
        self._lossy: set[int] = set()
        """Rows whose outcomes an end of the process may have swallowed."""
        self._deaths: Counter[int] = Counter()
        """By row: how many processes have ended during an attempt."""

    # What subscribers see -------------------------------------------------------------------------

    def begins(self, exchange: Exchange) -> None:
        """The hub has begun a request."""
        host = exchange.callback.host
        denial = exchange.push is None and exchange.question["hub.mode"] == "denied"
        if denial:
            return
        if host in self.forbidden:
            self._no(f"{host} is blocked and was contacted (H7)")
        if self.quiet_since is not None and self._time.now() > self.quiet_since + 1000:
            self._no(f"the hub is paused and has contacted {host} (H7)")
        if exchange.push is not None:
            self._delivered(exchange)

    def _delivered(self, exchange: Exchange) -> None:  # noqa: C901 - a rule a line
        push, pair = exchange.push, pair_of(exchange)
        assert push is not None
        if not self.joined[pair]:
            self._no(f"{pair} never confirmed (I2)")
        found = [row for row in read_rows(self._connection).values() if row.pair == pair]
        if not found:
            if (since := self._ended_since(pair)) > CROSSING:
                self._no(f"{pair} is no subscription since {since} ms (I2)")
            return
        (row,) = found
        if any(other.id == row.id for other, _ in self._underway.values()):
            self._no(f"a second delivery to {pair} is under way (I4)")
        if row.version < self._newest[pair]:
            self._no(f"{pair} sees version {row.version} after {self._newest[pair]} (I3)")
        self._newest[pair] = row.version
        if row.delivered == row.version:
            self._no(f"{pair} has version {row.version} already (I6)")
        if self._taken.get((row.id, row.version)) == row.verified_at and not self.pushed:
            self._no(f"{pair} took version {row.version} of this process already (D6)")
        if row.lease_expires_at <= self._time.now():
            self._no(f"the lease of {pair} is over (I9)")
        digest = sha256(exchange.body).hexdigest()
        if row.sha256 != digest:
            self._no(f"{pair} gets other content than the store has (I10)")
        secret = None if row.secret is None else self._secrets.unseal(row.secret, *pair)
        known = self.asked_secrets[pair]
        if secret not in known:
            self._no(f"{pair} never gave such a secret (I10)")
        if push.signature not in {_signature(each, exchange.body) for each in known}:
            self._no(f"the signature for {pair} is wrong (I10)")
        # One of before may be on its way while a new one is confirmed; it does not count then
        self._underway[exchange] = row, push.signature == _signature(secret, exchange.body)
        lines = (
            b"Content-Type: " + MEDIA_TYPES[pair[1]],
            b"Content-Length: %d" % len(exchange.body),
            f'Link: <{BASE_URL}{pair[1]}>; rel="self", <{BASE_URL}/api/websub/hub>;'
            ' rel="hub"'.encode(),
            b'ETag: "%b"' % digest[:22].encode(),
        )
        if push.headers != b"".join(line + b"\r\n" for line in lines):
            self._no(f"the headers for {pair} are wrong (I10)")

    def _ended_since(self, pair: Pair) -> float:
        """Milliseconds since it has ended, as far as that is noted."""
        ((at,),) = self._connection.execute(
            "SELECT MAX(at) FROM ended WHERE callback = ? AND topic = ?", pair
        ).fetchall()
        return float("inf") if at is None else self._time.now() - at

    def told(self, exchange: Exchange, outcome: AttemptOutcome) -> None:
        """The hub has heard what came of it."""
        if exchange.push is None:
            self._confirmed(exchange, outcome)
            return
        row, signed = self._underway.pop(exchange, (None, False))
        if row is None or isinstance(outcome, Throttled):
            return
        status = outcome.status if isinstance(outcome, Answered) else 0
        good = 200 <= status < 300
        self._outcomes[row.id].append(None if status == 410 else good)
        self.outdated_signatures += not signed
        if good and signed:
            self._accepted[row.id].add(row.version)
            self._taken[row.id, row.version] = row.verified_at

    def _confirmed(self, exchange: Exchange, outcome: AttemptOutcome) -> None:
        question = exchange.question
        challenge = question.get("hub.challenge", "").encode()
        if isinstance(outcome, Answered) and 200 <= outcome.status < 300:
            pair = pair_of(exchange)
            if challenge and outcome.body == challenge:
                joins = question["hub.mode"] == "subscribe"
                (self.joined if joins else self.left)[pair] += 1

    def process_ended(self) -> None:
        """What was under way never comes to an end, and what was heard may not be written."""
        self._underway.clear()
        self._taken.clear()
        rows = read_rows(self._connection)
        self._lossy |= set(rows)
        self._deaths.update(row.id for row in rows.values() if row.claimed)

    # What is in the store -------------------------------------------------------------------------

    def check(self, contents: Mapping[str, bytes], caps: Mapping[str, int]) -> None:
        """Compare the rows with those of the last check, and with what subscribers saw."""
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
                self._no(f"{row.pair} has changed without a confirmation (I2, I8)")
        known = self._accepted[row.id] | ({before.delivered} if before is not None else set())
        if before is not None and row.delivered not in known | {0}:
            self._no(f"{row.pair} has not accepted version {row.delivered} (I1)")
        if row.delivered == 0 and not self.pushed:
            self._no(f"{row.pair} is to get all again (I6)")
        failed = len(self._outcomes[row.id]) - len(self._accepted_since(row.id))
        if row.deaths > self._deaths[row.id]:
            self._no(f"no {row.deaths} processes have died during {row.pair} (D7)")
        if row.failures > failed and row.deaths < MAX_DEATHS:
            self._no(f"{row.pair} has not failed {row.failures} times (I7)")

    def _accepted_since(self, number: int) -> list[bool | None]:
        return [each for each in self._outcomes[number] if each]

    def _check_end(self, row: Row) -> None:
        """I7."""
        ended = self._connection.execute(
            "SELECT reason FROM ended WHERE callback = ? AND topic = ? ORDER BY id DESC", row.pair
        ).fetchall()
        reason = ended[0][0] if ended else "none is noted"
        outcomes = self._outcomes[row.id]
        match reason.split()[0]:
            case "3":
                last = outcomes if row.id in self._lossy else outcomes[-3:]
                right = last.count(False) >= 3 and outcomes[-1] is False
                right |= self._deaths[row.id] >= MAX_DEATHS
            case "the" if "410" in reason:
                right = outcomes[-1:] == [None]
            case "the":
                renewed = self.joined[row.pair] > self._joins_written[row.pair]
                right = renewed or row.lease_expires_at <= self._time.now()
            case "unsubscribed":
                right = self.left[row.pair] > 0
            case "removed" | "blocked":
                right = row.pair in self.ordered
            case _:
                right = False
        if not right:
            self._no(f"{row.pair} has ended without a reason: {reason}, after {outcomes} (I7)")

    def _check_caps(
        self, rows: Mapping[int, Row], contents: Mapping[str, bytes], caps: Mapping[str, int]
    ) -> None:
        """I5, H5."""
        pairs = {row.pair for row in rows.values()}
        pending = self._connection.execute(
            "SELECT v.callback, t.path, v.callback_host, v.mode, v.requester FROM verification v"
            " JOIN topic t ON t.id = v.topic_id"
        ).fetchall()
        new = [each for each in pending if (each[0], each[1]) not in pairs]
        hosts = Counter(row.host for row in rows.values()) + Counter(each[2] for each in new)
        ((topics,),) = self._connection.execute("SELECT COUNT(*) FROM topic").fetchall()
        for name, number in (
            ("active", len(rows) + len(new)),
            ("active_per_host", max(hosts.values(), default=0)),
            ("pending", len(new)),
        ):
            if number > caps[name]:
                self._no(f"{number} rows are more than hub.limits.{name} (I5)")
        if topics > len(contents):
            self._no(f"there are {topics} topics (I5)")
        if any(each[3] == "unsubscribe" for each in new):
            self._no("a request to end nothing is kept")

    def converged(self) -> None:
        """I1: all subscribers are healthy, and time has gone by."""
        for row in read_rows(self._connection).values():
            if row.delivered != row.version or row.claimed or row.failures:
                self._no(f"{row} is not up to date (I1)")
        self._assert()

    def _assert(self) -> None:
        if self.violations:
            raise AssertionError("\n".join(self.violations))

    def _no(self, violation: str) -> None:
        self.violations.append(violation)


def _signature(secret: bytes | None, body: bytes) -> bytes | None:
    if secret is None:
        return None
    return b"sha256=" + hmac.new(secret, body, "sha256").hexdigest().encode()


def pair_of(exchange: Exchange) -> Pair:
    """The callback as it was asked for, without a query of its own, and the topic."""
    target = exchange.callback.target.partition("?")[0]
    return f"https://{exchange.callback.authority}{target}", exchange.topic
