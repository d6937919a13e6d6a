"""Corrections of a data directory, for ``reviewsctl reviews`` and imports (corrections.md)."""

import datetime
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from reviewsd.api.review_ids import merge_key
from reviewsd.config.schema import Data
from reviewsd.domain.corrected import Withheld, correct
from reviewsd.domain.corrections import (
    Action,
    Correction,
    Corrections,
    Erasure,
    Overlay,
    Reason,
    copy_digest,
    load,
)
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.dataset import load as load_dataset
from reviewsd.domain.json_file import Findings
from reviewsd.domain.reviews import RemovedReview, Review
from reviewsd.domain.withheld_words import remove_words
from reviewsd.publish import sources

KEPT_DAYS: Final = 90
"""Days for which reviews.json names a review that is gone."""

_SHORTEST: Final = 4  # characters of a shortened id
_KEY_BYTES: Final = 24
_decode = msgspec.json.Decoder(Review).decode
_members = msgspec.json.Decoder(dict[str, Raw])
_list = msgspec.json.Decoder(list[Raw])
_removed = msgspec.json.Decoder(tuple[RemovedReview, ...])
_encode = msgspec.json.Encoder().encode


class NoSuchReviewError(Exception):
    """A reference names no review, or several; the message says which."""


class CorrectedReview(Struct, frozen=True, kw_only=True):
    """A review as the file has it, and what was decided about it."""

    review: Review
    correction: Correction | Erasure | None


class CorrectableReviews:
    """The reviews of a data directory as reviews.json has them, with their corrections.

    Args:
        dataset: Valid and not corrected.
        corrections: The content of corrections.json.
    """

    def __init__(self, dataset: Dataset, corrections: Corrections) -> None:
        self._dataset = dataset
        self.corrections = corrections
        records = dataset.records
        overlay = Overlay(corrections)
        reviews = map(_decode, records.raws(0, len(records)))
        self.reviews = [
            CorrectedReview(review=each, correction=overlay.find(each)) for each in reviews
        ]
        """Newest first."""

    @property
    def withheld(self) -> Withheld:
        """What readers do not see."""
        overlay = Overlay(self.corrections)
        return correct(self._dataset.records, overlay, lambda *_: None).withheld

    @property
    def sentence(self) -> str:
        """What readers are told; empty where nothing is withheld."""
        withheld = self.withheld
        return withheld.sentence(len(self.reviews) - len(withheld.hidden))

    @property
    def has_given_rating(self) -> bool:
        """Whether reviews.json gives its own aggregate rating."""
        return "aggregate_rating" in self._dataset.members

    @property
    def selection(self) -> str | None:
        """Why a reader would say that the owner selects his reviews, if he would."""
        shown: dict[int, int] = {}
        for each in self.reviews:
            if each.correction is None or not each.correction.hides:
                shown[each.review.rating] = shown.get(each.review.rating, 0) + 1
        return self.withheld.selection(shown)

    def find(self, reference: str) -> Review:
        """Return the review of an id, of the beginning of one, or of the address of its page.

        Raises:
            NoSuchReviewError: There is none, or several.
        """
        wanted = (
            unquote(urlsplit(reference).path.rpartition("/")[2])
            if "://" in reference
            else reference
        )
        wanted = wanted.removesuffix(".md").casefold()
        found = [each.review for each in self.reviews if each.review.id.casefold() == wanted]
        if not found and len(wanted) >= _SHORTEST:
            found = [
                each.review
                for each in self.reviews
                if each.review.id.casefold().startswith(wanted)
                or each.review.id.casefold().endswith(wanted)
            ]
        match found:
            case [review]:
                return review
            case []:
                raise NoSuchReviewError(f"no review has the id {reference!r}")
            case _:
                raise NoSuchReviewError(f"{len(found)} reviews have an id like {reference!r}")

    def corrected(
        self,
        reviews: Iterable[Review],
        action: Action,
        reason: Reason | None,
        now: datetime.datetime,
    ) -> "CorrectableReviews":
        """Return the same reviews with more corrections."""
        key = self.corrections.key or secrets.token_urlsafe(_KEY_BYTES)
        entries = dict(self.corrections.reviews)
        for review in reviews:
            for other in [each for each in entries if merge_key(each) == merge_key(review.id)]:
                del entries[other]
            entries[review.id] = Correction(
                action=action, reason=reason, at=now, copies=copy_digest(key, review)
            )
        return CorrectableReviews(
            self._dataset, replace(self.corrections, reviews=entries, key=key)
        )

    def erased(self, reviews: Sequence[Review], now: datetime.datetime) -> "CorrectableReviews":
        """Return the same reviews with some erased; they go with ``without_erased``."""
        key = self.corrections.key or secrets.token_urlsafe(_KEY_BYTES)
        keys = {merge_key(review.id) for review in reviews}
        entries = {
            name: each
            for name, each in self.corrections.reviews.items()
            if merge_key(name) not in keys
        }
        erased = dict(self.corrections.erased)
        for review in reviews:
            digest = copy_digest(key, review)
            erased[merge_key(review.id)] = Erasure(copies=digest, at=now)
        made = replace(self.corrections, reviews=entries, key=key, erased=erased)
        return CorrectableReviews(self._dataset, made)

    def text(self) -> bytes:
        """Return corrections.json."""
        return _text(self.corrections)


def read(folder: Path, max_bytes: int = Data().max_bytes) -> CorrectableReviews:
    """Read the reviews of a data directory with their corrections.

    Raises:
        DataError: A file is missing or faulty.
        sources.Unsettled: The files are being written.
        OSError: They cannot be read now.
    """
    found = sources.read(folder, max_bytes)
    dataset = load_dataset(found.reviews, None)
    return CorrectableReviews(dataset, parsed(found.corrections))


def _text(corrections: Corrections) -> bytes:
    """corrections.json, without members that say nothing."""
    members = msgspec.to_builtins(corrections)
    for name in ("reviews", "erased"):
        members[name] = {
            key: {member: value for member, value in each.items() if value is not None}
            for key, each in sorted(members[name].items())
        }
    given = {name: value for name, value in members.items() if value is not None}
    return msgspec.json.format(_encode(given), indent=1) + b"\n"


def parsed(text: bytes | None) -> Corrections:
    """Return the content of corrections.json; of none where there is no file.

    Raises:
        DataError: It is faulty.
    """
    if text is None:
        return Corrections()
    findings = Findings()
    corrections = load(text, findings)
    if corrections is None:
        raise findings.error()
    return corrections


def merged(there: Corrections, restored: Corrections) -> bytes:
    """Return corrections.json with the later decision about each review, and all erasures of both.

    Digests of copies count only with the key that made them: that of the file that is there.
    """
    reviews = dict(there.reviews)
    same_key = there.key == restored.key or there.key is None
    for review_id, each in restored.reviews.items():
        known = reviews.get(review_id)
        if known is None or each.at > known.at:
            reviews[review_id] = each if same_key else replace(each, copies=None)
    erased = {
        key: each if same_key else replace(each, copies=None)
        for key, each in restored.erased.items()
    }
    key = there.key or restored.key
    return _text(Corrections(reviews=reviews, key=key, erased=erased | there.erased))


def without_words(insights: bytes, reviews: Sequence[Review], folder: CorrectableReviews) -> bytes:
    """Return a valid insights.json without what some reviews say."""
    ids = frozenset(review.id for review in reviews)
    withheld = Withheld(
        ids=ids,
        texts=tuple(review.text for review in reviews if review.text),
        names=tuple(review.author for review in reviews),
    )

    def texts() -> Iterator[str]:
        for each in folder.reviews:
            if each.review.id not in ids:
                yield each.review.text or ""

    return remove_words(insights, withheld, texts)


def without_erased(
    text: bytes, corrections: Corrections, now: datetime.datetime | None = None
) -> tuple[bytes, int]:
    """Return a reviews.json without the erased reviews, all else as it is written, and their number.

    Args:
        text: The file.
        corrections: With the erasures.
        now: When they went, for ``removed``; None where the file is a version that is only kept.

    Raises:
        msgspec.MsgspecError: It is no reviews.json.
    """
    overlay = Overlay(replace(corrections, reviews={}))
    members = _members.decode(text)
    kept: list[tuple[Raw, str]] = []
    gone: list[tuple[Raw, str]] = []
    for raw in _list.decode(members["reviews"]):
        review = _decode(raw)
        (kept if overlay.find(review) is None else gone).append((raw, review.id))
    if not gone:
        return text, 0
    members["reviews"] = Raw(b"[\n" + b",\n".join(bytes(raw) for raw, _ in kept) + b"\n]")
    if now is not None:
        listed = _removed.decode(members.get("removed", Raw(b"[]")))
        oldest = now - datetime.timedelta(days=KEPT_DAYS)
        removed = [each for each in listed if each.at >= oldest]
        removed += [RemovedReview(id=review_id, at=now) for _, review_id in gone]
        members["removed"] = Raw(_encode(removed))
    parts = [_encode(name) + b": " + bytes(raw) for name, raw in members.items()]
    return b"{\n" + b",\n".join(parts) + b"\n}\n", len(gone)
