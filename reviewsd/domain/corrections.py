"""Corrections: the reviews that an owner hides, anonymizes or erases (corrections.md).

They are stored in ``corrections.json``, which no import changes. Publication applies them before any
other code reads a review.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from hashlib import blake2b
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

from msgspec import Meta, Raw, Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from reviewsd.api.files import Diagnostic
from reviewsd.api.places import CORRECTIONS_LOG, KEPT_FOLDER
from reviewsd.api.texts import RUN, author_key, merge_key, plain_text, words_of
from reviewsd.domain.data_errors import DataError
from reviewsd.domain.json_file import BOM, Findings, JsonFile
from reviewsd.domain.records import RecordText
from reviewsd.domain.reviews import Review, ReviewId, Text, Timestamp

CORRECTIONS_FILE: Final = "corrections.json"

VERSION: Final = 1

Action = Literal["hide", "stars-only", "hide-text", "anonymize", "restore"]
"""The decision about a review; ``stars-only`` is ``hide-text`` and ``anonymize`` in one."""

_WITHHELD: Final[Mapping[Action, frozenset[str]]] = {
    "hide": frozenset(("review", "words", "author")),
    "stars-only": frozenset(("words", "author")),
    "hide-text": frozenset(("words",)),
    "anonymize": frozenset(("author",)),
    "restore": frozenset(),
}

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
"""Why a review is corrected. There is no "negative" and no "other": deleting reviews because they are
negative is banned (EU 2005/29/EC annex I 23c)."""

REASONS: Final[tuple[str, ...]] = get_args(Reason)


def combined(*actions: Action) -> Action:
    """Return the action that withholds what any of some actions withholds."""
    parts = frozenset[str]().union(*map(_WITHHELD.__getitem__, actions))
    return next(action for action, withheld in _WITHHELD.items() if withheld == parts)


_DIGEST = 16  # bytes
_MAX_KEY = 64  # bytes, of BLAKE2b
_MAX_OTHERS = 20  # contents of a corrected review, beside the first
_LEAST_WORDS = 2  # of a text that two people do not write on one day


class ReviewDigests(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Evidence for imports that a row may be a review under another id, without its author and its text."""

    copies: Text | None = None
    """Its ``copy_digest``."""
    author_day: Text | None = None
    author_words: Text | None = None
    words: Text | None = None
    """Its ``version_digests``."""
    has_own_id: bool | None = None
    """Whether its id is known not to be made of its content."""

    @property
    def versions(self) -> frozenset[tuple[str, str]]:
        """The names and values of its ``version_digests``."""
        names = ("author_day", "author_words", "words")
        digests = ((name, getattr(self, name)) for name in names)
        return frozenset((name, digest) for name, digest in digests if digest)


class Correction(ReviewDigests, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The owner's decision about one review.

    Its own digests are of what the review said then.
    """

    others: tuple[ReviewDigests, ...] = ()
    """Those of what it said before or after, under the same id: an ``undo`` and an older table bring each back."""
    action: Action
    reason: Reason | None = None
    """None only for a restored review."""
    at: Timestamp

    @property
    def known(self) -> frozenset[tuple[str, str]]:
        """The ``versions`` of all that the review is known to have said."""
        return self.versions.union(*(content.versions for content in self.others))

    @property
    def hides(self) -> bool:
        """Whether the review is hidden."""
        return self.action == "hide"

    def knowing(self, *contents: ReviewDigests) -> "Correction":
        """Return it with ``versions`` of what the review said or says too; of very many those that came last.

        Copies are found by what it said when it was corrected: another review may say the like.
        """
        known = {
            frozenset[tuple[str, str]](),
            *(content.versions for content in (self, *self.others)),
        }
        new = [
            ReviewDigests(
                author_day=content.author_day,
                author_words=content.author_words,
                words=content.words,
            )
            for content in contents
            if content.versions not in known
        ]
        return replace(self, others=(*self.others, *new)[-_MAX_OTHERS:])

    @property
    def hides_words(self) -> bool:
        """Whether its text is hidden."""
        return "words" in _WITHHELD[self.action]

    @property
    def hides_author(self) -> bool:
        """Whether its author is hidden."""
        return "author" in _WITHHELD[self.action]


class Erasure(ReviewDigests, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A review that must not be imported again."""

    is_version: bool | None = None
    """Whether an import has left it out, as it may be an edited version of an erased review."""
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
    """A random key of the ``copy_digest``; without it copies are not recognized."""
    erased: dict[ReviewId, Erasure] = {}
    """Erasures by merge key."""


_CORRECTIONS: Final = Decoder(Corrections)
_VERSION: Final = Decoder(object)


def check_not_lost(*, is_there: bool, was_there: bool) -> None:
    """Check that corrections.json is not lost.

    Args:
        is_there: Whether the data directory has it.
        was_there: Whether the log of corrections, or the last publication, says that there was one.

    Raises:
        DataError: It is lost: hidden reviews would be shown, and erased ones imported again.
    """
    if was_there and not is_there:
        log = f"{KEPT_FOLDER}/{CORRECTIONS_LOG}"
        reason = (
            "missing, though you have decided about reviews: hidden ones would be shown, and erased ones imported "
            f"again; put it back from a backup, or, to begin without it, move {log} away, and if reviewsd runs: "
            "reviewsctl reload --without-corrections"
        )
        raise DataError((Diagnostic(file=CORRECTIONS_FILE, reason=reason),))


def load(text: RecordText, findings: Findings) -> Corrections | None:
    """Validate corrections.json.

    Args:
        text: Content of the file.
        findings: Collects the findings.

    Returns:
        The corrections, or None if the file has a finding.
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
    corrections = file.decode(Raw(bytes(text).removeprefix(BOM)), _CORRECTIONS, "$", 0)
    for review_id, correction in () if corrections is None else corrections.reviews.items():
        if correction.reason is None and correction.action != "restore":
            file.refuse(f'$.reviews["{review_id}"].reason', "missing", review_id)
    return None if findings else corrections


def copy_digest(key: str, review: Review) -> str | None:
    """Return a digest that copies of a review share, whatever id another tool exported them with.

    Names count by their short form, since imports may shorten them.

    Args:
        key: ``Corrections.key``; it keeps others from testing names and texts against the digest.
        review: A review of reviews.json.

    Returns:
        Hexadecimal digits, or None for stars without a name and a text of two words, which two people may share.
    """
    author = author_key(review.author)
    text = plain_text(review.text or "")
    if not author and len(words_of(text)) < _LEAST_WORDS:
        return None
    day, stars = review.date.isoformat(), str(review.rating)
    return _digest(key, review.source.casefold(), author, day, stars, text)


def copy_key(review: Review) -> tuple[str, date, str] | None:
    """Return what a review and its copies from other sources share: author, day and text.

    Names count by their short form, since imports may shorten them. None for a text of one word or none, which two
    people may have written on one day.
    """
    if len(words_of(review.text or "")) < _LEAST_WORDS:
        return None
    return author_key(review.author), review.date, plain_text(review.text or "")


def digests(key: str, review: Review, *, has_own_id: bool = False) -> dict[str, Any]:
    """Return the members of the ``ReviewDigests`` of a review."""
    members = {"copies": copy_digest(key, review), **version_digests(key, review)}
    return {**members, "has_own_id": has_own_id or None}


def version_digests(key: str, review: Review) -> dict[str, str]:
    """Return digests of which an edited version of a review shares one (corrections.md C28).

    They are of the source, and by their names in ``ReviewDigests``. ``author_day`` has the first name, since imports
    may shorten names and owners correct them; the stars stand for a missing name where words are missing too.
    ``words`` has all words, and of fewer than ``RUN`` the day, for which ``author_words`` has the first name. Arguments
    as for ``copy_digest``.
    """
    source, day, words = (
        review.source.casefold(),
        review.date.isoformat(),
        words_of(review.text or ""),
    )
    author, digests = author_key(review.author).partition(" ")[0], dict[str, str]()
    if author or not words:
        digests["author_day"] = _digest(key, source, author or f"{review.rating} stars", day)
    if author and 0 < len(words) < RUN:
        digests["author_words"] = _digest(key, source, author, " ".join(words))
    if words:
        digests["words"] = _digest(key, source, "" if len(words) >= RUN else day, " ".join(words))
    return digests


def _digest(key: str, *facts: str) -> str:
    digest = blake2b("\0".join(facts).encode(), digest_size=_DIGEST, key=key.encode()[:_MAX_KEY])
    return digest.hexdigest()


class Overlay:
    """Finds the correction of a review.

    Args:
        corrections: The content of corrections.json.
    """

    def __init__(self, corrections: Corrections) -> None:
        self._key = corrections.key
        self.latest: datetime | None = None
        """The time of the newest correction."""
        self._by_key: dict[str, Correction | Erasure] = {}
        self._by_copy: dict[str, Correction | Erasure] = {}
        self._erased: defaultdict[str, list[Erasure]] = defaultdict(list)  # by version digest
        for erasure in corrections.erased.values():
            for _, digest in erasure.versions:
                self._erased[digest].append(erasure)
        for key, correction in _oldest_first(corrections):
            at = correction.at
            self.latest = at if self.latest is None else max(self.latest, at)
            self._by_key[key] = correction
            if correction.copies is not None and self._key is not None:
                self._by_copy[correction.copies] = correction

    def find(self, review: Review) -> Correction | Erasure | None:
        """Return the correction of a review, by its id or as a copy."""
        correction = self.of_id(review.id)
        if correction is None and self._by_copy and self._key is not None:
            correction = self._by_copy.get(copy_digest(self._key, review) or "")
        return correction

    def of_id(self, review_id: str) -> Correction | Erasure | None:
        """Return the correction of a review of this id; copies are not found."""
        return self._by_key.get(merge_key(review_id))

    def version_digests(self, review: Review) -> Mapping[str, str]:
        """Return the ``version_digests`` of a review; none if no erasure has any."""
        return version_digests(self._key or "", review) if self._erased else {}

    def is_known(self, review: Review) -> bool:
        """Return whether a corrected review said the like before, or nothing is known of what it said."""
        correction = self.of_id(review.id)
        if not isinstance(correction, Correction) or not correction.known:
            return True
        return not correction.known.isdisjoint(version_digests(self._key or "", review).items())

    def count_erased(self, digest: str, *, has_own_id: bool = False) -> int:
        """Return the number of erased reviews with one of the ``version_digests`` of a review."""
        erasures = self._erased.get(digest, ())
        return sum(not (has_own_id and erasure.has_own_id) for erasure in erasures)

    def withheld_keys(self) -> Iterator[str]:
        """Yield the merge keys of the hidden reviews."""
        for key, correction in self._by_key.items():
            if correction.hides:
                yield key


def _oldest_first(corrections: Corrections) -> list[tuple[str, Correction | Erasure]]:
    """Return corrections by merge key; later ones override earlier ones, and erasures come last."""
    ordered: list[tuple[str, Correction | Erasure]] = [
        (merge_key(review_id), correction)
        for review_id, correction in sorted(
            corrections.reviews.items(), key=lambda item: item[1].at
        )
    ]
    ordered += corrections.erased.items()
    return ordered
