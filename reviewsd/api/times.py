"""Times on the wire: RFC 3339 in UTC, to the second."""

import datetime
from typing import Annotated

from msgspec import Meta

Instant = Annotated[datetime.datetime, Meta(tz=True)]


def instant(seconds: float) -> datetime.datetime:
    """Return the time of POSIX seconds."""
    return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC)
