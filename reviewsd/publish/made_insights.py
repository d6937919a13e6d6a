"""Insights made from the reviews of a dataset, in the publishing process (insights.md 1 and 2).

What the analyser makes becomes an ``InsightsFile``, as if it had stood in insights.json. ``per_review``
is written to a file without a name and mapped from there: it may be as large as the reviews.
"""

import contextlib
import datetime
import mmap
import tempfile
import traceback
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Raw

from reviewsd.analysis.analysing import Analyser, CountedBlock, KnownLabels
from reviewsd.analysis.counts import Counts
from reviewsd.analysis.settings import InsightSettings
from reviewsd.analysis.totals import Totals
from reviewsd.api.jobs import InsightsOrigin
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.insights import Insights, PerReview
from reviewsd.domain.insights_file import InsightsFile, Mentions
from reviewsd.domain.mentions import Spellings
from reviewsd.domain.records import Progress
from reviewsd.domain.reviews import Review
from reviewsd.http1.representation import Buffer
from reviewsd.publish import block_file, counted_blocks, documents, second_process
from reviewsd.publish.block_file import BlocksReader, BlocksWriter, Span
from reviewsd.publish.counted_blocks import KeptBlock
from reviewsd.publish.feed import MAX_ENTRIES
from reviewsd.publish.second_process import SecondProcess

_STEP = 10_000  # reviews between two steps of progress
_MANY = 10_000  # reviews that take more than a second to count

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Review).decode
_decode_entry = msgspec.json.Decoder(PerReview).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisFailure:
    """Why insights could not be made: a bug of ours, or too little memory."""

    reason: str
    """One line."""
    traceback: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Where blocks are kept from one publication to the next."""

    earlier: BlocksReader
    writer: BlocksWriter


def make(
    dataset: Dataset,
    settings: InsightSettings,
    progress: Progress,
    *,
    folder: Path,
    known: KnownLabels | None = None,
    keeping: Keeping | None = None,
) -> InsightsFile:
    """Insights made from the reviews of a dataset.

    Args:
        dataset: Its reviews.
        settings: What the owner says.
        progress: Told how far it is.
        folder: Where a file without a name may be written.
        known: Labels that are known; with ``keeping`` those of its changed blocks.
        keeping: Where blocks are kept, if they are.

    Raises:
        OSError: The folder cannot be written: the disk is full, for one.
    """
    analyser = Analyser(dataset.business, settings)
    digest = analyser.rules.digest
    spans = list(block_file.spans(dataset.records, digest))
    if keeping is not None:
        known = counted_blocks.labels_of_others(
            keeping.earlier, (span.key for span in spans), digest
        )
    analyser.know(known)
    totals = Totals(analyser.catalogue)
    with _Entries(folder) as entries, _second_process(dataset, analyser, spans, keeping) as second:
        for span in spans:
            if span.begin // _STEP != span.end // _STEP:
                progress("analysing", span.begin, len(dataset.records))
            block = _block(dataset, analyser, span, keeping, second)
            totals.add(block.counts)
            entries.add(block)
        progress("analysing", len(dataset.records), len(dataset.records))
        if keeping is not None:
            keeping.writer.finish(digest)
        return _file(dataset, totals, entries)


def attempt(
    dataset: Dataset,
    settings: InsightSettings,
    progress: Progress,
    *,
    folder: Path,
    earlier: Path,
    keep: Path,
) -> InsightsFile | AnalysisFailure:
    """As ``make``; our bug, or too little memory, must not keep the reviews from being served.

    Raises:
        OSError: As ``make``.
    """
    try:
        with keep.open("xb") as file:
            keeping = Keeping(earlier=BlocksReader(earlier), writer=BlocksWriter(file))
            return make(dataset, settings, progress, folder=folder, keeping=keeping)
    except OSError:
        raise
    except MemoryError:
        reason = "they take more memory than there is"
        return AnalysisFailure(reason=reason, traceback=reason)
    except Exception as error:  # noqa: BLE001 - told in the log and by status
        return AnalysisFailure(
            reason=traceback.format_exception_only(error)[-1].strip(),
            traceback=traceback.format_exc(),
        )


def given(file: InsightsFile) -> InsightsOrigin:
    """Where the insights of insights.json are from."""
    typed = file.typed
    generated_at = typed.generated_at
    return InsightsOrigin(
        made=False,
        model=None if "model" not in file.members else typed.model,
        reviews=file.analysed if typed.review_count is None else typed.review_count,
        generated_at=None if generated_at is None else generated_at.isoformat(),
    )


class _SecondProcess(SecondProcess):
    """Counts every other block that is not kept.

    Args:
        dataset: Has the reviews.
        analyser: Counts them.
        spans: Those blocks.
    """

    def __init__(self, dataset: Dataset, analyser: Analyser, spans: Sequence[Span]) -> None:
        super().__init__(counted_blocks.encode(_counted(dataset, analyser, each)) for each in spans)
        self._keys = {each.key for each in spans}

    def find(self, key: bytes) -> bytes | None:
        """The block of a key, where it is one of them; to be asked for in their order."""
        return self.next() if key in self._keys else None


def _second_process(
    dataset: Dataset, analyser: Analyser, spans: Sequence[Span], keeping: Keeping | None
) -> contextlib.AbstractContextManager[_SecondProcess | None]:
    """One, where so much is to be counted that it pays."""
    kept = set[bytes]() if keeping is None else keeping.earlier.keys()
    missing = [span for span in spans if span.key not in kept]
    if sum(span.end - span.begin for span in missing) >= _MANY and second_process.worthwhile():
        return _SecondProcess(dataset, analyser, missing[1::2])
    return contextlib.nullcontext()


def _block(
    dataset: Dataset,
    analyser: Analyser,
    span: Span,
    keeping: Keeping | None,
    second: _SecondProcess | None,
) -> KeptBlock:
    """A block as it was kept, or as it is read and counted now."""
    content: Buffer | None = None if keeping is None else keeping.earlier.find(span.key)
    if content is None and second is not None:
        content = second.find(span.key)
    if content is not None:
        with contextlib.suppress(msgspec.MsgspecError):  # of another version
            block = counted_blocks.decode(content)
            if keeping is not None:
                keeping.writer.add(span.key, content)
            return block
    block = _counted(dataset, analyser, span)
    if keeping is not None:
        keeping.writer.add(span.key, counted_blocks.encode(block))
    return block


def _counted(dataset: Dataset, analyser: Analyser, span: Span) -> KeptBlock:
    """A block as it is read and counted now."""
    raws = dataset.records.raws(span.begin, span.end)
    return _encoded(analyser.block(map(_decode, raws)))


def _encoded(block: CountedBlock) -> KeptBlock:
    entries = bytearray()
    bounds: list[int] = []
    for review_id, entry in block.entries:
        if bounds:
            entries += b","
        entries += _encode(review_id)
        entries += b":"
        bounds.append(len(entries))
        entries += _encode(entry)
        bounds.append(len(entries))
    return KeptBlock(
        counts=block.counts,
        entries=memoryview(entries),
        bounds=bounds,
        labels=counted_blocks.encode_labels(block.labels),
    )


def _file(dataset: Dataset, totals: Totals, entries: "_Entries") -> InsightsFile:
    records = dataset.records
    updated_at = documents.updated_at(dataset)
    insights = totals.insights(
        lambda review_id: _decode(records[records.places[review_id]].raw),
        {},
        None if updated_at is None else datetime.datetime.fromisoformat(updated_at),
    )
    encoded = _encode(insights)
    members = msgspec.json.decode(encoded, type=dict[str, Raw])
    per_review = entries.object()
    members |= {"generated_at": Raw(_encode(updated_at)), "per_review": Raw(memoryview(per_review))}
    return InsightsFile(
        members=members,
        typed=msgspec.json.decode(encoded, type=Insights),
        mentions=entries.newest,
        spellings=entries.spellings,
        analysed=totals.review_count,
        bounds=entries.bounds,
        mapped=per_review,
    )


class _Entries:
    """``per_review`` while it is written, and whom and what each entry mentions.

    Args:
        folder: Where the file is, which has no name.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=1 << 18)  # noqa: SIM115  see __exit__
        self._size = self._file.write(b"{")
        self.newest: list[Mentions | None] = []
        """Whom and what the reviews that feeds show mention."""
        self.bounds = array("Q")
        """Where the value of each entry begins and ends in the object."""
        self.spellings = Spellings()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()  # a mapping of it stays

    def add(self, block: KeptBlock) -> None:
        """Write the entries of the next reviews."""
        if self.bounds:
            self._size += self._file.write(b",")
        self._spell(block.counts, len(self.bounds) // 2)
        self._note_newest(block)
        base = self._size
        self.bounds.extend([base + each for each in block.bounds])
        self._size += self._file.write(block.entries)

    def object(self) -> mmap.mmap:
        """All of it, mapped."""
        self._file.write(b"}")
        self._file.flush()
        return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)

    def _spell(self, counts: Counts, base: int) -> None:
        """Note what the reviews of a block mention, of which the first has the position ``base``."""
        spellings = self.spellings
        for sentiment, at in counts.sentiments.items():
            spellings.extend(spellings.sentiments, sentiment, _moved(at, base))
        for kind, things in counts.mentions.items():
            for name, mentions in things.items():
                for sentiment, said in mentions.sentiments.items():
                    positions = _moved(said.at, base)
                    spellings.extend(spellings.lists[kind], name, positions)
                    if kind == "aspects":
                        spellings.extend(spellings.felt[sentiment], name, positions)

    def _note_newest(self, block: KeptBlock) -> None:
        missing = MAX_ENTRIES - len(self.newest)
        for begin, end in _pairs(block.bounds[: 2 * missing] if missing else ()):
            entry = _decode_entry(block.entries[begin:end])
            self.newest.append(Mentions(entry.technicians, entry.services))


def _moved(positions: list[int], base: int) -> list[int]:
    return [base + position for position in positions]


def _pairs(numbers: Sequence[int]) -> "zip[tuple[int, int]]":
    return zip(numbers[::2], numbers[1::2], strict=True)
