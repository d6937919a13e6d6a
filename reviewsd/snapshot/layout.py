"""The files of a snapshot folder, for the process that writes it and those that map it.

    manifest.json      documents, counts, size and digest of each file that is served
    seen.json          the time and the sources of the publication; no other file depends on a clock
    reviews.json ...   the served bytes of each document, their gzip form (.gz), and of small documents
                       that MCP serves their text as a JSON string (.quoted)
    feed_frame.json    the parts of the computed pages of the feeds (``publish.feed``)
    pages.json         the parts of the computed pages (``pages.frames``), if pages are enabled
    gone.json          ``GoneReviews``, if there are any
    *.column           flat arrays of native integers, and the data in which *_offsets are offsets

    days, records      the date of each review, and its offset in reviews.json, by position
    changes            the numbers of all reviews in the order of their last change
    ids                the positions of all reviews in the order of their casefolded ids
    texts, sets        for ``snapshot.search``; digests, chain for ``snapshot.digests``
    insight_spans      begin and end of each review's entry of ``per_review`` in insights.json, by
                       position; equal if there is no entry
    suffixes-*         the index of the texts of a segment (``snapshot.suffix_array``)
    excerpts           the reviews in lists for agents (``publish.excerpts``)
    fragments          pieces of the insights for agents (``snapshot.fragment_store``)
    blocks             the analyser's results, if the insights were made (``publish.kept_blocks``)

The manifest is a function of the data, ``base_url`` and the program; its digest is the folder's
name. The arrays are in this machine's byte order: a snapshot is rebuilt, never moved to another machine.
"""

import errno
import hashlib
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec
from msgspec import Struct

from reviewsd.api.jobs import InsightsOrigin

T = TypeVar("T")

LAYOUT = 17  # is increased when other versions cannot read a changed format

MANIFEST, SEEN = "manifest.json", "seen.json"

GZIP, QUOTED = ".gz", ".quoted"
"""Suffixes of the gzip form of a file, and of a document as a JSON string for ``resources/read``."""

CURRENT = "current"  # the link to the folder that is served

DAYS, RECORDS, CHANGES, IDS = "days.column", "records.column", "changes.column", "ids.column"
TEXTS, TEXT_OFFSETS = "texts.column", "text_offsets.column"
SETS, SET_OFFSETS = "sets.column", "set_offsets.column"
EXCERPTS, EXCERPT_OFFSETS = "excerpts.column", "excerpt_offsets.column"
FRAGMENTS, FRAGMENT_OFFSETS = "fragments.column", "fragment_offsets.column"
DIGESTS, CHAIN = "digests.column", "chain.column"
INSIGHT_SPANS = "insight_spans.column"
FEED, PAGES, GONE = "feed_frame.json", "pages.json", "gone.json"

BLOCKS = "blocks.column"
"""The file that only the next publication reads. It is not served, so the manifest does not list it."""

_BUFFER_SIZE = 1 << 18  # bytes up to which small parts are collected

_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def exhausted(error: Exception) -> bool:
    """Return whether an OSError means that descriptors or memory are exhausted, not that the folder is broken."""
    return isinstance(error, OSError) and error.errno in _EXHAUSTED


class Document(Struct, frozen=True, kw_only=True):
    """A resource with a fixed address, rendered."""

    path: str
    media_type: str
    file: str
    sha256: str
    compressed: bool
    """Whether there is a gzip form; there is none if it would save little."""
    headers: dict[str, str] = {}
    """Header fields that replace the usual ones."""
    others: dict[str, str] = {}
    """The paths of the same resource in other media types, by media type."""

    @property
    def tag(self) -> str:
        """The entity tag without quotes and coding: 22 characters of the digest (S10)."""
        return urlsafe_b64encode(bytes.fromhex(self.sha256)).decode()[:22]


class File(Struct, frozen=True, kw_only=True):
    """The size and digest of a file."""

    size: int
    sha256: str


class SegmentFile(Struct, frozen=True, kw_only=True):
    """A segment of the reviews (``snapshot.numbering``)."""

    reviews: int
    index: str | None
    """The file with the index of its texts (``snapshot.suffix_array``); None if it is small."""


class Manifest(Struct, frozen=True, kw_only=True):
    """The contents of the folder. The same data gives the same manifest."""

    layout: int = LAYOUT
    base_url: str
    review_count: int
    updated_at: str | None
    insights: bool
    insights_origin: InsightsOrigin | None = None  # None if there are no insights
    documents: tuple[Document, ...]
    files: dict[str, File]
    segments: tuple[SegmentFile, ...]  # newest first


class GoneReviews(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The reviews that are no longer published, and those that must not be published (corrections.md)."""

    ids: frozenset[str]
    keys: frozenset[
        str
    ]  # merge keys of erased reviews, whose ids are not known (``domain.corrections``)


class FileFingerprint(Struct, frozen=True, kw_only=True):
    """The status of one file; while it is equal, the file counts as unchanged."""

    realpath: str  # changes if a link is pointed at another file, even a hard link of the same
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int  # changes with each write, chmod and rename; unlike mtime, it cannot be set


class Fingerprint(Struct, frozen=True, kw_only=True):
    """The status of all source files. It is stored with a snapshot, and compared for equality."""

    reviews: FileFingerprint | None
    """None if the file does not exist or cannot be examined."""
    insights: FileFingerprint | None
    settings: FileFingerprint | None = None  # insights.yaml
    labels: FileFingerprint | None = None  # insights.labels
    corrections: FileFingerprint | None = None
    has_corrections_log: bool = False
    """Whether the owner has decided about reviews, so that a missing corrections.json is lost."""
    templates: dict[str, FileFingerprint] = {}  # the operator's, by name
    logos: dict[str, FileFingerprint] = {}  # pictures in the data directory, by name


class BuildInfo(Struct, frozen=True, kw_only=True):
    """The sources and times of a publication."""

    fingerprint: Fingerprint = msgspec.field(name="signature")
    """The fingerprint of the source files; its name in the file is that of earlier versions."""
    build_key: str  # of the settings and the version of the program
    published_at: float  # POSIX seconds
    first_seen: dict[str, int]
    """When the bytes of each document first appeared, POSIX seconds by path; sent as Last-Modified."""


class Writer:
    """Writes one file of the folder, and computes its size and digest.

    Small parts are collected, because hashing and writing them one by one takes five times as long.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._file: BinaryIO = (folder / name).open("xb")
        self._digest = hashlib.sha256()
        self._collected = bytearray()
        self.size = 0

    def write(self, part: "bytes | bytearray | memoryview[int]") -> None:
        """Append a part."""
        size = memoryview(part).nbytes  # of an array of integers ``len`` is another
        self.size += size
        if size < _BUFFER_SIZE:
            self._collected += part
            if len(self._collected) >= _BUFFER_SIZE:
                self._write_collected()
        else:
            self._write_collected()
            self._file.write(part)
            self._digest.update(part)

    def _write_collected(self) -> None:
        self._file.write(self._collected)
        self._digest.update(self._collected)
        self._collected.clear()

    def flush(self) -> None:
        """Make the written parts visible to readers of the file."""
        self._write_collected()
        self._file.flush()

    def close(self) -> File:
        """Close the file; return its size and digest."""
        self._write_collected()
        self._file.close()
        return File(size=self.size, sha256=self._digest.hexdigest())


def write(folder: Path, name: str, content: "bytes | memoryview[int]") -> File:
    """Write a whole file."""
    writer = Writer(folder, name)
    writer.write(content)
    return writer.close()


def open_manifest(path: Path) -> Manifest | None:
    """Return the manifest of a snapshot folder; None if it is unreadable or of another layout."""
    manifest = _decoded(path / MANIFEST, Manifest)
    return manifest if manifest is not None and manifest.layout == LAYOUT else None


def open_seen(path: Path) -> BuildInfo | None:
    """Return the sources and times of a snapshot folder; None if they cannot be read."""
    return _decoded(path / SEEN, BuildInfo)


def _decoded(path: Path, kind: type[T]) -> T | None:
    """Return the content of a file; None if it cannot be read, unless resources are exhausted."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, ValueError) as error:  # ValueError: of msgspec, or not UTF-8
        if exhausted(error):
            raise
        return None
