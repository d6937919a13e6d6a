"""The archive that ``reviewsctl backup`` writes: a tar with gzip, for its owner's eyes only.

    manifest.json       when it was made, and where the files were
    config/...          the configuration
    data/...            reviews.json, corrections.json, insights and labels, kept versions, import log
    state/state.sqlite  the store of the hub, as SQLite copies it
    keys/...            the keys that belong to it

No other names are written or read.
"""

import gzip
import io
import os
import stat
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, BinaryIO, Final

import msgspec

from reviewsctl.files.data_files import KEPT_FOLDERS, owner_files
from reviewsctl.importing.errors import ImportRefusedError
from reviewsd.api.places import DATA_FILES

VERSION: Final = 1
MANIFEST: Final = "manifest.json"
CONFIG: Final = "config/reviewsd.yaml"
STORE: Final = "state/state.sqlite"
_MODE: Final = 0o600


_FAULTS: Final = (tarfile.TarError, EOFError, zlib.error, OSError)
"""Exceptions of an archive that was cut or changed."""
_GZIP: Final = b"\x1f\x8b"
"""The first bytes of an archive (RFC 1952 2.3.1)."""
_CHUNK: Final = 1 << 20
"""The bytes that are read at once."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The first file of an archive, which describes it."""

    version: int = VERSION
    made_at: datetime
    config: str
    """The path of the configuration; empty without one."""
    data_dir: str
    state_dir: str
    keys_dir: str


class ArchiveWriter:
    """Writes one archive, its manifest first; see ``writing``."""

    def __init__(self, tar: tarfile.TarFile, manifest: Manifest) -> None:
        self._tar = tar
        self._time = int(manifest.made_at.timestamp())
        self.names: list[str] = []
        encoded = msgspec.json.encode(manifest)
        self.add(MANIFEST, io.BytesIO(encoded), len(encoded))

    def add(self, name: str, file: IO[bytes], size: int) -> None:
        """Add a file with its first ``size`` bytes."""
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.mtime = size, _MODE, self._time
        self._tar.addfile(entry, file)
        self.names.append(name)

    def add_file(self, name: str, path: Path) -> bool:
        """Add a file if it exists, and return whether it does.

        Raises:
            OSError: It cannot be read.
        """
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return False
        with file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                return False
            self.add(name, file, facts.st_size)
        return True

    def add_data(self, folder: Path) -> None:
        """Add the files of a data directory."""
        for name in owner_files(folder):
            self.add_file(f"data/{name}", folder / name)


@contextmanager
def writing(out: BinaryIO, manifest: Manifest) -> Iterator[ArchiveWriter]:
    """Yield the writer of an archive, which the end of the block closes."""
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        yield ArchiveWriter(tar, manifest)


def check_sums(file: BinaryIO) -> None:
    """Read an archive to its end, and compare the checksum and the length of gzip, which ``tarfile`` does not read.

    Raises:
        ImportRefusedError: The archive was cut or changed, or is none.
    """
    if file.read(len(_GZIP)) != _GZIP:
        raise ImportRefusedError("the file is not a backup of reviewsctl")
    file.seek(0)
    try:
        with gzip.GzipFile(fileobj=file) as content:
            while content.read(_CHUNK):
                pass
    except _FAULTS as error:
        raise ImportRefusedError(
            f"the backup is damaged: {error}", "Copy it here again, or restore an older backup."
        ) from error
    file.seek(0)


def read(file: BinaryIO) -> "tuple[Manifest, Iterator[tuple[str, IO[bytes]]]]":
    """Return the manifest of an archive, and its files in their order.

    Raises:
        ImportRefusedError: It is no archive of this program.
    """
    try:
        tar = tarfile.open(fileobj=file, mode="r:gz")  # noqa: SIM115  the returned iterator reads it
        first = tar.next()
        content = None if first is None or first.name != MANIFEST else tar.extractfile(first)
        if content is None:
            raise ImportRefusedError("the file is not a backup of reviewsctl")
        manifest = msgspec.json.decode(content.read(), type=Manifest)
    except (*_FAULTS, msgspec.MsgspecError) as error:
        raise ImportRefusedError(f"the file is not a backup of reviewsctl: {error}") from error
    if manifest.version > VERSION:
        raise ImportRefusedError("a later reviewsctl wrote the backup")
    return manifest, _files(tar)


def _entries(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    try:
        yield from iter(tar.next, None)
    except tarfile.TarError as error:
        raise ImportRefusedError(f"the backup is damaged: {error}") from error


def _files(tar: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the files after the manifest, and accept only names that a backup writes."""
    expected = {CONFIG, STORE, *(f"data/{name}" for name in DATA_FILES)}
    for entry in _entries(tar):
        folder, _, name = entry.name.rpartition("/")
        is_ours = entry.name in expected or folder in {
            "keys",
            *(f"data/{below}" for below in KEPT_FOLDERS),
        }
        content = tar.extractfile(entry) if entry.isreg() and is_ours else None
        if content is None or name in {"", ".", ".."}:
            raise ImportRefusedError(f"the backup has a file that no other has: {entry.name!r}")
        yield entry.name, content
