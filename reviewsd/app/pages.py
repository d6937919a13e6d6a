"""The settings of the pages, and the faults in them (pages.md 2, 3)."""

import datetime
from collections.abc import Iterator
from pathlib import Path

from reviewsd.config.schema import Config
from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import Dataset
from reviewsd.mcp.tools import LISTING
from reviewsd.pages import theme
from reviewsd.pages.environment import TemplateError
from reviewsd.pages.machines import MachineSettings, SecurityContact
from reviewsd.pages.site import PageSettings
from reviewsd.publish import site, sources

_NOTICE = datetime.timedelta(days=30)
"""Time before the expiry of security.txt from which on the operator is warned (pages.md 1)."""


def page_settings(config: Config) -> PageSettings:
    """Return the settings of the pages for people."""
    pages = config.pages
    return PageSettings(
        enabled=pages.enabled, accent=pages.accent, jsonld_reviews=pages.jsonld_reviews
    )


def templates_dir(config: Config) -> Path | None:
    """Return the folder of the operator's templates; None without one."""
    folder = config.pages.templates_dir
    return None if folder is None else Path(folder)


def machine_settings(config: Config, version: str) -> MachineSettings:
    """Return the settings of the documents for crawlers and agents, with the version of the program."""
    security = None
    if config.security.contact and config.security.expires is not None:
        security = SecurityContact(
            contact=config.security.contact,
            expires=config.security.expires,
        )
    return MachineSettings(
        crawlers=config.crawlers,
        security=security,
        registry_auth=config.mcp.registry_auth,
        version=version,
        tools=LISTING.decode(),
    )


def warnings(config: Config, now: datetime.datetime) -> Iterator[tuple[str, str]]:
    """Yield warnings, each as a dotted key and a text; ``now`` is aware."""
    accent = config.pages.accent.lower()
    readable = theme.readable(accent, theme.LIGHT)
    if readable != accent:
        contrast = theme.contrast(accent, theme.tint(accent, theme.LIGHT))
        yield (
            "pages.accent",
            (
                f"words in {accent} would be hard to read (contrast {contrast:.1f}, wanted "
                f"{theme.LEAST_CONTRAST}); the pages have {readable} in its place"
            ),
        )
    expires = config.security.expires
    if expires is not None and expires - now < _NOTICE:
        day = expires.astimezone(datetime.UTC).date()
        expiry = f"expired on {day}" if expires <= now else f"expires on {day}"
        yield (
            "security.expires",
            f"security.txt {expiry}; look its contacts over and set a later time",
        )


def fault(config: Config, dataset: Dataset) -> str | None:
    """Return the fault in the operator's templates; None without one.

    Args:
        config: The configuration.
        dataset: The data to render them with.

    Raises:
        OSError: The system cannot read them now.
    """
    folder = templates_dir(config)
    if folder is None or not config.pages.enabled:
        return None
    try:
        templates = sources.read_templates(folder)
        site.try_templates(dataset, config.base_url, page_settings(config), templates)
    except TemplateError as error:
        return f"{folder}/{error}"
    except DataError as error:
        return f"pages.templates_dir: {error.findings[0].reason}"
    except sources.Unsettled:
        return f"{folder}: somebody writes there; try again"
    return None
