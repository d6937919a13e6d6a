"""A review on its way from an export into reviews.json."""

import contextlib
import datetime
import functools
import hashlib
from collections.abc import Collection, Iterator, Mapping
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from reviewsctl.importing.errors import RowRefusedError, RowSkippedError
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.times import Reading, milliseconds, moment
from reviewsctl.importing.values import (
    anonymous_name,
    display_name,
    word,
    words,
)
from reviewsd.api.texts import merge_key

MEMBERS: Final = (
    *("author", "author_avatar_url", "rating", "date"),
    *("text", "source_url", "owner_reply", "verified"),
)
"""The members that an import may overwrite, in the order of the import log."""


NO_ID: Final = "no-id"
"""The note on a review without an id of its own."""
SHORTENED: Final = "shortened"
"""The note on a name that is shortened, as those of the file are short."""
FUTURE: Final = "future"
"""The note on a row that is refused as its date, or that of its reply, is in the future."""
_MAX_AHEAD: Final = datetime.timedelta(
    days=1
)  # of the day at the business: elsewhere it is tomorrow

Reply = tuple[str, datetime.datetime | None]
"""An owner's reply and its time, which is None where the export does not say."""


class PlatformReview(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A review as an export has it, by our names."""

    source: str
    """The platform, lower case."""
    key: str | None
    """Its id there; without one its id becomes a hash of author, time, rating and text."""
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
    content_key: str = ""
    """The merge key that it has where its row has no id; empty without an id of its own."""
    later_key: str = ""
    """The merge key that it has in later imports, where it has the id of an earlier source; else empty."""
    source: str
    edited: int = 0
    """The time of the last edit, POSIX milliseconds; of two versions in one export the newer one counts."""
    place: str = ""
    """The id of its location, as the export has it."""
    title: str = ""
    """The title of that location."""
    record: Mapping[str, object]
    """The review, as JSON has it."""
    blank: frozenset[str] = frozenset()
    """The members of the record that the row does not have: null, or made up for a new review.

    A merge leaves them as they are in the file, unless ``Format.certain`` says that the platform has none.
    """
    certain: Collection[str] = ()
    """The members that the platform has none of where they are blank."""
    weak: frozenset[str] = frozenset()
    """The members that the row has in part only: a reply with a day that is made up, a verification that the operator
    declares. They overwrite less than others.
    """
    newest: str = ""
    """The latest day of the review itself, by UTC; without that of its reply, as an export may have none."""
    replied: int = 0
    """The time of the owner's reply, in POSIX milliseconds; 0 where the row has none."""
    notes: tuple[str, ...] = ()
    """Names of what the result mentions of it (``report``)."""

    @property
    def has_own_id(self) -> bool:
        """Whether its id is not made of its content."""
        return NO_ID not in self.notes

    def with_id(self, review_id: str) -> "Entry":
        """Return the row with the id of its review in the file."""
        record = {**self.record, "id": review_id}
        return msgspec.structs.replace(self, key=merge_key(review_id), record=record)


def entry_of(review: PlatformReview, settings: Settings) -> Entry:
    """Return the entry of a review.

    Raises:
        RowRefusedError: Its day is outside of the calendar or in the future, or that of its reply is.
    """
    day = _day(review.created, settings.zone)
    parts = (words(review.author) or "", review.created.isoformat(), str(review.rating))
    content = "\0".join((*parts, review.text or ""))
    own_key = content if review.key is None else review.key
    source = settings.source_of(settings.earlier_source or review.source)
    of_content = stable_id(source, content, review.created)
    identifier = stable_id(source, own_key, review.created)
    later_key = "" if source == review.source else key_of(review.source, own_key)
    replied_at = review.reply[1] if isinstance(review.reply, tuple) else None
    reply_day = None if replied_at is None else _day(replied_at, settings.zone)
    check_days(day, reply_day, settings, "" if review.key is None else merge_key(identifier))
    place = word(review.place) or ""
    record: dict[str, object] = {
        "id": identifier,
        "author": display_name(review.author) or anonymous_name(review.source),
        "author_avatar_url": review.avatar_url,
        "rating": review.rating,
        "date": day.isoformat(),
        "text": review.text,
        "source": review.source,
        "source_url": review.source_url,
        "owner_reply": _owner_reply(review.reply, day, settings),
        "verified": bool(settings.verified if review.verified is None else review.verified),
        "location": place or UNSET,
    }
    is_unsaid = review.verified is None
    is_undated = isinstance(review.reply, tuple) and review.reply[1] is None
    notes = {
        NO_ID: review.key is None,
        "unsaid": is_unsaid and settings.verified is None,
        "undated-reply": is_undated,
    }
    edited, replied = milliseconds(review.edited), milliseconds(replied_at)
    times = filter(None, (review.created, review.edited))
    return Entry(
        key=merge_key(identifier),
        later_key=later_key,
        content_key="" if review.key is None else merge_key(of_content),
        source=review.source,
        edited=edited,
        place=place,
        title=words(review.title) or "",
        record={name: value for name, value in record.items() if value is not UNSET},
        blank=_true(
            text=review.text is None,
            source_url=review.source_url is None,
            owner_reply=review.reply is None and not review.reply_withheld,
            verified=is_unsaid and settings.verified is None,
            author=not (review.anonymous or display_name(review.author)),
            author_avatar_url=review.avatar_url is None and not review.anonymous,
        ),
        weak=_true(owner_reply=is_undated, verified=is_unsaid and settings.verified is not None),
        newest=max(_day(time, datetime.UTC) for time in times).isoformat(),
        replied=replied,
        notes=(*review.notes, *(name for name, holds in notes.items() if holds)),
    )


def check_days(
    day: datetime.date, reply_day: datetime.date | None, settings: Settings, key: str
) -> None:
    """Check the days of a review and of its reply (decision 612); the merge key is empty without an id of its own.

    Raises:
        RowRefusedError: One of them is in the future.
    """
    for name, when in (("date", day), ("reply's date", reply_day)):
        if when is not None and when - settings.today > _MAX_AHEAD:
            today = f"today is {settings.today} by the clock of this computer"
            raise RowRefusedError(f"{name} {when} is in the future; {today}", FUTURE, key)


@functools.cache
def _true(**conditions: bool) -> frozenset[str]:
    """Return the names of the conditions that hold."""
    return frozenset(name for name, holds in conditions.items() if holds)


def _owner_reply(reply: Reply | UnsetType | None, day: datetime.date, settings: Settings) -> object:
    if reply is None or isinstance(reply, UnsetType):
        return reply
    text, when = reply
    if when is None:
        return {"text": text, "date": day.isoformat(), "undated": True}
    return {"text": text, "date": _day(when, settings.zone).isoformat()}


def _day(when: datetime.datetime, zone: datetime.tzinfo) -> datetime.date:
    """Return the calendar day in a time zone; of a time without one, the day as written."""
    try:
        return (when if when.tzinfo is None else when.astimezone(zone)).date()
    except OverflowError:
        raise RowRefusedError("the date is outside of the calendar") from None


def reply_of(text: str | None, when: object, reading: Reading = moment) -> Reply | None:
    """Return an owner's reply with its time; None if there is none.

    Raises:
        RowRefusedError: Its time cannot be read; no other is made up for it.
    """
    if text is None:
        return None
    if word(when) is None:
        return text, None
    try:
        return text, reading(when)
    except RowRefusedError as refusal:
        raise RowRefusedError(f"reply's {refusal}") from None


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

    A ULID stays: an export of ours has it, whatever its owner has done to the table since.
    """
    if merge_key(key) != key:
        return key
    if created.tzinfo is None:
        created = created.replace(tzinfo=datetime.UTC)
    time = min(max(0, (created - _EPOCH) // _MILLISECOND), _MAX_TIME)
    digest = hashlib.sha256(f"{source}\0{key}".encode()).digest()
    return encode(time.to_bytes(6) + digest[:10])


def encode(ulid: bytes) -> str:
    """Return sixteen bytes as the 26 characters of a ULID."""
    number = int.from_bytes(ulid)
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def key_of(source: str, key: str) -> str:
    """Return the merge key of a review, by its source and its id there."""
    return merge_key(stable_id(source, key, _EPOCH))


@contextlib.contextmanager
def keyed_errors(source: str, key: str | None) -> Iterator[None]:
    """Give the merge key of a review, and the id of its row, to an error that the row raises in the block."""
    try:
        yield
    except (RowRefusedError, RowSkippedError) as error:
        error.key = key_of(source, key) if key else ""
        if isinstance(error, RowRefusedError):
            error.own_id = key or ""
        raise
