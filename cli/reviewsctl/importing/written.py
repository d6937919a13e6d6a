"""Checksums of what imports last wrote of each review, by which edits by hand are recognized.

The digest of a member is a checksum of four bytes, as its values are not forged.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from reviewsctl.importing.review import MEMBERS

_SIZE: Final = 4  # bytes of a digest
_PLACES: Final = {name: _SIZE * number for number, name in enumerate(MEMBERS)}
_encoder = msgspec.json.Encoder(order="sorted")

UNKNOWN: Final = bytes(_SIZE)
"""The digest of a member that no import has written."""


class Written(NamedTuple):
    """The values that imports last wrote of one review."""

    edited: int
    """When the platform says that it was edited, POSIX milliseconds; 0 where unknown."""
    replied: int
    """When the owner replied, POSIX milliseconds; 0 where unknown."""
    digests: bytes
    """The ``digest`` of each of ``MEMBERS``."""

    def digest(self, name: str) -> bytes:
        """Return the digest of one of ``MEMBERS``."""
        return self.digests[_PLACES[name] : _PLACES[name] + _SIZE]

    def has(self, name: str, value: object) -> bool:
        """Return whether this value of a member is the one that an import wrote."""
        return name in _PLACES and self.digest(name) == digest(value)

    def differs(self, name: str, value: object) -> bool:
        """Return whether an import wrote another value, so that this one is an edit by hand."""
        return name in _PLACES and self.digest(name) not in (UNKNOWN, digest(value))


NOTHING: Final = Written(0, 0, UNKNOWN * len(MEMBERS))
"""A review of which no import is known."""


def digest(value: object) -> bytes:
    """Return a checksum of a member; an absent one counts as null."""
    try:
        text = _encoder.encode(value)
    except (UnicodeEncodeError, OverflowError):  # half characters, integers of more than 64 bits
        text = json.dumps(value, sort_keys=True).encode()
    return (zlib.crc32(text) or 1).to_bytes(_SIZE, "little")


def digests(review: Mapping[str, object]) -> bytes:
    """Return the checksums of all ``MEMBERS`` of a review."""
    return b"".join(digest(review.get(name)) for name in MEMBERS)


class WrittenRows:
    """The rows of the import log, by the merge key of the review."""

    def __init__(self) -> None:
        self._rows: dict[str, Written] = {}
        self._in_file: set[str] = set()

    def load(self, rows: Iterable[tuple[str, Written]]) -> None:
        """Take over the rows of the import log."""
        self._rows.update(rows)

    def get(self, key: str) -> Written | None:
        """Return what imports wrote of a review, if any did."""
        return self._rows.get(key)

    def set(self, key: str, row: Written) -> None:
        """Set what imports have written of a review that the new file has."""
        self._rows[key] = row
        self._in_file.add(key)

    def retain(self, key: str) -> None:
        """Keep the row of a review that the new file has, if there is one."""
        self._in_file.add(key)

    def in_file(self) -> Iterator[tuple[str, Written]]:
        """Iterate over the rows of the reviews that the new file has, in order."""
        return ((key, self._rows[key]) for key in sorted(self._in_file & self._rows.keys()))
