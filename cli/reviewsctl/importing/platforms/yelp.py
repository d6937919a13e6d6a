"""Yelp Fusion API, ``/v3/businesses/{id}/reviews``: three shortened excerpts, for display only."""

import datetime
import zoneinfo
from collections.abc import Sequence

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.format import Fields, Format, Head, Parser, Row, Rules
from reviewsctl.importing.ratings import stars
from reviewsctl.importing.review import Found
from reviewsctl.importing.signature import Signature
from reviewsctl.importing.times import moment, zoned
from reviewsctl.importing.values import address, members, word, words

_ZONE = "America/Los_Angeles"


def _parser(_head: Head, _rules: Rules) -> Parser:
    pacific = _pacific()

    def read(row: Row) -> Found:
        review = row.fields
        user = members(review.get("user"))
        return Found(
            source="yelp",
            key=word(review.get("id")),
            author=user.get("name"),
            avatar_url=address(user.get("image_url")),
            rating=stars(review.get("rating")),
            created=zoned(moment(review.get("time_created")), pacific),
            text=words(review.get("text")),
            source_url=address(review.get("url")),
        )

    return read


def _pacific() -> datetime.tzinfo:
    try:
        return zoneinfo.ZoneInfo(_ZONE)
    except zoneinfo.ZoneInfoNotFoundError:
        raise ImportRefusedError(
            f"Yelp's times are Pacific, and this machine does not know {_ZONE}",
            "Install the time zones: apt-get install tzdata, or pip install tzdata",
        ) from None


def _warnings(around: Fields, count: int) -> Sequence[str]:
    total = around.get("total")
    of = f" of {total:,}" if isinstance(total, int) else ""
    return [
        (f"this is no archive: the Yelp API gives three shortened excerpts, here {count:,}{of}")
    ]


FORMAT = Format(
    name="yelp",
    title="Yelp Fusion API, business reviews",
    leaves="user profiles",
    likeness=Signature(("time_created", "rating", "user"), shape="json"),
    verification="false: Yelp does not check that authors are customers",
    terms="Yelp's terms forbid storing content of its API for more than 24 hours: it may be displayed, with "
    "Yelp's attribution, not kept",
    partial="it has three reviews of a business at most",
    parser=_parser,
    warnings=_warnings,
)
