"""Puts an archive on a machine: ``reviewsctl restore``.

Reviews that were erased after the backup do not return: the corrections of both are merged, and the
reviews that they erase are removed from the restored files.
"""

import datetime
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Final

from reviewsctl.backups import archive
from reviewsctl.backups.archive import Manifest
from reviewsctl.corrections import files as corrections
from reviewsctl.files.folders import opened
from reviewsctl.importing.errors import ImportRefusedError

_PRIVATE: Final = 0o600
_DATA_MODE: Final = 0o644  # the daemon runs as another user, and the data are public


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The targets of the files."""

    config: Path
    data: Path
    state: Path
    keys: Path

    def target(self, name: str) -> Path:
        """Return the target of a file of the archive."""
        kind, _, rest = name.partition("/")
        folders = {"data": self.data, "state": self.state, "keys": self.keys}
        return self.config if kind == "config" else folders[kind] / rest


def existing(names: Sequence[str], places: Places) -> list[Path]:
    """Return the targets that exist, except corrections.json, which is merged."""
    targets = [places.target(name) for name in names if name != f"data/{corrections.FILE}"]
    return [path for path in targets if path.exists()]


def list_files(file: BinaryIO) -> tuple[Manifest, list[str]]:
    """Return the manifest and the names of all files of an archive, read to its end.

    Raises:
        ImportRefusedError: It is no archive of this program, or damaged.
    """
    manifest, entries = archive.read(file)
    names = []
    for name, content in entries:
        try:
            while content.read(1 << 20):
                pass
        except archive.DAMAGED as error:
            raise ImportRefusedError(f"the backup is damaged: {error}") from error
        names.append(name)
    file.seek(0)
    return manifest, names


def restore(
    file: BinaryIO, selection: Sequence[str], places: Places, now: datetime.datetime
) -> int:
    """Write the selected files of an archive, and return the number of reviews that stay erased.

    Raises:
        ImportRefusedError: It is no archive of this program, or its data are invalid.
        OSError: A file cannot be written.
    """
    reviews = places.data / corrections.REVIEWS
    current = _current_corrections(places.data)
    _, entries = archive.read(file)
    for name, content in entries:
        if name not in selection:
            continue
        target = places.target(name)
        mode = _DATA_MODE if target.parent == places.data or target == places.config else _PRIVATE
        if target.name == corrections.FILE and current is not None:
            _write(target, _merged(current, content.read()), mode)
        else:
            _write(target, content, mode)
    for suffix in ("-wal", "-shm"):  # left by the replaced store
        places.target(f"{archive.STORE}{suffix}").unlink(missing_ok=True)
    if not reviews.exists():
        return 0
    corrected = corrections.read(reviews)
    erased = [
        entry.review
        for entry in corrected.reviews
        if entry.correction is not None and entry.correction.action == "erase"
    ]
    if erased:
        corrections.erase(reviews, corrected, erased, now)
    return len(erased)


def _current_corrections(data: Path) -> bytes | None:
    path = data / corrections.FILE
    return path.read_bytes() if path.exists() else None


def _merged(current: bytes, restored: bytes) -> bytes:
    from reviewsd.domain.data_errors import DataError  # 0.1 s, see main
    from reviewsd.offline.corrections import merge, parse

    try:
        return merge(parse(current), parse(restored))
    except DataError as error:
        raise ImportRefusedError(
            "; ".join(error.lines()), "Fix corrections.json, or move it away."
        ) from error


def _write(target: Path, content: IO[bytes] | bytes, mode: int) -> None:
    """Write a file for the owner of its folder."""
    with opened(target.parent, make=True) as folder, folder.draft(target.name) as new:
        if isinstance(content, bytes):
            new.file.write(content)
        else:
            shutil.copyfileobj(content, new.file)
        new.give(folder.facts.st_uid, folder.facts.st_gid)
        new.put(mode)
