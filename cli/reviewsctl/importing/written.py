"""Checksums of what imports last wrote of each review, by which edits by hand are recognized.

The rows of the import log, in the database of one import: those of the log are loaded, and those of the
new file are left at the end. The digest of a member is a checksum, as its values are not forged.
"""

import json
import sqlite3
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from reviewsctl.importing.review import MEMBERS

_MAX_ROWS: Final = 1000  # of a batch
_MAX_BYTES: Final = 4 * 1024 * 1024
_DIGESTS: Final = struct.Struct(f"<{len(MEMBERS)}I")
_PLACES: Final = {name: place for place, name in enumerate(MEMBERS)}
_encoder = msgspec.json.Encoder(order="sorted")

_NULL: Final = zlib.crc32(b"null")

UNKNOWN: Final = 0
"""The digest of a member that no import has written."""


class Written(NamedTuple):
    """The values that imports last wrote of one review."""

    edited: int
    """When the platform says that it was edited, POSIX milliseconds; 0 where unknown."""
    replied: int
    """When the owner replied, POSIX milliseconds; 0 where unknown."""
    digests: tuple[int, ...]
    """The ``digest`` of each of ``MEMBERS``."""

    def has(self, name: str, value: object) -> bool:
        """Return whether this value of a member is the one that an import wrote."""
        return name in _PLACES and self.digests[_PLACES[name]] == digest(value)

    def differs(self, name: str, value: object) -> bool:
        """Return whether an import wrote another value, so that this one is an edit by hand."""
        return name in _PLACES and self.digests[_PLACES[name]] not in (UNKNOWN, digest(value))

    def pack(self) -> bytes:
        """Return the digests as bytes."""
        return _DIGESTS.pack(*self.digests)


NOTHING: Final = Written(0, 0, (UNKNOWN,) * len(MEMBERS))
"""A review of which no import is known."""


def unpacked(edited: int, replied: int, digests: bytes) -> Written:
    """Return a row of the database.

    Raises:
        struct.error: They are not as many as ``MEMBERS``.
    """
    return Written(edited, replied, _DIGESTS.unpack(digests))


def digest(value: object) -> int:
    """Return a checksum of a member; an absent one counts as null."""
    if value is None:
        return _NULL
    try:
        text = _encoder.encode(value)
    except (UnicodeEncodeError, OverflowError):  # half characters, integers of more than 64 bits
        text = json.dumps(value, sort_keys=True).encode()
    return zlib.crc32(text) or 1


def digests(review: Mapping[str, object]) -> tuple[int, ...]:
    """Return the checksums of all ``MEMBERS`` of a review."""
    return tuple(digest(review.get(name)) for name in MEMBERS)


class Batch:
    """Rows for one statement, which is executed for many of them together."""

    def __init__(self, connection: sqlite3.Connection, statement: str) -> None:
        self._connection = connection
        self._statement = statement
        self._rows: list[tuple[object, ...]] = []
        self._bytes = 0

    def add(self, *row: object, size: int = 0) -> None:
        """Add a row, with the bytes that it takes if it may be large."""
        self._rows.append(row)
        self._bytes += size
        if len(self._rows) >= _MAX_ROWS or self._bytes >= _MAX_BYTES:
            self.flush()

    def flush(self) -> None:
        """Execute the statement for the rows that wait."""
        self._connection.executemany(self._statement, self._rows)
        self._rows.clear()
        self._bytes = 0


class WrittenRows:
    """The rows of the import log, by the merge key of the review.

    Args:
        connection: The database of the import.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._is_empty = True
        connection.execute("""
            CREATE TABLE written (
                key TEXT PRIMARY KEY,
                edited INTEGER NOT NULL,
                replied INTEGER NOT NULL,
                digests BLOB NOT NULL,
                in_file INTEGER NOT NULL
            ) WITHOUT ROWID
        """)
        self._new = Batch(connection, "INSERT OR REPLACE INTO written VALUES (?, ?, ?, ?, ?)")
        self._retained = Batch(connection, "UPDATE written SET in_file = 1 WHERE key = ?")

    def load(self, rows: Iterable[tuple[str, Written]]) -> None:
        """Take over the rows of the import log."""
        self._is_empty = False
        for key, row in rows:
            self._set(key, row, in_file=False)
        self._new.flush()

    def clear(self) -> None:
        """Forget the rows of the log."""
        self._new.flush()
        self._connection.execute("DELETE FROM written")

    def get(self, key: str) -> Written | None:
        """Return what earlier imports wrote of a review, if any did."""
        if self._is_empty:
            return None
        row = self._connection.execute(
            "SELECT edited, replied, digests FROM written WHERE key = ?", (key,)
        ).fetchone()
        return None if row is None else unpacked(*row)

    def set(self, key: str, row: Written) -> None:
        """Set what imports have written of a review that the new file has."""
        self._set(key, row, in_file=True)

    def _set(self, key: str, row: Written, *, in_file: bool) -> None:
        self._new.add(key, row.edited, row.replied, row.pack(), in_file)

    def retain(self, key: str) -> None:
        """Keep the row of a review that the new file has, if there is one."""
        self._retained.add(key)

    def in_file(self) -> Iterator[tuple[str, Written]]:
        """Iterate over the rows of the reviews that the new file has, in order."""
        self._new.flush()
        self._retained.flush()
        for key, *row in self._connection.execute(
            "SELECT key, edited, replied, digests FROM written WHERE in_file ORDER BY key"
        ):
            yield key, unpacked(*row)
