"""The reviews of an export, on disk, each once: a million of them fit in little memory.

A private SQLite database beside the file that is to be written. Its name is gone as soon as it is
open, so nothing is left behind, whatever happens.
"""

import contextlib
import os
import signal
import sqlite3
import tempfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from reviewsctl.importing.format import whole
from reviewsctl.importing.ids import key_of, merge_key
from reviewsctl.importing.review import Entry

_BATCH = 1000  # entries between two statements
_BATCH_BYTES = 4 * 1024 * 1024  # of their records
_MAX_ALIKE = 200_000  # entries
_CACHE_KIB = 32 * 1024

# Of two versions the one that was edited later counts: one review under two accounts.
_ADD = """
INSERT INTO entry (key, edited, source, place, alike, record) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE
SET edited = excluded.edited, source = excluded.source, place = excluded.place,
    alike = excluded.alike, record = excluded.record
WHERE excluded.edited > entry.edited
"""


class Staged(NamedTuple):
    """One entry as it lies here."""

    number: int
    """From 1, in the order of the export."""
    record: bytes


class Place(NamedTuple):
    """A location at a source."""

    source: str
    name: str
    """As the source names it; empty where it does not."""


class Staging:
    """The entries; made by ``staging``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._batch: list[tuple[str, int, str, str, int, bytes]] = []
        self._bytes = 0
        self.added = 0
        """How many were added; some of them twice."""
        connection.executescript(f"""
            PRAGMA journal_mode = OFF;
            PRAGMA synchronous = OFF;
            PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA cache_size = -{_CACHE_KIB};
            CREATE TABLE entry (
                number INTEGER PRIMARY KEY,
                key TEXT NOT NULL UNIQUE,
                edited INTEGER NOT NULL,
                source TEXT NOT NULL,
                place TEXT NOT NULL,
                alike INTEGER NOT NULL,
                record BLOB NOT NULL
            );
            CREATE TABLE untaken (identifier TEXT PRIMARY KEY) WITHOUT ROWID;
            CREATE TABLE spared (key TEXT PRIMARY KEY) WITHOUT ROWID;
        """)
        connection.execute("BEGIN")

    def add(self, entry: Entry) -> None:
        """Takes one more."""
        self.added += 1
        self._batch.append(
            (entry.key, entry.edited, entry.source, entry.place, entry.alike, entry.record)
        )
        self._bytes += len(entry.record)
        if len(self._batch) >= _BATCH or self._bytes >= _BATCH_BYTES:
            self._flush()

    def pass_over(self, identifiers: Iterable[str]) -> None:
        """Notes a row that is in the export and not taken, by what may be its id."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO untaken VALUES (?)", ((whole(each),) for each in identifiers)
        )

    def spare(self, sources: Collection[str]) -> None:
        """Has the reviews of the rows that were passed over found, if they are of these sources."""
        found = self._connection.execute("SELECT identifier FROM untaken")
        self._connection.executemany(
            "INSERT OR IGNORE INTO spared VALUES (?)",
            (
                (key,)
                for (each,) in found
                for key in (merge_key(each), *(key_of(source, each) for source in sources))
            ),
        )

    def spares(self, key: str) -> bool:
        """Whether a row of the review with this key was passed over."""
        row = self._connection.execute("SELECT 1 FROM spared WHERE key = ?", (key,)).fetchone()
        return row is not None

    def places(self) -> dict[Place, int]:
        """The locations, with the number of their entries, in the order of the export."""
        self._flush()
        rows = self._connection.execute(
            "SELECT source, place, count(*) FROM entry GROUP BY source, place ORDER BY min(number)"
        )
        return {Place(source, place): count for source, place, count in rows}

    def keep(self, place: Place) -> int:
        """Forgets the entries of its source's other locations; returns how many that were."""
        self._flush()
        return self._connection.execute(
            "DELETE FROM entry WHERE source = ? AND place <> ?", place
        ).rowcount

    def count(self) -> int:
        """How many there are, each once."""
        self._flush()
        (number,) = self._connection.execute("SELECT count(*) FROM entry").fetchone()
        return int(number)

    def alikes(self) -> frozenset[int]:
        """What the entries are found by under another id; nothing of more than memory is for."""
        if self.count() > _MAX_ALIKE:
            return frozenset()
        return frozenset(each for (each,) in self._connection.execute("SELECT alike FROM entry"))

    def largest(self) -> int:
        """The greatest number; 0 when there are none."""
        (number,) = self._connection.execute("SELECT max(number) FROM entry").fetchone()
        return int(number or 0)

    def find(self, key: str) -> Staged | None:
        """The entry with this key."""
        row = self._connection.execute(
            "SELECT number, record FROM entry WHERE key = ?", (key,)
        ).fetchone()
        return None if row is None else Staged(*row)

    def all(self) -> Iterator[Staged]:
        """All of them, in the order of the export."""
        for row in self._connection.execute("SELECT number, record FROM entry ORDER BY number"):
            yield Staged(*row)

    def _flush(self) -> None:
        self._connection.executemany(_ADD, self._batch)
        self._batch.clear()
        self._bytes = 0


@contextlib.contextmanager
def staging(folder: Path | None) -> Iterator[Staging]:
    """An empty Staging for the block.

    Args:
        folder: Where it has room, and nobody else can put a link in the place of the new file before
            SQLite opens it; or None for the system's temporary folder.
    """
    with contextlib.ExitStack() as stack:
        with signals_deferred():  # until the name is gone
            handle, name = tempfile.mkstemp(prefix=".reviews-import-", suffix=".sqlite", dir=folder)
            os.close(handle)
            try:
                connection = sqlite3.connect(name, isolation_level=None)
                stack.callback(connection.close)
                staged = Staging(connection)  # the first statement opens the file
            finally:
                Path(name).unlink()
        yield staged


@contextlib.contextmanager
def signals_deferred() -> Iterator[None]:
    """Signals that stop a command wait until the block is done."""
    stopping = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stopping)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
