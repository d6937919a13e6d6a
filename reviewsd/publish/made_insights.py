"""Insights made from the reviews of a dataset, in the publishing process (insights.md 1 and 2).

What the analyser makes becomes an ``InsightsFile``, as if it had stood in insights.json. ``per_review``
is written to a file without a name and mapped from there: it may be as large as the reviews.
"""

import datetime
import mmap
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Raw

from reviewsd.analysis.analysing import LabelStore, analyse
from reviewsd.analysis.settings import Settings
from reviewsd.domain.dataset import Dataset, InsightsFile, Mentions, Progress
from reviewsd.domain.insights import Insights, PerReview
from reviewsd.domain.mentions import Spellings
from reviewsd.domain.reviews import Review
from reviewsd.publish import documents
from reviewsd.publish.labels_file import LabelsReader, LabelsWriter
from reviewsd.snapshot.layout import InsightsOrigin

_STEP = 10_000  # reviews between two steps of progress

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why insights could not be made: a bug of ours, or too little memory."""

    reason: str
    """One line."""
    traceback: str


def make(
    dataset: Dataset,
    settings: Settings,
    progress: Progress,
    *,
    folder: Path,
    keep: LabelStore | None = None,
) -> InsightsFile:
    """Insights made from the reviews of a dataset.

    Args:
        dataset: Its reviews.
        settings: What the owner says.
        progress: Told how far it is.
        folder: Where a file without a name may be written.
        keep: Labels that are known, to which the rules add what is missing.

    Raises:
        OSError: The folder cannot be written: the disk is full, for one.
    """
    updated_at = documents.updated_at(dataset)
    generated_at = None if updated_at is None else datetime.datetime.fromisoformat(updated_at)
    with _Entries(folder) as entries:
        made = analyse(
            _reviews(dataset, progress),
            dataset.business,
            settings,
            generated_at=generated_at,
            keep=keep,
            per_review=entries.add,
        )
        encoded = _encode(made.insights)
        members = msgspec.json.decode(encoded, type=dict[str, Raw])
        members |= {"generated_at": Raw(_encode(updated_at)), "per_review": entries.object()}
        return InsightsFile(
            members=members,
            typed=msgspec.json.decode(encoded, type=Insights),
            mentions=entries.mentions,
            spellings=entries.spellings,
            analysed=made.insights.review_count,
        )


def attempt(
    dataset: Dataset,
    settings: Settings,
    progress: Progress,
    *,
    folder: Path,
    earlier: Path,
    keep: Path,
) -> InsightsFile | Fault:
    """As ``make``; our bug, or too little memory, must not keep the reviews from being served.

    Raises:
        OSError: As ``make``.
    """
    try:
        with keep.open("xb") as file:
            writer = LabelsWriter(file, LabelsReader(earlier))
            made = make(dataset, settings, progress, folder=folder, keep=writer)
            writer.finish()
            return made
    except OSError:
        raise
    except MemoryError:
        reason = "they take more memory than there is"
        return Fault(reason=reason, traceback=reason)
    except Exception as error:  # noqa: BLE001 - told in the log and by status
        return Fault(
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


def _reviews(dataset: Dataset, progress: Progress) -> Iterator[Review]:
    decode = msgspec.json.Decoder(Review).decode
    total = len(dataset.records)
    for position, record in enumerate(dataset.records):
        if position % _STEP == 0:
            progress("analysing", position, total)
        yield decode(record.raw)
    progress("analysing", total, total)


class _Entries:
    """``per_review`` while it is written, and whom and what each entry mentions.

    Args:
        folder: Where the file is, which has no name.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=1 << 18)  # noqa: SIM115  see __exit__
        self._file.write(b"{")
        self.mentions: list[Mentions | None] = []
        self.spellings = Spellings()
        self._shared: dict[Mentions, Mentions] = {}  # a few people and services, a million times

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()  # a mapping of it stays

    def add(self, review_id: str, entry: PerReview) -> None:
        """Write the entry of the next review."""
        comma = b"," if self.mentions else b""
        self._file.write(b"%b%b:%b" % (comma, _encode(review_id), _encode(entry)))
        self.spellings.add(len(self.mentions), entry)
        found = None
        if entry.technicians or entry.services:
            found = Mentions(entry.technicians, entry.services)
            found = self._shared.setdefault(found, found)
        self.mentions.append(found)

    def object(self) -> Raw:
        """All of it, mapped."""
        self._file.write(b"}")
        self._file.flush()
        return Raw(memoryview(mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)))
