"""A Dataset becomes the files of a snapshot folder: documents, their gzip forms, and columns.

Deterministic: no clock, no environment; the same dataset and settings give the same bytes.
"""

import array
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from reviewsd.domain.insights import Entity, named, slug
from reviewsd.domain.dataset import (
    INSIGHTS_FILE,
    REVIEWS_FILE,
    Dataset,
    InsightsFile,
    Mentions,
    Progress,
    Record,
)
from reviewsd.domain.reviews import Review
from reviewsd.snapshot.search import mention_key
from reviewsd.formats import (
    atom,
    documents,
    excerpts,
    folder,
    fragments,
    frequent,
    json_feed,
    openapi,
    paths,
)
from reviewsd.snapshot.columns import ColumnsWriter, mention_positions
from reviewsd.publish.feed import MAX_ENTRIES, Entry, Feed, Label
from reviewsd.snapshot.layout import Document, File, Manifest, Writer
from reviewsd.snapshot.records import RecordsWriter

JSON = "application/json"
ATOM = "application/atom+xml; charset=utf-8"

_COMPRESS_FROM = 1_000  # bytes; contract 2
_LARGE = 1 << 26  # bytes; from here on the best compression takes longer than it saves
_CHUNK = 1 << 20
_STEP = 10_000  # records between two steps of progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What goes into a snapshot beside the data."""

    base_url: str
    authority: str
    """Domain name of the Atom ids, and the ``year`` in which it was ours (RFC 4151)."""
    year: int
    max_resource: int = 1 << 20
    """Greatest size in bytes of a document that can be read through MCP (``mcp.max_resource``)."""


def compile_folder(
    dataset: Dataset, settings: Settings, target: Path, progress: Progress
) -> Manifest:
    """Write the documents and columns of a dataset into an empty folder."""
    rendered = {(paths.REVIEWS, JSON): REVIEWS_FILE}
    # The insights come first: what they take must not come on top of what the columns take.
    files, shelves = fragments.write(dataset, settings.base_url, target)
    files[folder.IDS] = _write_ids(dataset.records, target)
    mentions: dict[tuple[str, str], set[int]] = {}
    if dataset.insights is not None:
        places = {record.id: position for position, record in enumerate(dataset.records)}
        files |= _write_insights(dataset.insights, dataset, places, target)
        rendered[paths.INSIGHTS, JSON] = INSIGHTS_FILE
        mentions = mention_positions(dataset.insights, places)
        del places
    columns = ColumnsWriter(target, frequent.frequent_pieces(_sample(dataset.records)))
    files |= _write_reviews(dataset, columns, target, progress)
    files |= columns.close(mentions)
    feed = _feed(dataset, settings)
    for path, media_type, file, content in (
        (paths.JSON_FEED, JSON, "feed.json", json_feed.render(feed)),
        (paths.ATOM_FEED, ATOM, "feed.xml", atom.render(feed)),
        (paths.OPENAPI, JSON, "openapi.json", openapi.render(settings.base_url, dataset.business)),
    ):
        files[file] = folder.write(target, file, content)
        rendered[path, media_type] = file
    compressed: dict[str, File] = {}
    for done, file in enumerate(rendered.values()):
        progress("compressing", done, len(rendered))
        if (smaller := _compress(target, file, files[file].size)) is not None:
            compressed[file] = smaller
    quoted = {
        f"{file}{folder.QUOTED}": _quote(target, file)
        for (path, _), file in rendered.items()
        if path in paths.RESOURCES and files[file].size <= settings.max_resource
    }
    return Manifest(
        base_url=settings.base_url,
        review_count=len(dataset.records),
        updated_at=documents.updated_at(dataset),
        insights=dataset.insights is not None,
        documents=tuple(
            Document(
                path=path,
                media_type=media_type,
                file=file,
                sha256=files[file].sha256,
                compressed=file in compressed,
            )
            for (path, media_type), file in rendered.items()
        ),
        files=files | {f"{file}{folder.GZIP}": each for file, each in compressed.items()} | quoted,
        shelves=shelves,
    )


def _write_reviews(
    dataset: Dataset, columns: ColumnsWriter, target: Path, progress: Progress
) -> dict[str, File]:
    """``reviews.json``, the excerpts and columns of each review, and where each begins."""
    decode = msgspec.json.Decoder(Review).decode
    writer, excerpts_writer = Writer(target, REVIEWS_FILE), Writer(target, folder.EXCERPTS)
    writer.write(documents.reviews_head(dataset))
    records, listed = RecordsWriter(writer), RecordsWriter(excerpts_writer)
    for position, record in enumerate(dataset.records):
        if position % _STEP == 0:
            progress("writing", position, len(dataset.records))
        review = decode(record.raw)
        rendered = documents.review(record.raw, review)
        records.add(rendered.content)
        listed.add(excerpts.listed(rendered, review))
        columns.add(record.day, review.rating, review.text)
    begins, listed_begins = records.offsets(), listed.offsets()
    writer.write(documents.reviews_tail(dataset))
    return {
        REVIEWS_FILE: writer.close(),
        folder.RECORDS: folder.write(target, folder.RECORDS, begins),
        folder.EXCERPTS: excerpts_writer.close(),
        folder.EXCERPT_OFFSETS: folder.write(target, folder.EXCERPT_OFFSETS, listed_begins),
    }


def _write_ids(records: list[Record], target: Path) -> File:
    """The positions in the order of the casefolded ids; equal ones newest first."""
    order = sorted(range(len(records)), key=lambda position: records[position].id.casefold())
    return folder.write(target, folder.IDS, array.array("I", order).tobytes())


def _write_insights(
    insights: InsightsFile, dataset: Dataset, places: Mapping[str, int], target: Path
) -> dict[str, File]:
    """``insights.json``, and where in it the entry of each review stands."""
    writer = Writer(target, INSIGHTS_FILE)
    spans = array.array("Q", bytes(16 * len(places)))
    for name, part in documents.insights_parts(insights, dataset):
        if name == "per_review":
            for review_id, begin, end in _spans(part, writer.size):
                if (position := places.get(review_id)) is not None:
                    spans[2 * position], spans[2 * position + 1] = begin, end
        writer.write(part)
    return {
        INSIGHTS_FILE: writer.close(),
        folder.INSIGHT_SPANS: folder.write(target, folder.INSIGHT_SPANS, spans.tobytes()),
    }


def _spans(members: bytes, start: int) -> Iterator[tuple[str, int, int]]:
    """Name, begin and end of each value of a compact object that begins at ``start``."""
    end = 0
    for name, value in msgspec.json.decode(members, type=dict[str, msgspec.Raw]).items():
        match = _NAME.match(members, end + 1)
        assert match is not None  # noqa: S101  a valid object is compact between its values
        begin, end = match.end(), match.end() + len(value)
        yield name, start + begin, start + end


_NAME = re.compile(rb'"(?:[^"\\]|\\.)*":')


def _sample(records: list[Record]) -> list[str]:
    """Casefolded texts from all over the data, none where it is small enough to be scanned."""
    if len(records) < frequent.MIN_REVIEWS:
        return []
    decode = msgspec.json.Decoder(Review).decode
    chosen = records[:: len(records) // frequent.SAMPLE]
    return [(decode(record.raw).text or "").casefold() for record in chosen]


def _feed(dataset: Dataset, settings: Settings) -> Feed:
    """The newest reviews with the labels of whom and what they mention."""
    newest = [
        msgspec.json.decode(record.raw, type=Review) for record in dataset.records[:MAX_ENTRIES]
    ]
    technicians: dict[str, Label] = {}
    services: dict[str, Label] = {}
    if dataset.insights is not None:
        technicians = _labels(dataset.insights.typed.entities.technicians)
        services = _labels(dataset.insights.typed.entities.services)
    mentions = {} if dataset.insights is None else dataset.insights.mentions
    none = Mentions((), ())
    return Feed(
        base_url=settings.base_url,
        business=dataset.business,
        updated_at=documents.updated_at(dataset),
        authority=settings.authority,
        year=settings.year,
        entries=tuple(
            Entry(
                review=review,
                technicians=_labelled(mentions.get(review.id, none).technicians, technicians),
                services=_labelled(mentions.get(review.id, none).services, services),
            )
            for review in newest
        ),
    )


def _labels(entities: tuple[str | Entity, ...]) -> dict[str, Label]:
    """Entities by every name that means them; the first of two of one name wins."""
    labels: dict[str, Label] = {}
    for entity in map(named, entities):
        label = Label(entity.id or "", entity.label or "")
        for name in (entity.id, entity.name, entity.label):
            labels.setdefault(mention_key(name or ""), label)
    return labels


def _labelled(names: tuple[str, ...], labels: dict[str, Label]) -> tuple[Label, ...]:
    """The labels of mentioned names, each once; a name that no entity has is its own label."""
    found = (labels.get(mention_key(name)) or Label(slug(name), name) for name in names if name)
    return tuple(dict.fromkeys(found))


def _quote(target: Path, file: str) -> File:
    """The JSON string of a document's text, beside it."""
    writer = Writer(target, file + folder.QUOTED)
    writer.write(b'"')
    with (target / file).open(encoding="utf-8", newline="") as text:
        while chunk := text.read(_CHUNK):
            writer.write(msgspec.json.encode(chunk)[1:-1])
    writer.write(b'"')
    return writer.close()


def _compress(target: Path, file: str, size: int) -> File | None:
    """The gzip form beside a file, None where it would not be smaller."""
    if size < _COMPRESS_FROM:
        return None
    level = zlib.Z_DEFAULT_COMPRESSION if size < _LARGE else zlib.Z_BEST_SPEED
    packer = zlib.compressobj(level, wbits=zlib.MAX_WBITS | 16)  # 16: gzip, without a time in it
    writer = Writer(target, file + folder.GZIP)
    with (target / file).open("rb") as plain:
        while chunk := plain.read(_CHUNK):
            writer.write(packer.compress(chunk))
    writer.write(packer.flush())
    compressed = writer.close()
    if compressed.size < size:
        return compressed
    (target / writer.name).unlink()
    return None
