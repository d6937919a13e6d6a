"""Corrections: the reviews that an owner hides, anonymizes or erases (corrections.md).

They stand in ``corrections.json`` beside ``reviews.json``, and publication applies them before anything else
sees a review. An import changes reviews.json as it likes; the corrections stay.
"""

from collections.abc import Iterator
from datetime import datetime
from hashlib import blake2b
from typing import Annotated, ClassVar, Final, Literal, get_args

from msgspec import Meta, Raw, Struct

from reviewsd.api.review_ids import merge_key
from reviewsd.api.texts import plain_text
from reviewsd.domain.json_file import Findings, JsonFile, PartType
from reviewsd.domain.records import RecordText
from reviewsd.domain.reviews import Review, ReviewId, Text, Timestamp

CORRECTIONS_FILE: Final = "corrections.json"

VERSION: Final = 1

ANONYMOUS: Final = "Anonymous"
"""The author of a review that was anonymized."""

Action = Literal["hide", "hide-text", "anonymize", "restore"]

Reason = Literal[
    "personal-data",
    "request",
    "illegal",
    "defamation",
    "offensive",
    "fake",
    "spam",
    "other-business",
    "duplicate",
    "court-order",
]
"""Why a review is corrected. None says that it is negative, and none says "other": deleting reviews because
they are negative is banned (EU 2005/29/EC annex I 23c)."""

REASONS: Final[tuple[str, ...]] = get_args(Reason)

_DIGEST = 16  # bytes
_MAX_KEY = 64  # bytes, of BLAKE2b
_NAMELESS = frozenset({"", "anonymous", "a google user", "a yelp user", "google user"})


class Correction(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The owner's decision about one review."""

    action: Action
    reason: Reason | None = None
    """None only where the review is restored."""
    at: Timestamp
    copies: Text | None = None
    """The ``copy_digest`` of the review."""

    @property
    def hides(self) -> bool:
        """Whether the review is not shown."""
        return self.action == "hide"

    @property
    def hides_words(self) -> bool:
        """Whether its text is not shown."""
        return self.action in {"hide", "hide-text"}

    @property
    def hides_author(self) -> bool:
        """Whether its author is not shown."""
        return self.action in {"hide", "anonymize"}


class Erasure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A review that must not come back. Neither its name nor its text is kept."""

    copies: Text | None = None
    at: Timestamp

    action: ClassVar[str] = "erase"
    reason: ClassVar[None] = None
    hides: ClassVar[bool] = True
    hides_words: ClassVar[bool] = True
    hides_author: ClassVar[bool] = True


class Corrections(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of corrections.json."""

    version: Literal[1] = VERSION
    reviews: dict[ReviewId, Correction] = {}
    key: Annotated[str, Meta(min_length=1, max_length=_MAX_KEY)] | None = None
    """Random; without it there are no digests of copies."""
    erased: dict[ReviewId, Erasure] = {}
    """By merge key."""


_CORRECTIONS: Final[PartType[Corrections]] = PartType(Corrections)
_VERSION: Final[PartType[object]] = PartType(object)


def load(text: RecordText, findings: Findings) -> Corrections | None:
    """Validate corrections.json.

    Args:
        text: Its content.
        findings: Collects its faults; one is enough for None.
    """
    file = JsonFile(CORRECTIONS_FILE, findings)
    parts = file.split(text)
    if parts is None:
        return None
    members, _ = parts
    version = file.decode(members.get("version", Raw(b"1")), _VERSION, "$.version")
    if isinstance(version, int) and version > VERSION:
        file.refuse("$.version", f"{version} is of a later reviewsd; this one knows {VERSION}")
        return None
    corrections = file.decode(Raw(bytes(text).removeprefix(b"\xef\xbb\xbf")), _CORRECTIONS, "$", 0)
    for review_id, each in () if corrections is None else corrections.reviews.items():
        if each.reason is None and each.action != "restore":
            file.refuse(f'$.reviews["{review_id}"].reason', "missing", review_id)
    return None if file.faulty else corrections


def copy_digest(key: str, review: Review) -> str | None:
    """Return what a review has in common with copies that other tools exported, under other ids.

    Args:
        key: ``Corrections.key``, without which nobody can try names and texts against the digest.
        review: As reviews.json has it.

    Returns:
        Hexadecimal digits, or None where two people may have written the same: stars alone without a name.
    """
    author, text = plain_text(review.author), plain_text(review.text or "")
    if not text and author in _NAMELESS:
        return None
    said = (review.source.casefold(), author, review.date.isoformat(), str(review.rating), text)
    made = blake2b("\0".join(said).encode(), digest_size=_DIGEST, key=key.encode()[:_MAX_KEY])
    return made.hexdigest()


class Overlay:
    """Finds the correction of a review.

    Args:
        corrections: The content of corrections.json.
    """

    def __init__(self, corrections: Corrections) -> None:
        self._key = corrections.key
        self.latest: datetime | None = None
        """When the newest correction was made."""
        self._by_key: dict[str, Correction | Erasure] = {}
        self._by_copy: dict[str, Correction | Erasure] = {}
        for key, each in _oldest_first(corrections):
            self.latest = each.at if self.latest is None else max(self.latest, each.at)
            self._by_key[key] = each
            if each.copies is not None and self._key is not None:
                self._by_copy[each.copies] = each

    def find(self, review: Review) -> Correction | Erasure | None:
        """Return the correction of a review, by its id or as a copy."""
        found = self._by_key.get(merge_key(review.id))
        if found is None and self._by_copy and self._key is not None:
            digest = copy_digest(self._key, review)
            found = None if digest is None else self._by_copy.get(digest)
        return found

    def withheld_keys(self) -> Iterator[str]:
        """Yield the merge keys of the reviews that are not shown at all."""
        for key, each in self._by_key.items():
            if each.hides:
                yield key


def _oldest_first(corrections: Corrections) -> list[tuple[str, Correction | Erasure]]:
    """The corrections by merge key; of two of one review the later one counts, an erasure always."""
    ordered: list[tuple[str, Correction | Erasure]] = [
        (merge_key(review_id), each)
        for review_id, each in sorted(corrections.reviews.items(), key=lambda item: item[1].at)
    ]
    ordered += corrections.erased.items()
    return ordered
