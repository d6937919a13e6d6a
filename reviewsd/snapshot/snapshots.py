"""Published snapshots, mapped into memory, and the current one among them.

A snapshot of any size is opened in milliseconds: files are mapped, and only the manifest is decoded. One that is
no longer current exists until no response reads from it, even if its folder has been removed (contract 1).
"""

import datetime
import mmap
import time
from bisect import bisect_left
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path

import msgspec
from twisted.logger import Logger

from reviewsd.api.texts import merge_key
from reviewsd.domain.insights_file import INSIGHTS_FILE
from reviewsd.domain.naming import mention_key
from reviewsd.domain.search_query import NEWEST, Cursor, SearchQuery
from reviewsd.http1.representation import Rendered
from reviewsd.runtime.counters import Counts
from reviewsd.snapshot import layout
from reviewsd.snapshot.columns import FEW_REVIEWS, Columns, read_column
from reviewsd.snapshot.digests import Digests
from reviewsd.snapshot.fragment_store import FragmentStore
from reviewsd.snapshot.layout import Document, GoneReviews, open_manifest, open_seen
from reviewsd.snapshot.records import Excerpts
from reviewsd.snapshot.search import Hits, date_range, search


class SnapshotError(Exception):
    """A snapshot folder is missing or damaged; the message has the reason."""


class Snapshot:
    """One published state of the data, in a folder.

    Raises:
        SnapshotError: The folder is missing or damaged.
        OSError: Descriptors or memory are exhausted.
    """

    def __init__(self, path: Path) -> None:
        manifest, build = open_manifest(path), open_seen(path)
        if manifest is None or build is None:
            raise SnapshotError(f"{path} is no snapshot of this version")
        self.revision, self.manifest, self.build = path.name, manifest, build
        try:
            self._open(path)
        except (KeyError, TypeError, ValueError, OSError) as error:
            if layout.exhausted(error):
                raise
            raise SnapshotError(f"{path} is damaged: {error!r}") from error

    def _open(self, path: Path) -> None:
        manifest, build = self.manifest, self.build
        files = {name: _map(path / name, file.size) for name, file in manifest.files.items()}
        self.documents: Mapping[str, Rendered] = {
            document.path: _rendered(document, files, build.first_seen.get(document.path))
            for document in manifest.documents
        }
        self.columns = Columns.open(manifest, files)
        self.records, self.sets = self.columns.records, self.columns.sets
        excerpt_begins = read_column(files, layout.EXCERPT_OFFSETS, "Q")
        self.excerpts = Excerpts(files[layout.EXCERPTS], excerpt_begins)
        few = manifest.review_count <= FEW_REVIEWS
        self.digests = Digests(files[layout.DIGESTS], files[layout.CHAIN], few=few)
        offsets = read_column(files, layout.FRAGMENT_OFFSETS, "Q")
        self.sections = FragmentStore(files[layout.FRAGMENTS], offsets)
        self.feed = files[layout.FEED]
        self.pages = files.get(layout.PAGES)
        """None without pages."""
        self._ids = files[layout.IDS].cast("I")
        self._gone_reviews = _gone_reviews.decode(files.get(layout.GONE, _NONE_GONE))
        self._insights, self._insight_spans = memoryview(b""), memoryview(b"").cast("Q")
        if manifest.insights:
            self._insights = files[INSIGHTS_FILE]
            self._insight_spans = files[layout.INSIGHT_SPANS].cast("Q")

    def insight(self, position: int) -> "memoryview[int] | None":
        """Return a review's entry of ``per_review`` in ``/insights.json``; None without one."""
        if not self._insight_spans:
            return None
        begin, end = self._insight_spans[2 * position : 2 * position + 2]
        return self._insights[begin:end] if begin < end else None

    def position(self, review_id: str) -> int | None:
        """Return the position of an id; the case matters only if ids differ by nothing else."""
        key, match = mention_key(review_id), None
        for place in range(self._place(key), len(self._ids)):
            position = self._ids[place]
            candidate = self.records.id_at(position)
            if candidate.casefold() != key:
                break
            if match is None or candidate == review_id.strip():
                match = position
        return match

    def is_gone(self, review_id: str) -> bool:
        """Return whether a review was published before, or must not be published."""
        gone = self._gone_reviews
        return review_id in gone.ids or merge_key(review_id) in gone.keys

    def neighbors(self, review_id: str) -> Sequence[int]:
        """Return the positions of the reviews before and after an id, in the order of ids."""
        place = self._place(mention_key(review_id))
        return self._ids[max(0, place - 1) : place + 1]

    def _place(self, key: str) -> int:
        id_at = self.records.id_at
        return bisect_left(self._ids, key, key=lambda position: id_at(position).casefold())

    def since(self, date: datetime.date) -> tuple[int, "memoryview[int]"]:
        """Return the number of reviews dated on or after a day, and these reviews, separated by commas."""
        _, count = date_range(self.columns, date, None)
        return count, self.records.run(range(count))

    def search(self, query: SearchQuery) -> Generator[None, None, Hits]:
        """Return one page of matches (``snapshot.search``)."""
        return search(self.columns, query)

    def cursor(self, hits: Hits, sort: str = NEWEST) -> Cursor | None:
        """Return the cursor of the next page; None on the last."""
        if not hits.more:
            return None
        return self.records.cursor_at(hits.positions[-1], sort)


_gone_reviews = msgspec.json.Decoder(GoneReviews)
_NONE_GONE = b'{"ids":[],"keys":[]}'


class Snapshots:
    """The current snapshot, which a symbolic link names.

    ``dispose`` empties a list, in production in a thread: unmapping deleted files takes 50 ms.
    """

    _log = Logger()

    def __init__(
        self, root: Path, dispose: "Callable[[list[Snapshot]], object]" = list.clear
    ) -> None:
        self._root = root
        self._dispose = dispose
        self._current: Snapshot | None = None
        self._observers: list[Callable[[Snapshot], None]] = []
        self._damaged = False
        self._logged = ""  # the last warning in the log

    @property
    def current(self) -> Snapshot:
        """The snapshot to serve; a ``SnapshotError`` if nothing is published yet."""
        if self._current is None:
            raise SnapshotError(f"nothing is published in {self._root}")
        return self._current

    @property
    def empty(self) -> bool:
        """Whether there is nothing to serve."""
        return self._current is None

    @property
    def stale(self) -> bool:
        """Whether the link names another snapshot than the current one; this is fast."""
        try:
            name = (self._root / layout.CURRENT).readlink().name
        except OSError:  # the link is being replaced
            return self.empty
        return self.empty or name != self.current.revision

    @property
    def deleted(self) -> bool:
        """Whether the folder of the current snapshot was deleted, so that it is only in memory."""
        return not (self.empty or (self._root / layout.CURRENT / layout.MANIFEST).exists())

    def gauges(self) -> Counts:
        """Return the size and the age of the current snapshot for the metrics (O9)."""
        if self._current is None:
            return {}
        return {
            "reviews": self._current.manifest.review_count,
            "snapshot_age_seconds": max(time.time() - self._current.build.published_at, 0.0),
        }

    def observe(self, observer: Callable[[Snapshot], None]) -> None:
        """Call an observer with each new snapshot, and with the current one at once."""
        self._observers.append(observer)
        if self._current is not None:
            observer(self._current)

    def refresh(self) -> None:
        """Open the snapshot that the link names, and make it current."""
        link = self._root / layout.CURRENT
        try:
            new = Snapshot(link.resolve(strict=True))
        except SnapshotError as error:
            self._damaged = True
            self._warn(f"{error}; a new one is made of the data")
            return
        except OSError as error:  # nothing is published yet, or the link was just replaced
            if layout.exhausted(error):
                self._warn(f"the new snapshot cannot be opened: {error.strerror}")
            return
        self._damaged, self._logged = False, ""
        old = [] if self._current is None else [self._current]
        changed = [snapshot.revision for snapshot in old] != [new.revision]
        self._current = new
        if changed:
            for observer in self._observers:
                observer(new)
        self._dispose(old)

    def _warn(self, text: str) -> None:
        if text != self._logged:
            self._logged = text
            self._log.warn("{text}", text=text)

    def discard_damaged(self) -> None:
        """Remove the link to a damaged snapshot, so that the next publication makes a new one.

        A publication would reuse a folder with damaged files and an intact manifest. A snapshot of another
        version is not removed, so that a downgrade can use it.
        """
        link = self._root / layout.CURRENT
        if self._damaged and self._current is None and open_manifest(link) is not None:
            link.unlink()


def _map(path: Path, size: int) -> "memoryview[int]":
    with path.open("rb") as file:
        actual = path.stat().st_size
        if actual != size:
            raise SnapshotError(f"{path} has {actual} bytes, not {size}")
        if not size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))


def _rendered(
    document: Document, files: Mapping[str, "memoryview[int]"], last_modified: int | None
) -> Rendered:
    return Rendered(
        body=files[document.file],
        gzip=files[document.file + layout.GZIP] if document.compressed else None,
        media_type=document.media_type.encode(),
        etag=b'"%s"' % document.tag.encode(),
        last_modified=last_modified,
        quoted=files.get(document.file + layout.QUOTED),
        headers=document.headers,
        others=document.others,
    )
