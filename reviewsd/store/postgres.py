"""The state store of several nodes: the same transactions on PostgreSQL (security-and-operations.md 4.1).

What SQLite gives by having one connection, an advisory lock gives here: each transaction begins by
taking it, so transactions of all nodes run one after the other, and see all that was committed before.
Hence the SQL is the same on both, and what it relies on too: a row that was read is still so when it
is written, caps are exact, nobody waits in a circle. ``FOR UPDATE SKIP LOCKED`` instead would need
locks on rows that do not exist yet, and retries of transactions, everywhere. It costs little: the
lock is held for a batch of claims and results, never while a callback is spoken to. For the same
reason one connection is enough for a node. Migrations and sweeps are under it like everything else.

What differs:

- The time is the server's (4.3): each transaction reads it, and ``now`` counts on from there. A
  node whose clock is wrong takes over no claim too early and ends no lease.
- Tables are made by the same migrations, with PostgreSQL's names for two types; their version is in
  ``meta``. It is read in each transaction: a node stops when a newer one has migrated (D11).
- All nodes must unseal each other's secrets. So the keys are checked before anything else: with
  another key every signed delivery would fail, and the third failure removes a subscription.
- A lost connection is replaced. Where it had been lost before the transaction began, as after a
  restart of the server, nobody notices (D9). One that only falls silent is lost too (``timed_psycopg``).
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from twisted.enterprise.adbapi import ConnectionPool
from twisted.internet.base import ReactorBase
from twisted.logger import Logger

from reviewsd.runtime.counters import Counters
from reviewsd.store import timed_psycopg
from reviewsd.store.schema import MIGRATIONS
from reviewsd.store.secrets import Secrets, check_shared_keys
from reviewsd.store.thread import Purpose, StoreThread, disconnect
from reviewsd.store.transactions import (
    MANY,
    NewerSchemaError,
    SqlCursor,
    SqlValue,
    StoreError,
    wall_clock,
)

LOCK = int.from_bytes(b"reviewsd")
"""The key of the advisory lock that each transaction holds; per database."""

REST_SECONDS = 1.0
"""After a failure nothing is tried for so long: who waits in the queue is told at once."""

_CONNECTION: dict[str, str | int] = {
    "application_name": "reviewsd",
    "connect_timeout": 5,  # seconds
    "keepalives_idle": 10,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds; a server that vanished is noticed
}
"""What the URL may say otherwise."""

_SESSION = {
    "synchronous_commit": "on",  # D1
    "lock_timeout": "4s",  # with the longest exchange still within a claim's 90 s
    # A node that froze, or fell silent, gives the lock back before the others stop waiting for it.
    "idle_in_transaction_session_timeout": "3s",
}

_OUTAGES = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.InternalError,
    psycopg.errors.InsufficientPrivilege,
)
"""Blame the server, the network or the operator's grants; any other error is a bug of ours."""

_VERSION = "schema_version"

_BEGIN = f"BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({LOCK})"
"""With what follows it, one message for the server. Each statement of it sees what is committed when
the one before it has ended: so what follows sees all that was while the lock was waited for."""

_FACTS = (
    "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT),"
    f" (SELECT value FROM meta WHERE key = '{_VERSION}')"
)

PsycopgConnection = psycopg.Connection[tuple[Any, ...]]
Result = TypeVar("Result")


class Postgres:
    """A node's one connection to the store of all nodes.

    Args:
        url: ``postgresql://...``, as libpq reads it.
        reactor: Where results come back to; it must be running.
        secrets: Must be able to unseal what other nodes have sealed.
        counters: Count transactions.

    Raises:
        ValueError: libpq does not understand the URL; its reason is not told, since it may quote
            a password.
    """

    shared = True
    """Other nodes may use the store too: they claim, deliver and give orders (D8)."""

    _log = Logger()

    def __init__(
        self, url: str, reactor: ReactorBase, secrets: Secrets, counters: Counters | None = None
    ) -> None:
        try:
            given = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            raise ValueError("expected a PostgreSQL URL; percent-encode its password") from None
        self._parameters = {**_CONNECTION, **given}
        self._name = f"{given.get('dbname', '')} at {given.get('host', 'the local server')}"
        self._reactor = reactor
        self._counters = counters or Counters()
        self._secrets = secrets
        self._thread: StoreThread | None = None
        self._healthy = False
        self._failure: StoreError | None = None
        self._rest_until = 0.0
        self._seen: object = None
        self._offset = wall_clock() - _passed()  # of the server's clock, milliseconds

    @property
    def healthy(self) -> bool:
        """Whether the last use of the store found it working; False until ``open``."""
        return self._healthy

    def now(self) -> int:
        """Return the server's clock, milliseconds since 1970 UTC; this machine's before ``open``."""
        return _passed() + self._offset

    async def open(self) -> None:
        """Start the thread; connect, check and migrate the database.

        Raises:
            NewerSchemaError: The tables belong to a newer program.
            OtherKeysError: Other nodes seal with keys that this one does not have.
            StoreError: The store does not work now. ``run`` may be called all the same, and tries
                again.
        """
        pool = ConnectionPool(
            timed_psycopg.__name__,
            **self._parameters,
            cp_min=1,
            cp_max=1,
            cp_openfun=self._prepare,
            cp_reactor=self._reactor,
        )
        self._thread = StoreThread(pool, self._reactor, self._counters)
        await self.run(lambda _: None)

    async def run(
        self, work: Callable[[SqlCursor], Result], purpose: Purpose = Purpose.WORK
    ) -> Result:
        """Run a transaction: all that ``work`` does, or nothing of it; see ``Database.run``."""
        return await self._opened().transact(purpose, self._transact, work)

    async def changed(self) -> bool:
        """Whether any node has committed anything since the last time; takes no lock.

        Raises:
            StoreError: The store cannot say.
        """
        return await self._opened().call(Purpose.WORK, self._look)

    async def backup(self, path: Path) -> None:
        """Not here: a backup of the whole database is the server's business (D12).

        Raises:
            StoreError: Always.
        """
        raise StoreError(f"{path} was not written: pg_dump makes the backups of PostgreSQL")

    async def close(self) -> None:
        """End the transactions that were asked for, then the connection and the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await thread.close()
        self._healthy = False

    def _opened(self) -> StoreThread:
        if self._thread is None:
            raise StoreError("the store is not open")
        return self._thread

    # All below runs in the store's thread.

    def _transact(self, pool: ConnectionPool, work: Callable[[SqlCursor], Result]) -> Result:
        with self._watching(pool):
            connection = _renewed(pool, self._begin)
            with connection.cursor() as cursor:
                try:
                    result = work(_Cursor(cursor))
                    connection.commit()
                except BaseException:
                    with suppress(psycopg.Error):  # a lost connection cannot, and need not
                        connection.rollback()
                    raise
        return result

    def _look(self, pool: ConnectionPool) -> bool:
        before = self._seen
        with self._watching(pool):
            self._seen = _renewed(pool, _snapshot)
        return self._seen != before

    @contextmanager
    def _watching(self, pool: ConnectionPool) -> Iterator[None]:
        """Note whether the store works while the block uses it; after a failure it rests."""
        if self._failure is not None and time.monotonic() < self._rest_until:
            raise type(self._failure)(str(self._failure))
        try:
            yield
        except (*_OUTAGES, StoreError) as error:
            disconnect(pool)
            raise self._failed(error) from error
        self._works()

    def _begin(self, connection: PsycopgConnection) -> PsycopgConnection:
        """Begin a transaction that holds the lock, and read the server's clock."""
        results = connection.execute(f"{_BEGIN}; {_FACTS}", prepare=False)
        while results.nextset():
            pass
        row = results.fetchone()
        assert row is not None  # noqa: S101  it is one of constants
        self._offset = int(row[0]) - _passed()
        _check_version(int(row[1]))
        return connection

    def _prepare(self, connection: PsycopgConnection) -> None:
        """Make a new connection fit for use, or close it and raise."""
        try:
            connection.autocommit = True  # we begin ourselves
            for setting in _SESSION.items():
                connection.execute("SELECT set_config(%s, %s, false)", setting)
            connection.execute(_BEGIN, prepare=False)
            _migrate(connection)
            check_shared_keys(_Cursor(connection.cursor()), self._secrets)
            connection.commit()
        except BaseException:
            connection.close()
            raise

    def _works(self) -> None:
        if self._failure is not None:
            self._log.info("the store {name} works again", name=self._name)
        self._healthy, self._failure = True, None

    def _failed(self, error: Exception) -> StoreError:
        """Note that the store failed; returns what to raise."""
        reason = " ".join(str(error).split()) or type(error).__name__
        failure = error if isinstance(error, StoreError) else StoreError(reason)
        self._healthy = False
        self._rest_until = time.monotonic() + REST_SECONDS
        if str(failure) != str(self._failure):
            self._log.warn(
                "the store {name} cannot be used: {reason}", name=self._name, reason=str(failure)
            )
        self._failure = failure
        return failure


def _passed() -> int:
    """Return the milliseconds since the machine was started; nobody sets that clock."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


class _Cursor:
    """A ``SqlCursor`` whose placeholders are ``?``; no statement of ours has a literal one, or a %."""

    def __init__(self, cursor: psycopg.Cursor[tuple[Any, ...]]) -> None:
        self._cursor = cursor

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    def execute(self, sql: str, parameters: Sequence[SqlValue] = (), /) -> Self:
        self._cursor.execute(_marked(sql), parameters)
        return self

    def executemany(self, sql: str, parameters: Sequence[Sequence[SqlValue]], /) -> Self:
        self._cursor.executemany(_marked(sql), parameters)
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._cursor.fetchone()

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._cursor.fetchall()


def _renewed(pool: ConnectionPool, ask: Callable[[PsycopgConnection], Result]) -> Result:
    """Ask something first; over a new connection if that was lost since it was last used."""
    if pool.connections:
        try:
            return ask(pool.connect())
        except (psycopg.errors.LockNotAvailable, timed_psycopg.SilentError):
            raise
        except psycopg.OperationalError:
            disconnect(pool)
    return ask(pool.connect())


def _snapshot(connection: PsycopgConnection) -> object:
    """Which transactions are visible: what writes something changes this when it commits."""
    return _only(connection, "SELECT CAST(pg_current_snapshot() AS TEXT)")


def translated(statement: str) -> str:
    """A statement of a migration in PostgreSQL's words."""
    identity = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    statement = re.sub(r"INTEGER PRIMARY KEY( AUTOINCREMENT)?", identity, statement)
    return re.sub(r"\bBLOB\b", "BYTEA", statement)


def _marked(sql: str) -> bytes:
    return sql.replace(f"IN {MANY}", "= ANY(?)").replace("?", "%s").encode()


def _migrate(connection: PsycopgConnection) -> None:
    """Bring the schema up to date (D11)."""
    version = 0
    if _only(connection, "SELECT to_regclass('meta')") is not None:
        version = int(_fact(connection, _VERSION) or 0)
    _check_version(version)
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(translated(statement).encode())
    _note(connection, _VERSION, str(len(MIGRATIONS)))


def _check_version(version: int) -> None:
    if version > len(MIGRATIONS):
        raise NewerSchemaError(
            f"its schema has version {version}, and this program knows up to {len(MIGRATIONS)}: "
            "run the newer program, or restore a backup of the older one"
        )


def _fact(connection: PsycopgConnection, key: str) -> str | None:
    found = _only(connection, "SELECT (SELECT value FROM meta WHERE key = %s)", key)
    return None if found is None else str(found)


def _note(connection: PsycopgConnection, key: str, value: str) -> None:
    connection.execute(
        "INSERT INTO meta (key, value) VALUES (%s, %s)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def _only(connection: PsycopgConnection, sql: str, *parameters: str) -> object:
    """The one value of a query's one row."""
    row = connection.execute(sql.encode(), parameters).fetchone()
    assert row is not None  # noqa: S101  these queries always give one
    return row[0]
