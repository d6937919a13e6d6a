"""Files of secret keys: given by the operator, or made at the first start (H11, S18).

One key of 32 bytes a line, in base64 or hexadecimal. A new key becomes the first line and is used
from then on; the older ones below it go on being accepted, until nothing needs them any more.
"""

import base64
import binascii
import os
import re
from pathlib import Path

from reviewsd.store.durable import create

KEY_BYTES = 32

_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{64}")


class KeyFileError(Exception):
    """The key file cannot be used; the text says why, and never quotes it."""


def credential(directory: Path | None, name: str) -> Path | None:
    """The file of a systemd credential; None where there is none of that name.

    Args:
        directory: ``$CREDENTIALS_DIRECTORY``.
        name: Of the credential.
    """
    if directory is None or not (directory / name).exists():
        return None
    return directory / name


def load(own: Path, purpose: str, given: Path | None = None) -> tuple[bytes, ...]:
    """The keys of a file, at least one; the first is the newest.

    Args:
        own: Where the keys are when the operator gives none; made if it is not there. Several nodes
            may share it.
        purpose: The first line of a file that is made, for whoever finds it.
        given: The operator's file.

    Raises:
        KeyFileError: There is a file, but no keys in it; or it cannot be read or made.
    """
    path = own if given is None else given
    try:
        if given is None:
            _make_private(own, purpose)
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


def _make_private(path: Path, purpose: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        pass
    else:
        try:
            os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = base64.b64encode(os.urandom(KEY_BYTES)).decode()
    create(path, f"# {purpose}\n{key}\n".encode())


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
