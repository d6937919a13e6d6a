"""Warnings about the settings of the pages (pages.md 2, 3)."""

import datetime
from collections.abc import Iterator

from reviewsd.config.schema import Config
from reviewsd.pages import theme

_NOTICE = datetime.timedelta(days=30)
"""Time before the expiry of security.txt from which on the operator is warned (pages.md 1)."""


def warnings(config: Config, now: datetime.datetime) -> Iterator[tuple[str, str]]:
    """Yield warnings, each as a dotted key and a text; ``now`` is aware."""
    accent = config.pages.accent.lower()
    readable = theme.readable(accent, theme.LIGHT)
    if readable != accent:
        contrast = theme.contrast(accent, theme.tint(accent, theme.LIGHT))
        reason = f"hard to read (contrast {contrast:.1f}, wanted {theme.LEAST_CONTRAST})"
        yield (
            "pages.accent",
            f"words in {accent} would be {reason}; the pages have {readable} in its place",
        )
    expires = config.security.expires
    if expires is not None and expires - now < _NOTICE:
        day = expires.astimezone(datetime.UTC).date()
        expiry = f"expired on {day}" if expires <= now else f"expires on {day}"
        remedy = "look its contacts over and set a later time"
        yield "security.expires", f"security.txt {expiry}; {remedy}"
