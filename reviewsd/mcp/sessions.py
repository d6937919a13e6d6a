"""Self-contained, signed session ids (mcp.md 6, S18).

An id is 40 bytes in base64url without padding:

    format 1 | key 1 | revision 1 | expires 5, POSIX seconds | random 16 | HMAC-SHA256 over these, 16

A new session therefore takes no memory, and every process with the key can read its id, also after a
restart. Only ended sessions are stored, outside of this module, until they would have expired.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Sequence
from functools import lru_cache

from msgspec import Struct

from reviewsd.mcp.revisions import BY_NUMBER, Revision

FORMAT = 1
LABEL = b"reviewsd mcp session 1"
"""Separates the signing key from keys that are derived from the same secret for another purpose."""

LIFETIME = 2_592_000
"""Seconds of a session: 30 days. A session that is not ended is not stored, so its length costs nothing."""

RANDOM_BYTES = 16
TAG_BYTES = 16
EXPIRES_BYTES = 5
TOKEN_LENGTH = 54  # characters

_CACHED = 1_024  # verified ids
_SIGNED = 3 + EXPIRES_BYTES + RANDOM_BYTES  # bytes before the tag


class SessionGoneError(Exception):
    """The id is altered, unknown, expired or ended; the client does not learn which."""


class Session(Struct, frozen=True, kw_only=True):
    """The content of a valid id."""

    revision: Revision
    expires: int
    """POSIX seconds."""
    digest: bytes
    """The SHA-256 of the id, the key of an ended session in the store."""


class Sessions:
    """Mints and reads session ids.

    Args:
        secrets: One or more secrets of 32 bytes. The first signs, all verify.
        ended: Returns whether the session with a digest has ended.
        lifetime: Lifetime of a session, in seconds.
    """

    def __init__(
        self, secrets: Sequence[bytes], ended: Callable[[bytes], bool], lifetime: int = LIFETIME
    ) -> None:
        self._keys = [(_number(secret), _signing_key(secret)) for secret in secrets]
        self._ended = ended
        self._lifetime = lifetime
        self._parse = lru_cache(_CACHED)(self._verified)

    def mint(self, revision: Revision, now: float, random: bytes) -> bytes:
        """Return the id of a new session.

        Args:
            revision: The negotiated revision of MCP.
            now: POSIX seconds.
            random: 16 unguessable bytes.
        """
        number, key = self._keys[0]
        expires = (int(now) + self._lifetime).to_bytes(EXPIRES_BYTES, "big")
        signed = bytes((FORMAT, number, revision.number)) + expires + random
        return base64.urlsafe_b64encode(signed + _tag(key, signed)).rstrip(b"=")

    def read(self, token: bytes, now: float) -> Session:
        """Return the session of an id.

        Args:
            token: The id.
            now: POSIX seconds.

        Raises:
            SessionGoneError: The id is not valid, or the session is over.
        """
        session = self._parse(token)
        if now >= session.expires or self._ended(session.digest):
            raise SessionGoneError
        return session

    def _verified(self, token: bytes) -> Session:
        """Return the session of a genuine id, which may be over."""
        plain = _decoded(token)
        signed, tag = plain[:_SIGNED], plain[_SIGNED:]
        revision = BY_NUMBER.get(plain[2])
        expires = int.from_bytes(plain[3 : 3 + EXPIRES_BYTES], "big")
        if plain[0] != FORMAT or not self._verifies(plain[1], signed, tag) or revision is None:
            raise SessionGoneError
        digest = hashlib.sha256(token).digest()
        return Session(revision=revision, expires=expires, digest=digest)

    def _verifies(self, number: int, signed: bytes, tag: bytes) -> bool:
        return any(
            key_number == number and hmac.compare_digest(_tag(key, signed), tag)
            for key_number, key in self._keys  # two keys may share a number
        )


def _decoded(token: bytes) -> bytes:
    """Return the 40 bytes of an id; only one spelling of them is valid."""
    if len(token) != TOKEN_LENGTH:
        raise SessionGoneError
    try:
        plain = base64.urlsafe_b64decode(token + b"==")
    except binascii.Error:
        raise SessionGoneError from None
    if base64.urlsafe_b64encode(plain) != token + b"==":
        raise SessionGoneError
    return plain


def _tag(key: bytes, signed: bytes) -> bytes:
    return hmac.digest(key, signed, "sha256")[:TAG_BYTES]


def _signing_key(secret: bytes) -> bytes:
    return hmac.digest(secret, LABEL, "sha256")


def _number(secret: bytes) -> int:
    """Return a number for a key, derived from it, since its line in the key file may change."""
    return hashlib.sha256(b"reviewsd mcp key number " + secret).digest()[0]
