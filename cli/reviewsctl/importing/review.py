"""A review as reviews.json has it (data-model.md 1.3), from the importer's side.

It says again what ``reviewsd.domain.reviews`` says, which this package may not know; a test holds
the two together. A member that an export does not carry is UNSET: it is not written, and a merge
leaves what is there.
"""

import datetime
from collections.abc import Iterable
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

_END = r"(?![\s\S])"  # "$" alone would match before a final newline

UNFIT = r"\s\x00-\x1f\"<>\\^`{|}\x7f-\x9f\u200e\u200f\u202a-\u202e\ufff0-\uffff"
"""What no address holds as it is: RFC 3987 2.2 and 4.1. Characters of a regular expression."""

ESCAPE = "%(?![0-9A-Fa-f]{2})"
"""One that is none."""

HOST = (
    rf"[Hh][Tt][Tt][Pp][Ss]?://(?:[^{UNFIT}/?#\[\]@]*@)?"
    rf"(?:[^{UNFIT}/?#\[\]@:]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?(?=[/?#]|{_END})"
)
"""How an address begins."""

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


class Imported(Review, frozen=True, kw_only=True, gc=False):
    """A review as an import writes it."""

    location: str | UnsetType = UNSET
    """Which of the business's locations at the source, as that names it: an additive member, by which
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
"""An owner's answer, and when; None where the export does not say."""


class Found(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A review as an export has it, in our words."""

    source: str
    """The platform, lower case."""
    key: str | None
    """What identifies it there; None makes it a hash of what the row says."""
    author: object
    """The customer's public name, as the export has it."""
    rating: int
    created: datetime.datetime
    """When it was written."""
    text: str | None
    """What was written, None for stars alone."""
    avatar_url: str | UnsetType | None = UNSET
    source_url: str | UnsetType | None = UNSET
    reply: Reply | UnsetType | None = UNSET
    """Without a time it gets the review's."""
    verified: bool | None = None
    """Whether the author is a verified customer; None where the export does not say."""
    edited: datetime.datetime | None = None
    """When it was last changed, where one export may have two versions."""
    place: str = ""
    """As ``Rules.place`` returned it."""
    anonymous: bool = False
    """Whether the platform says that the author is not named; else a missing name says nothing."""
    reply_withheld: bool = False
    """Whether the platform says that the reply is not public; else a missing reply may say nothing."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A review on its way into the file."""

    key: str
    """What two versions of it have in common."""
    source: str
    """Where it was written."""
    edited: int = 0
    """Of two versions in one export the greater one counts; milliseconds."""
    place: str = ""
    """Which of several locations it belongs to, as the export names it."""
    alike: int = 0
    """The same for reviews that say the same of source, author, day and rating (``alike``)."""
    record: bytes
    """The review, as JSON."""
    day: str = ""
    """The day of the review, YYYY-MM-DD."""
    blank: int = 0
    """The members of the record that the row does not have (``mask``): null, or made up for a new review.

    A merge leaves them as they are in the file, unless ``Format.certain`` says that the platform has none.
    """
    weak: int = 0
    """The members that the row has in part only (``mask``): a reply whose day is made up, a verification
    that the operator declares. They overwrite less than others.
    """
    newest: int = 0
    """The latest time in the row, in POSIX milliseconds; 0 where it has none."""
    replied: int = 0
    """The time of the owner's reply, in POSIX milliseconds; 0 where the row has none."""


def alike(source: object, author: object, day: object, rating: object) -> int:
    """A number by which one review under two ids is found, within one process.

    Args:
        source: Where it was written.
        author: Who wrote it.
        day: When, as YYYY-MM-DD.
        rating: The stars.
    """
    return hash((source, author, day, rating))


class RowRefusedError(Exception):
    """A row that cannot become a review; its text says why, in one line."""


class RowSkippedError(Exception):
    """A row that is no review, by what the platform documents; its text is the reason counted."""


class RowWithdrawnError(RowSkippedError):
    """A row of a review that the platform does not publish, or no longer."""

    key = ""
    """The merge key of the review, where the row has all that it is made of."""
