"""Reads and fingerprints the files of the data directory (contract 1, security-and-operations.md R1 to R3).

``fingerprint`` only calls stat, so it may run every second. ``read`` reads each file once, and fails if
a file changed meanwhile. Both block: call them in a thread or in the publishing process.
"""

import errno
import mmap
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from reviewsd.api.files import Diagnostic
from reviewsd.api.places import LABELS_FILE, LOGO_FILES, has_corrections_log
from reviewsd.domain.corrections import CORRECTIONS_FILE
from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import REVIEWS_FILE, SETTINGS_FILE
from reviewsd.domain.insights_file import INSIGHTS_FILE
from reviewsd.domain.records import MappedFile, RecordText
from reviewsd.pages import pictures
from reviewsd.pages.environment import MAX_TEMPLATE, TEMPLATE_ENDINGS
from reviewsd.snapshot.layout import FileFingerprint, Fingerprint

MAX_BYTES = 1 << 30
"""Greatest size of a data file; a larger one is an accident."""

_LARGE = _PIECE = 1 << 20  # bytes
_MAX_SETTINGS = 1 << 20  # bytes of insights.yaml, which is written by hand
_MAX_TEMPLATES = 1_000  # some twenty names have a meaning

_MISSING = "there is none yet; to make it: reviewsctl import FILE (or reviewsctl init)"
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
"""Errors that last until the files change. Others may pass, such as EMFILE, EIO, ESTALE and ENOMEM."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The content of the data directory at one moment."""

    reviews: RecordText
    insights: RecordText | None
    """None without insights.json."""
    settings: bytes | None = None
    """None without insights.yaml."""
    labels: bytes = b""
    """The content of insights.labels; empty without it, or if it cannot be read."""
    corrections: RecordText | None = None
    """None without corrections.json."""
    templates: Mapping[str, str] = field(default_factory=dict)
    """The operator's templates by name."""
    logos: Mapping[str, bytes] = field(default_factory=dict)
    """The pictures by name, not examined yet."""
    left_out: tuple[Diagnostic, ...] = ()
    """Findings about pictures and labels that cannot be read."""
    fingerprint: Fingerprint
    """The fingerprint before and after reading."""

    def forget(self) -> None:
        """Release the memory of mapped pages; they are read again on access."""
        for text in (self.reviews, self.insights):
            if isinstance(text, mmap.mmap):
                text.madvise(mmap.MADV_DONTNEED)


class Unsettled(Exception):  # noqa: N818 - a state of the files, not an error: read them later
    """A file changed while it was read."""


NO_FILES = Fingerprint(reviews=None, insights=None)
"""The fingerprint of an empty data directory."""


def fingerprint(data_dir: Path, templates_dir: Path | None = None) -> Fingerprint:
    """Take the fingerprint of the data directory and of the operator's templates.

    A file that cannot be stated counts as absent.
    """
    return Fingerprint(
        reviews=_look(data_dir / REVIEWS_FILE),
        insights=_look(data_dir / INSIGHTS_FILE),
        settings=_look(data_dir / SETTINGS_FILE),
        labels=_look(data_dir / LABELS_FILE),
        corrections=_look(data_dir / CORRECTIONS_FILE),
        has_corrections_log=has_corrections_log(data_dir),
        templates=_template_fingerprints(templates_dir),
        logos=_fingerprints(data_dir, LOGO_FILES),
    )


def template_files(folder: Path) -> list[Path]:
    """Return the templates of a folder."""
    return [path for name in _template_names(folder) if (path := folder / name).is_file()]


def _template_names(folder: Path) -> list[str]:
    """Return the names of the templates of a folder, sorted, without hidden files of editors."""
    try:
        names = (path.name for path in folder.iterdir())
        return sorted(filter(_is_template, names))[:_MAX_TEMPLATES]
    except OSError:
        return []


def _is_template(name: str) -> bool:
    return name.endswith(TEMPLATE_ENDINGS) and not name.startswith(".")


def read(
    data_dir: Path,
    max_bytes: int = MAX_BYTES,
    copies: Path | None = None,
    templates_dir: Path | None = None,
) -> Sources:
    """Read each file once.

    Args:
        data_dir: The folder of reviews.json and the optional files.
        max_bytes: Limit for each of the JSON files.
        copies: Folder for copies of large files, which are mapped: they take no memory, and later
            writes do not change them. The copies have no names. None reads files into memory.
        templates_dir: The folder of the operator's templates.

    Raises:
        DataError: A file is absent, not a regular file, not readable, or larger than the limit.
        Unsettled: A file changed meanwhile; raised in preference to DataError.
        OSError: The system cannot read the files at present.
    """
    before = fingerprint(data_dir, templates_dir)
    contents: dict[str, RecordText] = {}
    findings: list[Diagnostic] = []
    for name, file, limit in (
        (REVIEWS_FILE, before.reviews, max_bytes),
        (INSIGHTS_FILE, before.insights, max_bytes),
        (SETTINGS_FILE, before.settings, _MAX_SETTINGS),
        (CORRECTIONS_FILE, before.corrections, max_bytes),
    ):
        try:
            contents[name] = _content(data_dir / name, file, limit, copies)
        except DataError as error:
            if name == REVIEWS_FILE or not isinstance(error.__cause__, FileNotFoundError):
                findings.extend(error.findings)
    templates = _templates(templates_dir, before.templates, findings)
    logos, left_out = _logos(data_dir, before.logos)
    labels = b""
    try:
        if before.labels is not None:
            labels = bytes(_content(data_dir / LABELS_FILE, before.labels, max_bytes))
    except DataError as error:
        reason = f"{error.findings[0].reason}; rules read the reviews"
        left_out.append(Diagnostic(file=LABELS_FILE, reason=reason))
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
        labels=labels,
        templates=templates,
        logos=logos,
        left_out=tuple(left_out),
        fingerprint=before,
    )


def read_templates(folder: Path | None) -> Mapping[str, str]:
    """Read the operator's templates, by name.

    Raises:
        DataError: A template is invalid or cannot be read.
        Unsettled: A template changed meanwhile.
        OSError: The system cannot read the files at present.
    """
    findings: list[Diagnostic] = []
    templates = _templates(folder, _template_fingerprints(folder), findings)
    if findings:
        raise DataError(tuple(findings))
    return templates


def _template_fingerprints(folder: Path | None) -> dict[str, FileFingerprint]:
    return {} if folder is None else _fingerprints(folder, _template_names(folder))


def _fingerprints(folder: Path, names: Iterable[str]) -> dict[str, FileFingerprint]:
    """Return the fingerprints of the files that exist, by name."""
    fingerprints = {name: _look(folder / name) for name in names}
    return {name: value for name, value in fingerprints.items() if value is not None}


def _templates(
    folder: Path | None, fingerprints: Mapping[str, FileFingerprint], findings: list[Diagnostic]
) -> Mapping[str, str]:
    """Read the operator's templates, and add findings about invalid ones.

    Raises:
        Unsettled: A template changed meanwhile.
        OSError: The system cannot read the files at present.
    """
    if folder is None:
        return {}
    if not folder.is_dir():
        reason = f"cannot read {folder}: no such folder"
        findings.append(Diagnostic(file="pages.templates_dir", reason=reason))
    texts: dict[str, str] = {}
    for name, fingerprint in fingerprints.items():
        try:
            texts[name] = bytes(_content(folder / name, fingerprint, MAX_TEMPLATE)).decode()
        except DataError as error:
            findings.extend(error.findings)
        except UnicodeDecodeError as error:
            findings.append(Diagnostic(file=name, reason=f"not UTF-8 at byte {error.start}"))
    return texts


def _logos(
    data_dir: Path, fingerprints: Mapping[str, FileFingerprint]
) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """Read the pictures, and return findings about those that cannot be read.

    Raises:
        Unsettled: A picture changed meanwhile.
        OSError: The system cannot read the files at present.
    """
    contents: dict[str, bytes] = {}
    left_out: list[Diagnostic] = []
    folder = os.fsencode(os.path.realpath(data_dir)).decode(errors="backslashreplace")
    for name, fingerprint in fingerprints.items():
        if not Path(fingerprint.realpath).is_relative_to(folder):
            left_out.append(pictures.left_out(name, "leads out of the data directory"))
            continue
        try:
            contents[name] = bytes(_content(data_dir / name, fingerprint, pictures.MAX_BYTES))
        except DataError as error:
            left_out += [pictures.left_out(name, finding.reason) for finding in error.findings]
    return contents, left_out


def _look(path: Path) -> FileFingerprint | None:
    real = os.path.realpath(path)
    try:
        status = Path(real).stat()  # not the path: it and the status must be of the same file
    except OSError:
        return None
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
    path: Path, fingerprint: FileFingerprint | None, max_bytes: int, copies: Path | None = None
) -> RecordText:
    """Read the file of a fingerprint, at most up to its size.

    Raises:
        DataError: It cannot be read until it changes, or is too large.
        Unsettled: It changed meanwhile.
        OSError: The system cannot read it at present.
    """
    try:
        # Without O_NONBLOCK, open would block forever on a FIFO without a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        if error.errno not in _LASTING:
            raise
        reason = f"cannot read: {error.strerror}"
        if path.name == REVIEWS_FILE and error.errno == errno.ENOENT and not path.is_symlink():
            reason = (
                _MISSING if path.parent.is_dir() else f"there is no folder {path.parent} (data_dir)"
            )
        raise _refused(path, reason) from error
    try:
        status = os.fstat(descriptor)
        # A link that is swapped and restored meanwhile does not change the fingerprints, so check
        # that the open file is the one of the fingerprint.
        if fingerprint is None or (status.st_dev, status.st_ino) != (
            fingerprint.device,
            fingerprint.inode,
        ):
            raise Unsettled
        if not stat.S_ISREG(status.st_mode):
            raise _refused(path, "cannot read: not a regular file")
        if status.st_size > max_bytes:
            raise _refused(path, f"larger than {max_bytes} bytes")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            # Read no more than the size: appended bytes change the fingerprint.
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
