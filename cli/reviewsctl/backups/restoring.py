"""Puts an archive on a machine: ``reviewsctl restore``.

Reviews that were erased after the backup was made do not return: the corrections of both are kept, and what
they erase is taken out of the restored files.
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
    """Where the files go."""

    config: Path
    data: Path
    state: Path
    keys: Path

    def target(self, name: str) -> Path:
        """Return where a file of the archive goes."""
        kind, _, rest = name.partition("/")
        folders = {"data": self.data, "state": self.state, "keys": self.keys}
        return self.config if kind == "config" else folders[kind] / rest


def taken(names: Sequence[str], places: Places) -> list[Path]:
    """Return what is there already; corrections.json does not count, as it is kept."""
    targets = [places.target(name) for name in names if name != f"data/{corrections.FILE}"]
    return [path for path in targets if path.exists()]


def names(file: BinaryIO) -> tuple[Manifest, list[str]]:
    """Return the manifest and the names of all files of an archive, read to its end.

    Raises:
        ArchiveError: It is none, or damaged.
    """
    manifest, entries = archive.read(file)
    found = []
    for name, content in entries:
        try:
            while content.read(1 << 20):
                pass
        except archive.DAMAGED as error:
            raise archive.ArchiveError(f"it is damaged: {error}") from error
        found.append(name)
    file.seek(0)
    return manifest, found


def restore(file: BinaryIO, wanted: Sequence[str], places: Places, now: datetime.datetime) -> int:
    """Write these files of an archive; return how many reviews were left out, as they are erased.

    Raises:
        ArchiveError: It is none.
        OSError: Something cannot be written.
        ImportRefusedError: The data in it are faulty.
    """
    reviews = places.data / corrections.REVIEWS
    kept = _kept_corrections(places.data)
    _, entries = archive.read(file)
    for name, content in entries:
        if name not in wanted:
            continue
        target = places.target(name)
        mode = _DATA_MODE if target.parent == places.data or target == places.config else _PRIVATE
        if target.name == corrections.FILE and kept is not None:
            _write(target, _merged(kept, content.read()), mode)
        else:
            _write(target, content, mode)
    for suffix in ("-wal", "-shm"):  # of the store that was there
        places.target(f"{archive.STORE}{suffix}").unlink(missing_ok=True)
    if not reviews.exists():
        return 0
    found = corrections.read(reviews)
    erased = [
        each.review
        for each in found.reviews
        if each.correction is not None and each.correction.action == "erase"
    ]
    if erased:
        corrections.erase(reviews, found, erased, now)
    return len(erased)


def _kept_corrections(data: Path) -> bytes | None:
    path = data / corrections.FILE
    return path.read_bytes() if path.exists() else None


def _merged(there: bytes, restored: bytes) -> bytes:
    from reviewsd.domain.data_errors import DataError  # 0.1 s, see main
    from reviewsd.offline.corrections import merged, parsed

    try:
        return merged(parsed(there), parsed(restored))
    except DataError as error:
        raise ImportRefusedError(
            "; ".join(error.lines()), "Mend corrections.json, or move it away."
        ) from error


def _write(target: Path, content: IO[bytes] | bytes, mode: int) -> None:
    """Write a file whole, as the owner of its folder has files."""
    with opened(target.parent, make=True) as folder, folder.draft(target.name) as new:
        if isinstance(content, bytes):
            new.file.write(content)
        else:
            shutil.copyfileobj(content, new.file)
        new.give(folder.facts.st_uid, folder.facts.st_gid)
        new.put(mode)
