"""The files of the data directory: what they look like from outside, and their bytes.

``signature`` asks the file system, never the content, so it may be taken every second. ``read``
takes the bytes once and only gives them back when nothing moved meanwhile. Both block: call them in
a thread or in the publishing process. Sources: contract 1, security-and-operations.md R1 to R3.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import msgspec

from reviewsd.domain.findings import DataError, Finding
from reviewsd.domain.dataset import INSIGHTS_FILE, REVIEWS_FILE


class FileSignature(msgspec.Struct, frozen=True, kw_only=True):
    """What the file system says about one file; equal means not replaced and not written."""

    realpath: str
    """Symbolic links resolved: a swapped link shows here even when the files are alike."""
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    """Moves with every write, chmod and rename; unlike mtime, nobody can set it back."""


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """Both files as one unit. Stored as JSON beside a snapshot, compared only for equality."""

    reviews: FileSignature | None
    """None when there is no such file, or the file system would not say."""
    insights: FileSignature | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The content of the data directory at one moment."""

    reviews: bytes
    insights: bytes | None
    """None when there is no insights.json."""
    signature: Signature
    """Taken before reading and found unchanged after it."""


class Unsettled(Exception):  # noqa: N818 - a state of the files, not a fault: read again later
    """The files moved while they were read."""


def signature(data_dir: Path) -> Signature:
    """The signature of the data directory; any failure of the file system counts as absence."""
    return Signature(
        reviews=_look(data_dir / REVIEWS_FILE), insights=_look(data_dir / INSIGHTS_FILE)
    )


def read(data_dir: Path, max_bytes: int) -> Sources:
    """The bytes of both files, each read exactly once.

    Args:
        data_dir: Where reviews.json is, and insights.json may be.
        max_bytes: Limit for each of the files (``data.max_bytes``).

    Raises:
        DataError: A file cannot be read, or is no regular file, or is larger than the limit.
        Unsettled: Something moved meanwhile. It comes before DataError: a fault of files in
            motion says nothing about the files.
    """
    before = signature(data_dir)
    contents: dict[str, bytes] = {}
    findings: list[Finding] = []
    for name, seen in ((REVIEWS_FILE, before.reviews), (INSIGHTS_FILE, before.insights)):
        try:
            contents[name] = _content(data_dir / name, seen, max_bytes)
        except DataError as refusal:
            findings.extend(refusal.findings)
        except OSError as error:
            if name == REVIEWS_FILE or not isinstance(error, FileNotFoundError):
                reason = f"cannot read: {error.strerror}"
                findings.append(Finding(file=name, path="", reason=reason))
    if signature(data_dir) != before:
        raise Unsettled
    if findings:
        raise DataError(tuple(findings))
    return Sources(
        reviews=contents[REVIEWS_FILE], insights=contents.get(INSIGHTS_FILE), signature=before
    )


def _look(path: Path) -> FileSignature | None:
    real = os.path.realpath(path)
    try:
        # The resolved path, so that both halves of the answer are about the same file.
        return _file_signature(real, Path(real).stat())
    except OSError:
        return None


def _file_signature(real: str, status: os.stat_result) -> FileSignature:
    return FileSignature(
        # A path need not be UTF-8, JSON must be.
        realpath=os.fsencode(real).decode(errors="backslashreplace"),
        device=status.st_dev,
        inode=status.st_ino,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
    )


def _content(path: Path, seen: FileSignature | None, max_bytes: int) -> bytes:
    """The bytes of the file that was seen, at most as many as it had then."""
    # An open without O_NONBLOCK waits for ever on a FIFO that nobody writes to.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        status = os.fstat(descriptor)
        # The file opened must be the one seen: a link swapped there and back again in the middle
        # of it all would leave the signatures before and after alike.
        if seen is None or (status.st_dev, status.st_ino) != (seen.device, seen.inode):
            raise Unsettled
        if not stat.S_ISREG(status.st_mode):
            raise _refused(path, "cannot read: not a regular file")
        if status.st_size > max_bytes:
            raise _refused(path, f"larger than {max_bytes} bytes")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            # Never more than was measured: what a file gains meanwhile shows in its signature.
            return file.read(status.st_size)
    finally:
        os.close(descriptor)


def _refused(path: Path, reason: str) -> DataError:
    return DataError((Finding(file=path.name, path="", reason=reason),))
