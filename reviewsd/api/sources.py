"""The states of the sources, which ``reviewsctl sync`` writes and the daemon reads (sources.md)."""

from typing import Final

from msgspec import Struct

SOURCES_FILE: Final = "sources.json"
"""Its name in ``places.KEPT_FOLDER``; it has no secrets."""


class SourceCondition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The condition of one source; the file has more of it."""

    state: str = "new"
    """``new``, ``ok``, ``failed`` or ``stopped``."""
    detail: str = ""
    """Why it failed or is stopped."""
    remedy: str = ""


class SourceConditions(Struct, frozen=True):
    """The content of the file, as the daemon reads it."""

    sources: dict[str, SourceCondition]
