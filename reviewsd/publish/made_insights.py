"""Makes insights from the reviews of a dataset, in the publishing process (insights.md 1 and 2).

The result is an ``InsightsFile``, as if it came from insights.json. ``per_review`` may be as large as
the reviews, so it is written to a temporary file without a name and mapped.
"""

import datetime
import mmap
import tempfile
from array import array
from functools import partial
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Raw

from reviewsd.analysis import model_summary
from reviewsd.analysis.analysing import Analyser
from reviewsd.analysis.counts import Counts
from reviewsd.analysis.evidence import Evidence
from reviewsd.analysis.kept_labels import KeptLabels
from reviewsd.analysis.model_summary import KeptSummary
from reviewsd.analysis.settings import InsightSettings
from reviewsd.analysis.totals import Totals
from reviewsd.api.jobs import InsightsOrigin
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.insights import Insights, PerReview
from reviewsd.domain.insights_file import InsightsFile, Spellings
from reviewsd.domain.records import Progress
from reviewsd.domain.reviews import Review, mean, primary_language
from reviewsd.pages.environment import Bytecode
from reviewsd.pages.locales import words_of_insights
from reviewsd.pages.words import Words
from reviewsd.publish import documents, kept_blocks
from reviewsd.publish.kept_blocks import KeptBlock, KeptBlocks, Span

_STEP = 10_000  # reviews between two steps of progress

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Review).decode
_decode_entry = msgspec.json.Decoder(PerReview).decode


def make(
    dataset: Dataset,
    settings: InsightSettings,
    progress: Progress,
    *,
    folder: Path,
    labels: KeptLabels,
    blocks: KeptBlocks | None = None,
    bytecode: Bytecode | None = None,
) -> InsightsFile:
    """Make insights from the reviews of a dataset.

    Args:
        dataset: Has the reviews.
        settings: The owner's settings.
        progress: Called with the number of reviews analysed so far.
        folder: Folder of the temporary file.
        labels: The labels of a language model.
        blocks: Earlier and new blocks.
        bytecode: Results of the publication before, for the words.

    Raises:
        OSError: The folder cannot be written, for example because the disk is full.
    """
    words = words_of_insights(dataset.business, bytecode)
    analyser = Analyser(dataset.business, settings, words, labels)
    digest = analyser.digest
    spans = list(kept_blocks.spans(dataset.records, digest))
    if blocks is not None:
        analyser.reuse(blocks.labels_of_others((span.key for span in spans), digest))
    totals = Totals(analyser.catalogue, Evidence(analyser.rules, analyser.labels_of), words)
    with _Entries(folder) as entries:
        for span in spans:
            if span.begin // _STEP != span.end // _STEP:
                progress("analysing", span.begin, len(dataset.records))
            count = partial(_count, dataset, analyser, span)
            block = count() if blocks is None else blocks.block(span.key, count)
            totals.add(block.counts)
            entries.add(block)
        progress("analysing", len(dataset.records), len(dataset.records))
        if blocks is not None:
            blocks.finish(digest)
        for problem in totals.rare_problems():
            entries.drop_problem(problem)
        return _file(dataset, totals, entries, analyser, labels.summary, words)


def file_origin(file: InsightsFile) -> InsightsOrigin:
    """Return the origin of the insights of insights.json."""
    typed = file.typed
    generated_at = typed.generated_at
    return InsightsOrigin(
        made=False,
        model=None if "model" not in file.members else typed.model,
        reviews=file.analysed if typed.review_count is None else typed.review_count,
        generated_at=None if generated_at is None else generated_at.isoformat(),
    )


def _count(dataset: Dataset, analyser: Analyser, span: Span) -> KeptBlock:
    block = analyser.block(map(_decode, dataset.records[span.begin : span.end]))
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
        labels=memoryview(kept_blocks.encode(block.labels)),
    )


def _file(
    dataset: Dataset,
    totals: Totals,
    entries: "_Entries",
    analyser: Analyser,
    summary: KeptSummary | None,
    words: Words,
) -> InsightsFile:
    records = dataset.records

    def review_of(review_id: str) -> Review:
        return _decode(records[records.places[review_id]])

    updated_at = documents.updated_at(dataset)
    generated_at = None if updated_at is None else datetime.datetime.fromisoformat(updated_at)
    insights = totals.insights(review_of, {}, generated_at)
    if summary is not None and summary.lists == analyser.lists:
        ground = model_summary.Ground(
            figures=model_summary.figures_of(
                msgspec.json.decode(_encode(insights), type=Insights),
                mean(dataset.stars),
                criticism=bool(analyser.catalogue.problems),
            ),
            review_of=lambda name: review_of(name) if name in records.places else None,
            language=primary_language(words.language.tag),
        )
        insights = model_summary.applied(insights, summary, ground, words)
    encoded = _encode(insights)
    members = msgspec.json.decode(encoded, type=dict[str, Raw])
    per_review = entries.object()
    members |= {"generated_at": Raw(_encode(updated_at)), "per_review": Raw(memoryview(per_review))}
    return InsightsFile(
        members=members,
        typed=msgspec.json.decode(encoded, type=Insights),
        spellings=entries.spellings,
        analysed=totals.review_count,
        bounds=entries.bounds,
        mapped=per_review,
    )


class _Entries:
    """Writes ``per_review``, and collects its mentions.

    Args:
        folder: Folder of the temporary file.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=1 << 18)  # noqa: SIM115  see __exit__
        self._size = self._file.write(b"{")
        self.bounds = array("Q")
        """Begin and end of each value in the object."""
        self.spellings = Spellings()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()  # its mapping remains valid

    def add(self, block: KeptBlock) -> None:
        """Write the entries of the next reviews."""
        if self.bounds:
            self._size += self._file.write(b",")
        self._spell(block.counts, len(self.bounds) // 2)
        base = self._size
        self.bounds.extend(_shifted(block.bounds, base))
        self._size += self._file.write(block.entries)

    def drop_problem(self, name: str) -> None:
        """Take a problem of few reviews out of their entries; blanks fill its place in the file."""
        for position in self.spellings.lists["problems"].pop(name, ()):
            begin, end = self.bounds[2 * position], self.bounds[2 * position + 1]
            self._file.seek(begin)
            entry = _decode_entry(self._file.read(end - begin))
            problems = tuple(problem for problem in entry.problems if problem != name)
            content = _encode(msgspec.structs.replace(entry, problems=problems))
            self._file.seek(begin)
            self._file.write(content.ljust(end - begin))
            self.bounds[2 * position + 1] = begin + len(content)
        self._file.seek(self._size)

    def object(self) -> mmap.mmap:
        """Return the object as a mapping."""
        self._file.write(b"}")
        self._file.flush()
        return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)

    def _spell(self, counts: Counts, base: int) -> None:
        """Collect the mentions of a block whose first review has the position ``base``."""
        spellings = self.spellings
        for sentiment, offsets in counts.sentiments.items():
            spellings.sentiments[sentiment].extend(_shifted(offsets, base))
        for kind, names in counts.mentions.items():
            for name, mentions in names.items():
                for sentiment, tally in mentions.sentiments.items():
                    positions = _shifted(tally.at, base)
                    spellings.lists[kind][name].extend(positions)
                    if kind == "aspects":
                        spellings.felt[sentiment][name].extend(positions)


def _shifted(offsets: list[int], base: int) -> list[int]:
    return [base + offset for offset in offsets]
