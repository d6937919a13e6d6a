"""Rules that make a review of any platform one of ours: its id, its day, its names, and the operator's answers."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import UNSET, UnsetType

from reviewsctl.importing.publicity.judge import Publicity
from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.review import (
    BITS,
    Entry,
    ImportedReview,
    OwnerReply,
    PlatformReview,
    Reply,
    RowRefusedError,
    alike,
    stable_id,
)
from reviewsctl.importing.times import Reading, milliseconds, moment
from reviewsctl.importing.values import (
    anonymous_name,
    display_name,
    encoded,
    short_name,
    without_surrogates,
    word,
    words,
)
from reviewsd.api.review_ids import merge_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The operator's answers about the columns of a table."""

    mapped: Mapping[str, str] = field(default_factory=dict)
    """Our names with those of columns, an empty one for none (``--map``)."""
    date_format: str | None = None
    source: str | None = None
    """The platform, when no column names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules that are the same for all formats."""

    zone: datetime.tzinfo
    """The time zone of the business, which decides on which day a review was written."""
    short_names: bool
    verified: bool | None = None
    """The operator's answer for reviews of which the export says nothing."""
    scale: Scale = field(default_factory=Scale)
    columns: Columns = field(default_factory=Columns)
    publicity: Publicity = field(default_factory=Publicity)
    """Decides which rows are public at their platform."""
    today: datetime.date = datetime.date.max
    """The day at the business; reviews of a later day are mentioned."""

    def entry(self, review: PlatformReview) -> Entry:
        """Return the entry of a review.

        Raises:
            RowRefusedError: Its day is outside of the calendar.
        """
        day = self._day(review.created)
        key = review.key
        if key is None:
            author = words(review.author) or ""
            key = f"{author}\0{review.created.isoformat()}\0{review.rating}\0{review.text or ''}"
        place = str(without_surrogates(words(review.place) or ""))
        record = ImportedReview(
            id=stable_id(review.source, key, review.created),
            author=self._name(review),
            author_avatar_url=review.avatar_url,
            rating=review.rating,
            date=day,
            text=review.text,
            source=review.source,
            source_url=review.source_url,
            owner_reply=self._owner_reply(review.reply, day),
            verified=bool(self.verified if review.verified is None else review.verified),
            location=place or UNSET,
        )
        replied_at = review.reply[1] if isinstance(review.reply, tuple) else None
        edited, replied = milliseconds(review.edited), milliseconds(replied_at)
        return Entry(
            key=merge_key(record.id),
            source=str(without_surrogates(record.source)),
            edited=edited,
            place=place,
            title=words(review.title) or "",
            alike=alike(record.source, record.author, day.isoformat(), record.rating),
            record=encoded(record),
            day=day.isoformat(),
            blank=self._blank(review),
            weak=self._weak(review),
            newest=max(milliseconds(review.created), edited, replied),
            replied=replied,
            notes=review.notes + self._notes(review, day),
        )

    def _notes(self, review: PlatformReview, day: datetime.date) -> tuple[str, ...]:
        """Return what the result mentions of a review."""
        conditions = {
            "future": day > self.today,
            "no-id": review.key is None,
            "unsaid": review.verified is self.verified is None,
            "undated-reply": isinstance(review.reply, tuple) and review.reply[1] is None,
        }
        return tuple(name for name, holds in conditions.items() if holds)

    def _blank(self, review: PlatformReview) -> int:
        """Return the members of a review for which the export has nothing, as a ``mask``."""
        is_named = display_name(review.author) is not None or review.anonymous
        return (
            (review.text is None) * BITS["text"]
            | (review.source_url is None) * BITS["source_url"]
            | (review.reply is None and not review.reply_withheld) * BITS["owner_reply"]
            | (review.verified is self.verified is None) * BITS["verified"]
            | (not is_named) * BITS["author"]
            | (review.avatar_url is None and not review.anonymous) * BITS["author_avatar_url"]
        )

    def _weak(self, review: PlatformReview) -> int:
        """Return the members of a review that the export has in part only, as a ``mask``."""
        is_undated = isinstance(review.reply, tuple) and review.reply[1] is None
        is_declared = review.verified is None and self.verified is not None
        return is_undated * BITS["owner_reply"] | is_declared * BITS["verified"]

    def _name(self, review: PlatformReview) -> str:
        name = display_name(review.author)
        if name is None:
            return anonymous_name(review.source)
        return short_name(name) if self.short_names else name

    def _owner_reply(
        self, reply: Reply | UnsetType | None, day: datetime.date
    ) -> OwnerReply | UnsetType | None:
        if reply is None or isinstance(reply, UnsetType):
            return reply
        text, when = reply
        return OwnerReply(text=text, date=day if when is None else self._day(when))

    def _day(self, when: datetime.datetime) -> datetime.date:
        """Return the calendar day in the business's zone; of a time without a zone, the day as written."""
        try:
            return (when if when.tzinfo is None else when.astimezone(self.zone)).date()
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
