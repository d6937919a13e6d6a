"""The columns of a snapshot that search reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, cast

from pyroaring import BitMap

from reviewsd.domain.dataset import REVIEWS_FILE
from reviewsd.snapshot import layout
from reviewsd.snapshot.layout import Manifest
from reviewsd.snapshot.numbering import Numbering
from reviewsd.snapshot.position_sets import PositionSets
from reviewsd.snapshot.records import SnapshotRecords
from reviewsd.snapshot.text_index import Segment, Text

FEW_REVIEWS = 16_384
"""Columns up to this length are loaded as lists; up to this many reviews, matches of texts are cached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns; position 0 is the newest review."""

    count: int
    days: Sequence[int]
    """Negated ordinals of the dates, so that they ascend from the newest review on."""
    segments: Sequence[Segment]
    numbering: Numbering
    records: SnapshotRecords
    sets: PositionSets
    changes: Sequence[int]
    """The review numbers, last changed first (``snapshot.changes``)."""
    text_matches: dict[bytes, BitMap] | None
    """A cache of the reviews that match a text, by text; None with too many reviews."""

    @classmethod
    def open(cls, manifest: Manifest, files: "Mapping[str, memoryview[int]]") -> Self:
        """Return the columns of a folder.

        Args:
            manifest: The manifest of the folder.
            files: The content of its files, by name.
        """
        count = manifest.review_count
        numbering = Numbering(segment.reviews for segment in manifest.segments)
        text_offsets = read_column(files, layout.TEXT_OFFSETS, "Q")
        texts = cast("Text", files[layout.TEXTS].obj)
        segments = [
            Segment(
                first=first,
                shift=shift,
                texts=texts,
                offsets=text_offsets,
                size=segment.reviews,
                index=None if segment.index is None else files[segment.index],
            )
            for segment, first, shift in zip(
                manifest.segments, numbering.begins, numbering.shifts, strict=False
            )
        ]
        return cls(
            count=count,
            days=read_column(files, layout.DAYS, "i"),
            segments=segments,
            numbering=numbering,
            records=SnapshotRecords(files[REVIEWS_FILE], read_column(files, layout.RECORDS, "Q")),
            sets=PositionSets(files[layout.SETS], read_column(files, layout.SET_OFFSETS, "Q")),
            changes=read_column(files, layout.CHANGES, "I"),
            text_matches={} if count <= FEW_REVIEWS else None,
        )


def read_column(
    files: "Mapping[str, memoryview[int]]", name: str, kind: Literal["i", "I", "Q"]
) -> Sequence[int]:
    """Return a column of numbers; a small one as a list, which is several times as fast."""
    column = files[name].cast(kind)
    # offsets have one number more than there are reviews
    return column.tolist() if len(column) <= FEW_REVIEWS + 1 else column
