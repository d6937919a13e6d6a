"""The formats, as tables in platforms.toml: which member of a row is which of a review.

A platform of one's own needs a function only for what no name can say.
"""

import datetime
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec import UNSET

from reviewsctl.importing.format import Fields, Format, Head, Parser, Row, Signature
from reviewsctl.importing.platforms import any_csv, google, own, special
from reviewsctl.importing.platforms.dates import dates_of
from reviewsctl.importing.ratings import Scale, StarRating, stars
from reviewsctl.importing.review import PlatformReview, keyed_errors, reply_of
from reviewsctl.importing.settings import Settings, zone
from reviewsctl.importing.times import Reading, legible, moment, zoned
from reviewsctl.importing.values import address, original, titled, truth, within, word, words

Member = str | Callable[[Fields, Head], object]
"""The name of a member, or a function that returns its value.

``a.b`` is the member b of the object a; of ``a|b`` the first counts that has a word in it; ``^a`` is a member of JSON
beside the rows, and ``https://a/{b}`` an address that ends in the member b.
"""

_Getter = Callable[[Fields], object]


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
    nested_by: str = ""
    """The id of a place that has its reviews in it; its members beside the rows are then those of the rows."""
    zone: str = ""
    """The time zone of dates without one; the day as written if there is none."""
    dates_in: str = ""
    """``UTC`` or ``business``, the zone of dates that a spreadsheet may have changed; or ``column``. Their columns show
    how they are written, in the last case each for itself."""
    native_dates: str = ""
    """The pattern in which the platform writes such dates, where that is not ISO 8601."""
    has_translations: bool = False
    """Whether Google's translations stand beside texts."""
    has_edit_dates: bool = False
    """Whether an edited review has a new date."""
    prepared: Callable[[Fields], Fields] | None = None
    """Returns a row in which the members have these names."""

    def parser(self, head: Head, settings: Settings) -> Parser:
        """Return the parser of a file's rows."""
        dates = self._dates(head, settings)
        reply_dates = dates
        if self.dates_in == "column":
            reply_dates, _ = dates_of(head.sample, settings, [self.replied])
        key, author, text = (_getter(name, head) for name in (self.key, self.author, self.text))
        title, reply = _getter(self.title, head), _getter(self.reply, head)
        avatar, url = _getter(self.avatar, head), _getter(self.url, head)
        verified = _getter(self.verified, head)
        place, place_title = (_getter(name, head) for name in (self.place, self.place_title))
        created, replied = _dated(self.created, dates), _dated(self.replied, reply_dates)
        rating_of = _stars(self.rating) if isinstance(self.rating, str) else self.rating
        originals = original if self.has_translations else lambda text: text

        def read(row: Row) -> PlatformReview:
            fields = row.fields if self.prepared is None else self.prepared(row.fields)
            placed = row.with_place(self.nested_by) if self.nested_by else fields
            source = self.source if isinstance(self.source, str) else self.source(fields)
            identifier = word(key(fields))
            with keyed_errors(source, identifier):
                written_at = dates(created(fields))
                rating = rating_of(fields, settings.scale)
                return PlatformReview(
                    source=source,
                    key=identifier,
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
                    place=place(placed),
                    title=place_title(placed),
                    notes=rating.notes,
                )

        return read

    def _dates(self, head: Head, settings: Settings) -> Reading:
        if not self.dates_in:
            own_zone = zone(self.zone) if self.zone else None
            return lambda value: zoned(moment(value), own_zone)
        if self.dates_in == "column":
            return dates_of(head.sample, settings, [self.created])[0]
        columns = (self.created.split("|"), self.replied.split("|"))
        reading, _ = dates_of(head.sample, settings, *columns, native=self.native_dates)
        own_zone = datetime.UTC if self.dates_in == "UTC" else settings.zone
        return lambda value: zoned(reading(value), own_zone)


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
    getters = [_path(name, head) for name in member.split("|")]
    if len(getters) == 1:
        return getters[0]
    return lambda fields: next(
        (value for get in getters if word(value := get(fields)) is not None), None
    )


def _path(name: str, head: Head) -> _Getter:
    if name.startswith("https://"):
        base, _, member = name.rstrip("}").partition("{")
        return lambda fields: (key := word(fields.get(member))) and base + key
    parts = name.removeprefix("^").split(".")
    if name.startswith("^"):
        return lambda _: within(head.around, *parts)
    return lambda fields: within(fields, *parts)


def _dated(member: str, reading: Reading) -> _Getter:
    """Return what gets a date from a row, in the first spelling that can be read."""
    names = member.split("|")
    if len(names) == 1:
        return lambda fields: within(fields, *member.split("."))
    return lambda fields: legible(fields, names, reading)


_SIGNATURE: Final = ("needs", "lacks")
_MODULES: Final = {"": special, "google": google, "own": own, "any_csv": any_csv}


def _format(name: str, table: dict[str, Any]) -> Format:
    members = {member: _value(value) for member, value in table.items()}
    if needs := {part: members.pop(part) for part in _SIGNATURE if part in members}:
        members["signature"] = Signature(**needs)
    if "table" in members:
        rows = any_csv.Table(**members.pop("table"))
        members |= {
            "parser": rows.parser,
            "describe_columns": rows.describe,
            "names_source": rows.names_source,
        }
    elif "row" in members:
        members["parser"] = Layout(**members.pop("row")).parser
    return Format(name=name, **members)


def _value(value: Any) -> Any:  # noqa: ANN401  # as TOML has it
    match value:
        case str() if value.endswith("()"):
            module, _, name = value.removesuffix("()").rpartition(".")
            return getattr(_MODULES[module], name)
        case list():
            return tuple(value)
        case dict():
            return {name: _value(member) for name, member in value.items()}
        case _:
            return value


_tables = tomllib.loads(Path(__file__).with_name("platforms.toml").read_text("utf-8"))

FORMATS: Final = tuple(_format(name, table) for name, table in _tables.items())
"""In the order in which they are tried: the generic ones come last."""
