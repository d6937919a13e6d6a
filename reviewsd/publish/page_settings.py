"""Warnings and faults of the settings of the pages (pages.md 2, 3)."""

import datetime
from collections.abc import Iterator
from pathlib import Path

import msgspec

from reviewsd.config.schema import Config
from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import Dataset
from reviewsd.pages import theme
from reviewsd.pages.environment import TemplateError
from reviewsd.pages.settings import PageSettings
from reviewsd.publish import site, sources

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


def fault(config: Config, dataset: Dataset) -> str | None:
    """Return the fault in the operator's templates; None without one.

    Args:
        config: The configuration.
        dataset: The data to render them with.

    Raises:
        OSError: The system cannot read them now.
    """
    if config.pages.templates_dir is None or not config.pages.enabled:
        return None
    folder = Path(config.pages.templates_dir)
    settings = msgspec.convert(config.pages, PageSettings, from_attributes=True)
    try:
        templates = sources.read_templates(folder)
        site.try_templates(dataset, config.base_url, settings, templates)
    except TemplateError as error:
        return f"{folder}/{error}"
    except DataError as error:
        return f"pages.templates_dir: {error.findings[0].reason}"
    except sources.Unsettled:
        return f"{folder}: somebody writes there; try again"
    return None
