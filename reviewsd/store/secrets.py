"""Subscribers' secrets, sealed for the store (security-and-operations.md H11).

Sealed is: one byte that tells which key, 12 random bytes, then ciphertext and tag of
ChaCha20-Poly1305 (RFC 8439). The callback and the topic are authenticated with it, so that a sealed
secret opens in its own row only.

A new key becomes the first line of the key file. It seals from then on; the older ones below it go
on unsealing, until no row needs them: after the longest lease.
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from reviewsd.store import keys

CREDENTIAL = "reviewsd.hub-secret-key"
"""The name of the systemd credential."""

KEY_FILE = "secret.key"

_PURPOSE = "Seals the secrets of subscribers; the first key seals, all unseal."

NONCE_BYTES = 12
TAG_BYTES = 16


class SealError(Exception):
    """A sealed secret does not open here: another row's, another key's, or damaged."""


class Secrets:
    """Seals and unseals.

    Args:
        keys: 32 bytes each. The first seals, all unseal; at least one.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = [(_key_id(key), ChaCha20Poly1305(key)) for key in keys]

    def seal(self, secret: bytes, callback: str, topic: str) -> bytes:
        """The secret for the row of (callback, topic)."""
        key_id, cipher = self._keys[0]
        nonce = os.urandom(NONCE_BYTES)
        return key_id + nonce + cipher.encrypt(nonce, secret, _context(key_id, callback, topic))

    def unseal(self, sealed: bytes, callback: str, topic: str) -> bytes:
        """The secret of the row of (callback, topic).

        Raises:
            SealError: It was not sealed for this row, or by none of the keys.
        """
        key_id, nonce, rest = sealed[:1], sealed[1 : 1 + NONCE_BYTES], sealed[1 + NONCE_BYTES :]
        if len(rest) < TAG_BYTES:
            raise SealError("the sealed secret is too short")
        context = _context(key_id, callback, topic)
        for known, cipher in self._keys:
            if known == key_id:  # a byte may stand for two keys
                try:
                    return cipher.decrypt(nonce, rest, context)
                except InvalidTag:
                    continue
        raise SealError("the sealed secret is of another row or key, or damaged")


def load_keys(folder: Path, credentials: Path | None) -> tuple[bytes, ...]:
    """The keys for ``Secrets``, made at the first start unless the operator gives them.

    Args:
        folder: Where the key file is when there is no credential.
        credentials: systemd's ``$CREDENTIALS_DIRECTORY``.

    Raises:
        KeyFileError: There is a file, but no keys in it; or it cannot be read or made.
    """
    given = keys.credential(credentials, CREDENTIAL)
    return keys.load(folder / KEY_FILE, _PURPOSE, given)


def _key_id(key: bytes) -> bytes:
    return hashlib.sha256(b"reviewsd key id " + key).digest()[:1]


def _context(key_id: bytes, callback: str, topic: str) -> bytes:
    """What is authenticated with the secret; neither a callback nor a topic can hold a NUL."""
    return b"\0".join((key_id, callback.encode(), topic.encode()))
