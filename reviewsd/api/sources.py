"""The states of the sources, which ``reviewsctl sync`` writes and the daemon reads (sources.md)."""

import datetime
from typing import Final

from msgspec import Struct

SOURCES_FILE: Final = "sources.json"
"""Its name in ``places.KEPT_FOLDER``; it has no secrets."""

VERSION: Final = 1
"""The version of the file's format."""


class SourceCondition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The condition of one source; the file has more of it."""

    state: str = "new"
    """``new``, ``ok``, ``failed`` or ``stopped``."""
    detail: str = ""
    """Why it failed or is stopped."""
    remedy: str = ""
    read_at: datetime.datetime | None = None
    """The last complete read."""
    confirmed_at: datetime.datetime | None = None
    """The last run that read it, or found it unchanged."""
    failures: int = 0
    """Runs in a row that did not succeed."""
    reviews: int = 0
    """Reviews of the last complete read."""
