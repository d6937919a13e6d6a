"""What a snapshot folder holds, for the process that writes it and those that map it.

    manifest.json      what is here: documents, counts, size and digest of every file
    seen.json          when it was made and from what: the only file that a clock has a part in
    reviews.json ...   the documents, byte for byte as they are served, their gzip forms, and, of small
                       ones that MCP serves, the JSON strings of their texts
    *.column           flat arrays of native integers, and texts, for ``snapshot.search``; what agents
                       are answered with (``snapshot.fragment_store``, ``publish.excerpts``)

The manifest is a function of the data, ``base_url`` and the program; its digest is the folder's
name. The arrays are in this machine's byte order: a snapshot is rebuilt, never carried elsewhere.
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

LAYOUT = 12
"""Raised when an older program could not read the folder, or a newer one not this."""

GZIP = ".gz"
"""What the gzip form of a file is called more."""

QUOTED = ".quoted"
"""What a file is called more that holds a document as a JSON string, for ``resources/read``."""

CURRENT = "current"
"""The link to the folder that is served."""

MANIFEST, SEEN = "manifest.json", "seen.json"

DAYS, RECORDS, TEXTS, TEXT_OFFSETS = (
    "days.column",
    "records.column",
    "texts.column",
    "text_offsets.column",
)
CHANGES = "changes.column"
"""The numbers of all reviews in the order in which they last changed (``snapshot.changes``)."""

SET_KEYS, SET_TABLE, SETS = "set_keys.column", "set_table.column", "sets.column"

EXCERPTS, EXCERPT_OFFSETS = "excerpts.column", "excerpt_offsets.column"

FRAGMENTS, FRAGMENT_OFFSETS = "fragments.column", "fragment_offsets.column"

DIGESTS, CHAIN = "digests.column", "chain.column"
"""What entity tags of computed answers are made of (``snapshot.digests``)."""

IDS = "ids.column"
"""The positions of all reviews in the order of their casefolded ids."""

INSIGHT_SPANS = "insight_spans.column"
"""By position: where in ``insights.json`` the review's entry of ``per_review`` begins and ends; equal
where it has none. Only with insights."""

FEED = "feed_frame.json"
"""What pages of the feeds that are made for a request are put together from (``publish.feed``)."""

PAGES = "pages.json"
"""What pages that are made for a request are put together from (``pages.frames``); not where there are none."""

GONE = "gone.json"
"""The reviews whose pages are gone (``GoneReviews``); not where there are none."""

BLOCKS = "blocks.column"
"""What the analyser found and counted, for the next publication (``publish.counted_blocks``). Only where the
insights were made; nothing of it is served, so the manifest does not list it."""

REVIEW_BLOCKS = "review_blocks.column"
"""Where blocks of reviews stand in the folder, for the next publication (``publish.review_blocks``). Nothing of
it is served either."""

CHECKED_RUNS = "checked_runs.column"
"""Which reviews were found valid, for the next publication (``publish.checked_runs``)."""

KEPT = (BLOCKS, REVIEW_BLOCKS, CHECKED_RUNS)
"""All that is kept for the next publication alone."""

SET_FIELDS = 5
"""Numbers in a row of the set table: begin and end of the key, begin and end of the set, and what it
is: a Roaring bitmap of numbers, or names, as JSON, of which each fits the key."""

NUMBERS, NAMES = range(2)
"""The last of them."""

_PART = 1 << 18  # bytes

_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def exhausted(error: Exception) -> bool:
    """Whether descriptors or memory have run out: that says nothing of the folder."""
    return isinstance(error, OSError) and error.errno in _EXHAUSTED


class Document(Struct, frozen=True, kw_only=True):
    """A resource with a fixed address, rendered."""

    path: str
    media_type: str
    file: str
    sha256: str
    compressed: bool
    """Whether its gzip form stands beside it; not where compression does not pay."""
    headers: dict[str, str] = {}
    """Header fields of its own, which take the place of the usual ones."""
    others: dict[str, str] = {}
    """By media type: the path of the document that is answered to an Accept that prefers it."""

    @property
    def tag(self) -> str:
        """22 characters of the digest: the entity tag without quotes and coding (S10)."""
        return urlsafe_b64encode(bytes.fromhex(self.sha256)).decode()[:22]


class File(Struct, frozen=True, kw_only=True):
    """A file of the folder as it must be found again."""

    size: int
    sha256: str


class SegmentFile(Struct, frozen=True, kw_only=True):
    """A segment of the reviews (``snapshot.numbering``)."""

    reviews: int
    """How many it has."""
    index: str | None
    """The file with the index of its texts (``snapshot.suffix_array``); None where it is small."""


class Manifest(Struct, frozen=True, kw_only=True):
    """What the folder holds. The same data gives the same manifest."""

    layout: int = LAYOUT
    base_url: str
    review_count: int
    updated_at: str | None
    insights: bool
    insights_origin: InsightsOrigin | None = None
    """None where there is no insights.json and none are to be made."""
    documents: tuple[Document, ...]
    files: dict[str, File]
    segments: tuple[SegmentFile, ...]
    """Newest first."""
    sections: dict[str, tuple[int, int]]
    """By name: the first row and the one after the last (``snapshot.fragment_store``)."""


class GoneReviews(Struct, frozen=True, kw_only=True):
    """The reviews that were here, or that must not be (corrections.md)."""

    ids: frozenset[str]
    keys: frozenset[str]
    """Merge keys (``domain.corrections``)."""


class FileFingerprint(Struct, frozen=True, kw_only=True):
    """What the file system says about one file; equal means not replaced and not written."""

    realpath: str
    """Symbolic links resolved: a swapped link shows here even when the files are alike."""
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    """Moves with every write, chmod and rename; unlike mtime, nobody can set it back."""


class Fingerprint(Struct, frozen=True, kw_only=True):
    """All files as one unit. Stored as JSON beside a snapshot, compared only for equality."""

    reviews: FileFingerprint | None
    """None when there is no such file, or the file system would not say."""
    insights: FileFingerprint | None
    settings: FileFingerprint | None = None
    """Of insights.yaml."""
    corrections: FileFingerprint | None = None
    templates: dict[str, FileFingerprint] = {}
    """Of the operator's templates, by name."""


class BuildInfo(Struct, frozen=True, kw_only=True):
    """How the folder came to be."""

    fingerprint: Fingerprint = msgspec.field(name="signature")
    """Of the files that it was made from; called as earlier versions of the program call it."""
    build_key: str
    """What else went into it: settings and program version."""
    published_at: float
    """POSIX seconds."""
    first_seen: dict[str, int]
    """By path: when these very bytes first appeared here, POSIX seconds; the Last-Modified."""


class Writer:
    """Writes one file of the folder and knows its size and digest.

    Many small parts are collected: to hash and write each by itself takes five times as long.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._file: BinaryIO = (folder / name).open("xb")
        self._digest = hashlib.sha256()
        self._collected = bytearray()
        self.size = 0

    def write(self, part: "bytes | bytearray | memoryview[int]") -> None:
        """Append a part."""
        self.size += len(part)
        if len(part) < _PART:
            self._collected += part
            if len(self._collected) >= _PART:
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
        """Let others read what was written."""
        self._write_collected()
        self._file.flush()

    def close(self) -> File:
        """End the file."""
        self._write_collected()
        self._file.close()
        return File(size=self.size, sha256=self._digest.hexdigest())


def write(folder: Path, name: str, content: "bytes | memoryview[int]") -> File:
    """Write a whole file."""
    writer = Writer(folder, name)
    writer.write(content)
    return writer.close()


def open_manifest(path: Path) -> Manifest | None:
    """The manifest of a snapshot folder, None where there is none that we can read.

    Raises:
        OSError: Nothing can be read now (``exhausted``).
    """
    manifest = _decoded(path / MANIFEST, Manifest)
    return manifest if manifest is not None and manifest.layout == LAYOUT else None


def open_seen(path: Path) -> BuildInfo | None:
    """How a snapshot folder came to be, None where that cannot be read.

    Raises:
        OSError: Nothing can be read now (``exhausted``).
    """
    return _decoded(path / SEEN, BuildInfo)


def _decoded(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, ValueError) as error:  # msgspec's errors, and that of bytes that are not UTF-8
        if exhausted(error):
            raise
        return None
