"""The files of the data directory: what they look like from outside, and their bytes.

``fingerprint`` asks the file system, never the content, so it may be taken every second. ``read``
takes the bytes once and only gives them back when nothing moved meanwhile. Both block: call them in
a thread or in the publishing process. Sources: contract 1, security-and-operations.md R1 to R3.
"""

import errno
import mmap
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar, overload

from reviewsd.api.diagnostic import Diagnostic
from reviewsd.domain.corrections import CORRECTIONS_FILE
from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import REVIEWS_FILE, SETTINGS_FILE
from reviewsd.domain.insights_file import INSIGHTS_FILE
from reviewsd.domain.records import MappedFile, RecordText
from reviewsd.pages.environment import MAX_TEMPLATE, TEMPLATE_ENDINGS
from reviewsd.snapshot.layout import FileFingerprint, Fingerprint

MAX_BYTES = 1 << 30
"""Greatest size of a data file; a larger one is an accident."""

_LARGE = _PIECE = 1 << 20  # bytes
_MAX_SETTINGS = 1 << 20  # bytes of insights.yaml, which is written by hand
_MOST = 1_000  # templates; there are some twenty names that mean anything

_LASTING = frozenset(
    {
        errno.EACCES,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENODEV,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.ENXIO,
        errno.EPERM,
    }
)
"""What stays until somebody changes the files. All else may pass: EMFILE, EIO, ESTALE, ENOMEM."""


T = TypeVar("T", bytes, RecordText)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources(Generic[T]):
    """The content of the data directory at one moment."""

    reviews: T
    insights: T | None
    """None when there is no insights.json."""
    settings: bytes | None = None
    """None when there is no insights.yaml."""
    corrections: T | None = None
    """None when there is no corrections.json."""
    templates: Mapping[str, str] = field(default_factory=dict)
    """The operator's, by name."""
    fingerprint: Fingerprint
    """Taken before reading and found unchanged after it."""

    def forget(self) -> None:
        """Give back the memory of what was looked at; it is read again when it is looked at again."""
        for text in (self.reviews, self.insights):
            if isinstance(text, mmap.mmap):
                text.madvise(mmap.MADV_DONTNEED)


class Unsettled(Exception):  # noqa: N818 - a state of the files, not a fault: read again later
    """The files moved while they were read."""


NO_FILES = Fingerprint(reviews=None, insights=None)
"""The fingerprint of an empty data directory."""


def fingerprint(data_dir: Path, templates_dir: Path | None = None) -> Fingerprint:
    """The fingerprint of the data directory, and of the operator's templates where there are any.

    Any failure of the file system counts as absence.
    """
    return Fingerprint(
        reviews=_look(data_dir / REVIEWS_FILE),
        insights=_look(data_dir / INSIGHTS_FILE),
        settings=_look(data_dir / SETTINGS_FILE),
        corrections=_look(data_dir / CORRECTIONS_FILE),
        templates=_template_fingerprints(templates_dir),
    )


def _template_names(folder: Path) -> list[str]:
    """The files of a folder, in order; none of those that an editor hides there."""
    try:
        return sorted(each.name for each in folder.iterdir() if _is_template(each.name))[:_MOST]
    except OSError:
        return []


def _is_template(name: str) -> bool:
    return name.endswith(TEMPLATE_ENDINGS) and not name.startswith(".")


@overload
def read(data_dir: Path, max_bytes: int = MAX_BYTES) -> Sources[bytes]: ...
@overload
def read(
    data_dir: Path, max_bytes: int, copies: Path, templates_dir: Path | None = None
) -> Sources[RecordText]: ...
def read(
    data_dir: Path,
    max_bytes: int = MAX_BYTES,
    copies: Path | None = None,
    templates_dir: Path | None = None,
) -> Sources[bytes] | Sources[RecordText]:
    """The bytes of the files, each read exactly once.

    Args:
        data_dir: Where reviews.json is, and insights.json and insights.yaml may be.
        max_bytes: Limit for each of the JSON files.
        copies: Where files are copied to when they are large, and mapped from there: so they take no
            memory, and nobody can change what was read. The copies have no names. None: they are read
            into memory.
        templates_dir: Where the operator's templates are; None where there are none.

    Raises:
        DataError: A file is not there, or no regular file, or not for us, or larger than the limit.
        Unsettled: Something moved meanwhile. It comes before DataError: a fault of files in
            motion says nothing about the files.
        OSError: The system cannot read now; that says nothing about the files either.
    """
    before = fingerprint(data_dir, templates_dir)
    contents: dict[str, RecordText] = {}
    findings: list[Diagnostic] = []
    for name, seen, limit in (
        (REVIEWS_FILE, before.reviews, max_bytes),
        (INSIGHTS_FILE, before.insights, max_bytes),
        (SETTINGS_FILE, before.settings, _MAX_SETTINGS),
        (CORRECTIONS_FILE, before.corrections, max_bytes),
    ):
        try:
            contents[name] = _content(data_dir / name, seen, limit, copies)
        except DataError as refusal:
            findings.extend(refusal.findings)
        except OSError as error:
            if error.errno not in _LASTING:
                raise
            if name == REVIEWS_FILE or not isinstance(error, FileNotFoundError):
                reason = f"cannot read: {error.strerror}"
                findings.append(Diagnostic(file=name, reason=reason))
    templates = _templates(templates_dir, before.templates, findings)
    if fingerprint(data_dir, templates_dir) != before:
        raise Unsettled
    if findings:
        raise DataError(tuple(findings))
    settings = contents.get(SETTINGS_FILE)
    return Sources(
        reviews=contents[REVIEWS_FILE],
        insights=contents.get(INSIGHTS_FILE),
        corrections=contents.get(CORRECTIONS_FILE),
        settings=None if settings is None else settings[:],
        templates=templates,
        fingerprint=before,
    )


def read_templates(folder: Path | None) -> Mapping[str, str]:
    """The operator's templates, by name.

    Raises:
        DataError: One cannot be read.
        Unsettled: One moved meanwhile.
        OSError: The system cannot read now.
    """
    findings: list[Diagnostic] = []
    found = _templates(folder, _template_fingerprints(folder), findings)
    if findings:
        raise DataError(tuple(findings))
    return found


def _template_fingerprints(folder: Path | None) -> dict[str, FileFingerprint]:
    if folder is None:
        return {}
    looked = {name: _look(folder / name) for name in _template_names(folder)}
    return {name: found for name, found in looked.items() if found is not None}


def _templates(
    folder: Path | None, seen: Mapping[str, FileFingerprint], findings: list[Diagnostic]
) -> Mapping[str, str]:
    """The operator's templates; what is wrong with them joins the findings.

    Raises:
        Unsettled: One moved meanwhile.
        OSError: The system cannot read now.
    """
    if folder is None:
        return {}
    if not folder.is_dir():
        reason = f"cannot read {folder}: no such folder"
        findings.append(Diagnostic(file="pages.templates_dir", reason=reason))
    texts: dict[str, str] = {}
    for name, fingerprint in seen.items():
        try:
            texts[name] = bytes(_content(folder / name, fingerprint, MAX_TEMPLATE, None)).decode()
        except DataError as refusal:
            findings.extend(refusal.findings)
        except UnicodeDecodeError as error:
            findings.append(Diagnostic(file=name, reason=f"not UTF-8 at byte {error.start}"))
        except OSError as error:
            if error.errno not in _LASTING:
                raise
            reason = f"cannot read: {error.strerror}"
            findings.append(Diagnostic(file=name, reason=reason))
    return texts


def _look(path: Path) -> FileFingerprint | None:
    real = os.path.realpath(path)
    try:
        # The resolved path, so that both halves of the answer are about the same file.
        return _file_fingerprint(real, Path(real).stat())
    except OSError:
        return None


def _file_fingerprint(real: str, status: os.stat_result) -> FileFingerprint:
    return FileFingerprint(
        # A path need not be UTF-8, JSON must be.
        realpath=os.fsencode(real).decode(errors="backslashreplace"),
        device=status.st_dev,
        inode=status.st_ino,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
    )


def _content(
    path: Path, seen: FileFingerprint | None, max_bytes: int, copies: Path | None
) -> RecordText:
    """The bytes of the file that was seen, at most as many as it had then."""
    # An open without O_NONBLOCK waits for ever on a FIFO that nobody writes to.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        status = os.fstat(descriptor)
        # The file opened must be the one seen: a link swapped there and back again in the middle
        # of it all would leave the fingerprints before and after alike.
        if seen is None or (status.st_dev, status.st_ino) != (seen.device, seen.inode):
            raise Unsettled
        if not stat.S_ISREG(status.st_mode):
            raise _refused(path, "cannot read: not a regular file")
        if status.st_size > max_bytes:
            raise _refused(path, f"larger than {max_bytes} bytes")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            # Never more than was measured: what a file gains meanwhile shows in its fingerprint.
            if copies is None or status.st_size < _LARGE:
                return file.read(status.st_size)
            return _copied(file, status.st_size, copies)
    finally:
        os.close(descriptor)


def _copied(file: BinaryIO, size: int, place: Path) -> RecordText:
    with tempfile.TemporaryFile(dir=place) as copy:
        copied = 0
        while piece := file.read(min(_PIECE, size - copied)):
            copied += copy.write(piece)
        copy.flush()
        return MappedFile(copy.fileno(), copied) if copied else b""


def _refused(path: Path, reason: str) -> DataError:
    return DataError((Diagnostic(file=path.name, reason=reason),))
