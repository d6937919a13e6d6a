"""Subscribers' secrets, sealed for the store (security-and-operations.md H11).

A sealed secret is one byte for the key, a nonce of 12 random bytes, then ciphertext and tag of
ChaCha20-Poly1305 (RFC 8439). The callback and the topic are authenticated with it, so that a sealed
secret opens in its own row only.

The store holds a sealed word, by which a start finds that its keys are not those of the store: with other
keys every signed delivery would fail, and the third failure ends a subscription. The word is sealed anew at
each check, so that a key that was replaced can be removed later.
"""

import hashlib
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from reviewsd.store.transactions import OtherKeysError, SqlCursor

NONCE_BYTES = 12
TAG_BYTES = 16

_WORD_KEY, _WORD = "key_check", b"reviewsd"


class SealError(Exception):
    """A sealed secret does not open: it is of another row or key, or damaged."""


class Secrets:
    """Seals and unseals secrets.

    Args:
        keys: At least one, of 32 bytes each. The first seals, all unseal.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = [(_key_id(key), ChaCha20Poly1305(key)) for key in keys]

    def seal(self, secret: bytes, callback: str, topic: str) -> bytes:
        """Seal a secret for the row of (callback, topic)."""
        key_id, cipher = self._keys[0]
        nonce = os.urandom(NONCE_BYTES)
        return key_id + nonce + cipher.encrypt(nonce, secret, _context(key_id, callback, topic))

    def unseal(self, sealed: bytes, callback: str, topic: str) -> bytes:
        """Return the secret of the row of (callback, topic).

        Raises:
            SealError: It was not sealed for this row, or by none of the keys.
        """
        key_id, nonce, rest = sealed[:1], sealed[1 : 1 + NONCE_BYTES], sealed[1 + NONCE_BYTES :]
        if len(rest) < TAG_BYTES:
            raise SealError("the sealed secret is too short")
        context = _context(key_id, callback, topic)
        for known, cipher in self._keys:
            if known == key_id:  # two keys may have the same id
                try:
                    return cipher.decrypt(nonce, rest, context)
                except InvalidTag:
                    continue
        raise SealError("the sealed secret is of another row or key, or damaged")


def check_keys(cursor: SqlCursor, secrets: Secrets) -> None:
    """Check that the keys of a single node are those that sealed the secrets in its store.

    Raises:
        OtherKeysError: They are not, and the store holds secrets.
    """
    if not _opens_word(cursor, secrets) and _holds_secrets(cursor):
        raise OtherKeysError(
            "secret.key (or the credential reviewsd.hub-secret-key) is not the key that has "
            "sealed the secrets in state.sqlite: put the one back that belongs to it. If it is "
            "lost, move state.sqlite away; subscribers have to subscribe again"
        )
    _seal_word(cursor, secrets)


def check_shared_keys(cursor: SqlCursor, secrets: Secrets) -> None:
    """Check that the nodes of a shared store can unseal each other's secrets.

    Raises:
        OtherKeysError: They cannot.
    """
    if not _opens_word(cursor, secrets):
        raise OtherKeysError(
            "another node seals the subscribers' secrets with a key that this one does not "
            "have: give all nodes the same secret.key"
        )
    _seal_word(cursor, secrets)


def _opens_word(cursor: SqlCursor, secrets: Secrets) -> bool:
    """Return whether the keys unseal the word; True in a store without one."""
    cursor.execute("SELECT value FROM meta WHERE key = ?", (_WORD_KEY,))
    row = cursor.fetchone()
    if row is not None:
        try:
            secrets.unseal(bytes.fromhex(row[0]), "", "")
        except SealError:
            return False
    return True


def _seal_word(cursor: SqlCursor, secrets: Secrets) -> None:
    cursor.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (_WORD_KEY, secrets.seal(_WORD, "", "").hex()),
    )


def _holds_secrets(cursor: SqlCursor) -> bool:
    cursor.execute(
        "SELECT 1 FROM subscription WHERE secret_sealed IS NOT NULL"
        " UNION ALL SELECT 1 FROM verification WHERE secret_sealed IS NOT NULL LIMIT 1"
    )
    return cursor.fetchone() is not None


def _key_id(key: bytes) -> bytes:
    return hashlib.sha256(b"reviewsd key id " + key).digest()[:1]


def _context(key_id: bytes, callback: str, topic: str) -> bytes:
    """Return what is authenticated with a secret; callbacks and topics have no NUL."""
    return b"\0".join((key_id, callback.encode(), topic.encode()))
