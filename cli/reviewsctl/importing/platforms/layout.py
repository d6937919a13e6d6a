"""Platforms as tables: which member of a row is which of a review.

A platform of one's own needs a function only for what no name can say.
"""

import datetime
from collections.abc import Callable
from dataclasses import dataclass

from msgspec import UNSET

from reviewsctl.importing.format import Fields, Head, Parser, Row
from reviewsctl.importing.ratings import Scale, StarRating, stars
from reviewsctl.importing.review import PlatformReview, reply_of
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.times import Reading, legible, moment, zoned
from reviewsctl.importing.values import address, first, original, titled, truth, within, word, words

Member = str | Callable[[Fields, Head], object]
"""The name of a member, or a function that returns its value.

``a.b`` is the member b of the object a; of ``a|b`` the first counts that has a word in it.
"""

_Getter = Callable[[Fields], object]


def moments(_head: Head, _settings: Settings) -> Reading:
    """Return the reading of dates in ISO 8601 and of counts of seconds."""
    return moment


def utc_moments(_head: Head, _settings: Settings) -> Reading:
    """Return the reading of such dates, of which those without a zone are in UTC."""
    return lambda value: zoned(moment(value), datetime.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The members of one kind of row; a platform has none of those that are None."""

    source: str | Callable[[Fields], str]
    """The platform, or a function that returns it; the function may raise RowRefusedError."""
    key: Member
    author: Member
    created: str
    rating: str | Callable[[Fields, Scale], StarRating] = "rating"
    text: Member
    title: Member | None = None
    avatar: Member | None = None
    url: Member | None = None
    reply: Member | None = None
    replied: str = ""
    verified: Member | None = None
    place: Member | None = None
    place_title: Member | None = None
    dates: Callable[[Head, Settings], Reading] = moments
    reply_dates: Callable[[Head, Settings], Reading] | None = None
    """None where replies have the same dates."""
    has_translations: bool = False
    """Whether Google's translations stand beside texts."""
    has_edit_dates: bool = False
    """Whether an edited review has a new date."""
    prepared: Callable[[Fields], Fields] | None = None
    """Returns a row in which the members have these names."""
    notes: Callable[[Fields], tuple[str, ...]] = lambda _: ()
    """Returns what the result mentions of a row."""

    def parser(self, head: Head, settings: Settings) -> Parser:
        """Return the parser of a file's rows."""
        dates = self.dates(head, settings)
        reply_dates = dates if self.reply_dates is None else self.reply_dates(head, settings)
        key, author, text = (_getter(name, head) for name in (self.key, self.author, self.text))
        title, reply = _getter(self.title, head), _getter(self.reply, head)
        avatar, url = _getter(self.avatar, head), _getter(self.url, head)
        verified = _getter(self.verified, head)
        place, place_title = _getter(self.place, head), _getter(self.place_title, head)
        created, replied = _dated(self.created, dates), _dated(self.replied, reply_dates)
        rating_of = _stars(self.rating) if isinstance(self.rating, str) else self.rating
        originals = original if self.has_translations else _as_written

        def read(row: Row) -> PlatformReview:
            fields = row.fields if self.prepared is None else self.prepared(row.fields)
            source = self.source if isinstance(self.source, str) else self.source(fields)
            rating = rating_of(fields, settings.scale)
            written_at = dates(created(fields))
            return PlatformReview(
                source=source,
                key=word(key(fields)),
                author=author(fields),
                avatar_url=UNSET if self.avatar is None else address(avatar(fields)),
                rating=rating.stars,
                created=written_at,
                edited=written_at if self.has_edit_dates else None,
                text=titled(title(fields), originals(words(text(fields)))),
                source_url=UNSET if self.url is None else address(url(fields)),
                reply=UNSET
                if self.reply is None
                else reply_of(originals(words(reply(fields))), replied(fields), reply_dates),
                verified=truth(verified(fields)),
                place=place(fields),
                title=place_title(fields),
                notes=rating.notes + self.notes(fields),
            )

        return read


def casefolded(fields: Fields) -> Fields:
    """Return a row with its names in lower case."""
    return {name.casefold(): value for name, value in fields.items()}


def _as_written(text: str | None) -> str | None:
    return text


def _value(fields: Fields, name: str) -> object:
    return within(fields, *name.split("."))


def _stars(name: str) -> Callable[[Fields, Scale], StarRating]:
    """Return what reads the stars of a row."""
    parts = name.split(".")
    return lambda fields, _: StarRating(stars(within(fields, *parts)))


def _getter(member: Member | None, head: Head) -> _Getter:
    """Return what gets the value of a member from a row."""
    if member is None:
        return lambda _: None
    if not isinstance(member, str):
        return lambda fields: member(fields, head)
    names = member.split("|")
    if len(names) == 1:
        parts = names[0].split(".")
        return lambda fields: within(fields, *parts)
    if "." not in member:
        return lambda fields: first(fields, *names)
    return lambda fields: next(
        (value for name in names if word(value := _value(fields, name)) is not None), None
    )


def _dated(member: str, reading: Reading) -> _Getter:
    """Return what gets a date from a row, in the first spelling that can be read."""
    names = member.split("|")
    if len(names) == 1:
        return lambda fields: _value(fields, member)
    return lambda fields: legible(fields, names, reading)
