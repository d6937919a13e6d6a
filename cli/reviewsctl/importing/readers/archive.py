"""Zip archives of strangers: opened if they unpack to no more than an export would.

Looked at before anything is unpacked. ``zipfile`` gives no more of a member than the directory says, so
that the sum over the directory bounds everything, members that share their bytes included.
"""

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

from reviewsctl.importing.bounds import MAX_NAME, MAX_RATIO, MAX_UNPACKED
from reviewsctl.importing.errors import ImportRefusedError

DAMAGED: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    UnicodeDecodeError,
)
"""What ``zipfile`` raises for an archive that is none or not whole, when it is opened or read."""

_ENCRYPTED: Final = 1  # bit of a member's flags
_METHODS: Final = frozenset((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
_UNPACK: Final = "Unpack it, and import the folder."


def room(size: int) -> int:
    """Bytes that an archive of this size may unpack to."""
    return max(MAX_UNPACKED, MAX_RATIO * size)


def opened(file: Path | IO[bytes], name: str, most: int) -> zipfile.ZipFile:
    """An archive whose members may be read.

    Args:
        file: The archive.
        name: As messages name it.
        most: Bytes that it may unpack to.

    Raises:
        ImportRefusedError: It is encrypted, or unpacks to too much.
        Exception: One of ``DAMAGED``.
    """
    archive = zipfile.ZipFile(file)
    try:
        _check(archive.infolist(), name, most)
    except ImportRefusedError:
        archive.close()
        raise
    return archive


def _check(members: Sequence[zipfile.ZipInfo], name: str, most: int) -> None:
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise ImportRefusedError(f"{name} is encrypted", _UNPACK)
    if any(member.compress_type not in _METHODS for member in members):
        raise ImportRefusedError(f"{name} is compressed in an unusual way", _UNPACK)
    if any(len(member.filename) > MAX_NAME for member in members):
        raise ImportRefusedError(f"{name} has a name of more than {MAX_NAME:,} characters", _UNPACK)
    unpacked = sum(member.file_size for member in members)
    if unpacked > most:
        raise ImportRefusedError(
            f"{name} unpacks to {unpacked:,} bytes, which is far more than it has: that is no export",
            "If it is one all the same: unpack it, and import the folder.",
        )
