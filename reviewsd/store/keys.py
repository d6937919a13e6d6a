"""Files of secret keys: given by the operator, or made at the first start (H11, S18).

A file has one key of 32 bytes a line, in base64 or hexadecimal. A new key becomes the first line and is
used from then on; the older ones below it are still accepted, until nothing needs them any more.
"""

import base64
import binascii
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reviewsd.store.durable import create

KEY_BYTES = 32

_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{64}")


class KeyFileError(Exception):
    """The key file cannot be used; the text says why, and never quotes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFile:
    """A file of keys: systemd's credential, else the configured file, else one made by the daemon."""

    name: str
    """Its name in the folder of the daemon's keys."""
    credential: str
    """The name of the systemd credential."""
    purpose: str
    """The first line of a file that the daemon makes."""

    def credential_path(self, environ: Mapping[str, str]) -> Path | None:
        """Return the credential in ``$CREDENTIALS_DIRECTORY``; None if there is none."""
        directory = environ.get("CREDENTIALS_DIRECTORY")
        if directory is None or not (Path(directory) / self.credential).exists():
            return None
        return Path(directory) / self.credential

    def load(
        self, folder: Path, environ: Mapping[str, str], configured: Path | None = None
    ) -> tuple[bytes, ...]:
        """Return the keys, at least one; the first is the newest.

        Args:
            folder: Holds the daemon's own file, which is made if it is not there.
            environ: Names systemd's credentials.
            configured: The operator's file, which several nodes may share.

        Raises:
            KeyFileError: The file has no keys, or cannot be read or made.
        """
        path = self.credential_path(environ) or configured
        try:
            if path is None:
                path = folder / self.name
                self._make_private(path)
            text = path.read_text("utf-8")
        except OSError as error:
            raise KeyFileError(f"{path} cannot be used: {error.strerror}") from error
        except UnicodeDecodeError:
            raise KeyFileError(f"{path} is no text: one key a line is expected") from None
        keys = tuple(
            _key(line.strip(), f"{path}, line {number}")
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.lstrip().startswith("#")
        )
        if not keys:
            raise KeyFileError(f"{path} holds no key; `openssl rand -base64 32` makes one")
        return keys

    def _make_private(self, path: Path) -> None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            key = base64.b64encode(os.urandom(KEY_BYTES)).decode()
            create(path, f"# {self.purpose}\n{key}\n".encode())
            return
        try:
            os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)


HUB_KEYS = KeyFile(
    name="secret.key",
    credential="reviewsd.hub-secret-key",
    purpose="Seals the secrets of subscribers; the first key seals, all unseal.",
)
"""The keys for ``Secrets``."""

SESSION_KEYS = KeyFile(
    name="mcp.key",
    credential="reviewsd.mcp-session-key",
    purpose="Signs MCP sessions; the first key signs, all verify.",
)
"""The keys that sign MCP sessions (mcp.md 6)."""


def _key(text: str, place: str) -> bytes:
    try:
        key = (
            bytes.fromhex(text)
            if _HEXADECIMAL.fullmatch(text)
            else base64.b64decode(text, validate=True)
        )
    except (binascii.Error, ValueError):
        raise KeyFileError(f"{place}: neither base64 nor hexadecimal") from None
    if len(key) != KEY_BYTES:
        raise KeyFileError(f"{place}: a key has {KEY_BYTES} bytes, this has {len(key)}")
    return key
