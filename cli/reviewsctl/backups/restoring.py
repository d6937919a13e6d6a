"""Puts an archive on a machine: ``reviewsctl restore``.

Reviews that were erased after the backup do not return: the corrections of both are merged, and the
reviews that they erase are removed from the restored files.
"""

import datetime
import glob
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Final, Literal

from msgspec import structs

from reviewsctl.backups import archive
from reviewsctl.backups.archive import Manifest
from reviewsctl.corrections import files as corrections
from reviewsctl.files.folders import Folder, opened
from reviewsctl.files.named_files import NamedFile, exports, needed_files
from reviewsctl.importing import history, import_log
from reviewsctl.importing.import_log import Change, ImportLog
from reviewsctl.importing.review_merge import stamp
from reviewsctl.importing.reviews_file import replace
from reviewsctl.sources import state as sources
from reviewsd.api.places import CORRECTIONS_FILE, CORRECTIONS_LOG, KEPT_FOLDER, REVIEWS_FILE
from reviewsd.api.status import SOURCES_FILE

_CORRECTIONS: Final = f"data/{CORRECTIONS_FILE}"
_REVIEWS: Final = f"data/{REVIEWS_FILE}"
_LOG: Final = f"data/{KEPT_FOLDER}/{import_log.FILE}"
_CORRECTIONS_LOG: Final = f"data/{KEPT_FOLDER}/{CORRECTIONS_LOG}"
_VERSIONS: Final = f"data/{KEPT_FOLDER}/{history.FOLDER}/"
_OF_SOURCES: Final = {f"data/{KEPT_FOLDER}/{name}" for name in (SOURCES_FILE, sources.LOCK)}
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
    log: ImportLog
    """Its import log."""


Action = Literal["write", "replace", "merge", "keep", "skip"]
"""The action of a restore on a file of the archive.

An existing configuration and log of corrections are kept. Versions are skipped where an undo takes the restore back,
to what is there.
"""


def can_be_undone(places: Places) -> bool:
    """Return whether an undo can take a restore back, as there are reviews already, or versions of them."""
    return places.target(_REVIEWS).exists() or any(places.target(_VERSIONS).glob("reviews-*"))


def action(name: str, places: Places) -> Action:
    """Return the action of a restore on a file of an archive."""
    if name.startswith(_VERSIONS) and can_be_undone(places):
        return "skip"
    if not places.target(name).exists():
        return "write"
    if name in {archive.CONFIG, _CORRECTIONS_LOG}:
        return "keep"
    return "merge" if name == _CORRECTIONS else "replace"


def is_in_use(places: Places) -> bool:
    """Return whether a daemon uses the state that a restore would replace."""
    from reviewsd.runtime.state_dir import is_locked

    return is_locked(places.state)


def missing_files(contents: Contents, places: Places) -> list[NamedFile]:
    """Return the files that the configuration needs, exports of sources too, and that are neither there nor restored.

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
    return [
        *(file for file in needed if not there(file.path) and file.path not in restored),
        *(file for file in exports(settings) if not glob.glob(str(file.path))),  # noqa: PTH207  # it is one string
    ]


def list_files(file: BinaryIO) -> Contents:
    """Return the contents of an archive, after every byte of it was checked.

    Raises:
        ImportRefusedError: It is no archive of this program, or damaged.
    """
    archive.check_sums(file)
    manifest, entries = archive.read(file)
    names, texts = [], {}
    for name, content in entries:
        if name in (archive.CONFIG, _CORRECTIONS, _LOG):
            texts[name] = content.read()
        names.append(name)
    file.seek(0)
    return Contents(
        manifest=manifest,
        names=tuple(names),
        config=texts.get(archive.CONFIG, b""),
        corrections=texts.get(_CORRECTIONS),
        log=import_log.parsed(texts.get(_LOG, b"")),
    )


def restored_corrections(contents: Contents, places: Places) -> bytes | None:
    """Return corrections.json with the corrections of an archive and of the data directory; None without any.

    Raises:
        ImportRefusedError: They are lost, so that erased reviews would be restored; or cannot be merged.
    """
    from reviewsd.offline.corrections import check_present, merge, parse  # 0.1 s, see main

    path, archived = places.data / CORRECTIONS_FILE, contents.corrections
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
    file: BinaryIO,
    plan: Mapping[str, Action],
    places: Places,
    merged: bytes | None,
    log: ImportLog | None,
) -> Iterator[Path]:
    """Write the files of an archive as planned, and yield each.

    Args:
        file: The archive.
        plan: The action on each of its files.
        places: Their targets.
        merged: The result of ``restored_corrections``.
        log: The import log of the restored reviews, with the restore as their last change; None where an undo cannot
            take it back.

    Raises:
        ImportRefusedError: It is no archive of this program.
        OSError: A file cannot be written.
    """
    _, entries = archive.read(file)
    for name, content in entries:
        target = places.target(name)
        if plan[name] in {"keep", "skip"}:
            continue
        if name == _REVIEWS and log is not None:
            _write_version(target, content, log)
        elif name != _LOG or log is None:
            text = merged if name == _CORRECTIONS and merged is not None else content
            with opened(target.parent, make=True) as folder:
                folder.write(target.name, text, _mode(name, target.name, folder))
        yield target
    for suffix in ("-wal", "-shm"):  # left by the replaced store
        places.target(f"{archive.STORE}{suffix}").unlink(missing_ok=True)


def _mode(name: str, there: str, folder: Folder) -> int:
    """Return the mode of a restored file: of data that of the replaced file, else that of its usual writer."""
    if name.startswith(("state/", "keys/")):
        return _PRIVATE
    facts = folder.look(there)
    if facts is not None and stat.S_ISREG(facts.st_mode):
        return facts.st_mode & 0o777
    if name in _OF_SOURCES:
        return folder.facts.st_mode & sources.MODE
    return _PRIVATE if name.startswith(f"data/{KEPT_FOLDER}/") else _DATA_MODE


def take_out_erased(places: Places, now: datetime.datetime) -> int:
    """Remove the restored reviews that were erased, and return their number.

    Raises:
        ImportRefusedError: The restored reviews or corrections are invalid.
        OSError: A file cannot be written.
    """
    target = places.data / REVIEWS_FILE
    if not (target.exists() and (places.data / CORRECTIONS_FILE).exists()):
        return 0
    return corrections.take_out_erased(target, corrections.read(target), now)


def restored_log(contents: Contents, name: str, now: datetime.datetime) -> ImportLog:
    """Return the import log of an archive with the restore from the file of this name as the last change."""
    made_at = stamp(contents.manifest.made_at)
    change = Change(at=now, text=f"the restore of {name}, the backup of {made_at}")
    return structs.replace(contents.log, change=change)


def _write_version(target: Path, content: IO[bytes], log: ImportLog) -> None:
    """Write reviews.json with its import log, and keep the version before, for an undo."""
    with opened(target.parent) as folder, folder.draft(target.name) as new:
        shutil.copyfileobj(content, new.file)
        new.file.flush()
        new.give(folder.facts.st_uid, folder.facts.st_gid)
        replace(new, log, datetime.datetime.now(datetime.UTC))
