"""A search query as a value: ``parameters`` parses it, ``search`` answers it (contract 3)."""

import base64
import binascii
import datetime
import re
from typing import Annotated, get_args
from urllib.parse import quote_plus

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from reviewsd.domain import times
from reviewsd.domain.insights import Sentiment
from reviewsd.domain.parameter_rules import ParameterType, SearchParameter
from reviewsd.domain.reviews import Timestamp

NEWEST, OLDEST, HIGHEST, LOWEST, CHANGED = SORTS = (
    "newest",
    "oldest",
    "highest",
    "lowest",
    "changed",
)
"""The orders: by date, by stars, and by the last change, the latest first.

``newest`` is date, then id, descending; ``oldest`` is its reverse. Reviews with equal stars, or of one moment of
change, are newest first."""

BY_RATING = {HIGHEST: (5, 4, 3, 2, 1), LOWEST: (1, 2, 3, 4, 5)}
"""The stars in each order by stars."""

LIMIT_DEFAULT, LIMIT_MAX = 20, 100  # seed 8
QUERY_MAX_LENGTH = 200  # characters; contract 3

_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ID = re.compile(r"[!-~]{1,128}")


_NAMED = frozenset(SORTS) - {NEWEST}
"""The orders that their cursors name."""
_STARS = {str(stars): stars for stars in BY_RATING[LOWEST]}


class Cursor(Struct, frozen=True):
    """The last review of a page; it stays valid when the data changes (contract 3)."""

    date: datetime.date
    id: str
    sort: str = NEWEST
    """The order of the page."""
    changed_at: datetime.datetime | None = None
    """The last change of the review; only in that order."""
    rating: int | None = None
    """The stars of the review; only in an order by stars."""

    def encode(self) -> str:
        """Return the opaque form: unpadded base64url of ``YYYY-MM-DD/id``.

        In another order than the usual one its name comes first, and the time of the change or the stars.
        """
        plain = f"{self.date.isoformat()}/{self.id}"
        if self.changed_at is not None:
            plain = f"{self.sort}/{times.spelled(self.changed_at)}/{plain}"
        elif self.rating is not None:
            plain = f"{self.sort}/{self.rating}/{plain}"
        elif self.sort != NEWEST:
            plain = f"{self.sort}/{plain}"
        encoded = binascii.b2a_base64(plain.encode(), newline=False)
        return encoded.translate(_URL_SAFE).rstrip(b"=").decode()

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        """Decode a result of ``encode``.

        Raises:
            ValueError: The text is not a result of ``encode``.
        """
        padded = text + "=" * (-len(text) % 4)
        try:
            plain = base64.b64decode(padded, altchars=b"-_", validate=True).decode("ascii")
        except (binascii.Error, ValueError):
            raise ValueError(text) from None
        sort, changed_at, rating = NEWEST, None, None
        first, _, rest = plain.partition("/")
        if first in _NAMED:
            sort, plain = first, rest
        if sort == CHANGED:
            moment, _, plain = plain.partition("/")
            changed_at = read_moment(moment)
        elif sort in BY_RATING:
            stars, _, plain = plain.partition("/")
            rating = _STARS.get(stars)
            if rating is None:
                raise ValueError(text)
        day, slash, review_id = plain.partition("/")
        if not slash or _ID.fullmatch(review_id) is None:
            raise ValueError(text)
        cursor = cls(read_day(day), review_id, sort, changed_at, rating)
        if cursor.encode() != text:
            raise ValueError(text)
        return cursor


TRUTH = {True: "true", False: "false"}
"""The spellings of a boolean, here and as keys of position sets."""


class SearchQuery(Struct, frozen=True, kw_only=True):
    """The parameters of a search, by their names; None is no filter (seed 4.4, contract 3)."""

    rating: Annotated[
        int | None, SearchParameter("Exact star rating.", 2, minimum=1, maximum=5)
    ] = None
    min_rating: Annotated[
        float | None, SearchParameter("Lowest star rating, inclusive.", 2, minimum=1, maximum=5)
    ] = None
    max_rating: Annotated[
        float | None, SearchParameter("Highest star rating, inclusive.", 3, minimum=1, maximum=5)
    ] = None
    source: Annotated[
        str | None,
        SearchParameter("Where it was written, upper and lower case alike.", "google"),
    ] = None
    location: Annotated[
        str | None,
        SearchParameter("Id, alias or name of one of business.locations.", "dover"),
    ] = None
    verified: Annotated[
        bool | None,
        SearchParameter(
            "Whether its source has checked that the author was a customer.", example=True
        ),
    ] = None
    has_reply: Annotated[
        bool | None, SearchParameter("Whether the owner has replied.", example=True)
    ] = None
    since: Annotated[
        datetime.date | None, SearchParameter("First day, inclusive.", "2025-01-31")
    ] = None
    until: Annotated[
        datetime.date | None, SearchParameter("Last day, inclusive.", "2025-12-31")
    ] = None
    changed_since: Annotated[
        datetime.datetime | None,
        SearchParameter(
            "Added or changed since this date or RFC 3339 time.", "2025-01-31T12:00:00Z"
        ),
    ] = None
    query: Annotated[
        str | None,
        SearchParameter(
            "Part of the text, upper and lower case alike.", "boiler", maximum=QUERY_MAX_LENGTH
        ),
    ] = None
    mentions_technician: Annotated[
        str | None,
        SearchParameter("Name, given name, alias or id of a technician whom it mentions.", "Sam"),
    ] = None
    mentions_service: Annotated[
        str | None,
        SearchParameter(
            "Id, label, alias or first word of a service that it mentions.", "boiler-repair"
        ),
    ] = None
    mentions_aspect: Annotated[
        str | None,
        SearchParameter("Id or label of an aspect that it speaks of.", "pricing"),
    ] = None
    mentions_problem: Annotated[
        str | None,
        SearchParameter("Id or label of a problem that it reports.", "no-callback"),
    ] = None
    mentions_topic: Annotated[
        str | None, SearchParameter("Id or label of a topic that it is on.", "boilers")
    ] = None
    mentions_area: Annotated[
        str | None,
        SearchParameter("Id or label of a service area that it names.", "dover"),
    ] = None
    sentiment: Annotated[
        str | None,
        SearchParameter(
            "Of the aspect where mentions_aspect is given, else of the review.",
            "negative",
            choices=get_args(Sentiment),
        ),
    ] = None
    sort: Annotated[
        str,
        SearchParameter(
            "By date, by stars (of equal ones the newest first), or last changed first.",
            NEWEST,
            choices=SORTS,
        ),
    ] = NEWEST
    limit: Annotated[
        int, SearchParameter("Most reviews to return.", 20, minimum=1, maximum=LIMIT_MAX)
    ] = LIMIT_DEFAULT
    cursor: Annotated[
        Cursor | None,
        SearchParameter(
            "Where to go on: next_cursor of the page before, with the same sort. Opaque.",
            "MjAyNS0wMy0xNC8wMUo5WkszVjVROFIyTjdNNFQ2VzFYMFlBQg",
            kind=ParameterType.CURSOR,
        ),
    ] = None

    def canonical(self) -> str:
        """Return the normalized query string; equal searches have equal strings."""
        return self.first_page() if self.cursor is None else self.page_after(self.cursor.encode())

    def page_after(self, cursor: str) -> str:
        """Return the query string of the page after a cursor."""
        first = self.first_page()
        return f"{first}{'&' if first else ''}cursor={cursor}"

    def first_page(self) -> str:
        """Return the normalized query string of the first page."""
        parameters = zip(_USUAL, astuple(self), strict=False)  # the cursor is not among them
        return "&".join(
            [f"{name}={_spelled(value)}" for (name, usual), value in parameters if value != usual]
        )


MENTIONS = {
    "mentions_technician": "technicians",
    "mentions_service": "services",
    "mentions_aspect": "aspects",
    "mentions_problem": "problems",
    "mentions_topic": "topics",
    "mentions_area": "service_areas",
}
"""The filters by mentions, and the list of the insights (``Insights.lists``) that each is about."""


def _spelled(value: object) -> str:
    """Return a value as it is written in a query string."""
    match value:
        case bool():
            return TRUTH[value]
        case float():
            return str(int(value) if value.is_integer() else value)
        case datetime.datetime():
            return times.spelled(value)
        case str() if not (value.isascii() and value.isalnum()):
            return quote_plus(value)
    return str(value)


_USUAL = tuple(
    (field.name, field.default)
    for field in msgspec.structs.fields(SearchQuery)
    if field.name != "cursor"
)
"""The name and usual value of each parameter but the cursor, in the order of the fields."""


def read_day(text: str) -> datetime.date:
    """Parse a real day, spelled ``YYYY-MM-DD``.

    Raises:
        ValueError: The text is not a real day, or is spelled differently.
    """
    # fromisoformat alone accepts 20250101, 2025-W01-1 and digits of every script.
    if _DATE.fullmatch(text) is None:
        raise ValueError(text)
    return datetime.date.fromisoformat(text)


def read_moment(text: str) -> datetime.datetime:
    """Parse an RFC 3339 time, or a real day, which means its first moment in UTC.

    Raises:
        ValueError: The text is neither.
    """
    if _DATE.fullmatch(text) is not None:
        return datetime.datetime.combine(read_day(text), datetime.time(), datetime.UTC)
    if text[-6:-5] == " ":  # an unescaped plus sign in a query string
        text = f"{text[:-6]}+{text[-5:]}"
    moment = msgspec.convert(text, Timestamp)
    if not times.fits_utc(moment):
        raise ValueError(text)
    return moment.astimezone(datetime.UTC)
