"""Compiles a Dataset into the files of a snapshot folder: documents, their gzip forms, and columns.

Deterministic: no clock, no environment; the same dataset and settings give the same bytes.
"""

import array
import mmap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain, islice, repeat
from pathlib import Path
from urllib.parse import quote

import msgspec

from reviewsd.api.jobs import InsightsOrigin
from reviewsd.domain.dataset import REVIEWS_FILE, Dataset
from reviewsd.domain.insights_file import INSIGHTS_FILE, InsightsFile
from reviewsd.domain.records import Progress
from reviewsd.domain.reviews import Review
from reviewsd.domain.search_query import Cursor
from reviewsd.http1 import urls
from reviewsd.pages import machines, publication, reviews
from reviewsd.pages.catalogs import REVISIONS
from reviewsd.pages.developers.pages import Interfaces
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.environment import TemplateSources
from reviewsd.pages.rendering import Renderer
from reviewsd.publish import atom, documents, feed, fragments, json_feed
from reviewsd.publish import site as sites
from reviewsd.publish.compression import Compressor
from reviewsd.publish.feed import FeedFrame, FeedPage
from reviewsd.publish.messages import CompileSettings
from reviewsd.publish.openapi import document
from reviewsd.publish.review_blocks import Earlier, ReusedReviews
from reviewsd.publish.site import StatisticsCounter
from reviewsd.snapshot import layout
from reviewsd.snapshot.columns_writer import ColumnsWriter
from reviewsd.snapshot.digests import DigestsWriter
from reviewsd.snapshot.fragment_store import FragmentsWriter
from reviewsd.snapshot.layout import Document, File, GoneReviews, Manifest, Writer
from reviewsd.snapshot.mentions import MentionIndex, mention_positions
from reviewsd.snapshot.text_index_writer import SegmentsWriter

JSON = "application/json"

_encode = msgspec.json.Encoder(order="sorted").encode

_CHUNK = 1 << 20
_STEP = 10_000  # records between two steps of progress


def compile_folder(
    dataset: Dataset,
    settings: CompileSettings,
    target: Path,
    progress: Progress,
    origin: InsightsOrigin | None = None,
    templates: TemplateSources | None = None,
    earlier: Earlier | None = None,
) -> Manifest:
    """Write the documents and columns of a dataset into an empty folder.

    Args:
        dataset: The dataset.
        settings: The settings.
        target: The folder.
        progress: Called with the number of reviews written so far.
        origin: The origin of the insights.
        templates: The operator's templates, used in addition to the shipped ones.
        earlier: The last snapshot, whose unchanged parts are copied. None copies nothing, and stores
            nothing for the next publication.

    Raises:
        TemplateError: A template is invalid.
    """
    with ThreadPoolExecutor(max_workers=1) as threads:
        compressor = Compressor(target, threads)
        return _compile(
            dataset,
            settings,
            target,
            progress,
            origin,
            templates or TemplateSources(),
            earlier,
            compressor,
        )


def _compile(
    dataset: Dataset,
    settings: CompileSettings,
    target: Path,
    progress: Progress,
    origin: InsightsOrigin | None,
    templates: TemplateSources,
    earlier: Earlier | None,
    compressor: Compressor,
) -> Manifest:
    rendered = {(urls.REVIEWS, JSON): REVIEWS_FILE}
    # Insights are written first, because their memory must be free before the columns need theirs.
    files = fragments.write(dataset, settings.base_url, target)
    files[layout.IDS] = _write_ids(dataset.records.ids, target)
    mentions: MentionIndex = {}
    if dataset.insights is not None:
        places = dataset.records.places
        files |= _write_insights(dataset.insights, dataset, target, progress)
        compressor.begin(INSIGHTS_FILE, files[INSIGHTS_FILE].size)
        rendered[urls.INSIGHTS, JSON] = INSIGHTS_FILE
        mentions = mention_positions(dataset.insights, places)
    if dataset.removed or dataset.withheld.keys:
        gone = GoneReviews(
            ids=frozenset(review.id for review in dataset.removed), keys=dataset.withheld.keys
        )
        files[layout.GONE] = layout.write(target, layout.GONE, _encode(gone))
    counted = StatisticsCounter()
    with SegmentsWriter(target, len(dataset.records), earlier and earlier.folder) as texts:
        columns = ColumnsWriter(target, texts)
        with ReusedReviews(earlier, target) as reusing:
            files |= _write_reviews(
                dataset, columns, counted, target, progress, reusing, compressor
            )
        compressor.begin(REVIEWS_FILE, files[REVIEWS_FILE].size)
        segments, column_files = columns.close(
            mentions, dataset.records.by_change(), partial(progress, "indexing")
        )
        files |= column_files
    frame = feed.frame_of(dataset, settings.base_url, settings.authority, settings.year)
    files[layout.FEED] = layout.write(target, layout.FEED, msgspec.json.encode(frame))
    first_page = _first_page(dataset, frame)
    for path, media_type, file, content in (
        (urls.JSON_FEED, json_feed.MEDIA_TYPE, "feed.json", b"".join(json_feed.render(first_page))),
        (urls.ATOM_FEED, atom.MEDIA_TYPE, "feed.xml", b"".join(atom.render(first_page))),
        (urls.OPENAPI, JSON, "openapi.json", document.render(settings.base_url, dataset.business)),
    ):
        files[file] = layout.write(target, file, content)
        rendered[path, media_type] = file
    fixed = machines.policies(settings.base_url, settings.machines, pages=settings.pages.enabled)
    if settings.pages.enabled:
        site = sites.make(
            dataset,
            settings.base_url,
            settings.pages,
            counted.statistics(),
            templates.own,
            logos=templates.logos,
            absent=machines.absent(settings.machines),
        )
        renderer = Renderer(site, templates.bytecode)
        frames = reviews.frames(renderer)
        files[layout.PAGES] = layout.write(target, layout.PAGES, msgspec.json.encode(frames))
        interfaces = Interfaces(
            openapi=(target / "openapi.json").read_bytes(),
            tools=settings.machines.tools.encode(),
            revisions=REVISIONS,
        )
        changes = partial(sites.changes, dataset.records)
        pages = publication.documents(renderer, frames)
        machine_files = publication.for_machines(
            renderer, pages, interfaces, settings.machines, changes
        )
        fixed = chain(fixed, machine_files)
    extra: dict[str, FixedDocument] = {}
    for page in fixed:
        file = f"page{quote(page.path, safe='')}"
        files[file] = layout.write(target, file, page.content)
        rendered[page.path, page.media_type] = file
        extra[page.path] = replace(page, content=b"")  # a sitemap may have 5 MB
    compressed: dict[str, File] = {}
    for done, file in enumerate(rendered.values()):
        progress("compressing", done, len(rendered))
        if (smaller := compressor.compressed(file, files[file].size)) is not None:
            compressed[file] = smaller
    quoted = {
        f"{file}{layout.QUOTED}": _quote(target, file)
        for (path, _), file in rendered.items()
        if path in urls.RESOURCES and files[file].size <= settings.max_resource
    }
    return Manifest(
        base_url=settings.base_url,
        review_count=len(dataset.records),
        updated_at=documents.updated_at(dataset),
        insights=dataset.insights is not None,
        insights_origin=origin,
        documents=tuple(
            Document(
                path=path,
                media_type=media_type,
                file=file,
                sha256=files[file].sha256,
                compressed=file in compressed,
                headers=dict(extra[path].headers) if path in extra else {},
                others=dict(extra[path].others) if path in extra else {},
            )
            for (path, media_type), file in rendered.items()
        ),
        files=files | {f"{name}{layout.GZIP}": file for name, file in compressed.items()} | quoted,
        segments=segments,
    )


def _write_reviews(
    dataset: Dataset,
    columns: ColumnsWriter,
    counted: StatisticsCounter,
    target: Path,
    progress: Progress,
    reusing: ReusedReviews,
    compressor: Compressor,
) -> dict[str, File]:
    """Write ``reviews.json`` and, for each review, its excerpt, columns, digest and offset."""
    writer, excerpts_writer = Writer(target, REVIEWS_FILE), Writer(target, layout.EXCERPTS)
    digests = DigestsWriter(target)
    writer.write(documents.reviews_head(dataset))
    records, listed = FragmentsWriter(writer), FragmentsWriter(excerpts_writer)
    next_step = 0
    for begin, block in reusing.blocks(dataset.records):
        if begin >= next_step:
            progress("writing", begin, len(dataset.records))
            next_step = begin - begin % _STEP + _STEP
            writer.flush()
            compressor.follow(REVIEWS_FILE, writer.size)
        records.extend(*block.records)
        listed.extend(*block.excerpts)
        digests.extend(block.digests)
        days = dataset.records.days[begin : begin + len(block.marks)]
        columns.extend(days, block.marks, block.sources, *block.texts)
        counted.extend(block.counted)
    begins, listed_begins = records.offsets(), listed.offsets()
    writer.write(documents.reviews_tail(dataset))
    return {
        REVIEWS_FILE: writer.close(),
        layout.RECORDS: layout.write(target, layout.RECORDS, begins),
        layout.EXCERPTS: excerpts_writer.close(),
        layout.EXCERPT_OFFSETS: layout.write(target, layout.EXCERPT_OFFSETS, listed_begins),
        **digests.close(),
    }


def _write_ids(ids: Sequence[str], target: Path) -> File:
    """Write the positions in the order of the casefolded ids; equal ones newest first."""
    order = sorted(range(len(ids)), key=list(map(str.casefold, ids)).__getitem__)
    return layout.write(target, layout.IDS, array.array("I", order).tobytes())


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
        if review_id is None:
            continue
        if review_id == documents.EVERY_ENTRY and insights.bounds is not None:
            spans = array.array("Q", (begin + bound for bound in insights.bounds))
            if insights.mapped is not None:
                insights.mapped.madvise(mmap.MADV_DONTNEED)  # it is not read again
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


def _first_page(dataset: Dataset, frame: FeedFrame) -> FeedPage:
    """Return the first page of the feeds."""
    newest = [
        msgspec.json.decode(record.raw, type=Review)
        for record in dataset.records[: feed.MAX_ENTRIES]
    ]
    known_mentions = () if dataset.insights is None else dataset.insights.mentions
    mentions = chain(islice(known_mentions, len(newest)), repeat(None))
    following = None
    if len(dataset.records) > feed.MAX_ENTRIES:
        following = Cursor(newest[-1].date, newest[-1].id).encode()
    entries = tuple(map(frame.entry, newest, mentions))
    removed = dataset.removed[: feed.MAX_ENTRIES]
    return FeedPage(frame=frame, entries=entries, following=following, removed=removed)


def _quote(target: Path, file: str) -> File:
    """Write the text of a document as a JSON string."""
    writer = Writer(target, file + layout.QUOTED)
    writer.write(b'"')
    with (target / file).open(encoding="utf-8", newline="") as text:
        while chunk := text.read(_CHUNK):
            writer.write(msgspec.json.encode(chunk)[1:-1])
    writer.write(b'"')
    return writer.close()
