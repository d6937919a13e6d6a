"""A search query as a value: ``parameters`` parses it, ``search`` answers it (contract 3)."""

import base64
import binascii
import datetime
import re
from urllib.parse import quote_plus

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from reviewsd.domain import times
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
    """The parameters of a search, by their names; None is no filter."""

    rating: int | None = None
    min_rating: float | None = None
    max_rating: float | None = None
    source: str | None = None
    location: str | None = None
    verified: bool | None = None
    has_reply: bool | None = None
    since: datetime.date | None = None
    until: datetime.date | None = None
    changed_since: datetime.datetime | None = None
    query: str | None = None
    mentions_technician: str | None = None
    mentions_service: str | None = None
    mentions_aspect: str | None = None
    mentions_problem: str | None = None
    mentions_topic: str | None = None
    mentions_area: str | None = None
    sentiment: str | None = None
    sort: str = NEWEST
    limit: int = LIMIT_DEFAULT
    cursor: Cursor | None = None

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
