"""Corrections of a data directory, for ``reviewsctl reviews`` and imports (corrections.md)."""

import datetime
import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from reviewsd.analysis.kept_labels import KeptLabels
from reviewsd.analysis.labels import text_key
from reviewsd.api.places import has_corrections_log
from reviewsd.api.texts import merge_key
from reviewsd.domain.corrected import Withheld, correct
from reviewsd.domain.corrections import (
    CORRECTIONS_FILE,
    Action,
    Correction,
    Corrections,
    Erasure,
    Overlay,
    Reason,
    check_not_lost,
    combined,
    copy_digest,
    copy_key,
    digests,
    load,
)
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.dataset import load as load_dataset
from reviewsd.domain.json_file import Findings
from reviewsd.domain.locations import Locations
from reviewsd.domain.records import Records, RecordText
from reviewsd.domain.removed import removed_member
from reviewsd.domain.reviews import AggregateRating, Review, aggregate
from reviewsd.domain.withheld_words import remove_words
from reviewsd.offline.references import find_id
from reviewsd.publish import sources

_KEY_BYTES: Final = 24
_decode = msgspec.json.Decoder(Review).decode
_members = msgspec.json.Decoder(dict[str, Raw])
_list = msgspec.json.Decoder(list[Raw])
_encode = msgspec.json.Encoder().encode


class ReviewEntry(Struct, frozen=True, kw_only=True):
    """A review as reviews.json has it, and the correction or erasure that applies to it, if any."""

    review: Review
    correction: Correction | Erasure | None


class ReviewsWithCorrections:
    """The uncorrected reviews of a data directory, each with its correction.

    Args:
        dataset: The valid dataset without corrections.
        corrections: The content of corrections.json.
        own_ids: The merge keys of reviews whose ids are known not to be made of their content.
    """

    def __init__(
        self, dataset: Dataset, corrections: Corrections, own_ids: Collection[str] = ()
    ) -> None:
        self._dataset = dataset
        self._own_ids = own_ids
        self.corrections = corrections
        self._overlay = overlay = Overlay(corrections)
        reviews = map(_decode, dataset.records)
        self.reviews = [
            ReviewEntry(review=review, correction=overlay.find(review)) for review in reviews
        ]
        """Newest first."""

    @cached_property
    def _outcome(self) -> tuple[Records, Withheld]:
        return correct(self._dataset.records, self._overlay, lambda *_: None)

    @cached_property
    def locations(self) -> Locations:
        """The declared locations."""
        return Locations.of(self._dataset.business)

    @property
    def readers_note(self) -> str:
        """The note to readers about withheld reviews; empty if none is withheld."""
        records, withheld = self._outcome
        return withheld.sentence(len(records))

    @property
    def selection_warning(self) -> str | None:
        """Why the corrections look as if the owner had withheld bad reviews; None if they do not."""
        records, withheld = self._outcome
        return withheld.selection(records.stars)

    @cached_property
    def erased(self) -> list[Review]:
        """The reviews that were erased, and that the file has again, as by an older copy of it."""
        entries = self.reviews
        return [entry.review for entry in entries if isinstance(entry.correction, Erasure)]

    @property
    def rating(self) -> AggregateRating:
        """The aggregate of the reviews that are shown."""
        records, _ = self._outcome
        return aggregate(records.stars)

    @property
    def has_own_rating(self) -> bool:
        """Whether reviews.json states an aggregate rating, which is computed otherwise."""
        return "aggregate_rating" in self._dataset.members

    def action(self, review: Review) -> str:
        """Return the action that applies to a review; "restore" if it is shown as the file has it."""
        correction = self._overlay.find(review)
        return "restore" if correction is None else correction.action

    def find(self, reference: str) -> Review:
        """Find a review by its id, the beginning or end of its id, or the URL of its page.

        Raises:
            NoSuchReviewError: No review matches, or several do.
        """
        return self._by_id[find_id(reference, self._by_id)]

    @cached_property
    def _by_id(self) -> dict[str, Review]:
        return {entry.review.id: entry.review for entry in self.reviews}

    def with_correction(
        self,
        reviews: Sequence[Review],
        action: Action,
        reason: Reason | None,
        now: datetime.datetime,
    ) -> "ReviewsWithCorrections":
        """Return a copy in which some reviews have a further correction.

        It adds to an earlier one, but a hidden review becomes what is decided now.
        """
        key = self._key_of_copies()
        entries = self._entries_without(reviews)
        for review, members in self._digests(key, reviews):
            both = _both(self._overlay.find(review), action)
            correction = Correction(action=both, reason=reason, at=now, **members)
            before = self._overlay.of_id(review.id)
            if action != "restore" and isinstance(before, Correction):
                correction = correction.knowing(before, *before.others)
            entries[review.id] = correction
        return self._with(reviews=entries, key=key)

    def with_erasure(
        self, reviews: Sequence[Review], now: datetime.datetime
    ) -> "ReviewsWithCorrections":
        """Return a copy in which some reviews are erased; ``without_erased`` takes them out of a file."""
        key = self._key_of_copies()
        erasures = {
            merge_key(review.id): Erasure(at=now, **members)
            for review, members in self._digests(key, reviews)
        }
        entries = self._entries_without(reviews)
        return self._with(reviews=entries, key=key, erased=self.corrections.erased | erasures)

    def has_left_out(self, review_id: str) -> bool:
        """Return whether imports leave a row of this id out, as it may be an edited version of an erased review."""
        erasure = self.corrections.erased.get(merge_key(review_id))
        return erasure is not None and erasure.is_version is True

    def with_taken(self, ids: Collection[str], now: datetime.datetime) -> "ReviewsWithCorrections":
        """Return a copy by which imports take rows that they have left out."""
        keys = set(map(merge_key, ids))
        entries = {review_id: Correction(action="restore", at=now) for review_id in ids}
        erased = {
            key: erasure for key, erasure in self.corrections.erased.items() if key not in keys
        }
        return self._with(reviews=self.corrections.reviews | entries, erased=erased)

    def _with(self, **members: object) -> "ReviewsWithCorrections":
        """Return a copy with other members of corrections.json."""
        corrections = replace(self.corrections, **members)
        return ReviewsWithCorrections(self._dataset, corrections, self._own_ids)

    def copies_left(
        self, reviews: Sequence[Review], action: Action | Literal["erase"]
    ) -> list[Review]:
        """Return the copies of some reviews that a correction of these has not reached, newest first."""
        ids, keys = {review.id for review in reviews}, {copy_key(review) for review in reviews}
        left = [entry.review for entry in self.reviews if not _is_reached(entry.correction, action)]
        return [one for one in left if one.id not in ids and copy_key(one) in keys - {None}]

    def _digests(
        self, key: str, reviews: Sequence[Review]
    ) -> Iterator[tuple[Review, dict[str, Any]]]:
        """Yield reviews with the members of their ``ReviewDigests``.

        One has no digest of copies where another review has the same and both have ids of their own.
        """
        own = [e.review for e in self.reviews if merge_key(e.review.id) in self._own_ids]
        counts = Counter(copy_digest(key, review) for review in own)
        for review in reviews:
            members = digests(key, review, has_own_id=merge_key(review.id) in self._own_ids)
            if members["has_own_id"] and counts[members["copies"]] > 1:
                members["copies"] = None
            yield review, members

    def _key_of_copies(self) -> str:
        return self.corrections.key or secrets.token_urlsafe(_KEY_BYTES)

    def _entries_without(self, reviews: Iterable[Review]) -> dict[str, Correction]:
        keys = {merge_key(review.id) for review in reviews}
        entries = self.corrections.reviews.items()
        return {name: entry for name, entry in entries if merge_key(name) not in keys}

    def without_erased_words(self, insights: bytes) -> bytes:
        """Remove the words and authors of the erased reviews from a valid insights.json."""
        reviews = self.erased
        ids = frozenset(review.id for review in reviews)
        withheld = Withheld(
            ids=ids,
            texts=tuple(review.text for review in reviews if review.text),
            names=tuple(review.author for review in reviews),
        )

        def texts() -> Iterator[str]:
            for entry in self.reviews:
                if entry.review.id not in ids:
                    yield entry.review.text or ""

        return remove_words(insights, withheld, texts)

    def remaining_labels(self, labels: bytes) -> bytes:
        """Return an insights.labels with the labels of those texts alone that are not erased."""
        reviews = (e.review for e in self.reviews if not isinstance(e.correction, Erasure))
        keys = {text_key(review.text or "", review.rating) for review in reviews}
        return KeptLabels(labels).encoded(keys)

    def encoded(self) -> bytes:
        """Return corrections.json."""
        return encoded(self.corrections)


def read(folder: Path, own_ids: Collection[str] = ()) -> ReviewsWithCorrections:
    """Read the reviews of a data directory with their corrections; ``own_ids`` as for ``ReviewsWithCorrections``.

    Raises:
        DataError: A file is missing or not valid.
        sources.Unsettled: The files are being written.
        OSError: The files cannot be read now.
    """
    check_present(folder)
    files = sources.read(folder)
    return ReviewsWithCorrections(
        load_dataset(files.reviews, None), parse(files.corrections), own_ids
    )


def _both(before: Correction | Erasure | None, action: Action) -> Action:
    """Return the action of a review after a further one."""
    if not isinstance(before, Correction) or before.hides or action == "restore":
        return action
    return combined(before.action, action)


def _is_reached(correction: Correction | Erasure | None, action: Action | Literal["erase"]) -> bool:
    """Return whether a review has what a correction of its copy does."""
    if action == "erase" or not isinstance(correction, Correction):
        return isinstance(correction, Erasure)
    return combined(correction.action, action) == correction.action


def check_present(folder: Path, *, is_restored: bool = False) -> None:
    """Check that corrections.json is not lost from a data directory, or is about to be restored.

    Raises:
        DataError: It is lost.
    """
    is_there = is_restored or (folder / CORRECTIONS_FILE).exists()
    check_not_lost(is_there=is_there, was_there=has_corrections_log(folder))


def parse(text: RecordText | None) -> Corrections:
    """Parse corrections.json; None stands for a missing file.

    Raises:
        DataError: It is not valid.
    """
    if text is None:
        return Corrections()
    findings = Findings()
    corrections = load(text, findings)
    if corrections is None:
        raise findings.error()
    return corrections


def merge(current: Corrections, restored: Corrections) -> bytes:
    """Return corrections.json with the later correction of each review, and the erasures of both files.

    An erased review has no other correction. Digests of copies can be compared only if one key has made them:
    the current key is kept if there is one, and digests by another are dropped.
    """
    has_same_key = current.key is None or current.key == restored.key
    reviews = dict(current.reviews)
    for review_id, entry in restored.reviews.items():
        current_entry = reviews.get(review_id)
        if current_entry is None or entry.at > current_entry.at:
            reviews[review_id] = entry if has_same_key else without_digests(entry)
    erasures = {
        key: erasure if has_same_key else Erasure(at=erasure.at)
        for key, erasure in restored.erased.items()
    }
    erasures |= current.erased
    reviews = {name: entry for name, entry in reviews.items() if merge_key(name) not in erasures}
    return encoded(Corrections(reviews=reviews, key=current.key or restored.key, erased=erasures))


def without_digests(entry: Correction) -> Correction:
    """Return a correction by which no other row is known."""
    nothing = {"copies": None, "author_day": None, "author_words": None, "words": None}
    return replace(entry, **nothing, others=())


def encoded(corrections: Corrections) -> bytes:
    """Return corrections.json without null members."""
    members = msgspec.to_builtins(corrections)
    for name in ("reviews", "erased"):
        members[name] = dict(sorted(members[name].items()))
    if corrections.key is None:
        del members["key"]
    return msgspec.json.format(_encode(members), indent=1) + b"\n"


def without_erased(
    text: bytes, corrections: Corrections, now: datetime.datetime
) -> tuple[bytes, list[str]]:
    """Return a reviews.json without the erased reviews, and their ids; the other values stay byte for byte.

    Args:
        text: The file.
        corrections: The corrections with the erasures.
        now: When they are removed.

    Raises:
        msgspec.MsgspecError: The text is not a reviews.json.
        KeyError: It has no reviews.
    """
    overlay = Overlay(replace(corrections, reviews={}))
    members = _members.decode(text)
    remaining: list[Raw] = []
    erased_ids: list[str] = []
    for raw in _list.decode(members["reviews"]):
        review = _decode(raw)
        if overlay.find(review) is None:
            remaining.append(raw)
        else:
            erased_ids.append(review.id)
    if not erased_ids:
        return text, []
    members["reviews"] = Raw(b"[\n" + b",\n".join(map(bytes, remaining)) + b"\n]")
    listed = msgspec.json.decode(members.get("removed", b"[]"), type=list[object])
    member = removed_member(listed, erased_ids, now)
    members |= {name: Raw(_encode(value)) for name, value in member.items()}
    parts = [_encode(name) + b": " + bytes(raw) for name, raw in members.items()]
    return b"{\n" + b",\n".join(parts) + b"\n}\n", erased_ids
