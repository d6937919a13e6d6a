"""Compiles a Dataset into the files of a snapshot folder: documents, their gzip forms, and columns.

Deterministic: no clock, no environment; the same dataset and settings give the same bytes.
"""

import array
import mmap
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import repeat
from pathlib import Path
from urllib.parse import quote

import msgspec

from reviewsd.api.jobs import InsightsOrigin
from reviewsd.domain.dataset import REVIEWS_FILE, Dataset
from reviewsd.domain.insights_file import INSIGHTS_FILE, InsightsFile
from reviewsd.domain.locations import Locations
from reviewsd.domain.records import Progress
from reviewsd.domain.reviews import Review
from reviewsd.domain.search_query import Cursor
from reviewsd.http1 import urls
from reviewsd.pages import machines, publication, reviews
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.environment import TemplateSources
from reviewsd.pages.locales import words_of_insights
from reviewsd.pages.rendering import Renderer
from reviewsd.pages.site import Statistics
from reviewsd.publish import atom, documents, excerpts, feed, fragments, json_feed
from reviewsd.publish import site as sites
from reviewsd.publish.compression import Compressor
from reviewsd.publish.feed import FeedFrame, FeedPage
from reviewsd.publish.messages import CompileSettings
from reviewsd.publish.openapi import document
from reviewsd.snapshot import layout
from reviewsd.snapshot.columns_writer import ColumnsWriter
from reviewsd.snapshot.digests import DigestsWriter
from reviewsd.snapshot.fragment_store import FragmentsWriter
from reviewsd.snapshot.layout import Document, File, GoneReviews, Manifest, SegmentFile, Writer
from reviewsd.snapshot.mentions import MentionIndex, mention_positions
from reviewsd.snapshot.text_index_writer import SegmentsWriter

JSON = "application/json"

_OPENAPI_FILE = "openapi.json"

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder(Review).decode

_CHUNK = 1 << 20
_BATCH = 250  # reviews that are rendered before they are written
_STEP = 10_000  # reviews between two steps of progress, a multiple of the above


def compile_folder(
    dataset: Dataset,
    settings: CompileSettings,
    target: Path,
    progress: Progress,
    origin: InsightsOrigin | None = None,
    templates: TemplateSources | None = None,
    earlier: Path | None = None,
) -> Manifest:
    """Write the documents and columns of a dataset into an empty folder.

    Args:
        dataset: The dataset.
        settings: The settings.
        target: The folder.
        progress: Called with the number of reviews written so far.
        origin: The origin of the insights.
        templates: The operator's templates, used in addition to the shipped ones.
        earlier: The folder of the last snapshot, for its text indexes; it may not exist.

    Raises:
        TemplateError: A template is invalid.
    """
    with ThreadPoolExecutor(max_workers=1) as threads:
        folder = _Folder(target, progress, Compressor(target, threads))
        folder.serve(urls.REVIEWS, JSON, REVIEWS_FILE)
        # Insights are written first, because their memory must be free before the columns need theirs.
        folder.files |= fragments.write(dataset, settings.base_url, target)
        folder.write(layout.IDS, _by_id(dataset.records.ids))
        mentions = _add_insights(folder, dataset)
        if dataset.removed or dataset.withheld.keys:
            ids = frozenset(review.id for review in dataset.removed)
            folder.write(layout.GONE, _encode(GoneReviews(ids=ids, keys=dataset.withheld.keys)))
        statistics, segments = _add_reviews(folder, dataset, mentions, earlier)
        _add_feeds(folder, dataset, settings, templates or TemplateSources())
        for page in _pages(folder, dataset, settings, templates or TemplateSources(), statistics):
            folder.serve_page(page)
        folder.quote(settings.max_resource)
        return Manifest(
            base_url=settings.base_url,
            review_count=len(dataset.records),
            updated_at=documents.updated_at(dataset),
            insights=dataset.insights is not None,
            insights_origin=origin,
            documents=folder.documents(),
            files=folder.files,
            segments=segments,
        )


class _Folder:
    """The folder that is written: its files, and which of them are served as documents.

    Args:
        target: The folder.
        progress: Called with the number of documents compressed so far.
        compressor: Writes the gzip forms.
    """

    def __init__(self, target: Path, progress: Progress, compressor: Compressor) -> None:
        self.target, self.progress, self.compressor = target, progress, compressor
        self.files: dict[str, File] = {}
        self._served: list[tuple[str, FixedDocument]] = []  # by file; without the content

    def write(self, name: str, content: bytes) -> None:
        """Write a whole file."""
        self.files[name] = layout.write(self.target, name, content)

    def serve(self, path: str, media_type: str, file: str) -> None:
        """Serve a file at a path."""
        self._served.append((file, FixedDocument(path=path, media_type=media_type, content=b"")))

    def serve_page(self, page: FixedDocument) -> None:
        """Write a page, and serve it."""
        file = f"page{quote(page.path, safe='')}"
        self.write(file, page.content)
        self._served.append((file, replace(page, content=b"")))  # a sitemap may have 5 MB

    def quote(self, max_size: int) -> None:
        """Write the JSON strings of the documents that MCP serves, and that are not larger."""
        for file, served in self._served:
            if served.path in urls.RESOURCES and self.files[file].size <= max_size:
                self.files[f"{file}{layout.QUOTED}"] = _quote(self.target, file)

    def documents(self) -> tuple[Document, ...]:
        """Write the gzip forms, and return all documents."""
        compressed = set()
        for done, (file, _) in enumerate(self._served, start=1):
            smaller = self.compressor.compressed(file, self.files[file].size)
            if smaller is not None:
                self.files[f"{file}{layout.GZIP}"] = smaller
                compressed.add(file)
            self.progress("compressing", done, len(self._served))
        return tuple(
            Document(
                path=served.path,
                media_type=served.media_type,
                file=file,
                sha256=self.files[file].sha256,
                compressed=file in compressed,
                headers=dict(served.headers),
                others=dict(served.others),
            )
            for file, served in self._served
        )


def _add_insights(folder: _Folder, dataset: Dataset) -> MentionIndex:
    """Write insights.json, if there are insights; return the positions of all mentions."""
    if dataset.insights is None:
        return {}
    folder.files |= _write_insights(dataset.insights, dataset, folder.target, folder.progress)
    folder.compressor.begin(INSIGHTS_FILE, folder.files[INSIGHTS_FILE].size)
    folder.serve(urls.INSIGHTS, JSON, INSIGHTS_FILE)
    return mention_positions(dataset.insights, dataset.records.places)


def _add_reviews(
    folder: _Folder, dataset: Dataset, mentions: MentionIndex, earlier: Path | None
) -> tuple[Statistics, tuple[SegmentFile, ...]]:
    """Write reviews.json, and for each review its excerpt, columns, digest and offset."""
    target, records, business = folder.target, dataset.records, dataset.business
    counted = Statistics(Locations.several(business))
    writer, excerpts_writer = Writer(target, REVIEWS_FILE), Writer(target, layout.EXCERPTS)
    digests = DigestsWriter(target)
    writer.write(documents.reviews_head(dataset))
    served, listed = FragmentsWriter(writer), FragmentsWriter(excerpts_writer)
    with SegmentsWriter(target, len(records), earlier) as texts:
        columns = ColumnsWriter(target, texts, Locations.of(business))
        for begin in range(0, len(records), _BATCH):
            if begin % _STEP == 0:
                folder.progress("writing", begin, len(records))
            raws = records[begin : begin + _BATCH]
            reviews = [*map(_decode, raws)]
            rendered = [*map(documents.render_review, raws, reviews)]
            served.extend(rendered)
            listed.extend([*map(excerpts.listed, rendered)])
            digests.extend(rendered)
            columns.extend(reviews)
            for review in reviews:
                counted.add(review)
        folder.progress("writing", len(records), len(records))
        begins, listed_begins = served.offsets(), listed.offsets()
        writer.write(documents.reviews_tail(dataset))
        folder.files |= {
            REVIEWS_FILE: writer.close(),
            layout.RECORDS: layout.write(target, layout.RECORDS, begins),
            layout.EXCERPTS: excerpts_writer.close(),
            layout.EXCERPT_OFFSETS: layout.write(target, layout.EXCERPT_OFFSETS, listed_begins),
            **digests.close(),
        }
        folder.compressor.begin(REVIEWS_FILE, folder.files[REVIEWS_FILE].size)
        indexing = partial(folder.progress, "indexing")
        segments, files = columns.close(mentions, records.by_change(), indexing)
    folder.files |= files
    return counted, segments


def _add_feeds(
    folder: _Folder, dataset: Dataset, settings: CompileSettings, templates: TemplateSources
) -> None:
    """Write the first pages of the feeds, what the others are made from, and the OpenAPI document."""
    texts = words_of_insights(dataset.business, templates.bytecode).texts
    frame = feed.frame_of(dataset, settings.base_url, settings.authority, settings.year, texts)
    folder.write(layout.FEED, msgspec.json.encode(frame))
    page = _first_page(dataset, frame, folder.target)
    openapi = document.render(settings.base_url, dataset.business)
    for path, media_type, file, content in (
        (urls.JSON_FEED, json_feed.MEDIA_TYPE, "feed.json", b"".join(json_feed.render(page))),
        (urls.ATOM_FEED, atom.MEDIA_TYPE, "feed.xml", b"".join(atom.render(page))),
        (urls.OPENAPI, JSON, _OPENAPI_FILE, openapi),
    ):
        folder.write(file, content)
        folder.serve(path, media_type, file)


def _pages(
    folder: _Folder,
    dataset: Dataset,
    settings: CompileSettings,
    templates: TemplateSources,
    statistics: Statistics,
) -> Iterator[FixedDocument]:
    """Render the pages and the documents for machines."""
    enabled = settings.pages.enabled
    yield from machines.policies(settings.base_url, settings.machines, pages=enabled)
    if not enabled:
        return
    site = sites.make(
        dataset,
        settings.base_url,
        settings.pages,
        statistics,
        templates.own,
        logos=templates.logos,
        disabled_paths=machines.disabled_paths(settings.machines),
    )
    renderer = Renderer(site, templates.bytecode)
    frames = reviews.frames(renderer)
    folder.write(layout.PAGES, msgspec.json.encode(frames))
    openapi = (folder.target / _OPENAPI_FILE).read_bytes()
    changes = partial(sites.changes, dataset.records)
    yield from publication.documents(renderer, frames, openapi, settings.machines, changes)


def _by_id(ids: Sequence[str]) -> bytes:
    """Return the column of positions in the order of the casefolded ids; equal ones newest first."""
    order = sorted(range(len(ids)), key=list(map(str.casefold, ids)).__getitem__)
    return array.array("I", order).tobytes()


def _write_insights(
    insights: InsightsFile, dataset: Dataset, target: Path, progress: Progress
) -> dict[str, File]:
    """Write ``insights.json``, and the place of each review's entry in it."""
    places = dataset.records.places
    writer = Writer(target, INSIGHTS_FILE)
    spans = array.array("Q", bytes(16 * len(places)))
    entries = 0
    for review_id, part in documents.insights_parts(insights, dataset):
        begin = writer.size
        writer.write(part)
        if isinstance(part, memoryview):
            spans = array.array("Q", (begin + bound for bound in insights.bounds or ()))
            if insights.mapped is not None:
                insights.mapped.madvise(mmap.MADV_DONTNEED)  # it is not read again
        if review_id is None:
            continue
        if (position := places.get(review_id)) is not None:
            spans[2 * position], spans[2 * position + 1] = begin, writer.size
        if entries % _STEP == 0:
            progress("writing insights", entries, insights.analysed)
        entries += 1
    progress("writing insights", entries, entries)
    return {
        INSIGHTS_FILE: writer.close(),
        layout.INSIGHT_SPANS: layout.write(target, layout.INSIGHT_SPANS, spans.tobytes()),
    }


def _first_page(dataset: Dataset, frame: FeedFrame, target: Path) -> FeedPage:
    """Return the first page of the feeds; ``target`` has the insights."""
    newest = [msgspec.json.decode(raw, type=Review) for raw in dataset.records[: feed.MAX_ENTRIES]]
    insights: Iterable[bytes | None] = repeat(None)
    if dataset.insights is not None:
        insights = _newest_insights(target, len(newest))
    next_cursor = None
    if len(dataset.records) > feed.MAX_ENTRIES:
        next_cursor = Cursor(newest[-1].date, newest[-1].id).encode()
    entries = tuple(map(frame.entry, newest, insights))
    removed = dataset.removed[: feed.MAX_ENTRIES]
    return FeedPage(frame=frame, entries=entries, next_cursor=next_cursor, removed=removed)


def _newest_insights(target: Path, count: int) -> Iterator[bytes | None]:
    """Yield the entries of ``per_review`` of the newest reviews; None if there is none."""
    with (target / layout.INSIGHT_SPANS).open("rb") as column:
        spans = memoryview(column.read(16 * count)).cast("Q")
    with (target / INSIGHTS_FILE).open("rb") as file:
        for begin, end in zip(spans[::2], spans[1::2], strict=True):
            file.seek(begin)
            yield file.read(end - begin) or None


def _quote(target: Path, file: str) -> File:
    """Write the text of a document as a JSON string."""
    writer = Writer(target, file + layout.QUOTED)
    writer.write(b'"')
    with (target / file).open(encoding="utf-8", newline="") as text:
        while chunk := text.read(_CHUNK):
            writer.write(msgspec.json.encode(chunk)[1:-1])
    writer.write(b'"')
    return writer.close()
