"""Types of the reviews file: business, aggregate rating and reviews (data-model.md 1, seed 2).

These structs define members, types and bounds in one place. They validate the operator's file, order
the members of what is served, and describe it in the OpenAPI document. Unknown members are allowed
everywhere and are served unchanged (``publish.documents``).

``extra["expected"]`` of a ``Meta`` is the text of the rule in findings; without it the bounds are
shown. The function ``extra["hint"]`` returns what to do about a value.
"""

import datetime
import re
from collections.abc import Mapping
from typing import Annotated, Literal, get_args
from urllib.parse import quote

from msgspec import UNSET, Meta, Struct, UnsetType

from reviewsd.api.spelling import nearest
from reviewsd.api.texts import ANONYMOUS
from reviewsd.domain.data_errors import END, example, show, spelled

Text = Annotated[str, Meta(min_length=1)]
"""A string that must not be empty."""

SERVED_PATTERN = "served_pattern"
"""Key of the pattern in schemas for clients; JavaScript refuses our own grammars in Unicode mode."""

_LANGUAGE_TAG = "[A-Za-z]{2,3}(-[0-9A-Za-z]{1,8})*"
_language_tag = re.compile(_LANGUAGE_TAG)


def _tag_hint(language: str) -> str:
    """Return the tag that a locale of POSIX, such as "en_IE", stands for."""
    tag = language.strip().replace("_", "-")
    return f"; write {show(tag)}" if _language_tag.fullmatch(tag) and tag != language else ""


LanguageTag = Annotated[
    str, spelled(_LANGUAGE_TAG, 'a language tag such as "en" or "de"', _tag_hint)
]

Date = datetime.date
"""A real calendar day, exactly ``YYYY-MM-DD``: msgspec refuses every other spelling."""

Timestamp = Annotated[datetime.datetime, Meta(tz=True)]
"""An RFC 3339 date and time with an offset."""

# Characters that an address must escape (RFC 3987 2.2 and 4.1); letters of every script are allowed.
_UNFIT = r"\s\x00-\x1f\"<>\\^`{|}\x7f-\x9f\u200e\u200f\u202a-\u202e\ufff0-\uffff"
_BROKEN_ESCAPE = "%(?![0-9A-Fa-f]{2})"
_HOST = (
    rf"[Hh][Tt][Tt][Pp][Ss]?://(?:[^{_UNFIT}/?#\[\]@]*@)?"
    rf"(?:[^{_UNFIT}/?#\[\]@:]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?(?=[/?#]|{END})"
)

_ADDRESS = rf"(?![\s\S]*{_BROKEN_ESCAPE}){_HOST}[^{_UNFIT}\[\]#]*(?:#[^{_UNFIT}\[\]#]*)?"

_unfit = re.compile(rf"[{_UNFIT}\[\]]|{_BROKEN_ESCAPE}|(?<=#)[^#]*#")
_host = re.compile(_HOST)


def _write_as(address: str) -> str:
    """Return how to escape the first invalid character of an address, or "" if it has none."""
    host = _host.match(address)
    unfit = None if host is None else _unfit.search(address, host.end())
    if unfit is None:
        return ""
    character = unfit[0][-1]
    return f"; write {show(character)} as {quote(character, safe='')}"


Url = Annotated[
    str,
    spelled(_ADDRESS, "http(s) URL", _write_as, {"format": "uri", SERVED_PATTERN: "^https?://"}),
]
"""An absolute http or https address (RFC 3986, RFC 3987); pages link to it, so no other scheme is safe."""

HttpsUrl = Annotated[
    str,
    spelled(
        f"(?=[Hh][Tt][Tt][Pp][Ss]:){_ADDRESS}",
        "https URL",
        _write_as,
        {"format": "uri", SERVED_PATTERN: "^https://"},
    ),
]
"""An absolute https address; no network on the way can lead its visitors elsewhere."""

Contact = Annotated[
    str,
    spelled(
        rf"(?:[0-9A-Za-z._+-]{{1,64}}@[0-9A-Za-z.-]{{1,253}}|{_ADDRESS})",
        "e-mail address or http(s) URL",
        schema={SERVED_PATTERN: "^https?://|^[0-9A-Za-z._+-]+@"},
    ),
]
"""A plain e-mail address, or an absolute http or https address."""

ReviewId = Annotated[str, spelled("[!-~]{1,128}", "1..128 printable characters")]
"""A stable merge key, by convention a ULID; any printable non-blank ASCII is accepted."""

Rating = Annotated[int, Meta(ge=1, le=5)]
NonNegative = Annotated[int, Meta(ge=0)]


def _clock_hint(time: str) -> str:
    if not any(map(str.isdigit, time)):
        return "; leave out the days that are closed"
    hours, _, minutes = time.strip().replace(".", ":").partition(":")
    written = f"{hours.zfill(2)}:{minutes or '00'}"
    return f'; write "{written}"' if _clock.fullmatch(written) else ""


_CLOCK = "(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)"
_clock = re.compile(_CLOCK)
ClockTime = Annotated[str, spelled(_CLOCK, "HH:MM", _clock_hint)]

_CLOSE_DAY = 0.8  # likeness of a mistyped day
_Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def _day_hint(day: str) -> str:
    if "-" in day:
        return "; one entry for each day"
    short = [name for name in WEEK if len(day) > 1 and name.startswith(day.casefold())]
    return f'; did you mean "{short[0]}"?' if len(short) == 1 else nearest(day, WEEK, _CLOSE_DAY)


WEEK: tuple[str, ...] = get_args(_Day)
"""The days as the data names them, from Monday on."""

Day = Annotated[_Day, Meta(extra={"expected": "monday..sunday", "hint": _day_hint})]


class Address(Struct, frozen=True, kw_only=True):
    """Where the business is; every part as the operator writes it."""

    street: str | None = None
    city: str | None = None
    region: str | None = None
    postal_code: str | None = None
    country: Annotated[str | None, Meta(description="ISO 3166-1 alpha-2 preferred")] = None


class Geo(Struct, frozen=True, kw_only=True):
    """WGS 84 position in degrees."""

    latitude: Annotated[float, Meta(ge=-90, le=90)]
    longitude: Annotated[float, Meta(ge=-180, le=180)]


class OpeningHours(Struct, frozen=True, kw_only=True):
    """One opening of one day; ``closes`` not after ``opens`` means past midnight."""

    day: Day
    opens: ClockTime
    closes: ClockTime


LocationId = Annotated[
    str, spelled("[0-9A-Za-z_][0-9A-Za-z_-]{0,63}", "1..64 letters, digits, - and _")
]
"""The last segment of the address of a location's page, so it needs no escape and has no dot."""


Hours = Annotated[
    tuple[OpeningHours, ...], example('[{"day": "monday", "opens": "08:00", "closes": "17:00"}]')
]
ReviewUrls = Annotated[
    dict[Text, HttpsUrl], example('{"google": "https://g.page/r/EXAMPLE/review"}')
]
PostalAddress = Annotated[
    Address | None, example('{"street": "5 Harbour Road", "city": "Dover", "country": "GB"}')
]
Position = Annotated[Geo | None, example('{"latitude": 51.13, "longitude": 1.31}')]


class Location(Struct, frozen=True, kw_only=True):
    """One of the places of the business; reviews name it by its id or an alias (pages.md 8)."""

    id: Annotated[LocationId, Meta(description="Slug, the end of the address of its page")]
    name: Annotated[str, Meta(min_length=1, max_length=200)]
    aliases: Annotated[
        tuple[Text, ...], Meta(description="Other names of it in reviews, such as a platform's id")
    ] = ()
    description: str | None = None
    url: Url | None = None
    phone: str | None = None
    email: str | None = None
    address: PostalAddress = None
    geo: Position = None
    hours: Hours = ()
    review_urls: ReviewUrls = {}


class Business(Struct, frozen=True, kw_only=True):
    """The business whose reviews are served (data-model.md 1.1)."""

    id: Annotated[str | None, Meta(description="Slug")] = None
    name: Annotated[str, Meta(min_length=1, max_length=200)]
    description: str | None = None
    category: Annotated[
        str | None, Meta(description="schema.org LocalBusiness subtype, e.g. Plumber")
    ] = None
    url: Annotated[Url | None, Meta(description="The business's own website")] = None
    phone: str | None = None
    email: str | None = None
    address: PostalAddress = None
    geo: Position = None
    hours: Annotated[Hours, Meta(description="A day that is absent is closed")] = ()
    service_areas: Annotated[tuple[str, ...], example('["Dover", "Deal"]')] = ()
    social_urls: Annotated[tuple[Url, ...], example('["https://www.facebook.com/EXAMPLE"]')] = ()
    logo_url: Annotated[Url | None, Meta(description="Square image, icon of the feeds")] = None
    language: Annotated[Text, Meta(description="BCP 47")] = "en"
    verification_statement: Annotated[
        str | None, Meta(description="How reviews are collected and checked, in the owner's words")
    ] = None
    reports: Annotated[
        Contact | None,
        Meta(description="Where readers report a review: an e-mail address or a URL"),
    ] = None
    legal_notice_url: Annotated[Url | None, Meta(description="Legal notice (imprint)")] = None
    privacy_url: Annotated[Url | None, Meta(description="Privacy policy")] = None
    review_urls: Annotated[
        ReviewUrls,
        Meta(description="Where a customer can write a review, by platform"),
    ] = {}
    locations: Annotated[
        tuple[Location, ...] | UnsetType, Meta(description="Its places; absent where it has one")
    ] = UNSET


class Distribution(
    Struct,
    frozen=True,
    kw_only=True,
    rename={"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"},
):
    """Number of reviews for each star rating."""

    one: NonNegative | None = None
    two: NonNegative | None = None
    three: NonNegative | None = None
    four: NonNegative | None = None
    five: NonNegative | None = None


class AggregateRating(Struct, frozen=True, kw_only=True):
    """The aggregate as the file may give it; members left out are computed (data-model.md 1.2)."""

    rating_value: Annotated[
        Annotated[float, Meta(ge=0, le=5)] | None,
        Meta(description="Mean of all ratings, two decimals; null without reviews"),
    ] = None
    review_count: NonNegative | None = None
    best_rating: int | None = None
    worst_rating: int | None = None
    distribution: Distribution | None = None


def mean(stars: Mapping[int, int]) -> float | None:
    """Return the mean of some ratings with two decimals, half up (data-model.md 1.2); None of none.

    Args:
        stars: Number of reviews for each rating that occurs.
    """
    count = sum(stars.values())
    total = sum(rating * number for rating, number in stars.items())
    return (200 * total + count) // (2 * count) / 100 if count else None


def aggregate(stars: Mapping[int, int]) -> AggregateRating:
    """Return the aggregate of some reviews, by the number of each rating that occurs."""
    return AggregateRating(
        rating_value=mean(stars),
        review_count=sum(stars.values()),
        best_rating=5,
        worst_rating=1,
        distribution=Distribution(
            one=stars.get(1, 0),
            two=stars.get(2, 0),
            three=stars.get(3, 0),
            four=stars.get(4, 0),
            five=stars.get(5, 0),
        ),
    )


_MAX_BLANK = 200
"""Characters of a name that ``is_blank`` checks."""


class OwnerReply(Struct, frozen=True, kw_only=True):
    """The business's public answer to a review."""

    text: str
    date: Date
    undated: Annotated[
        bool | UnsetType,
        Meta(description="Whether the day is the review's, as nobody knows that of the reply"),
    ] = UNSET


class Review(Struct, frozen=True, kw_only=True, gc=False):
    """One customer review; every member is always served but stamps and location (data-model.md 1.3)."""

    id: Annotated[ReviewId, Meta(description="Stable key, by convention a ULID")]
    author: Annotated[Text, Meta(description="Display name")]
    author_avatar_url: Url | None = None
    rating: Annotated[Rating, Meta(description="Stars")]
    date: Annotated[Date, Meta(description="Day of the review")]
    text: Annotated[str | None, Meta(description="Verbatim; null for a rating without words")] = (
        None
    )
    source: Annotated[Text, Meta(description="Where it was written, e.g. google")]
    source_url: Annotated[Url | None, Meta(description="Permalink of the original")] = None
    owner_reply: Annotated[
        OwnerReply | None, example('{"text": "Thank you, Jane!", "date": "2026-03-16"}')
    ] = None
    verified: Annotated[
        bool, Meta(description="Whether its source has checked that the author was a customer")
    ]
    added_at: Annotated[
        Timestamp | UnsetType | None,
        Meta(description="When it first came into the file, UTC; absent where nobody knows"),
    ] = UNSET
    changed_at: Annotated[
        Timestamp | UnsetType | None,
        Meta(description="When its content last changed, UTC; absent where nobody knows"),
    ] = UNSET
    location: Annotated[
        str | UnsetType | None,
        Meta(description="Id or alias of the location it is about; absent where nobody knows"),
    ] = UNSET


class RemovedReview(Struct, frozen=True, kw_only=True):
    """A review that was served, and is gone."""

    id: ReviewId
    at: Annotated[Timestamp, Meta(description="When it went")]


def is_blank(name: str) -> bool:
    """Return whether a name has only blanks and invisible characters."""
    if name[:1].isalnum():  # most names
        return False
    return not any(char.isprintable() and not char.isspace() for char in name[:_MAX_BLANK])


def is_unnamed(author: str) -> bool:
    """Return whether pages show their own words in place of an author: for a blank one, and the one of imports."""
    return author == ANONYMOUS or is_blank(author)


def primary_language(tag: str) -> str:
    """Return the code of the language (ISO 639) of a tag (BCP 47)."""
    return tag.partition("-")[0].lower()
