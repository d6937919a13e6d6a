"""A search query as a value: ``parameters`` parses it, ``search`` answers it (contract 3)."""

import base64
import binascii
import datetime
import re
from urllib.parse import quote_plus

import msgspec
from msgspec import Struct

from reviewsd.domain import times
from reviewsd.domain.reviews import Timestamp

NEWEST, CHANGED = "newest", "changed"
"""The orders: by date, or by the last change, both latest first."""

LIMIT_DEFAULT, LIMIT_MAX = 20, 100  # seed 8

_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ID = re.compile(r"[!-~]{1,128}")


class Cursor(Struct, frozen=True):
    """The last review of a page; it stays valid when the data changes (contract 3)."""

    date: datetime.date
    id: str
    changed_at: datetime.datetime | None = None
    """The last change of the review; only in that order."""

    @property
    def sort(self) -> str:
        """The order of the page."""
        return NEWEST if self.changed_at is None else CHANGED

    def encode(self) -> str:
        """Return the opaque form: unpadded base64url of ``YYYY-MM-DD/id``, with ``changed/time/`` first in that order."""
        plain = f"{self.date.isoformat()}/{self.id}"
        if self.changed_at is not None:
            plain = f"{CHANGED}/{times.spelled(self.changed_at)}/{plain}"
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
        day, slash, review_id = plain.partition("/")
        changed_at = None
        if day == CHANGED:
            moment, _, rest = review_id.partition("/")
            changed_at = read_moment(moment)
            day, slash, review_id = rest.partition("/")
        if not slash or _ID.fullmatch(review_id) is None:
            raise ValueError(text)
        cursor = cls(read_day(day), review_id, changed_at)
        if cursor.encode() != text:
            raise ValueError(text)
        return cursor


class SearchQuery(Struct, frozen=True, kw_only=True):
    """The parameters of a search, by their names; None is no filter."""

    rating: int | None = None
    min_rating: float | None = None
    max_rating: float | None = None
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
        parts = []
        if self.rating is not None:
            parts.append(f"rating={self.rating}")
        if self.min_rating is not None:
            parts.append(f"min_rating={_number(self.min_rating)}")
        if self.max_rating is not None:
            parts.append(f"max_rating={_number(self.max_rating)}")
        if self.since is not None:
            parts.append(f"since={self.since}")
        if self.until is not None:
            parts.append(f"until={self.until}")
        if self.changed_since is not None:
            parts.append(f"changed_since={times.spelled(self.changed_since)}")
        texts = ((name, getattr(self, name)) for name in _TEXTS)
        parts += [f"{name}={_quoted(text)}" for name, text in texts if text is not None]
        if self.sort != NEWEST:
            parts.append(f"sort={self.sort}")
        if self.limit != LIMIT_DEFAULT:
            parts.append(f"limit={self.limit}")
        return "&".join(parts)


MENTIONS = (
    "mentions_technician",
    "mentions_service",
    "mentions_aspect",
    "mentions_problem",
    "mentions_topic",
    "mentions_area",
)
"""The filters by mentions of the insights."""

_TEXTS = ("query", *MENTIONS, "sentiment")


def _quoted(text: str) -> str:
    return text if text.isascii() and text.isalnum() else quote_plus(text)


def _number(value: float) -> float:
    return int(value) if value == int(value) else value


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
