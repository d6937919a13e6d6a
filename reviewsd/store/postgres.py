"""The state store of several nodes: the same transactions on PostgreSQL (security-and-operations.md 4.1).

SQLite serializes transactions by its one connection; here an advisory lock does. Each transaction begins by
taking it, so the transactions of all nodes run one after the other, and each sees all earlier commits. Hence
the SQL is the same for both stores, and so are its guarantees: a row that was read is unchanged when it is
written, caps are exact, and there are no deadlocks. The cost is small: the lock is held for a batch of
claims and outcomes, never during a request to a callback. For the same reason one connection is enough for a
node. Migrations take the lock too.

The differences are:

- The time is the server's (4.3). Each transaction reads it, and ``now`` counts on from there. So a node
  with a wrong clock takes over no claim too early and ends no lease.
- The same migrations make the tables, with PostgreSQL's names for two types. The schema version is in
  ``meta`` and is read in each transaction: a node stops when a newer one has migrated (D11).
- All nodes must unseal each other's secrets, so the keys are checked before anything else. With another
  key every signed delivery would fail, and the third failure removes a subscription.
- A lost connection is replaced. If it was lost between two transactions, as by a restart of the server,
  no transaction fails (D9). A silent connection counts as lost too.
"""

import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Self, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from twisted.internet.base import ReactorBase

from reviewsd.runtime.counters import Counters
from reviewsd.store.keys import Secrets, check_keys
from reviewsd.store.schema import MIGRATIONS, check_version
from reviewsd.store.transactions import (
    MANY,
    Purpose,
    SqlCursor,
    SqlValue,
    Store,
    StoreError,
    wall_clock,
)

LOCK = int.from_bytes(b"reviewsd")
"""The key of the advisory lock that each transaction holds; per database."""

RETRY_SECONDS = 1.0
"""Time after a failure in which queued transactions fail at once."""

MAX_SILENCE = 5.0
"""Seconds without a byte from the server; longer than its ``lock_timeout``, which it reports itself."""

_CONNECTION: dict[str, str | int] = {
    "application_name": "reviewsd",
    "connect_timeout": 5,  # seconds
    "keepalives_idle": 10,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds; a server that vanished is noticed
}
"""Defaults of the URL's parameters."""

_SESSION = {
    "synchronous_commit": "on",  # D1
    "lock_timeout": "4s",  # with the longest delivery still within a claim's 90 s
    # A node that hangs loses the lock before the other nodes stop waiting for it.
    "idle_in_transaction_session_timeout": "3s",
}

_OUTAGES = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.InternalError,
    psycopg.errors.InsufficientPrivilege,
)
"""Faults of the server, the network or the operator's grants; any other error is a bug of ours."""

_BEGIN = f"BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({LOCK})"
"""Sent in one message with the statements that follow it. Each statement sees the commits before its own
start, so the later ones see all commits of the nodes that had the lock before."""

_SCHEMA_VERSION = "SELECT (SELECT value FROM meta WHERE key = 'schema_version')"
_FACTS = f"{_SCHEMA_VERSION}, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"

_Connection = psycopg.Connection[tuple[Any, ...]]
Result = TypeVar("Result")


class MarkedCursor(psycopg.Cursor[tuple[Any, ...]]):
    """A ``SqlCursor``: placeholders are ``?``, and no statement of ours has a literal ? or %."""

    def execute(  # type: ignore[override]  # psycopg also takes other types of queries
        self, sql: str, parameters: Sequence[SqlValue] | None = None, **options: bool
    ) -> Self:
        """Run one statement."""
        marked = sql.replace(f"IN {MANY}", "= ANY(?)").replace("?", "%s")
        return super().execute(marked.encode(), parameters, **options)


class SilentError(psycopg.OperationalError):
    """The server has not responded, and the connection is closed."""


class TimedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that closes itself when the server does not respond.

    A server, or a proxy in front of it, may stop responding while its TCP stack still acknowledges. Then
    neither keepalives nor ``tcp_user_timeout`` end the wait, and the server's own time-outs never run.
    """

    def wait(self, gen: Generator[Any, Any, Result], *args: Any, **kwargs: Any) -> Result:  # noqa: ANN401  passed on
        """Run a generator of psycopg that waits for the server, or raise SilentError."""
        try:
            return super().wait(_timed(gen), *args, **kwargs)
        except SilentError:
            self.close()
            raise


def _timed(gen: Generator[Any, Any, Result]) -> Generator[Any, Any, Result]:
    """Pass on the events; psycopg resumes the generator without an event ten times a second."""
    try:
        event = next(gen)
        until = time.monotonic() + MAX_SILENCE
        while True:
            ready = yield event
            if ready:
                until = time.monotonic() + MAX_SILENCE
            elif time.monotonic() > until:
                raise SilentError(f"the server has not answered for {MAX_SILENCE:g} s")
            event = gen.send(ready)
    except StopIteration as end:
        result: Result = end.value
        return result


class Postgres(Store):
    """A node's one connection to the store of all nodes.

    Args:
        url: ``postgresql://...``, as libpq reads it.
        reactor: As in ``Store``.
        secrets: Must be able to unseal the secrets of other nodes.
        counters: As in ``Store``.

    Raises:
        ValueError: libpq cannot parse the URL; the message omits libpq's reason, which may quote
            a password.
    """

    def __init__(
        self, url: str, reactor: ReactorBase, secrets: Secrets, counters: Counters | None = None
    ) -> None:
        try:
            url_parameters: dict[str, Any] = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            raise ValueError("expected a PostgreSQL URL; percent-encode its password") from None
        host = url_parameters.get("host", "the local server")
        super().__init__(f"{url_parameters.get('dbname', '')} at {host}", reactor, counters)
        self._url = make_conninfo(**{**_CONNECTION, **url_parameters})
        self._secrets = secrets
        self._connection: _Connection | None = None
        self._retry_at = 0.0
        self._last_snapshot: object = None
        self._offset = wall_clock() - _milliseconds_since_boot()  # of the server's clock

    def now(self) -> int:
        """Return the server's clock, milliseconds since 1970 UTC; this machine's before ``open``."""
        return _milliseconds_since_boot() + self._offset

    async def changed(self) -> bool:
        """Return whether any node has committed since the last call."""
        return await self._call(self._read_changed)

    # The methods below run in the store's thread.

    def _transact(self, work: Callable[[SqlCursor], Result], _purpose: Purpose) -> Result:
        with self._recording():
            connection = self._reconnecting(self._begin)
            with connection.cursor() as cursor:
                try:
                    result = work(cursor)
                    connection.commit()
                except BaseException:
                    with suppress(psycopg.Error):  # a lost connection needs no rollback
                        connection.rollback()
                    raise
        return result

    def _read_changed(self) -> bool:
        before = self._last_snapshot
        with self._recording():
            # each commit changes which transactions are visible
            query = "SELECT CAST(pg_current_snapshot() AS TEXT)"
            self._last_snapshot = self._reconnecting(partial(_value, sql=query))
        return self._last_snapshot != before

    @contextmanager
    def _recording(self) -> Iterator[None]:
        """Record whether a use of the store succeeds; soon after a failure, raise that at once."""
        if self._failure is not None and time.monotonic() < self._retry_at:
            raise type(self._failure)(str(self._failure))
        try:
            yield
        except (*_OUTAGES, StoreError) as error:
            self._disconnect()
            raise self._failed(error) from error
        self._succeeded()

    def _reconnecting(self, query: Callable[[_Connection], Result]) -> Result:
        """Run a query; use a new connection if the old one was lost since its last use."""
        if self._connection is not None:
            try:
                return query(self._connection)
            except (psycopg.errors.LockNotAvailable, SilentError):
                raise
            except psycopg.OperationalError:
                self._disconnect()
        self._connection = self._connect()
        return query(self._connection)

    def _connect(self) -> _Connection:
        """Return a new connection to a database with all tables."""
        connection = TimedConnection.connect(
            self._url,
            autocommit=True,  # ``_begin`` begins transactions
            cursor_factory=MarkedCursor,
        )
        try:
            for setting in _SESSION.items():
                connection.execute("SELECT set_config(?, ?, false)", setting)
            connection.execute(_BEGIN, prepare=False)
            _migrate(connection)
            check_keys(connection.cursor(), self._secrets, shared=True)
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _begin(self, connection: _Connection) -> _Connection:
        """Begin a transaction that holds the lock, and read the server's clock."""
        results = connection.execute(f"{_BEGIN}; {_FACTS}", prepare=False)
        while results.nextset():
            pass
        row = results.fetchone()
        assert row is not None  # noqa: S101  the query has constants only
        check_version(int(row[0]))
        self._offset = int(row[1]) - _milliseconds_since_boot()
        return connection

    def _failed(self, error: Exception) -> StoreError:
        self._retry_at = time.monotonic() + RETRY_SECONDS
        if not isinstance(error, StoreError):
            error = StoreError(" ".join(str(error).split()) or type(error).__name__)
        return super()._failed(error)


def _milliseconds_since_boot() -> int:
    """Return a time of a clock that cannot be set."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def translated(statement: str) -> str:
    """Return a statement of a migration in PostgreSQL's dialect."""
    identity = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    statement = re.sub(r"INTEGER PRIMARY KEY( AUTOINCREMENT)?", identity, statement)
    return re.sub(r"\bBLOB\b", "BYTEA", statement)


def _migrate(connection: _Connection) -> None:
    """Bring the schema up to date (D11)."""
    version = 0
    if _value(connection, "SELECT to_regclass('meta')") is not None:
        version = int(_value(connection, _SCHEMA_VERSION) or 0)
    check_version(version)
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(translated(statement))
    connection.execute(
        "INSERT INTO meta (key, value) VALUES ('schema_version', ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (str(len(MIGRATIONS)),),
    )


def _value(connection: _Connection, sql: str) -> Any:  # noqa: ANN401  a column
    """Return the only value of a query with one row."""
    ((value,),) = connection.execute(sql).fetchall()
    return value
