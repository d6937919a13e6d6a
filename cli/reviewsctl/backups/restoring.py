"""Puts an archive on a machine: ``reviewsctl restore``.

Reviews that were erased after the backup do not return: the corrections of both are merged, and the
reviews that they erase are removed from the restored files.
"""

import datetime
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from reviewsctl.backups import archive
from reviewsctl.backups.archive import Manifest
from reviewsctl.corrections import files as corrections
from reviewsctl.files.folders import opened
from reviewsctl.files.named_files import NamedFile, needed_files

_CORRECTIONS: Final = f"data/{corrections.FILE}"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The contents of an archive."""

    manifest: Manifest
    names: tuple[str, ...]
    config: bytes
    """Its configuration; empty without one."""
    corrections: bytes | None
    """Its corrections.json."""


Action = Literal["write", "replace", "merge", "keep"]
"""The action of a restore on a file of the archive; an existing configuration is kept."""


def action(name: str, places: Places) -> Action:
    """Return the action of a restore on a file of an archive."""
    if not places.target(name).exists():
        return "write"
    if name == archive.CONFIG:
        return "keep"
    return "merge" if name == _CORRECTIONS else "replace"


def missing_files(contents: Contents, places: Places) -> list[NamedFile]:
    """Return the files that the configuration needs, and that are neither there nor restored.

    The configuration of the archive counts where none is there.
    """
    from reviewsctl.daemon import local  # 25 ms, see main

    config, restored = contents.config, set(map(places.target, contents.names))
    if places.config.is_file():
        config = places.config.read_bytes()
    try:
        settings = local.settings(places.config, config).value
    except local.Unusable:  # check says why
        return []
    there = os.path.exists  # it may be out of reach, which Path.exists raises
    needed = needed_files(settings)
    return [file for file in needed if not there(file.path) and file.path not in restored]


def list_files(file: BinaryIO) -> Contents:
    """Return the contents of an archive, after every byte of it was checked.

    Raises:
        ImportRefusedError: It is no archive of this program, or damaged.
    """
    archive.check_sums(file)
    manifest, entries = archive.read(file)
    names, texts = [], {}
    for name, content in entries:
        if name in (archive.CONFIG, _CORRECTIONS):
            texts[name] = content.read()
        names.append(name)
    file.seek(0)
    return Contents(
        manifest=manifest,
        names=tuple(names),
        config=texts.get(archive.CONFIG, b""),
        corrections=texts.get(_CORRECTIONS),
    )


def restored_corrections(contents: Contents, places: Places) -> bytes | None:
    """Return corrections.json with the corrections of an archive and of the data directory; None without any.

    Raises:
        ImportRefusedError: They are lost, so that erased reviews would be restored; or cannot be merged.
    """
    from reviewsd.offline.corrections import check_present, merge, parse  # 0.1 s, see main

    path, archived = places.data / corrections.FILE, contents.corrections
    with corrections.parsing("Nothing was written."):
        check_present(places.data, is_restored=archived is not None)
    current = path.read_bytes() if path.exists() else None
    if current is None or archived is None:
        return current or archived
    with corrections.parsing(f"Fix {path}, or move it away."):
        parsed = parse(current)
    with corrections.parsing("That is the one of the backup: restore another backup."):
        return merge(parsed, parse(archived))


def restore(
    file: BinaryIO, plan: Mapping[str, Action], places: Places, merged: bytes | None
) -> Iterator[Path]:
    """Write the files of an archive as planned, and yield each; ``merged`` is of ``restored_corrections``.

    Raises:
        ImportRefusedError: It is no archive of this program.
        OSError: A file cannot be written.
    """
    _, entries = archive.read(file)
    for name, content in entries:
        if plan[name] == "keep":
            continue
        target = places.target(name)
        mode = _DATA_MODE if target.parent == places.data or target == places.config else _PRIVATE
        written = merged if name == _CORRECTIONS and merged is not None else content
        with opened(target.parent, make=True) as folder:
            folder.write(target.name, written, mode)
        yield target
    for suffix in ("-wal", "-shm"):  # left by the replaced store
        places.target(f"{archive.STORE}{suffix}").unlink(missing_ok=True)


def take_out_erased(places: Places, now: datetime.datetime) -> int:
    """Remove the restored reviews that were erased, and return their number.

    Raises:
        ImportRefusedError: The restored reviews or corrections are invalid.
        OSError: A file cannot be written.
    """
    target = places.data / corrections.REVIEWS
    if not (target.exists() and (places.data / corrections.FILE).exists()):
        return 0
    return corrections.take_out_erased(target, corrections.read(target), now)
