"""The reviews of an export, on disk and each once: a million of them fit in little memory.

A private SQLite database beside the file to be written. Its name is removed as soon as it is open, so
that nothing is left behind however the import ends. The rows of the import log are in it as well.
"""

import contextlib
import os
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from reviewsctl.importing.review import MEMBERS, Entry, key_of, mask
from reviewsctl.importing.written import Batch, WrittenRows
from reviewsctl.terminal.interruption import signals_deferred
from reviewsd.api.texts import merge_key

_MAX_ALIKE: Final = 200_000  # reviews
_CACHE_KIB: Final = 32 * 1024
_ALL: Final = mask(MEMBERS)

_PRAGMAS: Final = f"""
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -{_CACHE_KIB};
"""

_TABLES: Final = """
CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    edited INTEGER NOT NULL,
    newest INTEGER NOT NULL,
    source TEXT NOT NULL,
    place TEXT NOT NULL,
    alike INTEGER NOT NULL,
    day TEXT NOT NULL,
    unstated INTEGER NOT NULL,
    content BLOB NOT NULL
);
"""

# Of two versions the one that was edited later counts: one review under two accounts.
_ADD: Final = """
INSERT INTO entry (key, edited, newest, source, place, alike, day, unstated, content)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE
SET edited = excluded.edited, newest = excluded.newest, source = excluded.source,
    place = excluded.place, alike = excluded.alike, day = excluded.day,
    unstated = excluded.unstated, content = excluded.content
WHERE excluded.edited > entry.edited
"""
_STAGED: Final = "SELECT number, content, unstated FROM entry"

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Entry).decode


class Place(NamedTuple):
    """A location at a source."""

    source: str
    name: str
    """The id that the source gives it, or nothing."""

    @classmethod
    def of(cls, review: Mapping[str, object]) -> "Place | None":
        """Return where a review of reviews.json is from; None if it does not say."""
        source, location = review.get("source"), review.get("location")
        if not isinstance(source, str):
            return None
        return cls(source, location if isinstance(location, str) else "")


class PassedOver(Enum):
    """Why a row was not taken."""

    UNUSABLE = 0
    WITHDRAWN = 1
    """The platform does not publish its review, or no longer."""


class Staged(NamedTuple):
    """One review of the export."""

    number: int
    """From 1, in the order of the export."""
    entry: Entry
    unstated: int
    """Members of the record that the export does not have (``mask``): a merge leaves them alone."""

    @property
    def place(self) -> Place:
        """Its location."""
        return Place(self.entry.source, self.entry.place)


class Extent(NamedTuple):
    """The times that the rows of one location span."""

    oldest: str
    """The day of the oldest review, YYYY-MM-DD."""
    newest: int
    """The latest time in any row, POSIX milliseconds; 0 without one."""


class Staging:
    """The reviews of an export; made by ``staging``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.written = WrittenRows(connection)
        """What earlier imports wrote, and what this one writes."""
        self._stated: defaultdict[str, int] = defaultdict(int)  # by source, the members of any row
        self.added = 0
        """How many rows were added; the same review may be among them twice."""
        self._untaken: dict[str, PassedOver] = {}  # by what may be their ids
        self._passed: dict[str, PassedOver] = {}  # by merge key
        self._new = Batch(connection, _ADD)
        connection.executescript(_TABLES)
        connection.execute("BEGIN")

    def add(self, entry: Entry, certain: int = 0) -> None:
        """Add one row.

        Args:
            entry: The review.
            certain: Members that its platform has none of where the row is without (``mask``).
        """
        self.added += 1
        self._stated[entry.source] |= _ALL & ~entry.blank
        self._new.add(
            *(entry.key, entry.edited, entry.newest, entry.source, entry.place),
            *(entry.alike, entry.day, entry.blank & ~certain, _encode(entry)),
            size=len(entry.record),
        )

    # Rows that were not taken

    def pass_over(self, identifiers: Iterable[str], *, withdrawn: bool) -> None:
        """Note a row that is in the export and not taken.

        Args:
            identifiers: The values in it that may be its id.
            withdrawn: Whether the platform does not publish its review, or no longer.
        """
        for identifier in identifiers:
            if not withdrawn:
                self._untaken[identifier] = PassedOver.UNUSABLE
            self._untaken.setdefault(identifier, PassedOver.WITHDRAWN)

    def withdraw(self, key: str) -> None:
        """Note the merge key of a review that the platform does not publish, or no longer."""
        self._passed[key] = PassedOver.WITHDRAWN

    def find_passed_over(self, sources: Collection[str]) -> None:
        """Find the reviews of the rows that were passed over, if they are of these sources."""
        for identifier, reason in self._untaken.items():
            for key in (merge_key(identifier), *(key_of(source, identifier) for source in sources)):
                if reason is PassedOver.UNUSABLE:
                    self._passed[key] = reason
                self._passed.setdefault(key, reason)

    def passed_over(self, key: str) -> PassedOver | None:
        """Return why a row of the review with this key was not taken, if there is one."""
        return self._passed.get(key)

    # Reviews of the export

    def places(self) -> dict[Place, int]:
        """Return the locations with the number of their reviews, in the order of the export."""
        self._new.flush()
        rows = self._connection.execute(
            "SELECT source, place, count(*) FROM entry GROUP BY source, place ORDER BY min(number)"
        )
        return {Place(source, place): count for source, place, count in rows}

    def extents(self, now: int) -> dict[Place, Extent]:
        """Return the times that the rows of each location span; those after ``now`` do not count."""
        self._new.flush()
        rows = self._connection.execute(
            "SELECT source, place, min(day), max(CASE WHEN newest <= ? THEN newest ELSE 0 END)"
            " FROM entry GROUP BY source, place",
            (now,),
        )
        return {Place(source, place): Extent(*extent) for source, place, *extent in rows}

    def keep(self, place: Place) -> int:
        """Forget the reviews of its source's other locations; return how many those were."""
        self._new.flush()
        return self._connection.execute(
            "DELETE FROM entry WHERE source = ? AND place <> ?", place
        ).rowcount

    def locate(self, name: str) -> None:
        """Set the location of all reviews."""
        self._new.flush()
        for staged in list(self.all()):
            record = msgspec.json.decode(staged.entry.record, type=dict[str, msgspec.Raw])
            record["location"] = msgspec.Raw(msgspec.json.encode(name))
            entry = msgspec.structs.replace(
                staged.entry, place=name, record=msgspec.json.encode(record)
            )
            self._connection.execute(
                "UPDATE entry SET place = ?, content = ? WHERE number = ?",
                (name, _encode(entry), staged.number),
            )

    def count(self) -> int:
        """Return the number of reviews, each counted once."""
        self._new.flush()
        (number,) = self._connection.execute("SELECT count(*) FROM entry").fetchone()
        return int(number)

    def alikes(self) -> dict[int, int]:
        """Return by ``alike`` the number of a review, to find it under another id; none of a large export."""
        if self.count() > _MAX_ALIKE:
            return {}
        return dict(self._connection.execute("SELECT alike, number FROM entry"))

    def largest(self) -> int:
        """Return the greatest number of a review; 0 without one."""
        (number,) = self._connection.execute("SELECT max(number) FROM entry").fetchone()
        return int(number or 0)

    def at(self, number: int) -> Staged:
        """Return the review of a number."""
        row = self._connection.execute(f"{_STAGED} WHERE number = ?", (number,)).fetchone()
        return self._staged(*row)

    def find(self, identifier: str, key: str) -> Staged | None:
        """Return the review with this id, which an export of reviewsd has, or else with this merge key."""
        row = self._connection.execute(
            f"{_STAGED} WHERE key IN (?, ?) ORDER BY key <> ?1 LIMIT 1", (identifier, key)
        ).fetchone()
        return None if row is None else self._staged(*row)

    def all(self) -> Iterator[Staged]:
        """Iterate over the reviews in the order of the export."""
        for row in self._connection.execute(f"{_STAGED} ORDER BY number"):
            yield self._staged(*row)

    def _staged(self, number: int, content: bytes, unstated: int) -> Staged:
        entry = _decode(content)
        # the export may have been made without the member
        without = entry.blank & ~self._stated[entry.source]
        return Staged(number, entry, unstated | without)


@contextlib.contextmanager
def staging(folder: Path | None) -> Iterator[Staging]:
    """Open an empty Staging for the block.

    Args:
        folder: A folder with room, in which no other user can put a link in the place of the new file
            before SQLite opens it; or None for the system's temporary folder.
    """
    with contextlib.ExitStack() as stack:
        with signals_deferred():  # until the name is gone
            handle, name = tempfile.mkstemp(prefix=".reviews-import-", suffix=".sqlite", dir=folder)
            os.close(handle)
            try:
                connection = sqlite3.connect(name, isolation_level=None)
                stack.callback(connection.close)
                connection.executescript(_PRAGMAS)  # the first statement opens the file
                staged = Staging(connection)
            finally:
                Path(name).unlink()
        yield staged
