"""Applies corrections to the valid reviews of a file (corrections.md)."""

import datetime
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw

from reviewsd.api.texts import ANONYMOUS, counted
from reviewsd.domain import times
from reviewsd.domain.corrections import Correction, Erasure, Overlay, copy_key
from reviewsd.domain.records import Progress, Records, reported
from reviewsd.domain.reviews import Review

_SAFE_MEMBERS: Final = frozenset(Review.__struct_fields__)
"""Members of a corrected review. Others are removed: they may repeat hidden words, as a title does."""

_decode = msgspec.json.Decoder(Review).decode
_members = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """The withheld reviews: hidden ones, and wordless ones that are shown without their words."""

    reasons: Mapping[str, int] = field(default_factory=dict)
    """Number of withheld reviews by reason, the most frequent first; without erased reviews."""
    wordless: int = 0
    """Number of wordless reviews."""
    hidden: Mapping[str, datetime.datetime] = field(default_factory=dict)
    """When each review of the file was hidden, by id."""
    keys: frozenset[str] = frozenset()
    """The merge keys of all hidden reviews, in the file or not."""
    ids: frozenset[str] = frozenset()
    """The ids of the withheld reviews."""
    texts: tuple[str, ...] = ()
    """The texts of the withheld reviews."""
    names: tuple[str, ...] = ()
    """The authors of hidden and of anonymized reviews."""
    latest: datetime.datetime | None = None
    """The time of the newest correction."""
    stars: tuple[int, ...] = ()
    """The ratings of the hidden reviews; one of copies, and none of erased ones."""
    erased: tuple[str, ...] = ()
    """The ids of the erased reviews that the file has again."""
    by_place: Mapping[str, "Withheld"] = field(default_factory=dict)
    """The counts of the withheld reviews of each place, by its id or alias as reviews have it."""

    @property
    def count(self) -> int:
        """Number of withheld reviews."""
        return sum(self.reasons.values())

    def at(self, is_place: Callable[[str], bool]) -> "Withheld":
        """Return the counts of the withheld reviews of one place.

        Args:
            is_place: Returns whether a place that reviews name is that one.
        """
        parts = [part for name, part in self.by_place.items() if is_place(name)]
        reasons = Counter[str]()
        for part in parts:
            reasons.update(part.reasons)
        return Withheld(
            reasons=_most_frequent_first(reasons), wordless=sum(part.wordless for part in parts)
        )

    def selection(self, shown_by_stars: Mapping[int, int]) -> str | None:
        """Return why a reader could accuse the owner of selecting reviews, or None.

        Args:
            shown_by_stars: Number of shown reviews by rating.
        """
        count, hidden = sum(shown_by_stars.values()), len(self.stars)
        if not hidden:
            return None
        if not count:
            return "no review is shown"
        share = hidden / (count + hidden)
        if hidden > 1 and share > _MOST_HIDDEN:  # of fewer than 20, the first one would be too many
            return f"{share:.0%} of the reviews are hidden; a reader would call this selecting"
        mean = sum(stars * number for stars, number in shown_by_stars.items()) / count
        if mean - sum(self.stars) / hidden > 1:
            return "those hidden have over a star less than those shown; a reader would call this selecting"
        return None

    @property
    def extent(self) -> str:
        """One of ``hidden``, ``wordless``, ``both`` and ""."""
        if self.wordless and self.wordless < self.count:
            return "both"
        return "wordless" if self.wordless else "hidden" if self.count else ""

    def sentence(self, shown_count: int) -> str:
        """Return the note for agents, or "" without withheld reviews.

        Args:
            shown_count: Number of shown reviews.
        """
        extent = _EXTENTS.get(self.extent)
        if extent is None:
            return ""
        reasons = ", ".join(f"{count} {_plain(name)}" for name, count in self.reasons.items())
        total = shown_count + self.count - self.wordless
        verb = "is" if self.count == 1 else "are"
        extent = extent.replace("their", "its") if self.count == 1 else extent
        return (
            f"{self.count:,} of {counted(total, 'review')} {verb} {extent} by the owner ({reasons})"
        )


_MOST_HIDDEN: Final = 0.05
"""The share of hidden reviews above which ``selection`` returns a reason."""

_EXTENTS: Final = {
    "hidden": "not shown",
    "wordless": "shown without their words",
    "both": "not shown, or shown without their words,",
}


def _plain(reason: str) -> str:
    return reason.replace("-", " ")


def correct(records: Records, overlay: Overlay, progress: Progress) -> tuple[Records, Withheld]:
    """Apply corrections to the valid reviews of a file; return the shown and the withheld ones.

    Args:
        records: The sorted reviews.
        overlay: The corrections.
        progress: Called with the number of reviews read so far.
    """
    corrected: list[_CorrectedReview] = []
    raws = reported(records, len(records), "correcting", progress)
    for position, raw in enumerate(raws):
        review = _decode(raw)
        correction = overlay.find(review)
        if correction is not None:
            corrected.append(_CorrectedReview(position, raw, review, correction))
    shown_records = records.corrected(
        {review.position: review.shown() for review in corrected},
        {review.position: times.microseconds(review.changed_at) for review in corrected},
    )
    return shown_records, _withheld(corrected, overlay)


def shown(raw: bytes, overlay: Overlay) -> bytes | None:
    """Return one valid review after its correction, or None if it is hidden."""
    review = _decode(raw)
    correction = overlay.find(review)
    return raw if correction is None else _CorrectedReview(0, raw, review, correction).shown()


def _withheld(corrected: Sequence["_CorrectedReview"], overlay: Overlay) -> Withheld:
    countable = [item for item in corrected if item.counts]
    by_place: dict[str, list[_CorrectedReview]] = {}
    for item in countable:
        by_place.setdefault(item.review.location or "", []).append(item)
    hidden = [item for item in corrected if item.correction.hides]
    withheld = [item for item in corrected if item.correction.hides_words]
    chosen = (item for item in hidden if isinstance(item.correction, Correction))
    stars = {copy_key(item.review) or item.review.id: item.review.rating for item in chosen}
    return replace(
        _counted(countable),
        by_place={name: _counted(items) for name, items in by_place.items()},
        hidden={item.review.id: item.correction.at for item in hidden},
        keys=frozenset(overlay.withheld_keys()),
        ids=frozenset(item.review.id for item in withheld),
        texts=tuple(item.review.text for item in withheld if item.review.text),
        names=tuple(item.review.author for item in corrected if item.correction.hides_author),
        latest=overlay.latest,
        stars=tuple(stars.values()),
        erased=tuple(item.review.id for item in corrected if isinstance(item.correction, Erasure)),
    )


def _counted(items: Sequence["_CorrectedReview"]) -> Withheld:
    reasons = Counter[str](item.correction.reason or "" for item in items)
    wordless = sum(not item.correction.hides for item in items)
    return Withheld(reasons=_most_frequent_first(reasons), wordless=wordless)


def _most_frequent_first(reasons: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0])))


class _CorrectedReview(NamedTuple):
    position: int
    raw: bytes
    review: Review
    correction: Correction | Erasure

    @property
    def counts(self) -> bool:
        """Whether the review is in the published count; erased reviews are not."""
        return isinstance(self.correction, Correction) and self.correction.hides_words

    @property
    def changed_at(self) -> datetime.datetime:
        return max([self.correction.at, *times.stamps(self.review).values()])

    def shown(self) -> bytes | None:
        """Return the review after its correction, or None if it is hidden.

        The owner's reply is removed with the text, which it may repeat.
        """
        if isinstance(self.correction, Erasure) or self.correction.hides:
            return None
        members: dict[str, object] = dict(_members.decode(self.raw))
        if self.correction.action != "restore":
            members = {name: value for name, value in members.items() if name in _SAFE_MEMBERS}
        if self.correction.hides_words:
            members |= {"text": None, "owner_reply": None}
        if self.correction.hides_author:
            members |= {"author": ANONYMOUS, "author_avatar_url": None, "source_url": None}
        return _encode(members | {"changed_at": self.changed_at.astimezone(datetime.UTC)})
