"""Stable ids: the same review gets the same ULID in every import, without any state (interfaces.md 2).

Written out here instead of taken from python-ulid: it is two shifts and an alphabet.
"""

import datetime
import hashlib

from reviewsd.api.review_ids import merge_key

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
_PAIRS = [a + b for a in _ALPHABET for b in _ALPHABET]  # ten bits each
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MILLISECOND = datetime.timedelta(milliseconds=1)
_MAX_TIME = 2**48 - 1


def stable_id(source: str, key: str, created: datetime.datetime) -> str:
    """The ULID of a review: when it was written, then who it is.

    Args:
        source: Where it was written, ``google``.
        key: What identifies it there.
        created: When; a time without a zone counts as UTC, so that no option changes an id.
    """
    if created.tzinfo is None:
        created = created.replace(tzinfo=datetime.UTC)
    time = min(max(0, (created - _EPOCH) // _MILLISECOND), _MAX_TIME)
    digest = hashlib.sha256(f"{source}\0{key}".encode("utf-8", "surrogatepass")).digest()
    return encode(time.to_bytes(6) + digest[:10])


def encode(ulid: bytes) -> str:
    """Sixteen bytes as the 26 characters of a ULID."""
    number = int.from_bytes(ulid)
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def key_of(source: str, key: str) -> str:
    """What the versions of a review have in common, by what identifies it at its source."""
    return merge_key(stable_id(source, key, _EPOCH))
