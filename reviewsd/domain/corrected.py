"""The reviews as they are served: an Overlay applied to the valid reviews of a file (corrections.md)."""

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw

from reviewsd.domain import times
from reviewsd.domain.corrections import ANONYMOUS, Correction, Erasure, Overlay
from reviewsd.domain.records import Progress, Records
from reviewsd.domain.reviews import Review

_STEP: Final = 10_000  # reviews between two calls of Progress
_KEPT: Final = frozenset({*Review.__struct_fields__, "location"})
"""Members of a corrected review. An unknown one may repeat what is withheld, such as a title."""

_decode = msgspec.json.Decoder(Review).decode
_members = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """What readers do not see."""

    reasons: Mapping[str, int] = field(default_factory=dict)
    """Number of reviews that are not shown, or without their words, by reason, the most frequent first."""
    wordless: int = 0
    """Number of reviews that are shown without their words."""
    hidden: Mapping[str, datetime.datetime] = field(default_factory=dict)
    """The ids of the reviews in the file that are not shown, and since when."""
    keys: frozenset[str] = frozenset()
    """The merge keys of all that are not shown, in the file or not."""
    ids: frozenset[str] = frozenset()
    """The reviews without words, and those that are not shown."""
    texts: tuple[str, ...] = ()
    """Their words."""
    names: tuple[str, ...] = ()
    """Their authors, and those of anonymized reviews."""
    latest: datetime.datetime | None = None
    """When the newest correction was made."""
    stars: tuple[int, ...] = ()
    """The ratings of the reviews that are not shown."""

    @property
    def count(self) -> int:
        """Number of reviews that are not shown, or without their words."""
        return sum(self.reasons.values())

    def selection(self, shown: Mapping[int, int]) -> str | None:
        """Return why a reader would say that the owner selects his reviews; None if nothing looks like it.

        Args:
            shown: Number of reviews that are shown, by rating.
        """
        count, hidden = sum(shown.values()), len(self.stars)
        if not hidden:
            return None
        share = hidden / (count + hidden)
        if share > _MOST_HIDDEN:
            return f"{share:.0%} of the reviews are hidden; a reader would call this selecting"
        mean = sum(stars * number for stars, number in shown.items()) / count
        if mean - sum(self.stars) / hidden > 1:
            return "those hidden have over a star less than those shown; a reader would call this selecting"
        return None

    @property
    def extent(self) -> str:
        """What is withheld: ``hidden``, ``wordless``, ``both``, or nothing."""
        if self.wordless and self.wordless < self.count:
            return "both"
        return "wordless" if self.wordless else "hidden" if self.count else ""

    def sentence(self, shown: int) -> str:
        """Return what agents are told; empty where nothing is withheld.

        Args:
            shown: Number of reviews that are shown.
        """
        what = _EXTENTS.get(self.extent)
        if what is None:
            return ""
        reasons = ", ".join(f"{count} {_plain(name)}" for name, count in self.reasons.items())
        total = shown + self.count - self.wordless
        verb = "is" if self.count == 1 else "are"
        return f"{self.count} of {total} reviews {verb} {what} by the owner ({reasons})"


_MOST_HIDDEN: Final = 0.05
"""The share of hidden reviews from which on a reader would ask why."""

_EXTENTS: Final = {
    "hidden": "not shown",
    "wordless": "shown without their words",
    "both": "not shown, or shown without their words,",
}


def _plain(reason: str) -> str:
    return reason.replace("-", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """The reviews after all corrections."""

    records: Records
    stars: Mapping[int, int]
    """Number of reviews for each rating that occurs."""
    latest: datetime.date | None
    """The latest review or reply date."""
    withheld: Withheld


def correct(records: Records, overlay: Overlay, progress: Progress) -> Corrected:
    """Apply corrections to the valid reviews of a file.

    Args:
        records: Sorted.
        overlay: The corrections.
        progress: Told how many reviews were looked at.
    """
    found: list[_CorrectedReview] = []
    stars: Counter[int] = Counter()
    latest: datetime.date | None = None
    for position, raw in enumerate(records.raws(0, len(records))):
        if position % _STEP == 0:
            progress("correcting", position, len(records))
        review = _decode(raw)
        correction = overlay.find(review)
        if correction is not None:
            found.append(_CorrectedReview(position, raw, review, correction))
        if correction is None or not correction.hides:
            stars[review.rating] += 1
            reply = review.owner_reply
            last = review.date if reply is None else max(review.date, reply.date)
            latest = last if latest is None else max(latest, last)
    return Corrected(
        records=records.corrected(
            {each.position: each.shown() for each in found},
            {each.position: times.microseconds(each.changed_at) for each in found},
        ),
        stars=stars,
        latest=latest,
        withheld=_withheld(found, overlay),
    )


def shown(raw: bytes, overlay: Overlay) -> bytes | None:
    """Return one valid review as it is shown, or None if it is not."""
    review = _decode(raw)
    correction = overlay.find(review)
    return raw if correction is None else _CorrectedReview(0, raw, review, correction).shown()


def _withheld(found: Sequence["_CorrectedReview"], overlay: Overlay) -> Withheld:
    reasons = Counter(each.correction.reason or "" for each in found if each.counts)
    hidden = [each for each in found if each.correction.hides]
    wordless = [each for each in found if each.correction.hides_words]
    return Withheld(
        reasons=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        wordless=len(wordless) - len(hidden),
        hidden={each.review.id: each.correction.at for each in hidden},
        keys=frozenset(overlay.withheld_keys()),
        ids=frozenset(each.review.id for each in wordless),
        texts=tuple(each.review.text for each in wordless if each.review.text),
        names=tuple(each.review.author for each in found if each.correction.hides_author),
        latest=overlay.latest,
        stars=tuple(each.review.rating for each in hidden),
    )


class _CorrectedReview(NamedTuple):
    position: int
    raw: bytes
    review: Review
    correction: Correction | Erasure

    @property
    def counts(self) -> bool:
        """Whether readers are told of it; of erased reviews they are not."""
        return isinstance(self.correction, Correction) and self.correction.hides_words

    @property
    def changed_at(self) -> datetime.datetime:
        return max([self.correction.at, *times.stamps(self.review).values()])

    def shown(self) -> bytes | None:
        """Return the review as it is shown, or None if it is not.

        The owner's reply goes with the words: it answers what nobody can read, and often repeats it.
        """
        if isinstance(self.correction, Erasure) or self.correction.hides:
            return None
        action = self.correction.action
        members: dict[str, object] = dict(_members.decode(self.raw))
        if action != "restore":
            members = {name: value for name, value in members.items() if name in _KEPT}
        if action == "hide-text":
            members |= {"text": None, "owner_reply": None}
        if action == "anonymize":
            members |= {"author": ANONYMOUS, "author_avatar_url": None, "source_url": None}
        return _encode(members | {"changed_at": self.changed_at.astimezone(datetime.UTC)})
