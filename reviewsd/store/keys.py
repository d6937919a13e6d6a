"""Secret keys, and the subscribers' secrets that are sealed with them (H11, S18).

A key file has one key of 32 bytes a line, in base64 or hexadecimal. The operator provides it, or the first
start creates it. The first key is used for new work; the older ones below it are still accepted, and can be
removed when nothing needs them any more.

A sealed secret is one byte for the key, a nonce of 12 random bytes, then ciphertext and tag of
ChaCha20-Poly1305 (RFC 8439). The callback and the topic are authenticated with it, so that a sealed
secret opens in its own row only.

The store also holds a sealed check value, so that a start with the wrong keys is detected. With wrong keys
every signed delivery would fail, and the third failure ends a subscription. Each check seals the value
again, so that an old key can be removed later.
"""

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.runtime.systemd import credential
from reviewsd.store.files import create
from reviewsd.store.transactions import SqlCursor, WrongKeysError

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16

_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{64}")
_CHECK_KEY, _CHECK_VALUE = "key_check", b"reviewsd"

_NOT_OF_THIS_STORE = (
    "secret.key (or the credential reviewsd.hub-secret-key) is not the key that has "
    "sealed the secrets in state.sqlite: put back the one that belongs to it. If it is "
    "lost, move state.sqlite away; subscribers have to subscribe again"
)
_NOT_OF_ALL_NODES = (
    "another node seals the subscribers' secrets with a key that this one does not "
    "have: give all nodes the same secret.key"
)


class KeyFileError(StartError):
    """The key file cannot be used. The message has the reason, and never quotes the file."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, EX_CONFIG)


class SealError(Exception):
    """A sealed secret does not open: it belongs to another row or key, or is damaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFile:
    """A file of keys: systemd's credential, else the configured file, else one made by the daemon."""

    name: str
    """The name in the folder of the daemon's keys."""
    credential: str
    purpose: str
    """The first line of a file that the daemon makes."""

    def location(
        self, folder: Path, environ: Mapping[str, str], configured: str | None = None
    ) -> str:
        """Return where the keys are, for people; arguments as ``load``."""
        if credential(environ, self.credential) is not None:
            return f"the systemd credential {self.credential}"
        return configured or str(folder / self.name)

    def load(
        self, folder: Path, environ: Mapping[str, str], configured: Path | None = None
    ) -> tuple[bytes, ...]:
        """Return the keys, at least one; the first is the newest.

        Several nodes may share the configured file. Without one, the daemon makes its own in the folder.

        Raises:
            KeyFileError: The file has no keys, or cannot be read or made.
        """
        path = credential(environ, self.credential) or configured
        try:
            if path is None:
                path = folder / self.name
                self._make_private(path)
            text = path.read_text("utf-8")
        except OSError as error:
            raise KeyFileError(f"{path} cannot be used: {error.strerror}") from error
        except UnicodeDecodeError:
            raise KeyFileError(f"{path} is not text: one key a line is expected") from None
        keys = tuple(
            _parse_key(line.strip(), f"{path}, line {number}")
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.lstrip().startswith("#")
        )
        if not keys:
            raise KeyFileError(f"{path} holds no key; `openssl rand -base64 32` makes one")
        return keys

    def _make_private(self, path: Path) -> None:
        if path.exists():
            path.chmod(0o600)
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        key = base64.b64encode(os.urandom(KEY_BYTES)).decode()
        create(path, f"# {self.purpose}\n{key}\n".encode())


HUB_KEYS = KeyFile(
    name="secret.key",
    credential="reviewsd.hub-secret-key",
    purpose="Seals the secrets of subscribers; the first key seals, all unseal.",
)

SESSION_KEYS = KeyFile(
    name="mcp.key",
    credential="reviewsd.mcp-session-key",
    purpose="Signs MCP sessions; the first key signs, all verify.",
)
"""The keys that sign MCP sessions (mcp.md 6)."""


def _parse_key(text: str, place: str) -> bytes:
    is_hexadecimal = _HEXADECIMAL.fullmatch(text) is not None
    try:
        key = bytes.fromhex(text) if is_hexadecimal else base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise KeyFileError(f"{place}: neither base64 nor hexadecimal") from None
    if len(key) != KEY_BYTES:
        raise KeyFileError(f"{place}: a key has {KEY_BYTES} bytes, this has {len(key)}")
    return key


class Secrets:
    """Seals secrets with the first of its keys, and unseals them with any; each key has 32 bytes."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._ciphers = [(_key_id(key), ChaCha20Poly1305(key)) for key in keys]

    def seal(self, secret: bytes, callback: str, topic: str) -> bytes:
        """Seal a secret for the row of (callback, topic)."""
        key_id, cipher = self._ciphers[0]
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
        for cipher_id, cipher in self._ciphers:
            if cipher_id == key_id:  # two keys may have the same id
                try:
                    return cipher.decrypt(nonce, rest, context)
                except InvalidTag:
                    continue
        raise SealError("the sealed secret belongs to another row or key, or is damaged")


def check_keys(cursor: SqlCursor, secrets: Secrets, *, shared: bool = False) -> None:
    """Check that the keys open what is sealed in a store, and seal its check value again.

    In a store that other nodes share, the keys matter before there are secrets.

    Raises:
        WrongKeysError: They do not open it.
    """
    row = cursor.execute("SELECT value FROM meta WHERE key = ?", (_CHECK_KEY,)).fetchone()
    if row is not None:
        try:
            secrets.unseal(bytes.fromhex(row[0]), "", "")
        except SealError:
            if shared:
                raise WrongKeysError(_NOT_OF_ALL_NODES) from None
            if _holds_secrets(cursor):
                raise WrongKeysError(_NOT_OF_THIS_STORE) from None
    cursor.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (_CHECK_KEY, secrets.seal(_CHECK_VALUE, "", "").hex()),
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
