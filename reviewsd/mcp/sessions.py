"""Session ids that say all there is to know of a session (mcp.md 6, S18).

An id is 40 bytes in base64url without padding:

    format 1 | key 1 | revision 1 | expires 5, POSIX seconds | random 16 | HMAC-SHA256 over these, 16

So opening one costs no memory, and every process that has the key can read it, also after a restart.
Only ids that were ended early are kept, by whom ``ended`` asks, until they would have expired.
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
"""What the signing key is derived for; another use of the same secret has another."""

RANDOM_BYTES = 16
TAG_BYTES = 16
EXPIRES_BYTES = 5
TOKEN_LENGTH = 54  # characters

_KEPT = 1_024  # ids whose tag need not be computed again; others are as good
_SIGNED = 3 + EXPIRES_BYTES + RANDOM_BYTES  # bytes before the tag


class SessionGoneError(Exception):
    """The id is altered, expired, ended, or was never given out; the client is not told which."""


class Session(Struct, frozen=True, kw_only=True):
    """What a valid id says."""

    revision: Revision
    expires: int
    """POSIX seconds."""
    digest: bytes
    """32 bytes that stand for the id where it is kept or logged."""


class Sessions:
    """Gives out session ids and reads them.

    Args:
        secrets: 32 bytes each. The first signs, all verify; at least one.
        ended: Whether the session with this digest was ended early.
        lifetime: Of a session, in seconds.
    """

    def __init__(
        self, secrets: Sequence[bytes], ended: Callable[[bytes], bool], lifetime: int
    ) -> None:
        self._keys = [(_number(secret), _signing_key(secret)) for secret in secrets]
        self._ended = ended
        self._lifetime = lifetime
        self._genuine = lru_cache(_KEPT)(self._verified)

    def mint(self, revision: Revision, now: float, random: bytes) -> bytes:
        """The id of a new session.

        Args:
            revision: What was negotiated.
            now: POSIX seconds.
            random: 16 bytes that nobody can guess.
        """
        number, key = self._keys[0]
        expires = (int(now) + self._lifetime).to_bytes(EXPIRES_BYTES, "big")
        signed = bytes((FORMAT, number, revision.number)) + expires + random
        return base64.urlsafe_b64encode(signed + _tag(key, signed)).rstrip(b"=")

    def read(self, token: bytes, now: float) -> Session:
        """The session that an id stands for.

        Args:
            token: The value of the header.
            now: POSIX seconds.

        Raises:
            SessionGoneError: There is none, or no longer.
        """
        session = self._genuine(token)
        if now >= session.expires or self._ended(session.digest):
            raise SessionGoneError
        return session

    def _verified(self, token: bytes) -> Session:
        """What an id says that was given out here, whenever that was."""
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
            known == number and hmac.compare_digest(_tag(key, signed), tag)
            for known, key in self._keys  # a number may stand for two keys
        )


def _decoded(token: bytes) -> bytes:
    """The 40 bytes; only one spelling of them is valid."""
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
    """Tells which key; taken from the key itself, since its line changes as new ones come."""
    return hashlib.sha256(b"reviewsd mcp key number " + secret).digest()[0]
