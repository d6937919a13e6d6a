"""The last versions of reviews.json: ``.reviewsctl/history/`` beside it.

A command that replaces the file keeps what it writes, and before that the version that is there, unless
that one is the newest that is kept: where it is not, it was edited by hand, or put back from an archive. Each version has its import log with it.
Names are times, and versions are pruned in their order; contents are gzip.
"""

import contextlib
import datetime
import gzip
import io
import os
import re
import shutil
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec

from reviewsctl.files.folders import Draft, Folder
from reviewsctl.importing import import_log
from reviewsctl.importing.import_log import Change, ImportLog
from reviewsd.api.places import KEPT_FOLDER

FOLDER: Final = "history"

MAX_VERSIONS: Final = 10
MAX_BYTES: Final = 64 * 1024 * 1024
"""Bytes of all versions together; the newest is kept whatever its size."""

_MODE: Final = 0o600
_NAME: Final = re.compile(r"reviews-([0-9]{8}T[0-9]{6}\.[0-9]{6}Z)\.json\.gz")
_TIME: Final = "%Y%m%dT%H%M%S.%fZ"
_TICK: Final = datetime.timedelta(microseconds=1)
_CHUNK: Final = 1024 * 1024  # bytes
_TRAILER: Final = struct.Struct("<II")  # of a gzip file; the size modulo 2**32

Checksum = tuple[int, int]
"""The CRC-32 and the size of a file, as gzip has them at its end."""


class Version(NamedTuple):
    """A version of reviews.json that is kept."""

    at: datetime.datetime
    """When it was kept."""
    size: int = 0
    """Bytes on the disk, with its import log."""
    checksum: Checksum | None = None
    """That of the version; None where its file belongs to another user, or is damaged."""

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"reviews-{self.at.strftime(_TIME)}.json.gz"

    @property
    def log(self) -> str:
        """The name of the file of its import log, which need not be there."""
        return f"imports-{self.at.strftime(_TIME)}.json.gz"

    def is_same(self, here: Checksum | None) -> bool:
        """Return whether a file with this checksum is the version; False if the file is gone."""
        return here is not None and self.checksum == here


def versions(history: Folder) -> list[Version]:
    """Return the versions in a history folder, the newest first."""
    there = []
    for match in filter(None, map(_NAME.fullmatch, history.names()[::-1])):
        at = datetime.datetime.strptime(match[1], _TIME).replace(tzinfo=datetime.UTC)
        version = Version(at)
        files = [history.look(name) for name in (version.file, version.log)]
        size = sum(facts.st_size for facts in files if facts is not None)
        checksum = _packed_checksum(history, version.file)
        there.append(version._replace(size=size, checksum=checksum))
    return there


def remove(history: Folder, version: Version) -> None:
    """Remove a version."""
    history.remove(version.file)
    history.remove(version.log)


def kept_log(history: Folder, version: Version) -> ImportLog:
    """Return the import log of a version; an empty one where it has none that can be read."""
    try:
        with history.open(version.log) as file:
            return import_log.parsed(gzip.decompress(file.read()))
    except (OSError, EOFError, zlib.error):  # damaged, or of another user
        return ImportLog()


def log_of(
    data: Folder, history: Folder, kept: Sequence[Version], here: Checksum | None
) -> ImportLog:
    """Return the log of the file that is there, with the change that made it.

    That is an edit by hand if the file, whose checksum is ``here``, is no version that is kept, and no command has logged
    a change since the newest.
    """
    log, _ = import_log.load(data)
    change = log.change
    if same := [version for version in kept if version.is_same(here)]:
        change = kept_log(history, same[0]).change
    elif kept and kept_log(history, kept[0]).change == change:
        change = Change(at=kept[0].at + _TICK, text="an edit by hand")
    return msgspec.structs.replace(log, change=change)


def checksum(folder: Folder, name: str) -> Checksum:
    """Return the checksum of a file."""
    crc = size = 0
    with folder.open(name) as file:
        while chunk := file.read(_CHUNK):
            crc, size = zlib.crc32(chunk, crc), size + len(chunk)
    return crc, size % (1 << 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Two versions about to be kept; made by ``keeping``."""

    history: Folder
    path: Path | None
    """The file of the version that was there; None if there was none."""
    old_drafts: Sequence[Draft]
    """The files of that version, unless it is kept already."""
    new_drafts: Sequence[Draft]
    """Those of the new one."""

    def put_old(self) -> None:
        """Keep the version that is there; called before it is replaced."""
        for draft in self.old_drafts:
            draft.put(_MODE)

    def put_new(self, max_bytes: int = MAX_BYTES) -> None:
        """Keep the new version, and remove the oldest ones; called when it is in place."""
        for draft in self.new_drafts:
            draft.put(_MODE)
        total = 0
        for number, version in enumerate(versions(self.history)):
            total += version.size
            if number and (number >= MAX_VERSIONS or total > max_bytes):
                remove(self.history, version)


@contextlib.contextmanager
def keeping(
    data: Folder, name: str, new: Draft, log: Draft | None, now: datetime.datetime
) -> Iterator[Keeping]:
    """Pack the version that is there and the new one, with its import log, for the block; neither is kept yet."""
    with contextlib.ExitStack() as stack:
        own_folder = stack.enter_context(data.folder(KEPT_FOLDER, make=True))
        history = stack.enter_context(own_folder.folder(FOLDER, make=True))
        facts = data.look(name)
        owner = data.facts if facts is None else facts

        def pack(file: BinaryIO, target: str) -> Draft:
            draft = stack.enter_context(history.draft(target))
            with file, gzip.GzipFile("", "wb", fileobj=draft.file, mtime=0, compresslevel=6) as gz:
                shutil.copyfileobj(file, gz)
            draft.file.flush()  # what can fail for want of room has failed now
            draft.give(owner.st_uid, owner.st_gid)
            return draft

        there = versions(history)
        at = max([now, *(version.at + _TICK for version in there[:1])])  # the clock may be set back
        old, old_drafts = None, []
        if facts is not None and facts.st_size:
            here = checksum(data, name)
            old = there[0] if there and there[0].checksum == here else Version(at)
            if old.checksum is None:
                # the log is put first, so that no version is without one
                old_log = msgspec.json.encode(log_of(data, history, there, here))
                old_drafts.append(pack(io.BytesIO(old_log), old.log))
                old_drafts.append(pack(data.open(name), old.file))
        version = Version(at + _TICK)
        new_drafts = [] if log is None else [pack(log.read(), version.log)]
        new_drafts.append(pack(new.read(), version.file))
        yield Keeping(
            history=history,
            path=None if old is None else history.path / old.file,
            old_drafts=old_drafts,
            new_drafts=new_drafts,
        )


def _packed_checksum(history: Folder, name: str) -> Checksum | None:
    try:
        with history.open(name) as file:
            file.seek(-_TRAILER.size, os.SEEK_END)
            crc, size = _TRAILER.unpack(file.read())
    except OSError:  # another user of the group has kept it, or it is shorter than that
        return None
    return crc, size
