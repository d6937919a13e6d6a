"""A review as reviews.json has it (data-model.md 1.3), from the importer's side.

It repeats ``reviewsd.domain.reviews``, which this package may not import; a test compares
both. A member that an export does not carry is UNSET: it is not written, and a merge
leaves what is there.
"""

import datetime
import hashlib
from collections.abc import Iterable
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from reviewsd.api.review_ids import merge_key

_END = r"(?![\s\S])"  # "$" alone would match before a final newline

UNFIT = r"\s\x00-\x1f\"<>\\^`{|}\x7f-\x9f\u200e\u200f\u202a-\u202e\ufff0-\uffff"
"""Characters that have to be escaped in an address (RFC 3987 2.2, 4.1), for a regular expression."""

ESCAPE = "%(?![0-9A-Fa-f]{2})"
"""A percent sign that begins no escape."""

HOST = (
    rf"[Hh][Tt][Tt][Pp][Ss]?://(?:[^{UNFIT}/?#\[\]@]*@)?"
    rf"(?:[^{UNFIT}/?#\[\]@:]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?(?=[/?#]|{_END})"
)
"""The beginning of an address."""

Text = Annotated[str, Meta(min_length=1)]
Url = Annotated[
    str,
    Meta(pattern=rf"^(?![\s\S]*{ESCAPE}){HOST}[^{UNFIT}\[\]#]*(?:#[^{UNFIT}\[\]#]*)?{_END}"),
]
ReviewId = Annotated[str, Meta(pattern=r"^[!-~]{1,128}" + _END)]
Rating = Annotated[int, Meta(ge=1, le=5)]


class OwnerReply(msgspec.Struct, frozen=True, kw_only=True):
    """The business's public answer to a review."""

    text: str
    date: datetime.date


class Review(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One customer review."""

    id: ReviewId
    author: Text
    author_avatar_url: Url | UnsetType | None = UNSET
    rating: Rating
    date: datetime.date
    text: str | UnsetType | None = UNSET
    source: Text
    source_url: Url | UnsetType | None = UNSET
    owner_reply: OwnerReply | UnsetType | None = UNSET
    verified: bool


class ImportedReview(Review, frozen=True, kw_only=True, gc=False):
    """A review as an import writes it."""

    location: str | UnsetType = UNSET
    """The location of the business, as the source names it: an additive member, by which
    ``import --replace`` leaves the reviews of other locations alone."""


MEMBERS: Final = (
    *("author", "author_avatar_url", "rating", "date"),
    *("text", "source_url", "owner_reply", "verified"),
)
"""The members that an import may overwrite, in the order of ``mask`` and of the import log."""


BITS: Final = {name: 1 << place for place, name in enumerate(MEMBERS)}
"""The bit of each member in a ``mask``."""


def mask(names: Iterable[str]) -> int:
    """Return a bit mask with the bits of these ``MEMBERS`` set; other names are ignored."""
    return sum(BITS.get(name, 0) for name in set(names))


Reply = tuple[str, datetime.datetime | None]
"""An owner's reply and its time, which is None where the export does not say."""


class PlatformReview(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A review as an export has it, by our names."""

    source: str
    """The platform, lower case."""
    key: str | None
    """Its id there; without one its id becomes a hash of the row."""
    author: object
    """The customer's public name, as the export has it."""
    rating: int
    created: datetime.datetime
    """The time at which it was written."""
    text: str | None
    """None for stars alone."""
    avatar_url: str | UnsetType | None = UNSET
    source_url: str | UnsetType | None = UNSET
    reply: Reply | UnsetType | None = UNSET
    """Without a time it gets the review's."""
    verified: bool | None = None
    """Whether the author is a verified customer; None where the export does not say."""
    edited: datetime.datetime | None = None
    """When it was last changed, where one export may have two versions."""
    place: object = None
    """The id of the location, as the export has it."""
    title: object = None
    """The title of that location."""
    notes: tuple[str, ...] = ()
    """Names of what the result mentions of it (``report``)."""
    anonymous: bool = False
    """Whether the platform says that the author is not named; else a missing name says nothing."""
    reply_withheld: bool = False
    """Whether the platform says that the reply is not public; else a missing reply may say nothing."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A review on its way into the file."""

    key: str
    """The merge key, which all versions of it share."""
    source: str
    edited: int = 0
    """The time of the last edit, POSIX milliseconds; of two versions in one export the newer one counts."""
    place: str = ""
    """The id of its location, as the export has it."""
    title: str = ""
    """The title of that location."""
    alike: int = 0
    """Equal for reviews with the same source, author, day and rating (``alike``)."""
    record: bytes
    """The review, as JSON."""
    day: str = ""
    """The day of the review, YYYY-MM-DD."""
    blank: int = 0
    """The members of the record that the row does not have (``mask``): null, or made up for a new review.

    A merge leaves them as they are in the file, unless ``Format.certain`` says that the platform has none.
    """
    weak: int = 0
    """The members that the row has in part only (``mask``): a reply with a day that is made up, a verification
    that the operator declares. They overwrite less than others.
    """
    newest: int = 0
    """The latest time in the row, in POSIX milliseconds; 0 where it has none."""
    replied: int = 0
    """The time of the owner's reply, in POSIX milliseconds; 0 where the row has none."""
    notes: tuple[str, ...] = ()
    """Names of what the result mentions of it (``report``)."""


def alike(source: object, author: object, day: object, rating: object) -> int:
    """Return a number by which one review is found under another id, within one process."""
    return hash((source, author, day, rating))


class RowRefusedError(Exception):
    """A row that cannot become a review; its text says why, in one line.

    Args:
        reason: The text.
        note: The name of what the result mentions of it (``report``).
    """

    def __init__(self, reason: str, note: str = "") -> None:
        super().__init__(reason)
        self.note = note


class RowSkippedError(Exception):
    """A row that is no review, by what the platform documents; its text is the reason counted."""


class RowWithdrawnError(RowSkippedError):
    """A row of a review that the platform does not publish, or no longer."""

    key = ""
    """The merge key of the review, where the row has all that it is made of."""


_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
_PAIRS = [a + b for a in _ALPHABET for b in _ALPHABET]  # ten bits each
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MILLISECOND = datetime.timedelta(milliseconds=1)
_MAX_TIME = 2**48 - 1


def stable_id(source: str, key: str, created: datetime.datetime) -> str:
    """Return the ULID of a review: its time, and a hash of its source and its id there.

    Args:
        source: The platform, ``google``.
        key: Its id there.
        created: Its time; one without a zone counts as UTC, so that no option changes an id.
    """
    if created.tzinfo is None:
        created = created.replace(tzinfo=datetime.UTC)
    time = min(max(0, (created - _EPOCH) // _MILLISECOND), _MAX_TIME)
    digest = hashlib.sha256(f"{source}\0{key}".encode("utf-8", "surrogatepass")).digest()
    return encode(time.to_bytes(6) + digest[:10])


def encode(ulid: bytes) -> str:
    """Return sixteen bytes as the 26 characters of a ULID."""
    number = int.from_bytes(ulid)
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def key_of(source: str, key: str) -> str:
    """Return the merge key of a review, by its source and its id there."""
    return merge_key(stable_id(source, key, _EPOCH))
