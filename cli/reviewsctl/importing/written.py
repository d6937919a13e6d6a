"""Checksums of what imports last wrote of each review, by which edits by hand are recognized.

The digest of a member is a checksum of four bytes, as its values are not forged.
"""

import json
import zlib
from collections.abc import Mapping
from typing import Annotated, Final, NamedTuple

import msgspec

from reviewsctl.importing.review import MEMBERS

_SIZE: Final = 4  # bytes of a digest
_PLACES: Final = {name: _SIZE * number for number, name in enumerate(MEMBERS)}
_encoder = msgspec.json.Encoder(order="sorted")

UNKNOWN: Final = bytes(_SIZE)
"""The digest of a member that no import has written."""


Milliseconds = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
"""A POSIX time."""

_Digests = Annotated[
    bytes, msgspec.Meta(min_length=_SIZE * len(MEMBERS), max_length=_SIZE * len(MEMBERS))
]


class Written(NamedTuple):
    """The values that imports last wrote of one review."""

    edited: Milliseconds
    """When the platform says that it was edited; 0 where unknown."""
    replied: Milliseconds
    """When the owner replied; 0 where unknown."""
    digests: _Digests
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
