"""What the configuration says of the pages, and what is wrong with it (pages.md 2, 3)."""

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
"""Before security.txt expires (pages.md 1)."""


def page_settings(config: Config) -> PageSettings:
    """What the operator wants of pages."""
    pages = config.pages
    return PageSettings(
        enabled=pages.enabled, accent=pages.accent, jsonld_reviews=pages.jsonld_reviews
    )


def templates_dir(config: Config) -> Path | None:
    """Where the operator's templates are."""
    folder = config.pages.templates_dir
    return None if folder is None else Path(folder)


def machine_settings(config: Config, version: str) -> MachineSettings:
    """What documents for crawlers and agents depend on beside the data.

    Args:
        config: What is in effect.
        version: Of the program.
    """
    newest, security = config.pages.sitemap_reviews, None
    if config.security.contact and config.security.expires is not None:
        security = SecurityContact(
            contact=config.security.contact,
            expires=config.security.expires,
            policy=config.security.policy,
        )
    return MachineSettings(
        crawlers=config.crawlers,
        sitemap_reviews={"all": None, "none": 0}[newest] if isinstance(newest, str) else newest,
        security=security,
        registry_auth=config.mcp.registry_auth,
        server_card=config.mcp.server_card,
        version=version,
        tools=LISTING.decode(),
    )


def doubts(config: Config, now: datetime.datetime) -> Iterator[tuple[str, str]]:
    """What is odd, each as a dotted key and what there is to say of it.

    Args:
        config: What is in effect.
        now: The time; aware.
    """
    accent = config.pages.accent.lower()
    shown = theme.readable(accent, theme.LIGHT)
    if shown != accent:
        found = theme.contrast(accent, theme.tint(accent, theme.LIGHT))
        yield (
            "pages.accent",
            (
                f"words in {accent} would be hard to read (contrast {found:.1f}, wanted "
                f"{theme.LEAST_CONTRAST}); the pages have {shown} in its place"
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
    """What is wrong with the operator's templates, if anything.

    Args:
        config: Its ``pages``.
        dataset: What they are tried with.

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
